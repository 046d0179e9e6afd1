// The one row that says up to which commit, moment and period the other tables stand.
import TallyCore

/// The row of `meta`.
struct StoredMeta {
  var sequence: UInt64
  /// The moment of the last commit; nil before the first.
  var at: Moment?
  var watermarks: Watermarks

  init(_ database: Database) throws(StoreError) {
    let select = try database.statement(
      """
      SELECT sequence, utc, boot, boot_id_high, boot_id_low, folded_five_minutes, folded_hour, folded_day FROM meta
      """)
    defer { select.reset() }
    try select.start()
    guard try select.step() else { throw .corrupt(path: database.path, cause: "table meta is empty") }
    sequence = select.counter(0)
    at = select.isNull(1) ? nil : select.moment(1)
    watermarks = Watermarks(fiveMinutes: select.integer(5), hour: select.integer(6), day: select.integer(7))
  }

  func write(to database: Database) throws(StoreError) {
    try database.statement(
      """
      UPDATE meta SET sequence = ?, utc = ?, boot = ?, boot_id_high = ?, boot_id_low = ?,
        folded_five_minutes = ?, folded_hour = ?, folded_day = ?
      """
    ).run(
      .counter(sequence), .optional(at?.utc), .optional(at?.boot), at.map { .counter($0.bootID.high) } ?? .null,
      at.map { .counter($0.bootID.low) } ?? .null, .integer(watermarks.fiveMinutes), .integer(watermarks.hour),
      .integer(watermarks.day))
  }
}

extension Statement {
  /// The moment in four columns: utc, boot, and the boot id's halves.
  func moment(_ column: Int32) -> Moment {
    Moment(
      utc: integer(column), boot: integer(column + 1),
      bootID: BootID(high: counter(column + 2), low: counter(column + 3)))
  }
}
