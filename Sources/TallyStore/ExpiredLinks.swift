// Links that expired: what other tables have of them becomes their groups', in the transaction that deletes them.
import TallyCore

/// Moves the past of links to others.
struct ExpiredLinks {
  let database: Database
  let calendar: LocalCalendar

  /// Moves buckets and gaps, and deletes the links with what is known of their lives. One that is not there is no error;
  /// the totals are in the records of the commit.
  ///
  /// Buckets lie by time, so all of them are looked through, once a commit that has some; such commits are one a day.
  func move(_ expiries: [Expiry]) throws(StoreError) {
    guard !expiries.isEmpty else { return }
    let targets = Dictionary(expiries.map { ($0.link, $0.into) }, uniquingKeysWith: { $1 })
    try BucketTable(database: database, calendar: calendar).move(targets)
    let links = LinkTable(database: database)
    for (link, target) in targets {
      let id = SQLValue.integer(Int64(link))
      try database.statement("UPDATE gap SET link = ? WHERE link = ?").run(.integer(Int64(target)), id)
      try links.remove(link)
      try database.statement("UPDATE meta SET highest_link = max(highest_link, ?)").run(id)
    }
  }
}
