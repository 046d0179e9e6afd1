// Messages that the kernel did not send: they are dropped, counted, and change nothing.
import CNetlink
import Foundation
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

/// Sends one netlink message from a socket of our own to another socket's port.
private func forge(_ message: [UInt8], to port: UInt32) throws {
  guard let handle = nl_socket_alloc() else { throw NamespaceError(what: "nl_socket_alloc") }
  defer { nl_socket_free(handle) }
  guard nl_connect(handle, NETLINK_ROUTE) == 0 else { throw NamespaceError(what: "nl_connect") }
  nl_socket_set_peer_port(handle, port)
  var bytes = message
  let code = nl_sendto(handle, &bytes, bytes.count)
  guard code == bytes.count else { throw NamespaceError(what: "nl_sendto: \(code)") }
}

/// The ports of all route netlink sockets in the calling thread's namespace.
private func routePorts() throws -> [UInt32] {
  let table = try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .ascii)
  return table.split(separator: "\n").dropFirst().compactMap { line in
    let fields = line.split(separator: " ")
    guard fields.count > 2, fields[1] == "0", let port = UInt32(fields[2]), port != 0 else { return nil }
    return port
  }
}

@Suite(
  "Kernel senders", .serialized, .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
struct KernelSenderTests {
  @Test("messages that others send to our sockets are dropped and counted, and the answers stay right")
  func forged() throws {
    let (events, readings, expected, health, ports) = try NetworkNamespace.withOne { _ in
      let links = try openLinks()
      _ = try links.sample()
      let ports = try routePorts()
      let loopback = Int32(linkIndex("lo"))
      let gone = Bytes.message(17, Bytes.link(index: loopback, change: .max) + Bytes.attribute(3, Array("lo\0".utf8)))
      let lie = Bytes.attribute(1, Bytes.counters([1, 2, 3, 4]))
      let counters = Bytes.message(92, Bytes.stats(index: UInt32(loopback)) + lie)
      for port in ports {
        try forge(gone, to: port)
        try forge(counters, to: port)
      }
      let sample = try links.sample()
      let readings = sample.readings.map(\.counters)
      return (sample.events.count, readings, try sysfsCounters("lo"), links.health, ports.count)
    }
    #expect(ports == 2)
    #expect(events == 0)
    #expect(readings == [expected])
    #expect(health.droppedSenders == 4)
  }

  @Test("the kernel chooses the port ids: many sockets of one process do not clash")
  func ports() throws {
    let count = try NetworkNamespace.withOne { _ in
      let links = try (0..<5).map { _ in try openLinks() }
      for link in links { _ = try link.sample() }
      return Set(try routePorts()).count
    }
    #expect(count == 10)
  }
}
