// How figures and times are written, against the table of cases that the page's script must pass too.
import Foundation
import Testing

@testable import TallyRender

@Suite struct FormattingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var value: String
    var unit: String
    var decimals: Int
    var expected: String
    var testDescription: String { "\(value) \(unit) \(decimals)" }
  }

  static let cases: [Case] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("formatting.tsv")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.components(separatedBy: "\t")
      return Case(value: fields[0], unit: fields[1], decimals: Int(fields[2]) ?? -1, expected: fields[3])
    }
  }()

  @Test("The table of cases was found and has its cases")
  func table() {
    #expect(Self.cases.count > 100)
  }

  @Test("A figure is written as the table says", arguments: cases)
  func figure(_ row: Case) throws {
    let number = try #require(Double(row.value))
    let scale = try #require(
      row.unit == "coverage" || row.unit == "bit/s"
        ? .iec : ByteScale(rawValue: row.unit.replacingOccurrences(of: "/s", with: "")))
    let units = Units(scale: scale, ratesInBits: row.unit == "bit/s", decimals: row.decimals)
    let written =
      if row.unit == "coverage" {
        writtenCoverage(number)
      } else if row.unit.hasSuffix("/s") {
        units.rate(number)
      } else {
        units.amount(try #require(UInt64(row.value)))
      }
    #expect(written == row.expected)
  }

  @Test("No amount, whatever its size, shows a whole step of its unit")
  func noOverflowingUnit() {
    for scale in [ByteScale.iec, .si] {
      for decimals in 0...3 {
        let units = Units(scale: scale, decimals: decimals)
        for power in 0..<64 {
          for value in [UInt64(1) << power, (UInt64(1) << power) &- 1, UInt64(1) << power | 1] {
            let number = Double(units.amount(value).prefix { $0 != " " }) ?? .infinity
            #expect(number < (scale == .iec ? 1024 : 1000), "\(value) \(units)")
          }
        }
      }
    }
  }

  @Test("A rate that is no rate is a question mark", arguments: [-1, .nan, .infinity, -.infinity, 1e300])
  func oddRates(rate: Double) {
    #expect(Units().rate(rate) == "?")
    #expect(Units(ratesInBits: false).rate(rate) == "?")
    #expect(writtenCoverage(.nan) == "?")
  }

  @Test(
    "A length of time is written in its two largest units",
    arguments: [
      (0, "0.0 s"), (0.29, "0.2 s"), (9.99, "9.9 s"), (10, "10 s"), (59.9, "59 s"), (60, "1 min"), (185, "3 min 5 s"),
      (7800, "2 h 10 min"), (273_600, "3 d 4 h"),
      (-1, "?"), (.nan, "?"), (1e300, "?"),
    ])
  func duration(seconds: Double, written: String) {
    #expect(writtenDuration(seconds) == written)
  }

  @Test(
    "Times are read with their offset",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-11-30T14:05:17+01:00", 1_796_043_917),
      ("2000-02-29T23:59:60-11:30", 951_910_200),
      ("1969-12-31T23:59:59.5Z", -0.5), ("0000-01-01T00:00:00Z", -62_167_219_200),
      ("9999-12-31T00:00:00Z", 253_402_214_400),
    ])
  func times(text: String, seconds: Double) {
    #expect(Timestamp(text)?.seconds == seconds)
  }

  @Test(
    "What is no time is shown as it is, without its control characters",
    arguments: [
      "", "now", "2026-13-01T00:00:00Z", "2026-11-30 14:05:17Z", "2026-11-30T14:05:17", "2026-11-30T14:05:17.Z",
      "\u{1B}[2J",
    ])
  func noTimes(text: String) {
    #expect(Timestamp(text) == nil)
    #expect(writtenTime(text) == displayed(text))
  }
}
