// Sending known traffic over links of the calling thread's namespace, and reading what the kernel counted.
import CNetlink  // whose module holds the socket types where it is loaded before Glibc's
import Foundation
import Glibc

@testable import LinkSource
@testable import TallyCore

/// Gives the link an address and a neighbour, so that datagrams to `10.NUMBER.0.2` leave by it without any question.
func prepareToSend(_ name: String, number: Int) throws {
  let links = try openLinks()
  try ip("addr add 10.\(number).0.1/24 dev \(name)")
  try ip("link set \(name) up")
  _ = try? ip("neigh add 10.\(number).0.2 lladdr 02:00:00:00:00:02 nud permanent dev \(name)")
  // The kernel lets packets out of some links only a moment after they are up.
  while try !["up", "unknown"].contains(read("/sys/class/net/\(name)/operstate")) {
    _ = try nextEvents(links)
  }
}

/// Waits for events, 5 seconds at most.
func nextEvents(_ links: KernelLinks) throws -> [LinkEvent] {
  var waiting = pollfd(fd: links.eventDescriptor, events: Int16(POLLIN), revents: 0)
  var ready: Int32
  // Other tests' processes end meanwhile, and their signals interrupt.
  repeat { ready = poll(&waiting, 1, 5000) } while ready < 0 && errno == EINTR
  guard ready == 1 else { throw NamespaceError(what: "no event came") }
  return try links.drainEvents().events
}

func read(_ path: String) throws -> String {
  try String(contentsOfFile: path, encoding: .ascii).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// Sends datagrams with this much payload each to `10.NUMBER.0.2`.
func sendDatagrams(_ count: Int, of size: Int, number: Int) throws {
  let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw NamespaceError(what: "socket: \(lastError())") }
  defer { close(descriptor) }
  var to = sockaddr_in()
  to.sin_family = sa_family_t(AF_INET)
  to.sin_port = in_port_t(9).bigEndian
  to.sin_addr.s_addr = inet_addr("10.\(number).0.2")
  let payload = [UInt8](repeating: 0x5A, count: size)
  for _ in 0..<count {
    let sent = withUnsafePointer(to: &to) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, payload, payload.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard sent == size else { throw NamespaceError(what: "sendto: \(lastError())") }
  }
}

/// A tun device of this name that lives as long as the descriptor, which no child of another test may inherit.
func openTun(_ name: String) throws -> Int32 {
  let descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)
  guard descriptor >= 0 else { throw NamespaceError(what: "/dev/net/tun: \(lastError())") }
  var request = [UInt8](repeating: 0, count: 40)  // struct ifreq
  request.replaceSubrange(0..<name.utf8.count, with: Array(name.utf8))
  let tunWithoutHeader: UInt16 = 0x0001 | 0x1000  // IFF_TUN | IFF_NO_PI
  withUnsafeBytes(of: tunWithoutHeader) { request.replaceSubrange(16..<18, with: $0) }
  let setInterface: UInt = 0x4004_54CA  // TUNSETIFF
  guard ioctl(descriptor, setInterface, &request) == 0 else {
    close(descriptor)
    throw NamespaceError(what: "TUNSETIFF: \(lastError())")
  }
  return descriptor
}

/// An IPv4 packet of `size` bytes to an address that is nobody's, as if it had come out of a tunnel.
func packet(of size: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: size)
  bytes.replaceSubrange(
    0..<20,
    with: [0x45, 0, UInt8(size >> 8), UInt8(size & 255), 0, 0, 0, 0, 64, 17, 0, 0, 10, 99, 0, 2, 10, 99, 0, 1])
  return bytes
}

/// The link's counters as its files in /sys tell them.
func sysfsCounters(_ name: String) throws -> LinkCounters {
  func counter(_ file: String) throws -> UInt64 {
    let text = try read("/sys/class/net/\(name)/statistics/\(file)")
    guard let value = UInt64(text) else {
      throw NamespaceError(what: "\(name) \(file): \(text)")
    }
    return value
  }
  return LinkCounters(
    rxBytes: try counter("rx_bytes"), txBytes: try counter("tx_bytes"), rxPackets: try counter("rx_packets"),
    txPackets: try counter("tx_packets"))
}

func linkIndex(_ name: String) -> UInt32 { if_nametoindex(name) }
