// Local periods in zones that do odd things, against values from an independent implementation and as properties.

import Foundation
import TallyCore
import Testing

@testable import LinkSource

/// All tests that set the process's time zone, one after the other.
@Suite(
  "Local time", .serialized, .enabled(if: zonesAreInstalled, "install tzdata: no time zones in /usr/share/zoneinfo"))
struct LocalTimeTests {}

/// With CI=true the tests run and fail instead of being skipped.
private let zonesAreInstalled =
  FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Pacific/Apia")
  || ProcessInfo.processInfo.environment["CI"] == "true"

/// Runs the body in a time zone, and puts the old one back.
func inZone<T>(_ zone: String, _ body: () throws -> T) rethrows -> T {
  let before = getenv("TZ").map { String(cString: $0) }
  setenv("TZ", zone, 1)
  tzset()
  defer {
    if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
    tzset()
  }
  return try body()
}

struct OddDay: Sendable {
  var zone: String
  var date: String
  /// UTC second of its start.
  var start: Int64
  var minutes: Int64
}

private let oddDays = [
  OddDay(zone: "UTC", date: "2026-02-28", start: 1_772_236_800, minutes: 1440),
  OddDay(zone: "Europe/Berlin", date: "2026-03-29", start: 1_774_738_800, minutes: 1380),
  OddDay(zone: "Europe/Berlin", date: "2026-10-25", start: 1_792_879_200, minutes: 1500),
  OddDay(zone: "America/Sao_Paulo", date: "2018-11-04", start: 1_541_300_400, minutes: 1380),  // from 01:00
  OddDay(zone: "America/Sao_Paulo", date: "2018-02-17", start: 1_518_832_800, minutes: 1500),
  OddDay(zone: "Africa/Cairo", date: "2024-04-26", start: 1_714_082_400, minutes: 1380),  // from 01:00
  OddDay(zone: "Africa/Cairo", date: "2024-10-31", start: 1_730_322_000, minutes: 1500),
  OddDay(zone: "America/Havana", date: "2024-03-10", start: 1_710_046_800, minutes: 1380),  // from 01:00
  OddDay(zone: "America/Havana", date: "2024-11-03", start: 1_730_606_400, minutes: 1500),  // midnight twice
  OddDay(zone: "Asia/Beirut", date: "2024-03-31", start: 1_711_836_000, minutes: 1380),  // from 01:00
  OddDay(zone: "America/Asuncion", date: "2023-10-01", start: 1_696_132_800, minutes: 1380),  // from 01:00
  OddDay(zone: "Australia/Lord_Howe", date: "2025-10-05", start: 1_759_584_600, minutes: 1410),
  OddDay(zone: "Australia/Lord_Howe", date: "2026-04-05", start: 1_775_307_600, minutes: 1470),
  OddDay(zone: "Asia/Kathmandu", date: "2026-01-01", start: 1_767_204_900, minutes: 1440),
  OddDay(zone: "Asia/Kolkata", date: "2026-01-01", start: 1_767_205_800, minutes: 1440),
  OddDay(zone: "Pacific/Chatham", date: "2026-04-05", start: 1_775_297_700, minutes: 1500),
  OddDay(zone: "Pacific/Apia", date: "2011-12-29", start: 1_325_152_800, minutes: 1440),
  OddDay(zone: "Pacific/Apia", date: "2011-12-31", start: 1_325_239_200, minutes: 1440),  // no 30th before it
  OddDay(zone: "America/St_Johns", date: "2010-11-06", start: 1_289_010_600, minutes: 1440),
  OddDay(zone: "America/St_Johns", date: "2010-11-07", start: 1_289_097_000, minutes: 1500),  // back over midnight
  OddDay(zone: "Antarctica/Troll", date: "2025-03-30", start: 1_743_292_800, minutes: 1320),
  OddDay(zone: "Antarctica/Troll", date: "2025-10-26", start: 1_761_429_600, minutes: 1560),
]

extension LocalTimeTests {
  @Test("days start and end where an independent implementation says", arguments: oddDays)
  func days(day: OddDay) throws {
    try inZone(day.zone) {
      let calendar = localCalendar()
      let end = day.start + day.minutes * 60
      for time in [day.start, day.start + 1, day.start + day.minutes * 30, end - 1] {
        #expect(calendar.start(.day, time) == day.start)
        #expect(calendar.next(.day, time) == end)
      }
      #expect(calendar.next(.day, day.start - 1) == day.start)
      #expect(calendar.start(.day, end) == end)
      let period = try parsePeriod(from: day.date, to: day.date, now: end)
      #expect(period == Period(from: day.start, to: end))
    }
  }

  @Test("a date that a zone left out is empty, and the day after it starts at the change")
  func skippedDay() throws {
    try inZone("Pacific/Apia") {
      let change: Int64 = 1_325_239_200
      let now: Int64 = change + 86_400
      let skipped = try parsePeriod(from: "2011-12-30", to: "2011-12-30", now: now)
      let yesterday = try parsePeriod("yesterday", now: now)
      #expect(skipped == Period(from: change, to: change))
      #expect(yesterday == Period(from: change, to: now))
    }
  }

  @Test("a mktime-like call before does not move a midnight that comes twice")
  func midnightTwice() {
    inZone("America/Havana") {
      let calendar = localCalendar()
      for other: Int64 in [1_704_085_200, 1_719_806_400] {
        _ = calendar.start(.month, other)
        var fields = tm()
        var time = time_t(other)
        localtime_r(&time, &fields)
        _ = mktime(&fields)
        #expect(calendar.start(.day, 1_730_606_400 + 5000) == 1_730_606_400)
      }
    }
  }

  @Test("an hour that comes twice is two, and a half-hour change cuts an hour")
  func hours() {
    func starts(_ zone: String, from: Int64, to: Int64) -> [Int64] {
      inZone(zone) {
        let calendar = localCalendar()
        var starts = [calendar.start(.hour, from)]
        while let last = starts.last, last < to { starts.append(calendar.next(.hour, last)) }
        return starts.map { $0 - from }
      }
    }
    // 2026-10-25 in Berlin: 01:00, 02:00 +02:00, 02:00 +01:00, 03:00.
    #expect(starts("Europe/Berlin", from: 1_792_882_800, to: 1_792_893_600) == [0, 3600, 7200, 10800])
    // 2026-04-05 on Lord Howe: 01:00 +11:00, then 01:30 +10:30 for half an hour, 02:00.
    #expect(starts("Australia/Lord_Howe", from: 1_775_311_200, to: 1_775_316_600) == [0, 3600, 5400])
    // 2025-10-05 on Lord Howe: 01:00 +10:30, then 02:30 +11:00 for half an hour, 03:00.
    #expect(starts("Australia/Lord_Howe", from: 1_759_588_200, to: 1_759_593_600) == [0, 3600, 5400])
    // Kathmandu is 5:45 ahead: its hours start at a quarter past of UTC.
    #expect(starts("Asia/Kathmandu", from: 1_767_204_900, to: 1_767_212_100) == [0, 3600, 7200])
  }

  @Test("months and years are whole ones of the local calendar")
  func monthsAndYears() {
    inZone("Europe/Berlin") {
      let calendar = localCalendar()
      let july: Int64 = 1_782_856_800  // 2026-07-01T00:00+02:00
      #expect(calendar.start(.month, july) == july && calendar.start(.month, july - 1) == 1_780_264_800)
      #expect(calendar.next(.month, july) == july + 31 * 86_400)
      #expect(calendar.start(.year, july) == 1_767_222_000)
      #expect(calendar.next(.year, july) == 1_798_758_000)
    }
  }

  @Test(
    "periods follow each other without gap or overlap in every zone",
    arguments: [
      "UTC", "Europe/Berlin", "America/Sao_Paulo", "Africa/Cairo", "America/Havana", "Australia/Lord_Howe",
      "Pacific/Apia", "Pacific/Chatham", "Asia/Kathmandu", "Asia/Tehran", "America/St_Johns", "America/New_York",
      "Antarctica/Troll", "Africa/Casablanca", "Asia/Gaza", "Pacific/Kiritimati", "America/Scoresbysund",
    ])
  func partition(zone: String) {
    inZone(zone) {
      let calendar = localCalendar()
      var random = Seeded(state: 42)
      for _ in 0..<100 {
        let time = Int64.random(in: 946_684_800..<1_893_456_000, using: &random)
        for resolution in Resolution.allCases {
          let start = calendar.start(resolution, time)
          let next = calendar.next(resolution, time)
          #expect(start <= time && time < next)
          #expect(calendar.start(resolution, start) == start && calendar.next(resolution, start) == next)
          #expect(calendar.start(resolution, next) == next)
          #expect(calendar.start(resolution, next - 1) == start && calendar.next(resolution, next - 1) == next)
          let within = Int64.random(in: start..<next, using: &random)
          #expect(calendar.start(resolution, within) == start && calendar.next(resolution, within) == next)
          // Days are folded from stored five minutes, which are those of UTC.
          if resolution != .minute { #expect(start % 300 == 0 || zone == "America/St_Johns") }
        }
      }
    }
  }

  @Test("days nest in months and months in years")
  func nesting() {
    inZone("Africa/Cairo") {
      let calendar = localCalendar()
      var day: Int64 = calendar.start(.year, 1_700_000_000)
      for _ in 0..<1000 {
        if calendar.start(.year, day) == day { #expect(calendar.start(.month, day) == day) }
        #expect(calendar.next(.day, day) <= calendar.next(.month, day))
        #expect(calendar.next(.month, day) <= calendar.next(.year, day))
        day = calendar.next(.day, day)
      }
    }
  }

  @Test("no time is too far off", arguments: [Int64.min, -1, 0, .max])
  func extremes(time: Int64) {
    inZone("America/New_York") {
      let calendar = localCalendar()
      for resolution in Resolution.allCases {
        #expect(calendar.start(resolution, time) < calendar.next(resolution, time))
      }
      _ = rfc3339(time)
      _ = try? parsePeriod("this-week", now: time)
    }
  }

  @Test("moments are written with the local offset, rounded down")
  func text() {
    inZone("Europe/Berlin") {
      #expect(rfc3339(0) == "1970-01-01T01:00:00+01:00")
      #expect(rfc3339(1_780_207_200 * Moment.second + 999_999_999) == "2026-05-31T08:00:00+02:00")
      #expect(rfc3339(1_780_207_200_123_456_789, fraction: 3) == "2026-05-31T08:00:00.123+02:00")
      #expect(rfc3339(-1, fraction: 9) == "1970-01-01T00:59:59.999999999+01:00")
      #expect(rfc3339(-1, fraction: 99) == "1970-01-01T00:59:59.999999999+01:00")
    }
    inZone("America/St_Johns") { #expect(rfc3339(1_767_225_600 * Moment.second) == "2025-12-31T20:30:00-03:30") }
    inZone("UTC") { #expect(rfc3339(0) == "1970-01-01T00:00:00+00:00") }
    // Liberia was 44 minutes and 30 seconds behind: the format has no seconds, the moment stays.
    inZone("Africa/Monrovia") { #expect(rfc3339(0) == "1969-12-31T23:15:00-00:45") }
  }

  @Test("the zone has a name, however it was set")
  func zoneName() throws {
    for (value, name) in [
      ("Europe/Berlin", "Europe/Berlin"), (":Asia/Kolkata", "Asia/Kolkata"), ("", "UTC"),
      ("EST5EDT,M3.2.0", "EST5EDT,M3.2.0"),
      ("/usr/share/zoneinfo/Africa/Cairo", "Africa/Cairo"),
    ] { inZone(value) { #expect(timeZoneName() == name) } }
    try withoutZoneVariable {
      try withTemporaryFolder { folder in
        let link = folder.appendingPathComponent("localtime").path
        let file = folder.appendingPathComponent("timezone").path
        try Data("Asia/Tokyo\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(timeZoneName(localtime: link, timezone: file) == "Asia/Tokyo")
        try FileManager.default.createSymbolicLink(
          atPath: link, withDestinationPath: "/usr/share/zoneinfo/America/Havana")
        #expect(timeZoneName(localtime: link, timezone: file) == "America/Havana")
        #expect(!timeZoneName(localtime: "/none", timezone: "/none").isEmpty)
      }
    }
  }

  @Test("a zone that is changed by TZ or by another file is noticed once")
  func zoneWatch() throws {
    inZone("UTC") {
      var watch = ZoneWatch()
      #expect(changes(&watch) == [false, false])
      setenv("TZ", "Asia/Kolkata", 1)
      #expect(changes(&watch) == [true, false])
      #expect(rfc3339(0) == "1970-01-01T05:30:00+05:30")
    }
    try withoutZoneVariable {
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("localtime")
        var watch = ZoneWatch(localtime: file.path)
        #expect(changes(&watch) == [false, false])
        try Data("TZif".utf8).write(to: file)
        #expect(changes(&watch) == [true, false])
        try FileManager.default.removeItem(at: file)
        #expect(changes(&watch) == [true, false])
      }
    }
  }
}

/// What two refreshes say, one after the other.
private func changes(_ watch: inout ZoneWatch) -> [Bool] { [watch.refresh(), watch.refresh()] }

private func withoutZoneVariable(_ body: () throws -> Void) rethrows {
  try inZone("UTC") {
    unsetenv("TZ")
    tzset()
    try body()
  }
}

/// A seeded generator: the same numbers in every run.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
