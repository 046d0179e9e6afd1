// What the service manager hands over: which queue of link events is taken, and what becomes of the other.
import Foundation
import Testing

@testable import LinkSource
@testable import iftallyd

@Suite("Descriptors of the service manager")
struct HandedOverTests {
  /// A route netlink socket that hears of links, as the manager makes one.
  private func queue() throws -> CInt {
    let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    // struct sockaddr_nl: family, padding, port id, groups.
    var address: [UInt16] = [UInt16(AF_NETLINK), 0, 0, 0, 1, 0]
    let bound = address.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, 12) }
    }
    try #require(descriptor >= 0 && bound == 0)
    return descriptor
  }

  /// The group mask of a socket, by the kernel's list.
  private func groups(_ descriptor: CInt) throws -> String {
    var facts = stat()
    try #require(fstat(descriptor, &facts) == 0)
    let lines = try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8).split(separator: "\n")
    let fields = lines.map { $0.split(separator: " ") }
    let found = fields.first { $0.last.map(String.init) == "\(facts.st_ino)" }
    return String(try #require(found)[3])
  }

  @Test("the kept queue is taken, and one that the manager opened besides hears nothing more")
  func keptBeforeFresh() throws {
    let (fresh, kept) = (try queue(), try queue())
    let manager = dup(fresh)
    defer { close(manager) }
    var (before, after) = (stat(), stat())
    try #require(fstat(fresh, &before) == 0)
    let taken = try HandedOver([("link-events", fresh), ("link-events-kept", kept)])
    #expect(taken.queue == kept)
    let heard = try groups(kept)
    let refused = try groups(manager)
    #expect(heard == "00000001")
    #expect(refused == "00000000")
    // The number may be another file's by now.
    let isClosed = fstat(fresh, &after) != 0 || after.st_ino != before.st_ino
    #expect(isClosed)
    close(kept)
  }

  @Test("where both are one queue it goes on hearing")
  func same() throws {
    let fresh = try queue()
    let kept = dup(fresh)
    let taken = try HandedOver([("link-events", fresh), ("link-events-kept", kept)])
    #expect(taken.queue == kept)
    let heard = try groups(kept)
    #expect(heard == "00000001")
    close(kept)
  }

  @Test("a note without its queue says nothing of another one")
  func noteAlone() throws {
    let mark = try #require(QueueMark())
    let fresh = try queue()
    let taken = try HandedOver([("link-events", fresh), ("link-events-mark", dup(mark.descriptor))])
    #expect(taken.queue == fresh)
    #expect(taken.mark == nil)
    close(fresh)
  }
}
