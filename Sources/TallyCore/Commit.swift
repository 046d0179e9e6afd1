// One commit: amounts and the baselines that explain them, kept or lost together.

/// How far each tier above the minute has been folded: UTC seconds; everything before it is in that tier.
package struct Watermarks: Hashable, Sendable {
  package var fiveMinutes: Int64
  package var hour: Int64
  package var day: Int64

  package init(fiveMinutes: Int64, hour: Int64, day: Int64) {
    self.fiveMinutes = fiveMinutes
    self.hour = hour
    self.day = day
  }

  /// The watermark of a tier; the minute tier's is the end of time, since minutes are written directly.
  package subscript(tier: Tier) -> Int64 {
    get {
      switch tier {
      case .minute: .max
      case .fiveMinutes: fiveMinutes
      case .hour: hour
      case .day: day
      }
    }
    set {
      switch tier {
      case .minute: break
      case .fiveMinutes: fiveMinutes = newValue
      case .hour: hour = newValue
      case .day: day = newValue
      }
    }
  }
}

/// Periods of a coarser tier that have closed: rows of `tier.source` in [start, end) become a row a link and period.
package struct Fold: Hashable, Sendable {
  package var tier: Tier
  /// UTC seconds.
  package var start: Int64
  package var end: Int64

  package init(tier: Tier, start: Int64, end: Int64) {
    self.tier = tier
    self.start = start
    self.end = end
  }
}

/// Everything that one transaction writes.
package struct Commit: Sendable {
  /// One more than the last commit's; stored in the same transaction.
  package var sequence: UInt64
  /// The last moment that was observed.
  package var at: Moment
  /// Additions to the minute tier.
  package var rows: [BucketRow]
  /// Links to insert or replace by id.
  package var links: [LinkRecord]
  /// Links to delete, with what is known of their lives: those that ended and whose bytes a group has.
  package var removed: [LinkID]
  /// Links to delete, whose buckets and gaps become another's, after all else is in but deletions and folds.
  package var expiries: [Expiry]
  /// To insert, or, when one of the same link, boot, ifindex and opened is stored, to replace.
  package var incarnations: [Incarnation]
  package var gaps: [Gap]
  package var clockSteps: [ClockStep]
  /// To insert or replace by id.
  package var changes: [Change]
  /// Links whose history is deleted, after all else.
  package var deletions: [LinkID]
  /// In order: finer tiers first. Run after the rows are in.
  package var folds: [Fold]
  /// Rows of a tier that start before this are dropped, after the folds. UTC seconds. Days are kept for ever.
  package var retention: [Tier: Int64]

  package init(sequence: UInt64, at: Moment) {
    self.sequence = sequence
    self.at = at
    self.rows = []
    self.links = []
    self.removed = []
    self.expiries = []
    self.incarnations = []
    self.gaps = []
    self.clockSteps = []
    self.changes = []
    self.deletions = []
    self.folds = []
    self.retention = [:]
  }
}

/// What a store gives back when it is opened.
package struct StoredState: Sendable {
  package var sequence: UInt64
  /// The last moment observed before; nil when the store is new.
  package var lastMoment: Moment?
  package var links: [LinkRecord]
  package var watermarks: Watermarks
  /// Oldest first.
  package var changes: [Change]
  /// The highest id of a link that was deleted, 0 without any: none is reused.
  package var highestLink: LinkID

  package init(
    sequence: UInt64, lastMoment: Moment?, links: [LinkRecord], watermarks: Watermarks, changes: [Change] = [],
    highestLink: LinkID = 0
  ) {
    self.sequence = sequence
    self.lastMoment = lastMoment
    self.links = links
    self.watermarks = watermarks
    self.changes = changes
    self.highestLink = highestLink
  }
}
