// Buckets: amounts by link, tier and UTC start, with what is known of their quality.

/// The resolution of a stored bucket, in local time: hours of a half-hour zone begin at half past in UTC, and a day may
/// have 23 or 25 of them. Months and years fold from days.
package enum Tier: UInt8, Sendable, CaseIterable, Comparable {
  case minute = 0
  case fiveMinutes = 1
  case hour = 2
  case day = 3

  package static func < (a: Tier, b: Tier) -> Bool { a.rawValue < b.rawValue }

  /// The tier that this one is folded from. Days fold from five minutes since zones are off UTC by quarter hours.
  package var source: Tier? {
    switch self {
    case .minute: nil
    case .fiveMinutes: .minute
    case .hour, .day: .fiveMinutes
    }
  }
}

/// What is known of a bucket besides its amounts.
package struct BucketFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Something was unobservable here: the truth is at least the amount.
  package static let atLeast = BucketFlags(rawValue: 1)
  /// Bytes were placed by proportion across a boundary of this length.
  package static let acrossMinute = BucketFlags(rawValue: 2)
  package static let acrossFiveMinutes = BucketFlags(rawValue: 4)
  package static let acrossHour = BucketFlags(rawValue: 8)
  package static let acrossDay = BucketFlags(rawValue: 16)
  package static let acrossMonth = BucketFlags(rawValue: 32)
  /// More passed than the link should be able to move; shown by the kernel twice, booked, and labelled.
  package static let implausible = BucketFlags(rawValue: 64)

  /// The flag that makes a bucket of `tier` count as placed.
  package static func across(_ tier: Tier) -> BucketFlags {
    switch tier {
    case .minute: .acrossMinute
    case .fiveMinutes: .acrossFiveMinutes
    case .hour: .acrossHour
    case .day: .acrossDay
    }
  }
}

/// Number of a link in the ledger and the store; positive, never reused.
package typealias LinkID = Int32

/// One bucket of one link; in a commit, an addition to what is stored under the same key.
package struct BucketRow: Hashable, Sendable {
  package var tier: Tier
  /// UTC seconds since 1970.
  package var start: Int64
  package var link: LinkID
  package var amounts: Amounts
  /// The part of the amounts that was placed by proportion, of rx and tx bytes.
  package var placedRx: UInt64
  package var placedTx: UInt64
  package var flags: BucketFlags

  package init(
    tier: Tier, start: Int64, link: LinkID, amounts: Amounts, placedRx: UInt64 = 0, placedTx: UInt64 = 0,
    flags: BucketFlags = []
  ) {
    self.tier = tier
    self.start = start
    self.link = link
    self.amounts = amounts
    self.placedRx = placedRx
    self.placedTx = placedTx
    self.flags = flags
  }
}
