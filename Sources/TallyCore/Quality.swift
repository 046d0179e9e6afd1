// The labels of a figure: how complete it is, and how much of its span was observed.

/// How a figure relates to what the interface's counter showed.
package enum Completeness: String, Sendable, Comparable {
  /// Every byte that the counter showed.
  case complete
  /// Part of it was put into its period by proportion.
  case placed
  /// Something was unobservable: the truth is at least this.
  case atLeast = "at_least"

  private var rank: Int {
    switch self {
    case .complete: 0
    case .placed: 1
    case .atLeast: 2
    }
  }

  package static func < (a: Completeness, b: Completeness) -> Bool { a.rank < b.rank }
}

/// What is known of a figure of one link over a span.
package struct Quality: Hashable, Sendable {
  package var completeness: Completeness
  /// Observed part of the span, 0 to 1.
  package var coverage: Double
  /// Incarnations that began in the span, and counter resets.
  package var resets: Int
  /// Spans that were not observed.
  package var gaps: Int
}

/// A record and when its link was first seen, UTC seconds: that incarnation is no reset.
package struct Sighting: Hashable, Sendable {
  package var link: LinkID
  package var firstSeen: Int64
  /// Records of the same device under other labels: while it lived as one of them, nothing passed unseen.
  package var kin: Set<LinkID>

  package init(link: LinkID, firstSeen: Int64, kin: Set<LinkID> = []) {
    self.link = link
    self.firstSeen = firstSeen
    self.kin = kin
  }

  func isLived(by life: Incarnation) -> Bool { life.link == link || kin.contains(life.link) }
}

extension Quality {
  /// Judges a figure of one link.
  package init(
    flags: BucketFlags, placedBy: BucketFlags, link: LinkID, firstSeen: Int64, watchedSince: Int64, from: Int64,
    to: Int64, gaps: [Gap], incarnations: [Incarnation]
  ) {
    self.init(
      flags: flags, placedBy: placedBy, of: [Sighting(link: link, firstSeen: firstSeen)], watchedSince: watchedSince,
      from: from, to: to, gaps: gaps, incarnations: incarnations)
  }

  /// Judges a figure from the flags of its rows and what overlaps its span.
  ///
  /// - Parameters:
  ///   - flags: of all rows in it.
  ///   - placedBy: the flag that makes a row count as placed at the figure's resolution; empty for none.
  ///   - links: whose bytes are in it.
  ///   - watchedSince: when counting began here, UTC seconds: nothing before it was observed.
  ///   - from, to: UTC seconds; the span of the figure, which does not reach into the future.
  ///   - gaps: of these links and of all links; others are ignored.
  ///   - incarnations: of these links and their kin; others are ignored.
  package init(
    flags: BucketFlags, placedBy: BucketFlags, of links: [Sighting], watchedSince: Int64, from: Int64, to: Int64,
    gaps: [Gap], incarnations: [Incarnation]
  ) {
    let lives = incarnations.filter { life in links.contains { $0.isLived(by: life) } }
    func isMeant(_ gap: Gap) -> Bool { links.contains { $0.link == gap.link } }
    var unseen: [(from: Int64, to: Int64)] = []
    var lossy = flags.contains(.atLeast) || to <= watchedSince
    if from < watchedSince { unseen.append((from, min(to, watchedSince))) }
    var count = 0
    var isSpread = false
    for gap in gaps where gap.from < to && gap.to > from && (gap.link == nil || isMeant(gap)) {
      count += 1
      if gap.mayHideBytes(of: links, lives: lives) { lossy = true }
      // What passed while nobody ran is placed over all of that time, in coarser slices than minutes if it was long.
      if gap.reason == .notRunning, gap.from < from || gap.to > to { isSpread = true }
      unseen.append((max(gap.from, from), min(gap.to, to)))
    }
    unseen.sort { $0.from < $1.from }
    var seen = to - from
    var end = from
    for part in unseen where part.to > end {
      seen -= part.to - max(part.from, end)
      end = part.to
    }
    let isPlaced = !placedBy.isEmpty && (isSpread || !flags.isDisjoint(with: placedBy))
    completeness = lossy ? .atLeast : isPlaced ? .placed : .complete
    coverage = to > from ? Double(max(0, seen)) / Double(to - from) : 1
    let firstSeen = links.lazy.map(\.firstSeen).min()
    resets =
      lives.count { life in
        life.opened >= from && life.opened < to && life.opened != firstSeen && links.contains { $0.link == life.link }
      }
      + gaps.count { isMeant($0) && $0.reason == .counterReset && $0.from < to && $0.to > from }
    self.gaps = count
  }
}

extension Gap {
  /// Bytes of one of these links may have passed in it unseen; `lives` are theirs and their kin's.
  package func mayHideBytes(of links: [Sighting], lives: [Incarnation]) -> Bool {
    if links.count == 1 { return mayHideBytes(firstSeen: links[0].firstSeen, lives: lives) }
    return links.contains { link in
      (self.link == nil || self.link == link.link)
        && mayHideBytes(firstSeen: link.firstSeen, lives: lives.filter(link.isLived(by:)))
    }
  }

  /// Bytes of a link may have passed in it unseen.
  ///
  /// - Parameters:
  ///   - firstSeen: when the link was first seen, UTC seconds.
  ///   - lives: its incarnations.
  package func mayHideBytes(firstSeen: Int64, lives: [Incarnation]) -> Bool {
    // A file that is lost took what was booked before, of whatever lived through it too.
    if lossy, reason == .historyLost { return to > firstSeen }
    // What was not known before lost nothing in it; those that were and died in it have a gap of their own.
    guard lossy, link != nil || from > firstSeen else { return false }
    // Nor did what lived through it: its counter went on.
    return link != nil || !lives.contains { $0.opened <= from && ($0.closed ?? .max) >= to }
  }
}

extension Resolution {
  /// The flag that says that bytes were placed across a boundary of this resolution.
  package var placedBy: BucketFlags {
    switch self {
    case .minute: .acrossMinute
    case .fiveMinutes: .acrossFiveMinutes
    case .hour: .acrossHour
    case .day: .acrossDay
    case .month, .year: .acrossMonth
    }
  }
}
