// How a figure came about: which lives of its link it is made of, to the byte, and what was placed by proportion.

/// A figure of one link over a span, taken apart.
package struct Explanation: Sendable {
  /// How the amounts of a part were found.
  package enum Method: String, Sendable {
    /// All that these lives counted: every bit of it lies in the span.
    case wholeLife = "whole_life"
    /// What was put into the time of the life, less what others in the same buckets are known to have counted.
    case byTime = "by_time"
    /// Several lives lie in the same buckets, and nothing tells how much is whose.
    case shared
    /// No life that is on record was there.
    case unrecorded
    /// Counted before the present store was begun; only the total knows of it.
    case earlierStore = "earlier_store"
  }

  /// Amounts of some lives.
  package struct Part: Hashable, Sendable {
    /// Positions in `lives`.
    package var lives: [Int]
    /// The lives before those in `lives` take part in it.
    package var hasEarlier: Bool
    package var method: Method
    package var amounts: Amounts

    /// By its oldest life; what an earlier store had comes first, what nobody had last.
    fileprivate var order: (Int, Int) {
      (hasEarlier || method == .earlierStore ? -1 : lives.first ?? .max, lives.count)
    }
  }

  /// A span over which bytes were distributed by proportion.
  package struct Placed: Hashable, Sendable {
    /// UTC seconds.
    package var from: Int64
    package var to: Int64
    package var rxBytes: UInt64
    package var txBytes: UInt64
    /// It crosses a boundary of the figure's periods: some of these bytes may belong to a neighbour.
    package var crossesPeriod: Bool
  }

  /// Those that have a share in the figure or were open in its span, oldest first, the newest `mostLives` of them.
  package private(set) var lives: [Incarnation]
  /// How many older ones were put together.
  package private(set) var earlierLives: Int
  /// They add up to the figure, counter by counter.
  package private(set) var parts: [Part] = []
  /// In order of time. Placements within the smallest period that is kept are not known any more.
  package private(set) var placements: [Placed] = []

  /// Takes a figure apart.
  ///
  /// - Parameters:
  ///   - figure: the amounts to explain.
  ///   - rows: of this link, in its span; for a total all there are. Of a link of several records each tells whose it is.
  ///   - detail: the same by finer buckets, as far as they are kept.
  ///   - tier: of `rows`.
  ///   - crossing: the flag of rows whose bytes were placed across a boundary of the figure's periods; empty for none.
  ///   - from, to: UTC seconds, the span of the rows.
  ///   - incarnations: of this link; the open one with what it counted until now.
  ///   - gaps: of this link and of all links.
  package init(
    figure: Amounts, rows: [BucketRow], detail: [BucketRow], tier: Tier, crossing: BucketFlags, from: Int64,
    to: Int64, incarnations: [Incarnation], gaps: [Gap], calendar: LocalCalendar, mostLives: Int
  ) {
    let buckets = finest(rows, detail, tier: tier, calendar)
    let all = incarnations.sorted { ($0.opened, $0.closed ?? .max) < ($1.opened, $1.closed ?? .max) }
    earlierLives = max(0, all.count - mostLives)
    lives = Array(all.dropFirst(earlierLives))
    var shares = lives.map { Share($0, gaps: gaps, from: from, to: to) }
    if let first = all.first, earlierLives > 0 {
      var earlier = Share(first, gaps: gaps, from: from, to: to)
      for life in all[1..<earlierLives] { earlier.join(Share(life, gaps: gaps, from: from, to: to)) }
      shares.insert(earlier, at: 0)
    }
    placements = placed(buckets, crossing)
    divide(figure, buckets, shares)
  }

  private mutating func divide(_ figure: Amounts, _ buckets: [Bucket], _ shares: [Share]) {
    var division = Division(shares)
    var sum = Amounts.zero
    for bucket in buckets {
      division.add(bucket)
      sum += bucket.row.amounts
    }
    guard let rest = figure.without(sum) else {
      // The buckets tell more than the total: nothing can be said of the lives.
      return add(Array(shares.indices), .shared, figure)
    }
    add([], .earlierStore, rest)
    for group in division.groups() { settle(group, division) }
    parts.sort { $0.order < $1.order }
    add([], .unrecorded, division.unclaimed)
  }

  /// Divides what lies in the buckets of lives that have some of them in common.
  private mutating func settle(_ group: [Int], _ division: Division) {
    let known = group.filter { division.shares[$0].whole != nil }
    let others = group.filter { division.shares[$0].whole == nil }
    var claimed = Amounts.zero
    for life in known { claimed += division.shares[life].whole ?? .zero }
    for life in others { claimed += division.alone[life] }
    guard var rest = division.sum(of: group).without(claimed) else {
      // A part of them is not in the buckets any more.
      return add(group, group.count == 1 ? .byTime : .shared, division.sum(of: group))
    }
    for life in known { add([life], .wholeLife, division.shares[life].whole ?? .zero) }
    for life in others {
      var amounts = division.alone[life]
      if others.count == 1 {
        let left = lesser(rest, division.together[life])
        amounts += left
        rest = rest.without(left) ?? .zero
      }
      add([life], .byTime, amounts)
    }
    let candidates = others.filter { !division.together[$0].isZero }
    add(others.count > 1 ? candidates : [], others.count > 1 && !candidates.isEmpty ? .shared : .unrecorded, rest)
  }

  private mutating func add(_ nodes: [Int], _ method: Method, _ amounts: Amounts) {
    guard !amounts.isZero else { return }
    let offset = earlierLives > 0 ? 1 : 0
    parts.append(
      Part(
        lives: nodes.map { $0 - offset }.filter { $0 >= 0 }, hasEarlier: offset == 1 && nodes.contains(0),
        method: method, amounts: amounts))
  }
}

/// What may be some life's: the minutes that it reaches over, and its whole amount where that lies in the span.
private struct Share {
  /// The records that it was booked to.
  var links: Set<LinkID>
  /// UTC seconds of bucket starts, both inclusive.
  var from: Int64
  var until: Int64
  var whole: Amounts?

  init(_ life: Incarnation, gaps: [Gap], from: Int64, to: Int64) {
    links = [life.link]
    if let booked = life.booked {
      (self.from, until) = (booked.from, booked.until)
      whole = booked.from >= from && booked.until < to ? booked.amounts : nil
      return
    }
    // It is not on record where its bytes went. The sample that saw it first may have looked back a minute; one that
    // was born unseen was placed over the time in which nobody watched.
    var begin = floorDivide(life.opened, 60) * 60 - 60
    if life.birth == .bornUnseen {
      let absence = gaps.last { $0.link == nil && $0.from <= life.opened && $0.to > begin }
      begin = min(begin, absence.map { floorDivide($0.from, 60) * 60 } ?? begin)
    }
    (self.from, until) = (begin, life.closed ?? .max)
  }

  mutating func join(_ other: Share) {
    links.formUnion(other.links)
    from = min(from, other.from)
    until = max(until, other.until)
    guard var sum = whole, let more = other.whole else {
      whole = nil
      return
    }
    sum += more
    whole = sum
  }
}

/// A row and the end of its period, UTC seconds.
private struct Bucket {
  var row: BucketRow
  var end: Int64
}

/// Which lives each bucket can be of.
private struct Division {
  let shares: [Share]
  /// By life: what lies in buckets that can only be its, and in those that can be others' too.
  var alone: [Amounts]
  var together: [Amounts]
  var unclaimed = Amounts.zero
  /// Lives that have a bucket in common hang together: each points to another or to itself.
  private var parents: [Int]
  private var sums: [Amounts]

  init(_ shares: [Share]) {
    self.shares = shares
    alone = Array(repeating: .zero, count: shares.count)
    together = alone
    sums = alone
    parents = Array(shares.indices)
  }

  mutating func add(_ bucket: Bucket) {
    let amounts = bucket.row.amounts
    guard !amounts.isZero else { return }
    let candidates = shares.indices.filter {
      shares[$0].from < bucket.end && shares[$0].until >= bucket.row.start && shares[$0].links.contains(bucket.row.link)
    }
    guard let first = candidates.first else {
      unclaimed += amounts
      return
    }
    sums[first] += amounts
    if candidates.count == 1 {
      alone[first] += amounts
      return
    }
    for life in candidates {
      together[life] += amounts
      parents[root(life)] = root(first)
    }
  }

  private func root(_ life: Int) -> Int {
    var life = life
    while parents[life] != life { life = parents[life] }
    return life
  }

  /// Lives that hang together, in order of their first.
  func groups() -> [[Int]] {
    var members: [Int: [Int]] = [:]
    for life in shares.indices { members[root(life), default: []].append(life) }
    return members.values.sorted { $0[0] < $1[0] }
  }

  func sum(of group: [Int]) -> Amounts {
    var sum = Amounts.zero
    for life in group { sum += sums[life] }
    return sum
  }
}

/// The finer rows of each period of the figure's tier where they tell the same amounts, else its own.
///
/// They differ where a finer tier is dropped, or was cut by the days of another zone.
private func finest(
  _ rows: [BucketRow], _ detail: [BucketRow], tier: Tier, _ calendar: LocalCalendar
) -> [Bucket] {
  let coarse = Dictionary(grouping: rows) { calendar.start(tier.resolution, $0.start) }
  let fine = Dictionary(grouping: detail) { calendar.start(tier.resolution, $0.start) }
  func sum(_ rows: [BucketRow]) -> Amounts {
    rows.reduce(into: .zero) { $0 += $1.amounts }
  }
  var buckets: [Bucket] = []
  for (start, own) in coarse {
    let finer = fine[start] ?? []
    for row in sum(finer) == sum(own) ? finer : own {
      let resolution = row.tier.resolution
      let isAligned = calendar.start(resolution, row.start) == row.start
      let next = calendar.next(resolution, row.start)
      // One that was cut in another zone reaches as far as its tier can.
      buckets.append(Bucket(row: row, end: isAligned ? next : max(next, row.start + row.tier.longest)))
    }
  }
  return buckets.sorted { $0.row.start < $1.row.start }
}

/// Rows that follow each other and hold placed bytes, as one span each; what was placed within five minutes says
/// nothing about longer periods.
private func placed(_ buckets: [Bucket], _ crossing: BucketFlags) -> [Explanation.Placed] {
  var found: [Explanation.Placed] = []
  for bucket in buckets {
    let row = bucket.row
    guard row.placedRx > 0 || row.placedTx > 0,
      !row.flags.isDisjoint(with: crossing.union([.acrossFiveMinutes, .acrossHour, .acrossDay, .acrossMonth]))
    else { continue }
    let crosses = !row.flags.isDisjoint(with: crossing)
    if let last = found.indices.last, found[last].to >= row.start {
      found[last].to = max(found[last].to, bucket.end)
      found[last].rxBytes = saturatingSum(found[last].rxBytes, row.placedRx)
      found[last].txBytes = saturatingSum(found[last].txBytes, row.placedTx)
      if crosses { found[last].crossesPeriod = true }
    } else {
      found.append(
        Explanation.Placed(
          from: row.start, to: bucket.end, rxBytes: row.placedRx, txBytes: row.placedTx, crossesPeriod: crosses))
    }
  }
  return found
}

/// The smaller of each of the four.
private func lesser(_ a: Amounts, _ b: Amounts) -> Amounts {
  Amounts(
    rxBytes: min(a.rxBytes, b.rxBytes), txBytes: min(a.txBytes, b.txBytes),
    rxPackets: min(a.rxPackets, b.rxPackets), txPackets: min(a.txPackets, b.txPackets))
}

extension Tier {
  /// Seconds of its longest period.
  fileprivate var longest: Int64 {
    switch self {
    case .minute: 60
    case .fiveMinutes: 300
    case .hour: 7200
    case .day: 90_000
    }
  }
}
