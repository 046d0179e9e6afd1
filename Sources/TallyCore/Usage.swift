// Which stored tiers answer a question about a span, and the calendar that makes its periods.

/// The resolutions one can ask for.
package enum Resolution: String, Sendable, CaseIterable {
  case minute
  case fiveMinutes = "five_minutes"
  case hour, day, month, year

  /// The stored tier that it is read from.
  package var tier: Tier {
    switch self {
    case .minute: .minute
    case .fiveMinutes: .fiveMinutes
    case .hour: .hour
    case .day, .month, .year: .day
    }
  }
}

extension Tier {
  /// Its own periods.
  package var resolution: Resolution {
    switch self {
    case .minute: .minute
    case .fiveMinutes: .fiveMinutes
    case .hour: .hour
    case .day: .day
    }
  }
}

/// Local time as values: implemented with the C library's zone tables outside the core, with tables in tests.
package struct LocalCalendar: Sendable {
  /// UTC seconds of the start of the local period of this resolution that holds the given UTC second.
  package var start: @Sendable (_ of: Resolution, _ holding: Int64) -> Int64
  /// UTC seconds at which the local period after the one that holds the given UTC second starts.
  package var next: @Sendable (_ of: Resolution, _ holding: Int64) -> Int64

  package init(
    start: @escaping @Sendable (_ of: Resolution, _ holding: Int64) -> Int64,
    next: @escaping @Sendable (_ of: Resolution, _ holding: Int64) -> Int64
  ) {
    self.start = start
    self.next = next
  }
}

/// A part of a span and the tier that holds it.
package struct TierSpan: Hashable, Sendable {
  package var tier: Tier
  /// UTC seconds, from inclusive, to exclusive.
  package var from: Int64
  package var to: Int64

  package init(tier: Tier, from: Int64, to: Int64) {
    self.tier = tier
    self.from = from
    self.to = to
  }
}

extension Watermarks {
  /// The stored rows that make up [from, to) at `tier`: the tier itself as far as it is folded, then its
  /// sources for the open rest. Each byte is in exactly one of the spans.
  package func spans(tier: Tier, from: Int64, to: Int64) -> [TierSpan] {
    guard from < to else { return [] }
    guard let source = tier.source else { return [TierSpan(tier: tier, from: from, to: to)] }
    let split = min(max(self[tier], from), to)
    var spans: [TierSpan] = []
    if from < split { spans.append(TierSpan(tier: tier, from: from, to: split)) }
    return spans + self.spans(tier: source, from: split, to: to)
  }
}

/// A question to the store.
package struct UsageQuery: Sendable {
  /// nil: all links.
  package var links: [LinkID]?
  package var tier: Tier
  /// Also the rows of this finer tier, and the steps of the clock: what explains a figure.
  package var detail: Tier?
  /// UTC seconds, aligned to periods by the caller.
  package var from: Int64
  package var to: Int64
  /// More rows than this is an error, not a truncation.
  package var maximumRows: Int

  package init(
    links: [LinkID]?, tier: Tier, detail: Tier? = nil, from: Int64, to: Int64, maximumRows: Int = 200_000
  ) {
    self.links = links
    self.tier = tier
    self.detail = detail
    self.from = from
    self.to = to
    self.maximumRows = maximumRows
  }
}

/// The store's answer: everything committed up to `sequence`, and nothing after it.
package struct UsageRows: Sendable {
  package var sequence: UInt64
  package var watermarks: Watermarks
  package var rows: [BucketRow]
  /// Gaps that overlap the span, of the links asked for and of all.
  package var gaps: [Gap]
  /// Incarnations of those links that opened within the span, were open in it, or counted something of it.
  package var incarnations: [Incarnation]
  /// The same amounts as `rows` by the finer tier that was asked for, as far as that is still kept.
  package var detail: [BucketRow] = []
  /// Steps of the clock into the span or out of it; empty when no detail was asked for.
  package var clockSteps: [ClockStep] = []

  package init(
    sequence: UInt64, watermarks: Watermarks, rows: [BucketRow], gaps: [Gap], incarnations: [Incarnation]
  ) {
    self.sequence = sequence
    self.watermarks = watermarks
    self.rows = rows
    self.gaps = gaps
    self.incarnations = incarnations
  }
}
