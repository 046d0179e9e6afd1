// Times of the wire (RFC 3339) as people read them, in the daemon's zone, and the seconds between two of them.

/// A time as the daemon wrote it.
package struct Timestamp: Hashable, Sendable {
  /// "2026-11-30", of the daemon's zone.
  package let date: String
  /// "01:17:12", of the daemon's zone.
  package let time: String
  /// "+01:00"; "Z" is "+00:00".
  package let offset: String
  /// Seconds since 1970-01-01 UTC, with fraction.
  package let seconds: Double

  /// nil when the text is no RFC 3339 time.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.count <= 40, bytes[4] == dash, bytes[7] == dash,
      bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t"), bytes[13] == colon, bytes[16] == colon,
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    var rest = bytes[19...]
    var fraction = 0.0
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { isDigit($0) }
      guard !digits.isEmpty, let value = Double("0." + String(decoding: digits, as: UTF8.self)) else { return nil }
      fraction = value
      rest = rest.dropFirst(1 + digits.count)
    }
    guard let offset = offsetMinutes(rest) else { return nil }
    date = String(decoding: bytes[0..<10], as: UTF8.self)
    time = String(decoding: bytes[11..<19], as: UTF8.self)
    self.offset = rest.count == 1 ? "+00:00" : String(decoding: rest, as: UTF8.self)
    let whole = daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset * 60
    seconds = Double(whole) + fraction
  }
}

/// "2026-11-30 01:17:12 +01:00"; what is no time is shown as it is.
package func writtenTime(_ text: String) -> String {
  guard let time = Timestamp(text) else { return displayed(text) }
  return "\(time.date) \(time.time) \(time.offset)"
}

/// A length of time, cut: "0.2 s", "42 s", "3 min 5 s", "2 h 10 min", "3 d 4 h".
package func writtenDuration(_ seconds: Double) -> String {
  guard seconds >= 0, seconds < 1e12 else { return "?" }
  let whole = Int(seconds)
  if whole < 10 { return "\(whole).\(Int(seconds * 10) % 10) s" }
  let parts: [(Int, String)] =
    switch whole {
    case ..<60: [(whole, "s")]
    case ..<3600: [(whole / 60, "min"), (whole % 60, "s")]
    case ..<86400: [(whole / 3600, "h"), (whole % 3600 / 60, "min")]
    default: [(whole / 86400, "d"), (whole % 86400 / 3600, "h")]
    }
  return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
    .map { "\($0.element.0) \($0.element.1)" }.joined(separator: " ")
}

private let dash = UInt8(ascii: "-")
private let colon = UInt8(ascii: ":")

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func number(_ digits: ArraySlice<UInt8>) -> Int? {
  guard digits.allSatisfy(isDigit) else { return nil }
  return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
}

private func offsetMinutes(_ text: ArraySlice<UInt8>) -> Int? {
  let bytes = Array(text)
  if bytes == [UInt8(ascii: "Z")] || bytes == [UInt8(ascii: "z")] { return 0 }
  guard bytes.count == 6, bytes[0] == dash || bytes[0] == UInt8(ascii: "+"), bytes[3] == colon,
    let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours < 24, minutes < 60
  else { return nil }
  return (bytes[0] == dash ? -1 : 1) * (hours * 60 + minutes)
}

/// Days of the proleptic Gregorian calendar; years begin in March here, so that a leap day is the last.
private func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
  let shifted = month > 2 ? year : year - 1
  let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
  return shifted * 365 + floored(shifted, 4) - floored(shifted, 100) + floored(shifted, 400) + dayOfYear - 719_468
}

private func floored(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((b - 1 - a) / b) }
