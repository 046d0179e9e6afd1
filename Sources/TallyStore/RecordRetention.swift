// How long incarnations and gaps are kept: as long as hours; what they say of days that are kept longer goes there.
import TallyCore

/// Drops old rows of `incarnation` and `gap`. The labels of totals are in `link_total` and stay.
struct RecordRetention {
  let database: Database
  let calendar: LocalCalendar

  /// Of one link, and of the gaps that concern every link; two in an hour of a year are fewer.
  private static let mostPerLink: Int64 = 10_000
  /// Dropped at once, about: the next hour goes on.
  private static let mostAtOnce: Int64 = 2000

  /// Drops what ended before `bound`, UTC seconds, and of links with more than `most` the oldest.
  ///
  /// A lossy gap of one link leaves its label in the buckets of its time. Those of every link are few and stay: spelt out
  /// for each link that was ever seen they would be many.
  func drop(
    before bound: Int64, watermarks: Watermarks, retention: [Tier: Int64], most: Int64 = mostPerLink
  ) throws(StoreError) {
    try database.statement(
      """
      DELETE FROM incarnation WHERE (link, boot_id_high, boot_id_low, ifindex, opened) IN
        (SELECT link, boot_id_high, boot_id_low, ifindex, opened FROM incarnation WHERE closed < ? LIMIT ?)
      """
    ).run(.integer(bound), .integer(RecordRetention.mostAtOnce))
    for link in try crowded("incarnation", most) {
      try database.statement(
        """
        DELETE FROM incarnation WHERE link = ? AND closed IS NOT NULL AND opened < (
          SELECT opened FROM incarnation WHERE link = ? ORDER BY opened DESC LIMIT 1 OFFSET ?)
        """
      ).run(.integer(link), .integer(link), .integer(most - 1))
    }

    try database.statement("DELETE FROM gap WHERE ended < ? AND link IS NULL AND lossy = 0").run(.integer(bound))
    var old = try gaps("link IS NOT NULL AND ended < ? ORDER BY rowid LIMIT ?", bound, RecordRetention.mostAtOnce)
    for link in try crowded("gap", most) {
      old += try gaps(
        "link = ? AND rowid <= (SELECT rowid FROM gap WHERE link = ? ORDER BY rowid DESC LIMIT 1 OFFSET ?)", link, link,
        most)
    }
    let buckets = BucketTable(database: database, calendar: calendar)
    for (rowid, gap) in old {
      if gap.lossy { try label(gap, buckets, watermarks, retention) }
      try database.statement("DELETE FROM gap WHERE rowid = ?").run(.integer(rowid))
    }
    try joinOldest(most)
  }

  /// Marks the days that a gap touches, and the finer periods that it begins in.
  private func label(
    _ gap: Gap, _ buckets: BucketTable, _ watermarks: Watermarks, _ retention: [Tier: Int64]
  ) throws(StoreError) {
    guard let link = gap.link else { return }
    var start = gap.from
    while start < max(gap.to, gap.from + 1) {
      try buckets.add(
        BucketRow(tier: .minute, start: floorDivide(start, 60) * 60, link: link, amounts: .zero, flags: .atLeast),
        watermarks: watermarks, retention: retention)
      start = calendar.next(.day, start)
    }
  }

  /// Of the gaps that concern every link the oldest ones beyond `most` become one.
  private func joinOldest(_ most: Int64) throws(StoreError) {
    let excess = try gaps(
      "link IS NULL AND rowid <= (SELECT rowid FROM gap WHERE link IS NULL ORDER BY rowid DESC LIMIT 1 OFFSET ?) LIMIT ?",
      most - 1, RecordRetention.mostAtOnce)
    guard excess.count > 1, let first = excess.first else { return }
    var joined = first.gap
    for (rowid, gap) in excess {
      joined.from = min(joined.from, gap.from)
      joined.to = max(joined.to, gap.to)
      joined.lossy = joined.lossy || gap.lossy
      if rowid != first.rowid { try database.statement("DELETE FROM gap WHERE rowid = ?").run(.integer(rowid)) }
    }
    try database.statement("UPDATE gap SET started = ?, ended = ?, lossy = ? WHERE rowid = ?")
      .run(.integer(joined.from), .integer(joined.to), .flag(joined.lossy), .integer(first.rowid))
  }

  private func crowded(_ table: String, _ most: Int64) throws(StoreError) -> [Int64] {
    let select = try database.statement(
      "SELECT link FROM \(table) WHERE link IS NOT NULL GROUP BY link HAVING count(*) > ?")
    defer { select.reset() }
    try select.start(.integer(most))
    var links: [Int64] = []
    while try select.step() { links.append(select.integer(0)) }
    return links
  }

  private func gaps(_ condition: String, _ values: Int64...) throws(StoreError) -> [(rowid: Int64, gap: Gap)] {
    let select = try database.statement(
      "SELECT link, started, ended, lossy, rowid FROM gap WHERE \(condition)")
    defer { select.reset() }
    try select.start(values.map { .integer($0) })
    var found: [(rowid: Int64, gap: Gap)] = []
    while try select.step() {
      // The reason is of no account here.
      let gap = Gap(
        link: select.optional(0).map { LinkID(truncatingIfNeeded: $0) }, from: select.integer(1), to: select.integer(2),
        reason: .vanished, lossy: select.flag(3))
      found.append((select.integer(4), gap))
    }
    return found
  }
}
