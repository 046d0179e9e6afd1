// Periods as people write them, and what they are told when nobody can read it.

import TallyCore
import Testing

@testable import LinkSource

/// Wednesday, 2026-05-20 15:30:10 in Berlin.
private let now: Int64 = 1_779_283_810
private let midnight: Int64 = 1_779_228_000

extension LocalTimeTests {
  private func period(_ text: String) throws -> Period {
    try inZone("Europe/Berlin") { try parsePeriod(text, now: now) }
  }
  private func period(from: String?, to: String?) throws -> Period {
    try inZone("Europe/Berlin") { try parsePeriod(from: from, to: to, now: now) }
  }
  private func message(_ text: String) -> String {
    inZone("Europe/Berlin") {
      do { return "\(try parsePeriod(text, now: now))" } catch { return "\(error)" }
    }
  }

  @Test("words name whole local periods, weeks start on Monday")
  func words() throws {
    let day: Int64 = 86_400
    for (word, from, to) in [
      ("today", midnight, midnight + day), ("yesterday", midnight - day, midnight),
      ("this-week", midnight - 2 * day, midnight + 5 * day),
      ("this-month", midnight - 19 * day, midnight + 12 * day),
      ("last-month", midnight - 49 * day, midnight - 19 * day),
      ("this-year", 1_767_222_000, 1_798_758_000), ("all", 0, now + 1), ("now", now, now + 1),
    ] { #expect(try period(word) == Period(from: from, to: to), "\(word)") }
  }

  @Test("until now is with what this second has brought, also in the first of a minute")
  func presentSecond() throws {
    let minute = now / 60 * 60
    for text in ["2h", "2026-05-01", "all", "now"] {
      let end = try inZone("Europe/Berlin") { try parsePeriod(from: text, to: nil, now: minute).to }
      #expect(end > minute)
    }
    let until = try inZone("Europe/Berlin") { try parsePeriod(from: "2h", to: "now", now: minute).to }
    #expect(until > minute)
  }

  @Test("durations reach back from now")
  func durations() throws {
    for (text, seconds) in [("90m", 5400), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), ("1m", 60)]
      as [(String, Int64)]
    {
      #expect(try period(text) == Period(from: now - seconds, to: now + 1))
    }
    #expect(try period("9999999w") == Period(from: 0, to: now + 1))
  }

  @Test("dates and times of ISO 8601, with and without an offset")
  func iso() throws {
    for (text, from) in [
      ("2026-05-20", midnight), ("2026-05", midnight - 19 * 86_400), ("2026", 1_767_222_000),
      ("2026-05-20T00:00", midnight), ("2026-05-20T00:00:00", midnight), ("2026-05-20 00:00", midnight),
      ("2026-05-20t00:00:00.999", midnight), ("2026-05-20T00:00:00+02:00", midnight), ("2026-05-20T00:00+02", midnight),
      ("2026-05-20T00:00:00 02:00", midnight), ("2026-05-20T00:00+0200", midnight), ("2026-05-19T22:00:00Z", midnight),
      ("2026-05-19T22:00z", midnight), ("2026-05-19T17:00-05:00", midnight), ("1970-01-01", 0),
    ] { #expect(try period(text) == Period(from: from, to: now + 1), "\(text)") }
  }

  @Test("local times that the clock skips or shows twice are the change and the first")
  func oddLocalTimes() throws {
    try inZone("Europe/Berlin") {
      let later: Int64 = 1_800_000_000
      let skipped = try parsePeriod("2026-03-29T02:30", now: later)
      let twice = try parsePeriod("2026-10-25T02:30", now: later)
      #expect(skipped.from == 1_774_746_000 && twice.from == 1_792_888_200)
    }
  }

  @Test("from counts from its start, to up to its end")
  func fromAndTo() throws {
    let day: Int64 = 86_400
    #expect(try period(from: nil, to: nil) == Period(from: 0, to: now + 1))
    #expect(try period(from: nil, to: "yesterday") == Period(from: 0, to: midnight))
    #expect(try period(from: "2026-05-18", to: "2026-05-19") == Period(from: midnight - 2 * day, to: midnight))
    #expect(try period(from: "2026-05-18", to: "now") == Period(from: midnight - 2 * day, to: now + 1))
    #expect(try period(from: "7d", to: "24h") == Period(from: now - 7 * day, to: now - day))
    #expect(try period(from: "yesterday", to: nil) == Period(from: midnight - day, to: midnight))
    #expect(try period(from: "yesterday", to: "today") == Period(from: midnight - day, to: midnight + day))
    #expect(try period(from: "last-month", to: "2026-05-10T12:00").to == midnight - 10 * day + day / 2)
  }

  @Test("what is no time is refused with what to write instead")
  func unreadable() {
    for text in [
      "", "tomorrow", "Today", "24", "h", "-5m", "0m", "1.5h", "5y", "12345678m", "2026-5-1", "20260501", "2026-05-",
      "2026/05/01",
      "2026-05-20T", "2026-05-20T12", "2026-05-20T12:00:", "2026-05-20T12:00:00.", "2026-05-20T12:00X",
      "2026-05-20T12:00+", "2026-05-20T12:00+02:00Z", "٢٠٢٦-05-20",
      "2026-05-20T12:00:00." + String(repeating: "1", count: 40),
    ] {
      #expect(message(text).contains("is no time: write today, yesterday"), "\(text)")
    }
    #expect(message("x\u{1B}[2J").hasPrefix("\"x?[2J\" is no time"))
    #expect(message(String(repeating: "y", count: 5000)).count < 400)
  }

  @Test("dates and times that do not exist are named")
  func impossible() {
    for text in [
      "2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-01-00", "2026-05-20T24:00", "2026-05-20T12:60",
      "2026-05-20T12:00:61", "2026-05-20T12:00+24:00", "2026-05-20T12:00+02:60",
    ] { #expect(message(text) == "\"\(text)\": the calendar or the clock has no such time") }
    for text in ["1969-12-31", "0000", "1582-10-15"] {
      #expect(message(text) == "\"\(text)\": the year must be 1970 to 9999")
    }
    #expect((try? period("2024-02-29")) != nil)
  }

  @Test("a period that ends before it starts is refused with both times")
  func reversed() {
    #expect(
      throws: PeriodError.endsBeforeItStarts(from: midnight, to: midnight - 86_400),
      performing: { try period(from: "today", to: "2026-05-18") })
    #expect(
      message("2030-01-01").hasPrefix("the period ends (2026-05-20T15:30:11+02:00) before it starts (2030-01-01T00"))
  }
}
