// Answers of generic netlink about a radio link, as plain bytes: well formed, broken, and cut anywhere.

import CLinkStats
import Testing

/// The bytes of one message in the order of this machine.
private func message(type: UInt16, _ body: [UInt8], length: UInt32? = nil) -> [UInt8] {
  let header =
    bytes(length ?? UInt32(16 + body.count)) + bytes(type) + bytes(UInt16(0)) + bytes(UInt32(0)) + bytes(UInt32(0))
  return header + body
}

private func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

private func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
  let attribute = bytes(UInt16(4 + payload.count)) + bytes(type) + payload
  return attribute + [UInt8](repeating: 0, count: (4 - attribute.count % 4) % 4)
}

private let genericHeader: [UInt8] = [7, 1, 0, 0]
private let family: UInt16 = 30

/// The mode, or the error.
private func parse(_ bytes: [UInt8]) -> Int32 {
  var found = ls_wireless()
  let code = withAligned(bytes) { ls_wireless_parse($0.baseAddress, $0.count, family, 5, &found) }
  return code < 0 ? code : Int32(found.mode)
}

private func network(_ bytes: [UInt8]) -> [UInt8]? {
  var found = ls_wireless()
  let code = withAligned(bytes) { ls_wireless_parse($0.baseAddress, $0.count, family, 5, &found) }
  return code < 0 ? nil : withUnsafeBytes(of: found.ssid) { Array($0.prefix(Int(found.ssid_length))) }
}

private func withAligned<T>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> T) -> T {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
  defer { copy.deallocate() }
  copy.copyBytes(from: bytes)
  return body(UnsafeRawBufferPointer(copy))
}

@Suite("nl80211 answers")
struct KindsWirelessTests {
  private let answer = message(
    type: family,
    genericHeader + attribute(3, bytes(UInt32(5))) + attribute(4, Array("wlan0\0".utf8))
      + attribute(5, bytes(UInt32(3))))

  @Test("the mode of the link that was asked for is found")
  func mode() { #expect(parse(answer) == 3) }

  @Test("the network's name is any bytes up to 32; a longer one is none")
  func networkName() {
    #expect(network(answer) == [])
    let start = genericHeader + attribute(3, bytes(UInt32(5))) + attribute(5, bytes(UInt32(2)))
    for name in [Array("Café 3".utf8), [0, 255, 37], [UInt8](repeating: 65, count: 32)] {
      #expect(network(message(type: family, start + attribute(52, name))) == name)
    }
    #expect(network(message(type: family, start + attribute(52, [UInt8](repeating: 65, count: 33)))) == [])
  }

  @Test("an answer of another family, about another link, or without a mode is refused")
  func refused() {
    let other = message(type: 31, Array(answer.dropFirst(16)))
    let otherLink = message(
      type: family, genericHeader + attribute(3, bytes(UInt32(6))) + attribute(5, bytes(UInt32(3))))
    let noMode = message(type: family, genericHeader + attribute(3, bytes(UInt32(5))))
    let shortMode = message(type: family, genericHeader + attribute(3, bytes(UInt32(5))) + attribute(5, [3]))
    let hugeMode = message(
      type: family, genericHeader + attribute(3, bytes(UInt32(5))) + attribute(5, bytes(UInt32.max)))
    for wrong in [other, otherLink, noMode, shortMode, hugeMode] { #expect(parse(wrong) < 0) }
  }

  @Test("the kernel's error is given back, and an odd one refused")
  func kernelError() {
    #expect(parse(message(type: 2, bytes(Int32(-19)))) == -19)
    for odd in [Int32(0), 5, .min, .max] { #expect(parse(message(type: 2, bytes(odd))) < 0) }
    #expect(parse(message(type: 2, [1])) < 0)
  }

  @Test("the family's id is found, also behind a hundred other attributes")
  func familyID() {
    let many = (0..<100).flatMap { _ in attribute(6, [UInt8](repeating: 1, count: 9)) }
    let answer = message(type: 16, genericHeader + many + attribute(1, bytes(UInt16(28))))
    #expect(withAligned(answer) { ls_wireless_parse_family($0.baseAddress, $0.count) } == 28)
  }

  @Test("a message cut or lied about at any length is refused, never read past")
  func cut() {
    for length in 0..<answer.count { #expect(parse(Array(answer.prefix(length))) < 0) }
    for claimed in [0, 1, 15, UInt32(answer.count + 1), .max] {
      #expect(parse(bytes(claimed) + answer.dropFirst(4)) < 0)
    }
    for claimed in UInt16.min...300 {
      var lying = answer
      lying.replaceSubrange(20..<22, with: bytes(claimed))
      _ = parse(lying)
    }
  }
}
