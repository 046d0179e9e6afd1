// Text on a terminal: nothing in a name may act there, and columns stay in line.

import TallyWire
import Testing

@testable import TallyRender

@Suite struct DisplayTextTests {
  @Test(
    "Characters that act on a terminal are shown as their bytes",
    arguments: [
      ("\u{1B}[31m", "%1B[31m"), ("a\r\nb", "a%0D%0Ab"), ("\u{9B}1m", "%C2%9B1m"), ("\u{7F}", "%7F"),
      ("a\u{202E}b", "a%E2%80%AEb"), ("\u{200B}", "%E2%80%8B"), ("\u{2028}", "%E2%80%A8"), ("a\tb", "a%09b"),
      ("plain-0.1@2", "plain-0.1@2"), ("网络", "网络"), ("%1B", "%1B"),
    ])
  func escaped(text: String, shown: String) {
    #expect(displayed(text) == shown)
    #expect(displayed(shown) == shown)
  }

  @Test("No scalar below U+3000 comes out able to act")
  func sweep() {
    for value in 0..<UInt32(0x3000) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for out in displayed(String(Character(scalar))).unicodeScalars {
        #expect(out.value >= 0x20 && !(0x7F...0x9F).contains(out.value))
      }
    }
  }

  @Test(
    "Width counts columns, not characters",
    arguments: [
      ("", 0), ("eth0", 4), ("网络0", 5), ("e\u{301}", 1), ("ｗ", 2), ("🦊", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
      ("≥ 1", 3), ("…", 1), ("é", 1),
    ])
  func widths(text: String, width: Int) {
    #expect(displayWidth(text) == width)
  }

  @Test("Cut text never exceeds its limit, also when a wide character stands on the border", arguments: 0...8)
  func cut(limit: Int) {
    for text in ["网络网络", "abcdefgh", "a网b络", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"] {
      #expect(displayWidth(fitted(text, to: limit, ellipsis: "…")) <= limit)
    }
    #expect(fitted("abcd", to: 4, ellipsis: "…") == "abcd")
    #expect(fitted("abcde", to: 4, ellipsis: "…") == "abc…")
  }

  @Test("Wrapped lines keep every word and stay within the limit")
  func wrap() {
    let text = "one two three four five six seven"
    for limit in 8...40 {
      let lines = wrapped(text, to: limit, indent: "  ")
      #expect(lines.allSatisfy { displayWidth($0) <= limit })
      #expect(lines.joined(separator: " ").split(separator: " ").joined(separator: " ") == text)
    }
  }
}
