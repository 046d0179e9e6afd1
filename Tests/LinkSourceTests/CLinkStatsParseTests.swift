// The message parser: recorded messages of real kernels, odd lengths, and everything a kernel may add or leave out.
import CLinkStats
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

private let newLink: UInt16 = 16
private let delLink: UInt16 = 17
private let newStats: UInt16 = 92
private let newNamespace: UInt16 = 88
private let delNamespace: UInt16 = 89

@Suite struct CLinkStatsParseTests {
  let edge: PageEdge

  init() throws { edge = try #require(PageEdge()) }

  @Test("the recordings of both kernels are there")
  func recordingsAreThere() { #expect(Recording.all.count == 150) }

  @Test(
    "a recorded message tells the link's name, index, kind, port kind, hardware type and MTU", arguments: Recording.all)
  func recorded(_ recording: Recording) {
    let parsed = edge.parse(recording.message)
    let facts = facts(of: parsed.link)
    #expect(parsed.result == LS_LINK)
    #expect(facts.name.escaped == recording.name)
    #expect(facts.ifindex == recording.ifindex)
    #expect(facts.infoKind == recording.infoKind)
    #expect(facts.portKind == recording.portKind)
    #expect(facts.hardwareType == recording.arphrd)
    #expect(facts.mtu == recording.mtu)
    #expect(parsed.link.counter_width == 64)
    #expect(Int(facts.tunType) == recording.tunFlags & 3)
  }

  @Test("a recorded message cut at any length is refused, nothing past it is read and nothing is written")
  func truncated() {
    for recording in Recording.all {
      for length in 0..<recording.message.count {
        let parsed = edge.parse(recording.message.prefix(length))
        #expect(parsed.result == -EBADMSG && parsed.outputsUntouched, "\(recording) at \(length)")
      }
    }
  }

  @Test("a recorded message cut at any length that claims to be whole never makes the parser read past it")
  func truncatedConsistently() {
    for recording in Recording.all {
      for length in 16..<recording.message.count {
        var message = Array(recording.message.prefix(length))
        message.replaceSubrange(0..<4, with: Bytes.little(UInt32(length)))
        let parsed = edge.parse(message)
        #expect(parsed.result == LS_LINK || parsed.outputsUntouched, "\(recording) at \(length)")
      }
    }
  }

  @Test(
    "an attribute length that points outside the message is refused", arguments: [0, 3, 13, 4096, 65535] as [UInt16])
  func wrongAttributeLength(_ length: UInt16) {
    var message = Bytes.message(newLink, Bytes.link() + Bytes.attribute(3, Array("eth0\0".utf8)))
    message.replaceSubrange(32..<34, with: Bytes.little(length))
    let parsed = edge.parse(message)
    #expect(parsed.result == -EBADMSG && parsed.outputsUntouched)
  }

  @Test("counters are read from a longer struct of a newer kernel and a shorter one of an older")
  func counterLengths() {
    for count in [4, 5, 23, 25, 40] {
      let values = (1...UInt64(count)).map { $0 << 33 }
      let attribute = Bytes.attribute(1, Bytes.counters(values))
      let parsed = edge.parse(Bytes.message(newStats, Bytes.stats(index: 9) + attribute))
      #expect(parsed.result == LS_STATS)
      #expect(parsed.stat.ifindex == 9 && parsed.stat.width == 64)
      #expect(parsed.stat.counters.rx_packets == 1 << 33 && parsed.stat.counters.tx_packets == 2 << 33)
      #expect(parsed.stat.counters.rx_bytes == 3 << 33 && parsed.stat.counters.tx_bytes == 4 << 33)
    }
  }

  @Test("counters of which one is missing are none: it must not read as 0")
  func tooShortCounters() {
    let short = Array(Bytes.counters([1, 2, 3, 4]).dropLast())
    let stats = edge.parse(Bytes.message(newStats, Bytes.stats() + Bytes.attribute(1, short)))
    #expect(stats.result == LS_IGNORED && stats.outputsUntouched)
    let link = edge.parse(Bytes.message(newLink, Bytes.link() + Bytes.attribute(23, short)))
    #expect(link.result == LS_LINK && link.link.counter_width == 0)
    #expect(counters(of: link.link) == nil)
  }

  @Test("without 64-bit counters the 32-bit ones are read, whatever the order of the attributes")
  func narrowCounters() {
    let narrow = Bytes.attribute(7, [1, 2, 3, 4].flatMap { Bytes.little(UInt32($0)) })
    let wide = Bytes.attribute(23, Bytes.counters([10, 20, 30, 40]))
    let alone = edge.parse(Bytes.message(newLink, Bytes.link() + narrow)).link
    #expect(alone.counter_width == 32 && alone.counters.rx_bytes == 3)
    for both in [narrow + wide, wide + narrow] {
      let link = edge.parse(Bytes.message(newLink, Bytes.link() + both)).link
      #expect(link.counter_width == 64 && link.counters.rx_bytes == 30)
    }
  }

  @Test("a message that ends with its fixed header is a link without facts")
  func bare() {
    let parsed = edge.parse(Bytes.message(newLink, Bytes.link()))
    #expect(parsed.result == LS_LINK && parsed.link.ifindex == 7 && parsed.link.name_length == 0)
  }

  @Test("a bridge's report on its port is of no concern, even when it says that it is gone")
  func bridgeReport() {
    let name = Bytes.attribute(3, Array("eth0\0".utf8))
    let parsed = edge.parse(Bytes.message(delLink, Bytes.link(family: 7) + name))
    #expect(parsed.result == LS_IGNORED && parsed.outputsUntouched)
  }

  @Test("a report of the wireless extensions is of no concern: it has no facts that would replace the link's")
  func wirelessReport() {
    let body = Bytes.link() + Bytes.attribute(3, Array("wlan0\0".utf8)) + Bytes.attribute(11, [1, 2, 3, 4])
    #expect(edge.parse(Bytes.message(newLink, body)).result == LS_IGNORED)
  }

  @Test("messages of other types are of no concern")
  func otherTypes() {
    for type in [2, 3, 20, 24, 28] as [UInt16] {
      #expect(edge.parse(Bytes.message(type, Bytes.link())).result == LS_IGNORED)
    }
  }

  @Test("a link index of 0 or below is refused", arguments: [0, -1, .min] as [Int32])
  func indexOutOfRange(_ index: Int32) {
    #expect(edge.parse(Bytes.message(newLink, Bytes.link(index: index))).result == -EBADMSG)
  }

  @Test("bytes that are not aligned are refused")
  func unaligned() {
    let message = [0] + Bytes.message(newLink, Bytes.link())
    var link = ls_link()
    var stat = ls_stat()
    var namespace: Int32 = 0
    let result = message.withUnsafeBytes { bytes -> Int32 in
      guard let start = bytes.baseAddress else { return 0 }
      return ls_parse_message(start + 1, bytes.count - 1, &link, &stat, &namespace)
    }
    #expect(result == -EINVAL)
  }

  @Test("a departure tells whether the link moved to another namespace")
  func movedOut() {
    let moved = Bytes.attribute(45, Bytes.little(Int32(0))) + Bytes.attribute(49, Bytes.little(Int32(3)))
    for (attributes, expected) in [([], UInt8(0)), (moved, 1)] {
      let parsed = edge.parse(Bytes.message(delLink, Bytes.link(change: .max) + attributes))
      #expect(parsed.result == LS_LINK_GONE && parsed.link.moved_out == expected)
    }
  }

  @Test("a veth shows in which namespace its other end is, if that has an id")
  func farEnd() {
    let veth =
      Bytes.attribute(18, Bytes.attribute(1, Array("veth\0".utf8))) + Bytes.attribute(5, Bytes.little(UInt32(2)))
    let here = facts(of: edge.parse(Bytes.message(newLink, Bytes.link() + veth)).link)
    #expect(here.farEnd == nil && !here.lowerIsElsewhere)
    for id in [0, 7, Int32.max] {
      let facts = facts(
        of: edge.parse(Bytes.message(newLink, Bytes.link() + veth + Bytes.attribute(37, Bytes.little(id)))).link)
      #expect(facts.farEnd == FarEnd(namespace: id, ifindex: 2))
    }
    for odd in [Bytes.little(Int32(-1)), [1, 2], []] {
      let facts = facts(of: edge.parse(Bytes.message(newLink, Bytes.link() + veth + Bytes.attribute(37, odd))).link)
      #expect(facts.lowerIsElsewhere && facts.farEnd == nil)
    }
  }

  @Test("a namespace that begins or ends is told by its id")
  func namespaces() {
    for (type, expected) in [(newNamespace, Int32(LS_NAMESPACE)), (delNamespace, Int32(LS_NAMESPACE_GONE))] {
      for id in [0, 5, Int32.max] {
        let parsed = edge.parse(Bytes.message(type, Bytes.general + Bytes.attribute(1, Bytes.little(id))))
        #expect(parsed.result == expected && parsed.namespace == id)
      }
    }
  }

  @Test("a message of a namespace without a usable id is of no concern, and one that does not fit is refused")
  func oddNamespaces() {
    let without = [
      [], Bytes.attribute(1, Bytes.little(Int32(-1))), Bytes.attribute(1, [1, 2]), Bytes.attribute(2, [1]),
    ]
    for attributes in without {
      let parsed = edge.parse(Bytes.message(delNamespace, Bytes.general + attributes))
      #expect(parsed.result == LS_IGNORED && parsed.outputsUntouched)
    }
    let whole = Bytes.message(delNamespace, Bytes.general + Bytes.attribute(1, Bytes.little(Int32(5))))
    for length in 0..<whole.count {
      let cut = edge.parse(whole.prefix(length))
      #expect(cut.result == -EBADMSG && cut.outputsUntouched)
    }
    for length in [0, 3, 9, 65535] as [UInt16] {
      var message = whole
      message.replaceSubrange(20..<22, with: Bytes.little(length))
      let odd = edge.parse(message)
      #expect(odd.result == -EBADMSG && odd.outputsUntouched)
    }
  }

  @Test("alternative names are kept up to the bound, and over-long texts are cut")
  func boundedTexts() {
    let altnames = (0..<12).flatMap { Bytes.attribute(53, Array("alt\($0)\0".utf8)) }
    let body =
      Bytes.link() + Bytes.attribute(52 | 0x8000, altnames) + Bytes.attribute(3, Array(repeating: 0x61, count: 200))
      + Bytes.attribute(20, Array(repeating: 0x62, count: 1000)) + Bytes.attribute(1, Array(repeating: 3, count: 100))
    let facts = facts(of: edge.parse(Bytes.message(newLink, body)).link)
    #expect(facts.altnames.map(\.escaped) == (0..<8).map { "alt\($0)" })
    #expect(facts.name.bytes.count == 15)
    #expect(facts.alias.count == 255)
    #expect(facts.address.count == 32)
  }

  @Test("what IFLA_INFO_DATA says of a tun is read for that kind alone")
  func tunType() {
    for (kind, expected) in [("tun", UInt8(2)), ("vlan", 0)] {
      let info = Bytes.attribute(1, Array("\(kind)\0".utf8)) + Bytes.attribute(2, Bytes.attribute(3, [2]))
      let parsed = edge.parse(Bytes.message(newLink, Bytes.link() + Bytes.attribute(18, info)))
      #expect(parsed.link.tun_type == expected)
    }
  }

  @Test("a name need not be UTF-8")
  func rawName() {
    let body = Bytes.link() + Bytes.attribute(3, [0x77, 0xFF, 0x07, 0])
    #expect(facts(of: edge.parse(Bytes.message(newLink, body)).link).name.escaped == "w%FF%07")
  }
}
