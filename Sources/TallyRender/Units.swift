// How amounts, rates and shares are written for people; specified case by case in Tests/formatting.tsv.

/// The scale of byte amounts.
package enum ByteScale: String, Sendable, CaseIterable {
  /// Powers of 1024: KiB, MiB ...
  case iec
  /// Powers of 1000: kB, MB ...
  case si
  /// Whole bytes.
  case bytes
}

/// The units that a person chose.
package struct Units: Hashable, Sendable {
  package var scale: ByteScale
  /// Rates in bit/s and its multiples by 1000; else in bytes a second, scaled as amounts are.
  package var ratesInBits: Bool
  /// Digits after the point of a scaled number, 0 to 3.
  package var decimals: Int

  package init(scale: ByteScale = .iec, ratesInBits: Bool = true, decimals: Int = 2) {
    self.scale = scale
    self.ratesInBits = ratesInBits
    self.decimals = min(max(decimals, 0), 3)
  }

  /// An amount of bytes.
  package func amount(_ bytes: UInt64) -> String {
    switch scale {
    case .iec: scaled(Double(bytes), step: 1024, units: iecUnits)
    case .si: scaled(Double(bytes), step: 1000, units: siUnits)
    case .bytes: "\(bytes) B"
    }
  }

  /// A rate, given in bytes a second; "?" when it is negative or not finite.
  package func rate(_ bytesPerSecond: Double) -> String {
    guard bytesPerSecond >= 0, bytesPerSecond < 1e20 else { return "?" }
    if ratesInBits { return scaled(bytesPerSecond * 8, step: 1000, units: bitUnits) + "/s" }
    return switch scale {
    case .iec: scaled(bytesPerSecond, step: 1024, units: iecUnits) + "/s"
    case .si: scaled(bytesPerSecond, step: 1000, units: siUnits) + "/s"
    case .bytes: "\(UInt64(min(rounded(bytesPerSecond), 0x1p63))) B/s"
    }
  }

  /// The first unit in which the rounded number stays below a whole step, so that nothing reads "1024.00 KiB".
  private func scaled(_ value: Double, step: Double, units: [String]) -> String {
    var size = 1.0
    for unit in units {
      let digits = size == 1 ? 0 : decimals
      let power = [1.0, 10, 100, 1000][digits]
      let number = rounded(value * power / size)
      if number < step * power || unit == units.last {
        return point(UInt64(min(number, 0x1p63)), digits: digits) + " " + unit
      }
      size *= step
    }
    return "?"
  }
}

/// Observed part of a span, cut to one decimal: only a whole span reads "100 %".
package func writtenCoverage(_ coverage: Double) -> String {
  guard coverage >= 0 else { return "?" }
  if coverage >= 1 { return "100 %" }
  // What is a whole tenth of a percent may lie a hair below it as a Double.
  return point(UInt64((coverage * 1000 + 1e-6).rounded(.down)), digits: 1) + " %"
}

private let iecUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
private let siUnits = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
private let bitUnits = ["bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"]

/// Halves go up, as in the page's script.
private func rounded(_ value: Double) -> Double { value.rounded(.toNearestOrAwayFromZero) }

/// A whole number of the last of `digits` decimals, with its point.
private func point(_ number: UInt64, digits: Int) -> String {
  let text = "\(number)"
  guard digits > 0 else { return text }
  let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
  return padded.dropLast(digits) + "." + padded.suffix(digits)
}
