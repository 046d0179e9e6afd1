// Spans that nobody observed, and steps of the wall clock, as rows.
import TallyCore

/// The tables `gap` and `clock_step`.
struct GapTable {
  let database: Database

  func add(_ gap: Gap) throws(StoreError) {
    try database.statement("INSERT INTO gap (link, started, ended, reason, lossy) VALUES (?, ?, ?, ?, ?)")
      .run(
        .optional(gap.link.map { Int64($0) }), .integer(gap.from), .integer(gap.to), .text(gap.reason.rawValue),
        .flag(gap.lossy))
  }

  func add(_ step: ClockStep) throws(StoreError) {
    try database.statement("INSERT INTO clock_step (at, by_nanoseconds) VALUES (?, ?)")
      .run(.integer(step.at), .integer(step.by))
  }

  /// Gaps that overlap [from, to), of these links and of every link, by their beginning. One without length, such as a
  /// counter's reset, overlaps the span that holds it.
  func gaps(from: Int64, to: Int64, links: Set<LinkID>?, maximum: Int) throws(StoreError) -> [Gap] {
    let select = try database.statement(
      """
      SELECT link, started, ended, reason, lossy FROM gap
      WHERE started < ? AND (ended > ? OR started >= ?) ORDER BY started, rowid
      """)
    defer { select.reset() }
    try select.start(.integer(to), .integer(from), .integer(from))
    var found: [Gap] = []
    while try select.step() {
      let link = select.optional(0).map { LinkID(truncatingIfNeeded: $0) }
      if let links, let link, !links.contains(link) { continue }
      guard found.count < maximum else { throw .tooManyRows(maximum) }
      guard let reason = GapReason(rawValue: select.text(3)) else {
        throw .corrupt(path: database.path, cause: "gap.reason holds the unknown value \"\(select.text(3))\"")
      }
      found.append(
        Gap(link: link, from: select.integer(1), to: select.integer(2), reason: reason, lossy: select.flag(4)))
    }
    return found
  }

  /// Steps of the clock into [from, to) or out of it, in the order in which they were seen.
  func steps(from: Int64, to: Int64, maximum: Int) throws(StoreError) -> [ClockStep] {
    let select = try database.statement("SELECT at, by_nanoseconds FROM clock_step ORDER BY rowid")
    defer { select.reset() }
    try select.start()
    var found: [ClockStep] = []
    while try select.step() {
      let step = ClockStep(at: select.integer(0), by: select.integer(1))
      guard step.touches(from: from, to: to) else { continue }
      guard found.count < maximum else { throw .tooManyRows(maximum) }
      found.append(step)
    }
    return found
  }
}
