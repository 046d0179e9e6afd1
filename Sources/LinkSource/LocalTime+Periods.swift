// Periods as people write them: words, durations and ISO 8601, into UTC seconds.
import TallyCore

/// A span of time in UTC seconds, `from` inclusive, `to` exclusive.
package struct Period: Hashable, Sendable {
  package var from: Int64
  package var to: Int64

  package init(from: Int64, to: Int64) {
    self.from = from
    self.to = to
  }
}

/// Why a period could not be understood; the description tells what to write instead.
package enum PeriodError: Error, Hashable, Sendable, CustomStringConvertible {
  case unreadable(String)
  case noSuchDate(String)
  case yearOutOfRange(String)
  case endsBeforeItStarts(from: Int64, to: Int64)

  package var description: String {
    switch self {
    case .unreadable(let text):
      "\(quoted(text)) is no time: write \(Word.allCases.map(\.rawValue).joined(separator: ", ")), a duration such as 90m, "
        + "24h, 7d or 2w, or an ISO 8601 date or date-time such as 2026-05-31 or 2026-05-31T08:00+02:00"
    case .noSuchDate(let text): "\(quoted(text)): the calendar or the clock has no such time"
    case .yearOutOfRange(let text): "\(quoted(text)): the year must be 1970 to 9999"
    case .endsBeforeItStarts(let from, let to):
      "the period ends (\(rfc3339(seconds: to))) before it starts (\(rfc3339(seconds: from)))"
    }
  }
}

/// The period from `from` to `to`, each a word, a duration back from now, or ISO 8601; in local time where no offset is
/// given. Weeks start on Monday.
///
/// `from` counts from the start of what it names, `to` up to its end. Without `to`: a word that names a period is that
/// period, all else reaches until now, with what this second has brought. Without `from`: all up to `to`. `now` is in UTC
/// seconds.
package func parsePeriod(from: String?, to: String?, now: Int64) throws(PeriodError) -> Period {
  let start: Span = if let from { try parse(from, now: now) } else { Word.all.span(now: now) }
  let end: Int64 = if let to { try parse(to, now: now).to } else { start.isNamed ? start.to : now + 1 }
  guard start.from <= end else { throw .endsBeforeItStarts(from: start.from, to: end) }
  return Period(from: start.from, to: end)
}

/// The period that one text names: `parsePeriod` with `from` alone.
package func parsePeriod(_ text: String, now: Int64) throws(PeriodError) -> Period {
  try parsePeriod(from: text, to: nil, now: now)
}

/// What a text names: an instant when both are equal.
private struct Span {
  var from: Int64
  var to: Int64
  /// It is a period by itself, not a point to count from.
  var isNamed = false
}

private enum Word: String, CaseIterable {
  case today, yesterday
  case thisWeek = "this-week"
  case thisMonth = "this-month"
  case lastMonth = "last-month"
  case thisYear = "this-year"
  case all, now

  func span(now: Int64) -> Span {
    let date = LocalDate(at: now)
    func span(_ resolution: Resolution, _ first: Int, _ end: Int) -> Span {
      Span(from: date.start(of: resolution, after: first), to: date.start(of: resolution, after: end), isNamed: true)
    }
    switch self {
    case .today: return span(.day, 0, 1)
    case .yesterday: return span(.day, -1, 0)
    case .thisWeek: return span(.day, -date.weekday, 7 - date.weekday)
    case .thisMonth: return span(.month, 0, 1)
    case .lastMonth: return span(.month, -1, 0)
    case .thisYear: return span(.year, 0, 1)
    case .all: return Span(from: 0, to: now + 1)
    case .now: return Span(from: now, to: now + 1)
    }
  }
}

private func parse(_ text: String, now: Int64) throws(PeriodError) -> Span {
  if let word = Word(rawValue: text) { return word.span(now: now) }
  if let length = duration(text) {
    let start = max(0, now - length)
    return Span(from: start, to: start)
  }
  var scanner = Scanner(text)
  guard let span = try scanner.span() else { throw .unreadable(text) }
  return span
}

/// Seconds of "90m", "24h", "7d", "2w"; at most 7 digits.
private func duration(_ text: String) -> Int64? {
  let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400, "w": 604_800]
  guard let unit = text.last.flatMap({ units[$0] }), (2...8).contains(text.utf8.count) else { return nil }
  let digits = text.dropLast()
  guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(digits), number > 0 else { return nil }
  return number * unit
}

/// Reads ISO 8601: a year, a month, a date, or a date and time.
private struct Scanner {
  private let text: String
  private var rest: Substring.UTF8View

  init(_ text: String) {
    self.text = text
    rest = text[...].utf8
  }

  /// nil when it is something else.
  mutating func span() throws(PeriodError) -> Span? {
    guard text.utf8.count <= 40, let year = digits(4) else { return nil }
    if rest.isEmpty { return try span(year, 1, 1, .year) }
    guard take("-"), let month = digits(2) else { return nil }
    if rest.isEmpty { return try span(year, month, 1, .month) }
    guard take("-"), let day = digits(2) else { return nil }
    if rest.isEmpty { return try span(year, month, day, .day) }
    guard take("T") || take("t") || take(" "), let seconds = try timeOfDay(), let zone = try zone() else { return nil }
    try check(year, month, day)
    let local = localSeconds(year, month, day, seconds: seconds)
    let instant = max(0, zone.map { local - $0 } ?? instant(ofLocal: local))
    return Span(from: instant, to: instant)
  }

  private func span(_ year: Int, _ month: Int, _ day: Int, _ resolution: Resolution) throws(PeriodError) -> Span {
    try check(year, month, day)
    var date = LocalDate(at: 0)
    (date.year, date.month, date.day) = (year, month, day)
    return Span(from: max(0, date.start(of: resolution)), to: max(0, date.start(of: resolution, after: 1)))
  }

  private func check(_ year: Int, _ month: Int, _ day: Int) throws(PeriodError) {
    guard (1970...9999).contains(year) else { throw .yearOutOfRange(text) }
    guard (1...12).contains(month), (1...31).contains(day),
      fields(ofUTC: localSeconds(year, month, day)).tm_mday == Int32(day)
    else { throw .noSuchDate(text) }
  }

  /// Seconds since midnight of HH:MM[:SS[.fraction]]; the fraction is dropped, a leap second is the next second.
  private mutating func timeOfDay() throws(PeriodError) -> Int64? {
    guard let hour = digits(2), take(":"), let minute = digits(2) else { return nil }
    var second = 0
    if take(":") {
      guard let number = digits(2) else { return nil }
      second = number
      if take(".") {
        guard digits(1) != nil else { return nil }
        while digits(1) != nil {}
      }
    }
    guard hour < 24, minute < 60, second <= 60 else { throw .noSuchDate(text) }
    return Int64(hour * 3600 + minute * 60 + second)
  }

  /// Seconds ahead of UTC of Z, ±HH, ±HHMM or ±HH:MM up to the end of the text; .some(nil) when none is given: local.
  private mutating func zone() throws(PeriodError) -> Int64?? {
    if rest.isEmpty { return .some(nil) }
    if take("Z") || take("z") { return rest.isEmpty ? .some(0) : nil }
    let isWest = take("-")
    // A plus sign in a URL that nobody escaped arrives as a space.
    guard isWest || take("+") || take(" "), let hours = digits(2) else { return nil }
    var minutes = 0
    if !rest.isEmpty {
      _ = take(":")
      guard let number = digits(2) else { return nil }
      minutes = number
    }
    guard rest.isEmpty else { return nil }
    guard hours < 24, minutes < 60 else { throw .noSuchDate(text) }
    let offset = Int64(hours * 3600 + minutes * 60)
    return .some(isWest ? -offset : offset)
  }

  private mutating func digits(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
  }

  private mutating func take(_ character: UnicodeScalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }
}

/// Somebody else's text in a message: short, and without control characters.
private func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(40).map { $0.properties.generalCategory == .control ? "?" : String($0) }
  return "\"" + shown.joined() + (text.unicodeScalars.count > 40 ? "…" : "") + "\""
}
