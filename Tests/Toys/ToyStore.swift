// A store in memory: additions, folds, retention and replies by the same rules as the real one.
package import TallyCore

package struct ToyStore {
  private struct LifeKey: Hashable {
    var link: LinkID
    var bootID: BootID
    var ifindex: UInt32
    var opened: Int64
  }

  package var calendar: LocalCalendar
  package private(set) var sequence: UInt64 = 0
  package private(set) var lastMoment: Moment?
  package private(set) var watermarks: Watermarks?
  /// Rows by tier, start and link.
  private var buckets: [[Int64: [LinkID: BucketRow]]] = [[:], [:], [:], [:]]
  private var links: [LinkID: LinkRecord] = [:]
  package private(set) var gaps: [Gap] = []
  package private(set) var steps: [ClockStep] = []
  private var lives: [LifeKey: Incarnation] = [:]
  private var changes: [Int64: Change] = [:]
  private var highestLink: LinkID = 0

  /// `watermarks`: how far the new store is folded; nil: up to the first commit.
  package init(calendar: LocalCalendar = utcCalendar, watermarks: Watermarks? = nil) {
    self.calendar = calendar
    self.watermarks = watermarks
  }

  /// nil before the first commit.
  package var state: StoredState? {
    guard lastMoment != nil, let watermarks else { return nil }
    return StoredState(
      sequence: sequence, lastMoment: lastMoment, links: links.values.sorted { $0.id < $1.id },
      watermarks: watermarks, changes: changes.values.sorted { $0.id < $1.id }, highestLink: highestLink)
  }

  /// Every incarnation by its last report.
  package var incarnations: [Incarnation] {
    lives.values.sorted { ($0.link, $0.opened, $0.ifindex) < ($1.link, $1.opened, $1.ifindex) }
  }

  /// Why the store would not take a commit; nil: it would.
  package func refusal(of commit: Commit) -> String? {
    guard commit.sequence == sequence + 1 else { return "commit \(commit.sequence) does not follow on \(sequence)" }
    var watermarks = watermarks ?? .new(at: commit.at.utcSeconds, calendar: calendar)
    for fold in commit.folds {
      if fold.start != watermarks[fold.tier] || fold.end <= fold.start { return "the fold \(fold) leaves a hole" }
      if fold.end > watermarks[fold.tier.source ?? .minute] { return "the fold \(fold) reads what is not folded yet" }
      watermarks[fold.tier] = fold.end
    }
    return nil
  }

  package mutating func commit(_ commit: Commit) {
    var watermarks = watermarks ?? .new(at: commit.at.utcSeconds, calendar: calendar)
    for row in commit.rows { add(row, watermarks, commit.retention) }
    for link in commit.links { links[link.id] = link }
    for life in commit.incarnations {
      let key = LifeKey(link: life.link, bootID: life.bootID, ifindex: life.ifindex, opened: life.opened)
      lives[key] = life
    }
    for id in commit.removed {
      links[id] = nil
      lives = lives.filter { $0.key.link != id }
    }
    gaps += commit.gaps
    steps += commit.clockSteps
    for change in commit.changes { changes[change.id] = change }
    for expiry in commit.expiries { move(expiry) }
    for link in commit.deletions { delete(link) }
    for fold in commit.folds {
      precondition(fold.start == watermarks[fold.tier] && fold.end > fold.start, "a fold leaves a hole")
      precondition(fold.end <= watermarks[fold.tier.source!], "a fold reads what is not folded yet")
      self.fold(fold)
      watermarks[fold.tier] = fold.end
    }
    for (tier, bound) in commit.retention where tier != .day {
      let bound = floorDivide(min(bound, unfolded(tier, watermarks)), 3600) * 3600
      for start in buckets[tier.place].keys where start < bound { buckets[tier.place][start] = nil }
    }
    sequence = commit.sequence
    lastMoment = commit.at
    self.watermarks = watermarks
  }

  private mutating func move(_ expiry: Expiry) {
    links[expiry.link] = nil
    lives = lives.filter { $0.key.link != expiry.link }
    for place in gaps.indices where gaps[place].link == expiry.link { gaps[place].link = expiry.into }
    for tier in buckets.indices {
      for (start, rows) in buckets[tier] {
        guard var row = rows[expiry.link] else { continue }
        row.link = expiry.into
        if let known = rows[expiry.into] {
          row.amounts += known.amounts
          row.placedRx += known.placedRx
          row.placedTx += known.placedTx
          row.flags.formUnion(known.flags)
        }
        buckets[tier][start]?[expiry.link] = nil
        buckets[tier][start]?[expiry.into] = row
      }
    }
    highestLink = max(highestLink, expiry.link)
  }

  private mutating func delete(_ link: LinkID) {
    links[link] = nil
    gaps.removeAll { $0.link == link }
    lives = lives.filter { $0.key.link != link }
    buckets = buckets.map { tier in tier.mapValues { $0.filter { $0.key != link } } }
    highestLink = max(highestLink, link)
  }

  /// To the minute, and to every coarser tier that is folded past the row and will not look there again.
  private mutating func add(_ row: BucketRow, _ watermarks: Watermarks, _ retention: [Tier: Int64]) {
    for tier in Tier.allCases where tier == .minute || row.start < watermarks[tier] {
      if tier != .day, let bound = retention[tier], row.start < min(bound, unfolded(tier, watermarks)) { continue }
      add(row, to: tier, start: tier == .minute ? row.start : calendar.start(tier.resolution, row.start))
    }
  }

  private mutating func fold(_ fold: Fold) {
    for start in starts(fold.tier.source!, from: fold.start, to: fold.end) {
      let period = max(fold.start, calendar.start(fold.tier.resolution, start))
      for row in buckets[fold.tier.source!.place][start]!.values { add(row, to: fold.tier, start: period) }
    }
  }

  /// Bytes that were placed across a boundary shorter than the tier's are in the right period of it.
  private mutating func add(_ row: BucketRow, to tier: Tier, start: Int64) {
    let across = BucketFlags.across(tier)
    let isPlaced = row.flags.contains(across)
    let new = BucketRow(
      tier: tier, start: start, link: row.link, amounts: row.amounts, placedRx: isPlaced ? row.placedRx : 0,
      placedTx: isPlaced ? row.placedTx : 0,
      flags: row.flags.intersection(BucketFlags(rawValue: ~(across.rawValue - 1)).union(.atLeast)))
    guard var sum = buckets[tier.place][start]?[row.link] else {
      buckets[tier.place][start, default: [:]][row.link] = new
      return
    }
    sum.amounts += new.amounts
    sum.placedRx += new.placedRx
    sum.placedTx += new.placedTx
    sum.flags.formUnion(new.flags)
    buckets[tier.place][start]![row.link] = sum
  }

  /// From where on rows of this tier are still to be folded into another.
  private func unfolded(_ tier: Tier, _ watermarks: Watermarks) -> Int64 {
    Tier.allCases.reduce(.max) { $1.source == tier ? min($0, watermarks[$1]) : $0 }
  }

  /// The starts of a tier's rows in [from, to), in order.
  private func starts(_ tier: Tier, from: Int64, to: Int64) -> [Int64] {
    let known = buckets[tier.place]
    let grid: Int64? = tier == .minute ? 60 : tier == .fiveMinutes ? 300 : nil
    // A short span of few grid points is walked, so that a fold of a year of minutes costs what it reads.
    if let grid, (to - from) / grid < known.count {
      return stride(from: -floorDivide(-from, grid) * grid, to: to, by: Int(grid)).filter { known[$0] != nil }
    }
    return known.keys.filter { $0 >= from && $0 < to }.sorted()
  }

  // MARK: Asking

  /// All rows of one tier by start and link, folded or not.
  package func rows(_ tier: Tier, from: Int64 = .min, to: Int64 = .max) -> [BucketRow] {
    let starts =
      from == .min || to == .max
      ? buckets[tier.place].keys.filter { $0 >= from && $0 < to }.sorted() : starts(tier, from: from, to: to)
    return starts.flatMap { buckets[tier.place][$0]!.values.sorted { $0.link < $1.link } }
  }

  package func usage(_ query: UsageQuery) -> UsageRows {
    let watermarks = watermarks ?? Watermarks(fiveMinutes: 0, hour: 0, day: 0)
    let spans = watermarks.spans(tier: query.tier, from: query.from, to: query.to)
    func isAsked(_ link: LinkID) -> Bool { query.links?.contains(link) ?? true }
    return UsageRows(
      sequence: sequence, watermarks: watermarks,
      rows: spans.flatMap { rows($0.tier, from: $0.from, to: $0.to) }.filter { isAsked($0.link) },
      gaps: gaps.filter { $0.from < query.to && $0.to > query.from && ($0.link.map(isAsked) ?? true) },
      incarnations: incarnations.filter {
        $0.opened < query.to && ($0.closed ?? .max) >= query.from && isAsked($0.link)
      })
  }

  /// What a question at this resolution is answered with.
  package func sums(_ tier: Tier, from: Int64 = .min, to: Int64 = .max) -> [LinkID: Amounts] {
    usage(UsageQuery(links: nil, tier: tier, from: from, to: to)).rows.reduce(into: [:]) {
      $0[$1.link, default: .zero] += $1.amounts
    }
  }
}

extension Tier {
  fileprivate var place: Int { Int(rawValue) }
}
