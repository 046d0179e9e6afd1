// When coarser tiers are folded, and what may be dropped afterwards.

extension Watermarks {
  /// Watermarks of a new store: everything before the present periods is closed and empty.
  package static func new(at second: Int64, calendar: LocalCalendar) -> Watermarks {
    Watermarks(
      fiveMinutes: calendar.start(.fiveMinutes, second), hour: calendar.start(.hour, second),
      day: calendar.start(.day, second))
  }

  /// The folds that are due at `second` (UTC), finer tiers first; each spans all periods that have closed since
  /// its watermark. Nothing is folded that its source does not hold yet.
  package func dueFolds(at second: Int64, calendar: LocalCalendar) -> [Fold] {
    var after = self
    var folds: [Fold] = []
    for tier in Tier.allCases {
      let end = calendar.start(tier.resolution, second)
      guard let source = tier.source, end > after[tier], end <= after[source] else { continue }
      folds.append(Fold(tier: tier, start: after[tier], end: end))
      after[tier] = end
    }
    return folds
  }
}

/// How long each tier is kept, seconds; days are kept for ever. Incarnations and gaps go with the hours.
package struct Retention: Hashable, Sendable {
  package var minutes: Int64 = 2 * 86400
  package var fiveMinutes: Int64 = 35 * 86400
  package var hours: Int64 = 366 * 86400

  package init() {}

  /// From where on everything of a tier is still there at `second`; nil: from the beginning.
  package func kept(_ tier: Tier, at second: Int64) -> Int64? {
    switch tier {
    case .minute: second - minutes
    case .fiveMinutes: second - fiveMinutes
    case .hour: second - hours
    case .day: nil
    }
  }

  /// What may be dropped at `second`: nothing that its coarser tiers have not folded yet.
  package func bounds(at second: Int64, watermarks: Watermarks) -> [Tier: Int64] {
    [
      .minute: min(second - minutes, watermarks.fiveMinutes),
      .fiveMinutes: min(second - fiveMinutes, min(watermarks.hour, watermarks.day)),
      .hour: min(second - hours, watermarks.day),
    ]
  }
}
