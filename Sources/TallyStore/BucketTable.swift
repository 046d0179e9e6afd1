// Buckets as rows: adding to them, folding a closed period into a coarser tier, and dropping the old ones.
import TallyCore

/// The table `bucket`. Sums are taken here and not in SQL, whose integers are signed: `Amounts` saturates.
struct BucketTable {
  let database: Database
  let calendar: LocalCalendar

  /// Adds a row where its bytes belong, given how far the tiers are folded.
  ///
  /// It goes to its own tier if that is folded past it, else to the nearest finer one that is still to be folded (in
  /// the end the minute). Every coarser tier that is folded past it will not look there again and gets it directly.
  /// The tier itself is left out when `retention` would drop the row at once, unless a fold is still to read it.
  func add(_ row: BucketRow, watermarks: Watermarks, retention: [Tier: Int64]) throws(StoreError) {
    guard !row.amounts.isZero || !row.flags.isEmpty else { return }
    var own = row.tier
    while row.start >= watermarks[own], let source = own.source { own = source }
    for tier in Tier.allCases where tier == own || (tier > own && row.start < watermarks[tier]) {
      if tier != .day, let bound = retention[tier], row.start < min(bound, unfolded(tier, watermarks)) { continue }
      // Minutes are kept as they are given.
      let start = tier == .minute ? row.start : calendar.start(tier.resolution, row.start)
      try add(row.seen(from: tier, start: start))
    }
  }

  /// Sums the source tier's rows in [start, end) into rows of the fold's tier, one a link and local period, the first
  /// of which begins at the fold's start.
  func fold(_ fold: Fold) throws(StoreError) {
    guard let source = fold.tier.source else { return }
    let resolution = fold.tier.resolution
    let select = try database.statement(
      """
      SELECT start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags FROM bucket
      WHERE tier = ? AND start >= ? AND start < ? ORDER BY start, link
      """)
    defer { select.reset() }
    try select.start(.integer(Int64(source.rawValue)), .integer(fold.start), .integer(fold.end))
    var sums: [LinkID: BucketRow] = [:]
    var period = fold.start
    var periodEnd = calendar.next(resolution, fold.start)
    while try select.step() {
      let row = select.bucket(source)
      if row.start >= periodEnd {
        try write(&sums)
        period = max(fold.start, calendar.start(resolution, row.start))
        periodEnd = calendar.next(resolution, row.start)
      }
      let part = row.seen(from: fold.tier, start: period)
      sums[row.link] = sums[row.link].map { $0.adding(part) } ?? part
    }
    try write(&sums)
  }

  /// Drops rows of a tier that start before the hour of `bound` and that no fold is still to read: the oldest `limit`
  /// of them and those that share the last one's start. True when some are left for the next commit.
  ///
  /// By the hour, since dropping a minute with every commit was measured to write half as much again.
  func drop(_ tier: Tier, before bound: Int64, watermarks: Watermarks, limit: Int64) throws(StoreError) -> Bool {
    guard tier != .day else { return false }
    let bound = floorDivide(min(bound, unfolded(tier, watermarks)), 3600) * 3600
    let key = SQLValue.integer(Int64(tier.rawValue))
    let select = try database.statement(
      "SELECT start FROM bucket WHERE tier = ? AND start < ? ORDER BY start, link LIMIT 1 OFFSET ?")
    try select.start(key, .integer(bound), .integer(limit - 1))
    let cut = try select.step() ? select.integer(0) : nil
    select.reset()
    try database.statement("DELETE FROM bucket WHERE tier = ? AND start <= ?").run(key, .integer(cut ?? bound - 1))
    return cut != nil
  }

  /// Puts the rows of these links, of whatever tier, under others: as they are, or added to what is there.
  ///
  /// `step`: so many are in memory at once.
  func move(_ targets: [LinkID: LinkID], step: Int = 5000) throws(StoreError) {
    let links = SQLValue.text("[" + targets.keys.map { "\($0)" }.joined(separator: ",") + "]")
    for tier in Tier.allCases {
      let key = SQLValue.integer(Int64(tier.rawValue))
      var start = Int64.min
      var rows: [BucketRow]
      repeat {
        rows = []
        let select = try database.statement(
          """
          SELECT start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags FROM bucket
          WHERE tier = ? AND start >= ? AND link IN (SELECT value FROM json_each(?)) ORDER BY start, link LIMIT ?
          """)
        try select.start(key, .integer(start), links, .integer(Int64(step)))
        while try select.step() { rows.append(select.bucket(tier)) }
        select.reset()
        for var row in rows {
          try database.statement("DELETE FROM bucket WHERE tier = ? AND start = ? AND link = ?")
            .run(key, .integer(row.start), .integer(Int64(row.link)))
          row.link = targets[row.link] ?? row.link
          try add(row)
          start = row.start
        }
      } while rows.count == step
    }
  }

  /// From where on rows of this tier are still to be folded into another.
  private func unfolded(_ tier: Tier, _ watermarks: Watermarks) -> Int64 {
    Tier.allCases.reduce(.max) { $1.source == tier ? min($0, watermarks[$1]) : $0 }
  }

  private func write(_ sums: inout [LinkID: BucketRow]) throws(StoreError) {
    for row in sums.values.sorted(by: { $0.link < $1.link }) { try add(row) }
    sums.removeAll(keepingCapacity: true)
  }

  /// Adds to the row of the same key, or inserts it.
  private func add(_ row: BucketRow) throws(StoreError) {
    let select = try database.statement(
      """
      SELECT start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags FROM bucket
      WHERE tier = ? AND start = ? AND link = ?
      """)
    try select.start(.integer(Int64(row.tier.rawValue)), .integer(row.start), .integer(Int64(row.link)))
    let sum = try select.step() ? select.bucket(row.tier).adding(row) : row
    select.reset()
    try database.statement(
      """
      INSERT OR REPLACE INTO bucket
        (tier, start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      .integer(Int64(sum.tier.rawValue)), .integer(sum.start), .integer(Int64(sum.link)),
      .counter(sum.amounts.rxBytes), .counter(sum.amounts.txBytes), .counter(sum.amounts.rxPackets),
      .counter(sum.amounts.txPackets), .counter(sum.placedRx), .counter(sum.placedTx),
      .integer(Int64(sum.flags.rawValue)))
  }
}

extension BucketRow {
  /// The row as a part of a coarser tier's: bytes that were placed across a boundary shorter than that tier's are in
  /// the right period of it.
  fileprivate func seen(from tier: Tier, start: Int64) -> BucketRow {
    var row = self
    row.tier = tier
    row.start = start
    let across = BucketFlags.across(tier)
    if !flags.contains(across) {
      row.placedRx = 0
      row.placedTx = 0
    }
    row.flags.formIntersection(BucketFlags(rawValue: ~(across.rawValue - 1)).union(.atLeast))
    return row
  }

  fileprivate func adding(_ other: BucketRow) -> BucketRow {
    var sum = self
    sum.amounts += other.amounts
    sum.placedRx = saturatingSum(placedRx, other.placedRx)
    sum.placedTx = saturatingSum(placedTx, other.placedTx)
    sum.flags.formUnion(other.flags)
    return sum
  }
}

extension Statement {
  /// Nine columns: start, link, four amounts, two placed parts and flags.
  func bucket(_ tier: Tier) -> BucketRow {
    BucketRow(
      tier: tier, start: integer(0), link: LinkID(truncatingIfNeeded: integer(1)), amounts: amounts(2),
      placedRx: counter(6), placedTx: counter(7), flags: BucketFlags(rawValue: UInt8(truncatingIfNeeded: integer(8))))
  }
}
