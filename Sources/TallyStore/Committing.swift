// A commit as one transaction: all of it is stored or nothing.
package import TallyCore

extension Store {
  /// Rows dropped by retention in one commit and tier, about: a commit of many links still takes milliseconds.
  private static let retentionLimit: Int64 = 5000

  /// Stores the commit. When it throws, nothing of it is stored, and the same commit or one that holds more may be
  /// tried again under the same sequence.
  ///
  /// A commit that is already stored (same sequence, same moment) is not stored twice and is no error.
  package func commit(_ commit: Commit) throws(StoreError) {
    guard !database.hasMoved else { throw .vanished(path: path) }
    do {
      (retentionLeft, purge) = try database.transaction("BEGIN IMMEDIATE") { () throws(StoreError) in
        try write(commit)
      }
    } catch {
      // Whatever COMMIT said, what counts is what is there.
      if error.kind != .refused, let meta = try? StoredMeta(database), meta.isAfter(commit) { return }
      throw error
    }
  }

  /// Returns what of the retention, and of the buckets of deleted links, is left for the next commits.
  private func write(_ commit: Commit) throws(StoreError) -> ([Tier: Int64], Purge) {
    var meta = try StoredMeta(database)
    if meta.isAfter(commit) { return (retentionLeft, purge) }
    guard commit.sequence == meta.sequence &+ 1 else {
      throw StoreError(
        .refused,
        "commit \(commit.sequence) does not follow on \(meta.sequence), the last one in the store \(path): "
          + "give what it holds to commit \(meta.sequence &+ 1)")
    }
    meta.sequence = commit.sequence
    meta.at = commit.at

    let buckets = BucketTable(database: database, calendar: calendar)
    for row in commit.rows {
      try buckets.add(row, watermarks: meta.watermarks, retention: commit.retention)
    }
    let links = LinkTable(database: database)
    for link in commit.links { try links.put(link) }
    for incarnation in commit.incarnations { try links.put(incarnation) }
    for link in commit.removed { try links.remove(link) }
    let gaps = GapTable(database: database)
    for gap in commit.gaps { try gaps.add(gap) }
    for step in commit.clockSteps { try gaps.add(step) }
    for change in commit.changes { try ChangeTable(database: database).put(change) }
    try ExpiredLinks(database: database, calendar: calendar).move(commit.expiries)
    let deleted = DeletedLinks(database: database)
    for link in commit.deletions { try deleted.begin(link) }
    for fold in commit.folds {
      try check(fold, meta.watermarks)
      try buckets.fold(fold)
      meta.watermarks[fold.tier] = fold.end
    }
    let retention = retentionLeft.merging(commit.retention) { max($0, $1) }
    var left: [Tier: Int64] = [:]
    for (tier, bound) in retention
    where try buckets.drop(tier, before: bound, watermarks: meta.watermarks, limit: Store.retentionLimit) {
      left[tier] = bound
    }
    if let bound = commit.retention[.hour] {
      try RecordRetention(database: database, calendar: calendar)
        .drop(before: bound, watermarks: meta.watermarks, retention: commit.retention)
    }
    let purge = try deleted.purge(commit.deletions.isEmpty ? purge : Purge())
    try meta.write(to: database)
    return (left, purge)
  }

  /// A fold that leaves a hole, or that reads what its source does not hold yet, would lose rows of that tier for good.
  private func check(_ fold: Fold, _ watermarks: Watermarks) throws(StoreError) {
    guard let source = fold.tier.source else {
      throw StoreError(.refused, "nothing can be folded into the minutes of the store \(path)")
    }
    guard fold.start == watermarks[fold.tier], fold.end > fold.start else {
      throw StoreError(
        .refused,
        "the fold [\(fold.start), \(fold.end)) into tier \(fold.tier) does not follow on its watermark "
          + "\(watermarks[fold.tier]) in the store \(path)")
    }
    guard fold.end <= watermarks[source] else {
      throw StoreError(
        .refused,
        "the fold [\(fold.start), \(fold.end)) into tier \(fold.tier) reads tier \(source), which is folded only up "
          + "to \(watermarks[source]) in the store \(path): fold that one first")
    }
  }
}

extension StoredMeta {
  /// The commit is the last one that was stored.
  fileprivate func isAfter(_ commit: Commit) -> Bool {
    // Without the time asleep, which is not stored.
    sequence == commit.sequence && at?.utc == commit.at.utc && at?.boot == commit.at.boot
      && at?.bootID == commit.at.bootID
  }
}
