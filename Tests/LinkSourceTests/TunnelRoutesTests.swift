// Far ends of tunnels in real messages, and the kernel's routes to them.
import CLinkStats
import Foundation
import Testing

@testable import LinkSource
@testable import TallyCore

private func endpoint(_ remote: [UInt8], mark: UInt32 = 0) -> LinkFacts {
  var facts = LinkFacts()
  facts.endpoint = TunnelEndpoint(remote: remote, mark: mark)
  return facts
}

/// A netlink message of attributes behind a fixed header of four words or fewer.
private func message(_ type: UInt16, header: [UInt8], _ attributes: [(type: UInt16, bytes: [UInt8])]) -> [UInt8] {
  var body = header
  for attribute in attributes { body += encoded(attribute.type, attribute.bytes) }
  return words(UInt32(body.count + 16)) + halves(type) + halves(0) + words(0) + words(0) + body
}

private func encoded(_ type: UInt16, _ bytes: [UInt8]) -> [UInt8] {
  halves(UInt16(bytes.count + 4)) + halves(type) + bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
}

private func words(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
private func halves(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

private func aligned<Result>(_ bytes: [UInt8], _ body: (UnsafeRawPointer) -> Result) -> Result {
  let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(8, bytes.count), alignment: 8)
  defer { room.deallocate() }
  room.copyBytes(from: bytes)
  return body(UnsafeRawPointer(room.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped))
}

@Suite("Far ends of tunnels and the routes there")
struct TunnelRoutesTests {
  @Test("recorded tunnels of two kernels tell their far end, source and link")
  func recordings() throws {
    for file in ["kinds.json", "kinds-6.12.json"] {
      let links = try RecordedLink.all(in: file)
      var told: [String: TunnelEndpoint] = [:]
      var lower: [String: UInt32] = [:]
      for (name, link) in links {
        let facts = try link.netlinkFacts()
        told[name] = facts.endpoint
        lower[name] = facts.lower
      }
      for (name, link) in links where link.remote != nil {
        let remote = link.remote ?? ""
        let bytes = addressBytes(remote)
        let found = told[name]?.remote ?? []
        let expected = bytes.contains { $0 != 0 } ? bytes : []
        #expect(found == expected, "\(file) \(name) \(remote)")
      }
      let hasTunnels = told.count > 5
      #expect(hasTunnels)
      #expect(told["wg0"] == nil)
      #expect(told["tun0"] == nil)
      let xfrm = lower["xfrm0"] ?? 0
      #expect(xfrm != 0)
    }
  }

  @Test(
    "a far end leaves over the link that its route says, by the mark of its packets",
    .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
  func lookup() throws {
    let outcome = try NetworkNamespace.withOne { _ in
      try ip("link add va type veth peer name vb")
      try ip("link add vc type veth peer name vd")
      for name in ["va", "vb", "vc", "vd"] { try ip("link set \(name) up") }
      try ip("address add 192.0.2.1/24 dev va")
      try ip("address add 198.51.100.1/24 dev vc")
      let before = defaultRoutes()
      try ip("route add default via 192.0.2.9")
      try ip("route add default via 198.51.100.9 table 77")
      try ip("rule add fwmark 0x7 table 77")
      let indices = Dictionary(
        try ["va", "vc"].map { ($0, try #require(indexOf($0))) }, uniquingKeysWith: { first, _ in first })
      let far: [UInt8] = [203, 0, 113, 5]
      let results = (
        plain: endpointRoute(of: endpoint(far)), marked: endpointRoute(of: endpoint(far, mark: 7)),
        wide: endpointRoute(of: endpoint([0x20, 1, 0xd, 0xb8] + Array(repeating: 1, count: 12)))
      )
      return (indices, results, before, defaultRoutes())
    }
    let (indices, results, before, defaults) = outcome
    let (va, vc) = (indices["va"] ?? 0, indices["vc"] ?? 0)
    #expect(results.plain == .over([va]))
    #expect(results.marked == .over([vc]))
    #expect(results.wide == RouteFacts.Route.none)
    #expect(before == [])
    #expect(defaults == [va])
  }

  @Test(
    "a vxlan tells its far end, and the link that it is bound to",
    .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
  func vxlan() throws {
    let (facts, va) = try NetworkNamespace.withOne { _ in
      try ip("link add va type veth peer name vb")
      try ip("address add 192.0.2.1/24 dev va")
      for name in ["va", "vb"] { try ip("link set \(name) up") }
      try ip("link add vx0 type vxlan id 7 remote 192.0.2.2 local 192.0.2.1 dstport 4789 dev va")
      try ip("link add vx1 type vxlan id 8 remote 192.0.2.3 dstport 4789")
      let kernel = try KernelLinks(now: Clocks().now, complete: { _ in })
      let listed = try kernel.list().links.map(\.facts)
      return (listed, try #require(indexOf("va")))
    }
    let bound = facts.first { $0.name.escaped == "vx0" }
    let free = facts.first { $0.name.escaped == "vx1" }
    #expect(bound?.endpoint == TunnelEndpoint(remote: [192, 0, 2, 2], local: [192, 0, 2, 1]))
    #expect(bound?.lower == va)
    #expect(free?.endpoint == TunnelEndpoint(remote: [192, 0, 2, 3]))
    #expect(free?.lower == 0)
  }

  @Test("routes over several links are default routes over each, once; other tables and targets are none")
  func multipath() {
    let hop = { (index: UInt32) in halves(8) + [0, 0] + words(index) }
    func route(table: UInt8 = 254, target: UInt8 = 0) -> [UInt8] {
      message(24, header: [2, target, 0, 0, table, 0, 0, 1, 0, 0, 0, 0], [(9, hop(3) + hop(5) + hop(3))])
    }
    var found: [UInt32] = [0, 0, 0]
    func parse(_ bytes: [UInt8]) -> Int32 {
      aligned(bytes) { ls_default_routes_parse($0, bytes.count, &found, 0, 3) }
    }
    let (all, other, narrow) = (parse(route()), parse(route(table: 77)), parse(route(target: 8)))
    #expect(all == 2)
    #expect(found == [3, 5, 0])
    #expect(other == 0)
    #expect(narrow == 0)
  }

  @Test("the peers of a WireGuard tell their far ends, and the link its mark")
  func wireguard() {
    let narrow: [UInt8] = halves(2) + [0xC8, 0xD5, 203, 0, 113, 5] + Array(repeating: 0, count: 8)
    let wide: [UInt8] = halves(10) + [0xC8, 0xD5, 0, 0, 0, 0] + Array(repeating: 7, count: 16) + words(0)
    let peers = [narrow, wide].enumerated().flatMap { number, address in
      encoded(UInt16(number), encoded(1, Array(repeating: 1, count: 32)) + encoded(4, address))
    }
    let silent = encoded(2, encoded(1, Array(repeating: 1, count: 32)))
    let bytes = message(30, header: [0, 1, 0, 0], [(7, words(0xCA6C)), (8, peers + silent)])
    var ends = [ls_endpoint](repeating: ls_endpoint(), count: 4)
    var mark: UInt32 = 0
    let count = aligned(bytes) { ls_wireguard_parse($0, bytes.count, 30, &ends, 0, 4, &mark) }
    #expect(count == 2)
    #expect(mark == 0xCA6C)
    let found = ends.prefix(2).map { tunnelEndpoint($0)?.remote ?? [] }
    #expect(found == [[203, 0, 113, 5], Array(repeating: 7, count: 16)])
    let refused = message(2, header: words(UInt32(bitPattern: -1)), [])
    let code = aligned(refused) { ls_wireguard_parse($0, refused.count, 30, &ends, 0, 4, &mark) }
    #expect(code == -1)
  }
}

private func indexOf(_ name: String) -> UInt32? {
  (try? String(contentsOfFile: "/sys/class/net/\(name)/ifindex", encoding: .utf8))
    .flatMap { UInt32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
}

private func addressBytes(_ text: String) -> [UInt8] {
  var narrow = in_addr()
  if inet_pton(AF_INET, text, &narrow) == 1 { return withUnsafeBytes(of: narrow) { Array($0) } }
  var wide = in6_addr()
  return inet_pton(AF_INET6, text, &wide) == 1 ? withUnsafeBytes(of: wide) { Array($0) } : []
}
