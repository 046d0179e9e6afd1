// Names of links come back from their text, whatever bytes the kernel lets them have.

import Testing
import Toys

@testable import TallyCore

/// What no name can hold: NUL and per cent sign (the escape), and `/`, which would leave a folder.
private let forbidden: Set<UInt8> = [0, UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: ":")]

@Suite("LinkName")
struct LinkNameTests {
  @Test(
    "plain text stays as it is",
    arguments: ["eth0", "wlan0", "br-4f1c", "-rf", "a=b,c'd\"e\\", "lö", "網路0", "🛰️", "\u{202E}oht"])
  func plain(text: String) {
    let name = LinkName(bytes: Array(text.utf8))
    #expect(name.escaped == text)
    #expect(LinkName(escaped: text) == name)
    #expect("\(name)" == text)
  }

  @Test(
    "control bytes and broken UTF-8 are written byte by byte",
    arguments: [
      ([0x01], "%01"), ([0x7F], "%7F"), ([0x61, 0x1B, 0x5B], "a%1B["), ([0xFF, 0xFE], "%FF%FE"),
      ([0xC3], "%C3"), ([0xC3, 0x28], "%C3("), ([0xE2, 0x82, 0x61], "%E2%82a"), ([0xED, 0xA0, 0x80], "%ED%A0%80"),
      ([0xF0, 0x9F, 0x9B], "%F0%9F%9B"), ([0xC0, 0xAF], "%C0%AF"), ([0xF5, 0x80], "%F5%80"),
      ([0xC3, 0xB6, 0x02], "ö%02"),
    ] as [([UInt8], String)])
  func escaped(bytes: [UInt8], text: String) {
    #expect(LinkName(bytes: bytes).escaped == text)
    #expect(LinkName(escaped: text).bytes == bytes)
  }

  @Test("every single byte that a name may hold comes back")
  func singleBytes() {
    for byte in UInt8.min...UInt8.max where !forbidden.contains(byte) {
      #expect(LinkName(escaped: LinkName(bytes: [byte]).escaped).bytes == [byte])
    }
  }

  @Test("any bytes come back, and different names have different texts", arguments: 1...8 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) {
    var random = Seeded(seed)
    // Lead bytes, continuation bytes and control bytes are drawn often, so that broken sequences really occur.
    let pools: [ClosedRange<UInt8>] = [0x61...0x7A, 0x01...0x1F, 0x80...0xBF, 0xC0...0xFF, 0x01...0xFF]
    var texts: [String: [UInt8]] = [:]
    for _ in 0..<2000 {
      let count = Int.random(in: 1...15, using: &random)
      let bytes: [UInt8] = (0..<count).map { _ in
        let pool = pools[Int.random(in: 0..<pools.count, using: &random)]
        return UInt8.random(in: pool, using: &random)
      }.filter { !forbidden.contains($0) }
      let text = LinkName(bytes: bytes).escaped
      #expect(LinkName(escaped: text).bytes == bytes)
      #expect(texts.updateValue(bytes, forKey: text) ?? bytes == bytes)
      #expect(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }
  }

  @Test("a per cent sign that starts no escape stands for itself")
  func loosePercent() {
    #expect(LinkName(escaped: "50%").bytes == Array("50%".utf8))
    #expect(LinkName(escaped: "%zz").bytes == Array("%zz".utf8))
    #expect(LinkName(escaped: "%4").bytes == Array("%4".utf8))
    #expect(LinkName(escaped: "%4a").bytes == [0x4A])
  }

  @Test("an empty name is an empty text")
  func empty() {
    #expect(LinkName(bytes: []).escaped == "")
    #expect(LinkName(escaped: "").bytes == [])
  }
}
