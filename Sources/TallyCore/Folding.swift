// When coarser tiers are folded, and what may be dropped afterwards.

extension Watermarks {
  /// Watermarks of a new store: everything before the present periods is closed and empty.
  package static func new(at second: Int64, calendar: LocalCalendar) -> Watermarks {
    Watermarks(
      fiveMinutes: floorDivide(second, 300) * 300, hour: floorDivide(second, 3600) * 3600,
      day: calendar.start(.day, second))
  }

  /// The folds that are due at `second` (UTC), finer tiers first. Five-minute and hour folds may span many
  /// periods; a day's fold is one local day. At most `limit` days, so that a clock that leapt ahead by
  /// decades is caught up in steps.
  package func dueFolds(at second: Int64, calendar: LocalCalendar, limit: Int = 500) -> [Fold] {
    var folds: [Fold] = []
    let five = floorDivide(second, 300) * 300
    if five > fiveMinutes { folds.append(Fold(tier: .fiveMinutes, start: fiveMinutes, end: five)) }
    let hour = floorDivide(second, 3600) * 3600
    if hour > self.hour { folds.append(Fold(tier: .hour, start: self.hour, end: hour)) }
    var start = day
    while folds.count < limit {
      let end = calendar.next(.day, start)
      guard end > start, end <= five else { break }
      folds.append(Fold(tier: .day, start: start, end: end))
      start = end
    }
    return folds
  }
}

/// How long each tier is kept, seconds; days are kept for ever.
package struct Retention: Hashable, Sendable {
  package var minutes: Int64 = 2 * 86400
  package var fiveMinutes: Int64 = 35 * 86400
  package var hours: Int64 = 366 * 86400

  package init() {}

  /// What may be dropped at `second`: nothing that its coarser tiers have not folded yet.
  package func bounds(at second: Int64, watermarks: Watermarks) -> [Tier: Int64] {
    [
      .minute: min(second - minutes, watermarks.fiveMinutes),
      .fiveMinutes: min(second - fiveMinutes, min(watermarks.hour, watermarks.day)),
      .hour: min(second - hours, watermarks.day),
    ]
  }
}
