// What carries links of kind ppp: the kernel's lists of PPPoE and L2TP sessions, which everyone may read.
import Glibc
package import TallyCore

/// The sessions of these ppp links, by ifindex; `links` are all that are present. A link of neither list, as a serial modem
/// makes one, has none. Two files are read; without the kernel's modules they are not there.
package func sessions(of ppp: [LinkFacts], among links: [LinkFacts]) -> [UInt32: RouteFacts.Session] {
  guard !ppp.isEmpty else { return [:] }
  var lists = SessionLists()
  if let text = read("/proc/thread-self/net/pppoe") { lists.takePPPoE(text) }
  if let text = read("/proc/thread-self/net/pppol2tp") { lists.takeL2TP(text) }
  if lists.isEmpty { return [:] }
  let addresses = lists.l2tp.isEmpty ? [] : (try? LinkAddress.list()) ?? []
  return lists.sessions(of: ppp, among: links) { bytes in addresses.first { $0.bytes == bytes }?.name }
}

/// What the two lists tell.
struct SessionLists {
  /// Links below PPPoE sessions, once for each session. Which ppp link a session has is not told.
  private(set) var pppoe: [LinkName] = []
  /// By the ppp link, its tunnel's own IPv4 address; empty where it is not told.
  private(set) var l2tp: [LinkName: [UInt8]] = [:]

  var isEmpty: Bool { pppoe.isEmpty && l2tp.isEmpty }

  /// A heading, then `ID ADDRESS LINK` (pppoe_seq_show in drivers/net/ppp/pppoe.c).
  mutating func takePPPoE(_ text: [UInt8]) {
    for line in text.split(separator: UInt8(ascii: "\n")).dropFirst() {
      let words = line.split(separator: UInt8(ascii: " "))
      if words.count == 3, words[2].count < 16 { pppoe.append(LinkName(bytes: Array(words[2]))) }
    }
  }

  /// Of each session `SESSION 'NAME' ADDRESS/PORT ...` in hexadecimal digits, and later `interface LINK`
  /// (pppol2tp_seq_session_show in net/l2tp/l2tp_ppp.c); the address of a tunnel over IPv6 is not told.
  mutating func takeL2TP(_ text: [UInt8]) {
    var address: [UInt8]?
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      if line.starts(with: Array("  SESSION".utf8)) {
        address = words.lazy.compactMap(SessionLists.address).first ?? []
      } else if words.count == 2, words[0].elementsEqual("interface".utf8), words[1].count < 16, let found = address {
        l2tp[LinkName(bytes: Array(words[1]))] = found
      }
    }
  }

  /// `0A000001/1701` as four bytes; nil for other words, and for no address.
  private static func address(_ word: ArraySlice<UInt8>) -> [UInt8]? {
    let parts = word.split(separator: UInt8(ascii: "/"))
    guard parts.count == 2, parts[0].count == 8, parts[1].allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let value = UInt32(String(decoding: parts[0], as: UTF8.self), radix: 16), value != 0
    else { return nil }
    return [
      UInt8(truncatingIfNeeded: value >> 24), UInt8(truncatingIfNeeded: value >> 16),
      UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value),
    ]
  }

  /// `bearer`: the link that bears an address.
  func sessions(
    of ppp: [LinkFacts], among links: [LinkFacts], bearer: ([UInt8]) -> LinkName?
  ) -> [UInt32: RouteFacts.Session] {
    let byName = Dictionary(links.map { ($0.name, $0.ifindex) }, uniquingKeysWith: { first, _ in first })
    var found: [UInt32: RouteFacts.Session] = [:]
    var others: [UInt32] = []
    for link in ppp {
      if let address = l2tp[link.name] {
        if !address.isEmpty, let lower = bearer(address).flatMap({ byName[$0] }) {
          found[link.ifindex] = .l2tp(over: lower)
        }
      } else {
        others.append(link.ifindex)
      }
    }
    // With more links than sessions some are of another kind, and nothing tells which.
    guard !others.isEmpty, others.count <= pppoe.count else { return found }
    let lower = Set(pppoe.compactMap { byName[$0] }).sorted()
    for ifindex in others where !lower.isEmpty { found[ifindex] = .pppoe(overOneOf: lower) }
    return found
  }
}

private let longestList = 1 << 20

/// A file of /proc, up to a megabyte of it; nil when there is none.
private func read(_ path: String) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  while bytes.count < longestList {
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { break }
    bytes += chunk.prefix(count)
  }
  return bytes
}
