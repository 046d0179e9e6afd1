// Keeping what could not be committed: a failed commit is joined with the next, in bounded memory.

extension Commit {
  /// More rows than this are joined; far more are put into coarser slots, labelled as placed.
  package static let rowBound = 50_000
  private static let recordBound = 10_000

  /// Joins an earlier commit that was not written, so that one transaction holds both.
  ///
  /// Folds and retention are those of the later one: the earlier ones did not happen, and whoever plans them
  /// knows the watermarks.
  package mutating func absorb(_ earlier: Commit) {
    rows = earlier.rows + rows
    var later = Set<LinkID>()
    for link in links { later.insert(link.id) }
    links = earlier.links.filter { !later.contains($0.id) } + links
    removed = earlier.removed + removed
    let gone = Set(removed)
    links.removeAll { gone.contains($0.id) }
    incarnations = (earlier.incarnations + incarnations).filter { !gone.contains($0.link) }
    expiries = earlier.expiries + expiries
    gaps = earlier.gaps + gaps
    clockSteps = earlier.clockSteps + clockSteps
    changes = earlier.changes.filter { old in !changes.contains { $0.id == old.id } } + changes
    deletions = earlier.deletions + deletions
    compact()
  }

  /// Has these records stored instead of what it holds of them, with the change that made them so.
  package mutating func put(_ records: [LinkRecord], of change: Change) {
    links.removeAll { old in records.contains { $0.id == old.id } }
    links += records
    changes.removeAll { $0.id == change.id }
    changes.append(change)
  }

  /// Bounds the memory of what waits: amounts are never dropped, only their resolution is.
  package mutating func compact() {
    for slot: Int64 in [60, 300, 3600, 86400] where rows.count > Commit.rowBound {
      rows = rows.joined(slot: slot)
    }
    // Incarnations explain a figure but are no part of it; the newest explain most.
    if incarnations.count > Commit.recordBound { incarnations.removeFirst(incarnations.count - Commit.recordBound) }
    if clockSteps.count > Commit.recordBound { clockSteps.removeFirst(clockSteps.count - Commit.recordBound) }
    if gaps.count > Commit.recordBound {
      // One gap for all that are joined, lossy if one was, so that no label is lost.
      let joined = gaps.prefix(gaps.count - Commit.recordBound + 1)
      let first = joined.reduce(joined[0]) { a, b in
        Gap(
          link: nil, from: min(a.from, b.from), to: max(a.to, b.to), reason: b.reason, lossy: a.lossy || b.lossy)
      }
      gaps.replaceSubrange(0..<joined.count, with: [first])
    }
  }
}

private struct RowKey: Hashable {
  var start: Int64
  var link: LinkID
  var tier: Tier
}

extension [BucketRow] {
  /// Adds up rows of one link whose starts fall into one slot of so many seconds.
  func joined(slot: Int64) -> [BucketRow] {
    var sums: [RowKey: BucketRow] = [:]
    var order: [RowKey] = []
    for var row in self {
      let start = floorDivide(row.start, slot) * slot
      if slot > 60 {
        row.placedRx = row.amounts.rxBytes
        row.placedTx = row.amounts.txBytes
        row.flags.insert(.acrossMinute)
        if slot > 300 { row.flags.insert(.acrossFiveMinutes) }
        // Slots are those of UTC: moved by more than five minutes a row may come to be in another local hour, day or month.
        if slot > 300, row.start != start { row.flags.formUnion([.acrossHour, .acrossDay, .acrossMonth]) }
      }
      row.start = start
      let key = RowKey(start: row.start, link: row.link, tier: row.tier)
      if var sum = sums[key] {
        sum.amounts += row.amounts
        sum.placedRx = saturatingSum(sum.placedRx, row.placedRx)
        sum.placedTx = saturatingSum(sum.placedTx, row.placedTx)
        sum.flags.formUnion(row.flags)
        sums[key] = sum
      } else {
        sums[key] = row
        order.append(key)
      }
    }
    return order.compactMap { sums[$0] }
  }
}
