// The reader's side of the store: a connection of its own that answers from one consistent state.
package import TallyCore

/// A read-only connection. Used by one thread at a time.
package final class UsageReader {
  private let database: Database

  /// Opens the file of an open store for reading.
  package init(path: String) throws(StoreError) {
    database = try Database(path: path, mode: .readOnly)
    database.setBusyTimeout(milliseconds: 5000)
  }

  /// Answers from what was committed when the reading began, all in one read transaction.
  ///
  /// A commit that folds or drops rows meanwhile changes nothing in the answer. More than `maximumRows` buckets, gaps
  /// or incarnations are an error, `.tooManyRows`.
  package func usage(_ query: UsageQuery) throws(StoreError) -> UsageRows {
    defer { database.releaseMemory() }
    return try database.transaction("BEGIN") { () throws(StoreError) in
      let meta = try StoredMeta(database)
      let links = query.links.map { Set($0) }
      var rows: [BucketRow] = []
      for span in meta.watermarks.spans(tier: query.tier, from: query.from, to: query.to) {
        try read(span, links: links, maximum: query.maximumRows, into: &rows)
      }
      var answer = UsageRows(
        sequence: meta.sequence, watermarks: meta.watermarks, rows: rows,
        gaps: try GapTable(database: database).gaps(
          from: query.from, to: query.to, links: links, maximum: query.maximumRows),
        incarnations: try LinkTable(database: database).incarnations(
          from: query.from, to: query.to, links: links, maximum: query.maximumRows))
      if let tier = query.detail {
        for span in meta.watermarks.spans(tier: tier, from: query.from, to: query.to) {
          try read(span, links: links, maximum: query.maximumRows, into: &answer.detail)
        }
        answer.clockSteps = try GapTable(database: database).steps(
          from: query.from, to: query.to, maximum: query.maximumRows)
      }
      return answer
    }
  }

  package func close() {
    database.close()
  }

  private func read(
    _ span: TierSpan, links: Set<LinkID>?, maximum: Int, into rows: inout [BucketRow]
  ) throws(StoreError) {
    let select = try database.statement(
      """
      SELECT start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags FROM bucket
      WHERE tier = ? AND start >= ? AND start < ? ORDER BY start, link
      """)
    defer { select.reset() }
    try select.start(.integer(Int64(span.tier.rawValue)), .integer(span.from), .integer(span.to))
    while try select.step() {
      if let links, !links.contains(LinkID(truncatingIfNeeded: select.integer(1))) { continue }
      guard rows.count < maximum else { throw .tooManyRows(maximum) }
      rows.append(select.bucket(span.tier))
    }
  }
}

extension StoreError {
  static func tooManyRows(_ maximum: Int) -> StoreError {
    StoreError(
      .tooManyRows,
      "the answer would have more than \(maximum) rows",
      remedy: "ask for a shorter span, a coarser resolution or fewer interfaces")
  }
}
