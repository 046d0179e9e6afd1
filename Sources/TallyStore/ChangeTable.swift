// Changes that people made, as rows; and the links that one of them had deleted, bucket by bucket.
import TallyCore

/// The table `change`.
struct ChangeTable {
  let database: Database

  /// The kept ones, oldest first.
  func all() throws(StoreError) -> [Change] {
    let select = try database.statement(
      "SELECT id, at, uid, action, link, before, after, undone_at, undone_by FROM change ORDER BY id")
    defer { select.reset() }
    try select.start()
    var changes: [Change] = []
    while try select.step() {
      guard let action = Change.Action(rawValue: select.text(3)) else {
        throw .corrupt(path: database.path, cause: "change.action holds the unknown value \"\(select.text(3))\"")
      }
      changes.append(
        Change(
          id: select.integer(0), at: select.integer(1), uid: select.small(2), action: action,
          link: LinkID(truncatingIfNeeded: select.integer(4)), before: select.text(5), after: select.text(6),
          undone: select.optional(7).map { Change.Undoing(at: $0, uid: select.small(8)) }))
    }
    return changes
  }

  /// Inserts the change or replaces the one with its id, and drops the oldest above the number that is kept.
  func put(_ change: Change) throws(StoreError) {
    try database.statement(
      """
      INSERT OR REPLACE INTO change (id, at, uid, action, link, before, after, undone_at, undone_by)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      .integer(change.id), .integer(change.at), .small(change.uid), .text(change.action.rawValue),
      .integer(Int64(change.link)), .text(change.before), .text(change.after), .optional(change.undone?.at),
      change.undone.map { .small($0.uid) } ?? .null)
    try database.statement("DELETE FROM change WHERE id <= (SELECT max(id) FROM change) - ?")
      .run(.integer(Int64(Change.kept)))
  }
}

/// How far the buckets of deleted links are looked for. Buckets lie by time, so all of them are looked through, some
/// with each commit, from the finer tiers to the coarser, as folds move them.
struct Purge {
  var tier = Tier.minute
  var start = Int64.min
  /// This pass deleted some: a fold may have moved others past it, so another one follows.
  var foundSome = false
}

/// The table `deleted_link`.
struct DeletedLinks {
  let database: Database

  /// Buckets looked at in one commit, about.
  private static let step: Int64 = 20_000

  /// The highest id of one that was deleted.
  func highest() throws(StoreError) -> LinkID {
    LinkID(truncatingIfNeeded: try database.integer("SELECT highest_link FROM meta") ?? 0)
  }

  /// Deletes the link with all but its buckets.
  func begin(_ link: LinkID) throws(StoreError) {
    let id = SQLValue.integer(Int64(link))
    for table in ["incarnation", "gap", "link_total"] {
      try database.statement("DELETE FROM \(table) WHERE link = ?").run(id)
    }
    try database.statement("DELETE FROM link WHERE id = ?").run(id)
    try database.statement("UPDATE meta SET highest_link = max(highest_link, ?)").run(id)
    try database.statement("INSERT OR IGNORE INTO deleted_link VALUES (?)").run(id)
  }

  /// Deletes some of their buckets; returns where to go on.
  func purge(_ purge: Purge) throws(StoreError) -> Purge {
    guard try database.integer("SELECT count(*) FROM deleted_link") ?? 0 > 0 else { return Purge() }
    var purge = purge
    while true {
      let tier = SQLValue.integer(Int64(purge.tier.rawValue))
      let select = try database.statement(
        "SELECT start FROM bucket WHERE tier = ? AND start >= ? ORDER BY start, link LIMIT 1 OFFSET ?")
      try select.start(tier, .integer(purge.start), .integer(DeletedLinks.step - 1))
      let cut = try select.step() ? select.integer(0) : nil
      select.reset()
      try database.statement(
        """
        DELETE FROM bucket WHERE tier = ? AND start >= ? AND start <= ?
          AND link IN (SELECT link FROM deleted_link)
        """
      ).run(tier, .integer(purge.start), .integer(cut ?? .max))
      if try database.integer("SELECT changes()") ?? 0 > 0 { purge.foundSome = true }
      if let cut, cut < .max {
        purge.start = cut + 1
        return purge
      }
      guard let next = Tier(rawValue: purge.tier.rawValue + 1) else { break }
      purge.tier = next
      purge.start = .min
    }
    if !purge.foundSome { try database.execute("DELETE FROM deleted_link") }
    return Purge()
  }
}
