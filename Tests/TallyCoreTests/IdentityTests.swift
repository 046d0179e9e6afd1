// Identities of links: hardware by its permanent address, all else by kind and name.

import Testing

@testable import TallyCore

private func link(_ name: String, kind: String = "", permanent: [UInt8] = [], tunType: UInt8 = 0) -> LinkFacts {
  var facts = LinkFacts()
  facts.name = LinkName(escaped: name)
  facts.infoKind = kind
  facts.permanentAddress = permanent
  facts.tunType = tunType
  return facts
}

private let address: [UInt8] = [0x02, 0xAA, 0, 0x0F, 0xF0, 0x9]

@Suite("Identity")
struct IdentityTests {
  @Test("hardware is its permanent address, whatever its name and its address of today")
  func hardware() {
    var renamed = link("lan0", permanent: address)
    renamed.address = [2, 2, 2, 2, 2, 2]
    #expect(identityKey(link("eth0", permanent: address)) == "mac:02:aa:00:0f:f0:09")
    #expect(identityKey(renamed) == "mac:02:aa:00:0f:f0:09")
    #expect(nameKey(renamed) == "-:lan0")
  }

  @Test("virtual links are kind and name, even with an address of their own")
  func virtual() {
    #expect(identityKey(link("ip6tnl1", kind: "ip6tnl", permanent: Array(repeating: 9, count: 16))) == "ip6tnl:ip6tnl1")
    #expect(identityKey(link("veth0", kind: "veth", permanent: address)) == "veth:veth0")
    #expect(identityKey(link("lo")) == "-:lo")
  }

  @Test("a tun and a tap of one name are two")
  func tunAndTap() {
    #expect(identityKey(link("vpn", kind: "tun", tunType: 1)) == "tun:vpn")
    #expect(identityKey(link("vpn", kind: "tun", tunType: 2)) == "tap:vpn")
  }

  @Test("addresses that identify nothing fall back to the name")
  func emptyAddresses() {
    for bytes in [[], [UInt8](repeating: 0, count: 6), [UInt8](repeating: 255, count: 6), [1, 2, 3, 4]] {
      #expect(identityKey(link("eth0", permanent: bytes)) == "-:eth0")
    }
  }

  @Test("names that Swift takes for equal have keys of their own, also as an earlier version wrote them")
  func lookAlikes() {
    let (short, long) = (nameKey(link("é0")), nameKey(link("e\u{301}0")))
    #expect(short == "-:%C3%A90")
    #expect(long == "-:e%CC%810")
    let earlier = LinkRecord(
      id: 1, key: "-:e\u{301}0", name: LinkName(escaped: "e\u{301}0"), kind: .other, type: "", firstSeen: 0, lastSeen: 0
    )
    #expect(earlier.key == long)
  }

  @Test("a name that is no UTF-8 makes a key that is text")
  func escapedName() {
    var facts = link("")
    facts.name = LinkName(bytes: [0x61, 0xFF, 0x07])
    #expect(nameKey(facts) == "-:a%FF%07")
  }
}
