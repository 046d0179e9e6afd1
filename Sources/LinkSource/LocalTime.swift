// Local time by the C library's zone tables: where periods start, and how a moment is written.
import Glibc
package import TallyCore

/// The calendar of the process's time zone (TZ, else /etc/localtime, as last read; see `ZoneWatch`).
///
/// Periods follow each other without gap or overlap, whatever the zone does: a day starts at the first instant of its
/// date or a later one, so it may start at 01:00, last 23 or 25 hours, or be missing. An hour ends where the clock is
/// set, so an hour that comes twice is two. Minutes and five minutes are those of UTC, as every zone is off it by
/// quarter hours.
package func localCalendar() -> LocalCalendar {
  LocalCalendar(
    start: { resolution, time in localPeriod(resolution, holding: time).start },
    next: { resolution, time in localPeriod(resolution, holding: time).next })
}

private func localPeriod(_ resolution: Resolution, holding time: Int64) -> (start: Int64, next: Int64) {
  let time = clamped(time)
  switch resolution {
  case .minute: return fixedPeriod(60, holding: time)
  case .fiveMinutes: return fixedPeriod(300, holding: time)
  case .hour: return localHour(holding: time)
  case .day, .month, .year:
    let date = LocalDate(at: time)
    var step = 0
    var start = date.start(of: resolution, after: step)
    var next = date.start(of: resolution, after: step + 1)
    // A clock that is set back over midnight shows the old date again, in the day that has begun.
    while next <= time, step < 3 {
      step += 1
      (start, next) = (next, date.start(of: resolution, after: step + 1))
    }
    return (start, next)
  }
}

private func fixedPeriod(_ length: Int64, holding time: Int64) -> (start: Int64, next: Int64) {
  let start = floorDivide(time, length) * length
  return (start, start + length)
}

private func localHour(holding time: Int64) -> (start: Int64, next: Int64) {
  let offset = utcOffset(at: time)
  let start = floorDivide(time + offset, 3600) * 3600 - offset
  let next = start + 3600
  return (
    utcOffset(at: start) == offset ? start : offsetChange(after: start, upTo: time),
    utcOffset(at: next) == offset ? next : offsetChange(after: time, upTo: next)
  )
}

/// A date of the local calendar.
struct LocalDate {
  /// Of the calendar as people count: 2026, 1...12, 1...31.
  var year: Int
  var month: Int
  var day: Int
  /// 0 is Monday.
  var weekday: Int

  init(at time: Int64) {
    let time = clamped(time)
    let fields = fields(ofUTC: time + utcOffset(at: time))
    year = Int(fields.tm_year) + 1900
    month = Int(fields.tm_mon) + 1
    day = Int(fields.tm_mday)
    weekday = (Int(fields.tm_wday) + 6) % 7
  }

  /// UTC second at which this date's day, month or year starts, or the one so many steps after it.
  func start(of resolution: Resolution, after steps: Int = 0) -> Int64 {
    switch resolution {
    case .year: instant(ofLocal: localSeconds(year + steps, 1, 1))
    case .month: instant(ofLocal: localSeconds(year, month + steps, 1))
    case .minute, .fiveMinutes, .hour, .day: instant(ofLocal: localSeconds(year, month, day + steps))
    }
  }
}

/// Seconds since 1970-01-01 00:00 on the local clock itself. Months and days past their ends carry over.
func localSeconds(_ year: Int, _ month: Int, _ day: Int, seconds: Int64 = 0) -> Int64 {
  var fields = tm()
  fields.tm_year = Int32(clamping: year - 1900)
  fields.tm_mon = Int32(clamping: month - 1)
  fields.tm_mday = Int32(clamping: day)
  return Int64(timegm(&fields)) &+ seconds
}

/// The first instant at which the local clock shows this time or a later one: where it skips the time, the instant of
/// the change; where it shows the time twice, the first.
///
/// Not by mktime: which of two it gives depends on what it was asked before (seen with glibc 2.36), and a period has to
/// start where it started last time.
func instant(ofLocal local: Int64) -> Int64 {
  let before = local - 86_400  // no zone is a day off UTC
  let offset = utcOffset(at: before)
  let unchanged = local - offset
  if utcOffset(at: unchanged) == offset { return unchanged }
  let change = offsetChange(after: before, upTo: unchanged)
  return max(change, local - utcOffset(at: change))
}

/// The first second after `from` whose offset is not that of `from`; `to` at the latest, whose offset is known to differ.
private func offsetChange(after from: Int64, upTo to: Int64) -> Int64 {
  let offset = utcOffset(at: from)
  var (same, other) = (from, to)
  while other - same > 1 {
    let middle = same + (other - same) / 2
    if utcOffset(at: middle) == offset { same = middle } else { other = middle }
  }
  return other
}

/// Seconds that the local clock is ahead of UTC.
func utcOffset(at time: Int64) -> Int64 {
  var time = time_t(clamping: clamped(time))
  var fields = tm()
  return localtime_r(&time, &fields) == nil ? 0 : Int64(fields.tm_gmtoff)
}

/// Calendar fields of a UTC second; of a local one when its offset is added to it.
func fields(ofUTC time: Int64) -> tm {
  var time = time_t(clamping: clamped(time))
  var fields = tm()
  gmtime_r(&time, &fields)
  return fields
}

/// The years 1 to 9999, which every function of the C library and every format here can hold.
private func clamped(_ time: Int64) -> Int64 { min(max(time, -62_135_510_400), 253_402_214_400) }
