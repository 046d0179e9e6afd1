// Calendars of tests: a zone is a table of offsets, as the C library's zone files are.
package import TallyCore

package let utcCalendar = zoneCalendar([(.min, 0)])

/// A calendar of a zone that is `offset` seconds ahead of UTC from the instant beside it on; offsets in order of time.
///
/// Periods are those of the C library's calendar: they follow each other without gap or overlap, and an hour ends where
/// the clock is set. Months of 30 days stand for months and years.
package func zoneCalendar(_ zone: [(from: Int64, offset: Int64)]) -> LocalCalendar {
  @Sendable func local(_ second: Int64) -> Int64 { second + zone.last { $0.from <= second }!.offset }

  /// The first instant whose local time is not before the given one.
  @Sendable func instant(_ wanted: Int64) -> Int64 {
    for (at, entry) in zone.enumerated() {
      let end = at + 1 < zone.count ? zone[at + 1].from : .max
      let second = max(entry.from, wanted - entry.offset)
      if second < end { return second }
    }
    return wanted - zone[zone.count - 1].offset
  }

  @Sendable func period(_ resolution: Resolution, _ second: Int64) -> (start: Int64, next: Int64) {
    let length: Int64
    switch resolution {
    case .minute: length = 60
    case .fiveMinutes: length = 300
    case .hour:
      let at = zone.lastIndex { $0.from <= second }!
      let start = floorDivide(second + zone[at].offset, 3600) * 3600 - zone[at].offset
      let end = at + 1 < zone.count ? zone[at + 1].from : .max
      return (max(start, zone[at].from), min(start + 3600, end))
    case .day: length = 86400
    case .month, .year: length = 30 * 86400
    }
    if length < 3600 {
      let start = floorDivide(second, length) * length
      return (start, start + length)
    }
    let number = floorDivide(local(second), length)
    var next = instant((number + 1) * length)
    var start = instant(number * length)
    // A clock set back over midnight shows the old date again, in the day that has begun.
    if next <= second { (start, next) = (next, instant((number + 2) * length)) }
    return (start, next)
  }
  return LocalCalendar(start: { period($0, $1).start }, next: { period($0, $1).next })
}
