// The tables of the store, as an append-only list of named migrations.
import TallyCore

/// One step from a schema version to the next. A released one is never changed: a mistake is mended by another.
struct Migration {
  let name: String
  let sql: String
}

enum Schema {
  /// "ifty": says that a SQLite file is ours.
  static let applicationID: Int64 = 0x6966_7479

  /// `PRAGMA user_version` counts how many of these a file has been through.
  static let migrations = [
    Migration(name: "buckets, links, incarnations and gaps", sql: bucketsLinksIncarnationsGaps),
    Migration(name: "what each incarnation counted", sql: whatEachIncarnationCounted),
    Migration(name: "the width of baselines", sql: widthOfBaselines),
    Migration(name: "what a machine total makes of each link", sql: whatATotalMakesOfEachLink),
    Migration(name: "labels, groups and ignored links", sql: labelsGroupsAndIgnoredLinks),
    Migration(name: "what people changed", sql: whatPeopleChanged),
  ]

  static var version: Int64 { Int64(migrations.count) }

  /// Counters are 64 bits unsigned stored as the signed integer of the same bits. Times are UTC seconds, except those
  /// of moments (`utc`, `boot`: nanoseconds).
  ///
  /// What every commit changes lies together in few pages. The key of `bucket` begins with tier and time, so that a
  /// commit's rows are neighbours (by link they would lie on a page each, which writes four times as much), and
  /// minutes come last, so that they are appended at the end of the tree and leave full pages behind.
  private static let bucketsLinksIncarnationsGaps = """
    CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      sequence INTEGER NOT NULL,
      utc INTEGER,
      boot INTEGER,
      boot_id_high INTEGER,
      boot_id_low INTEGER,
      folded_five_minutes INTEGER NOT NULL,
      folded_hour INTEGER NOT NULL,
      folded_day INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE link (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      name BLOB NOT NULL,
      kind TEXT NOT NULL,
      type TEXT NOT NULL,
      first_seen INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE link_total (
      link INTEGER PRIMARY KEY REFERENCES link (id),
      last_seen INTEGER NOT NULL,
      rx_bytes INTEGER NOT NULL,
      tx_bytes INTEGER NOT NULL,
      rx_packets INTEGER NOT NULL,
      tx_packets INTEGER NOT NULL,
      at_least INTEGER NOT NULL,
      resets INTEGER NOT NULL,
      -- The baseline: all NULL when the link is not present.
      base_utc INTEGER,
      base_boot INTEGER,
      base_boot_id_high INTEGER,
      base_boot_id_low INTEGER,
      base_ifindex INTEGER,
      base_inode INTEGER,
      base_rx_bytes INTEGER,
      base_tx_bytes INTEGER,
      base_rx_packets INTEGER,
      base_tx_packets INTEGER
    ) STRICT;

    CREATE TABLE incarnation (
      link INTEGER NOT NULL,
      boot_id_high INTEGER NOT NULL,
      boot_id_low INTEGER NOT NULL,
      ifindex INTEGER NOT NULL,
      opened INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      birth TEXT NOT NULL,
      closed INTEGER,
      death TEXT,
      PRIMARY KEY (link, boot_id_high, boot_id_low, ifindex, opened)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE bucket (
      tier INTEGER NOT NULL,
      start INTEGER NOT NULL,
      link INTEGER NOT NULL,
      rx_bytes INTEGER NOT NULL,
      tx_bytes INTEGER NOT NULL,
      rx_packets INTEGER NOT NULL,
      tx_packets INTEGER NOT NULL,
      placed_rx INTEGER NOT NULL,
      placed_tx INTEGER NOT NULL,
      flags INTEGER NOT NULL,
      PRIMARY KEY (tier DESC, start, link)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE gap (
      -- NULL: every link.
      link INTEGER,
      started INTEGER NOT NULL,
      ended INTEGER NOT NULL,
      reason TEXT NOT NULL,
      lossy INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE clock_step (
      at INTEGER NOT NULL,
      by_nanoseconds INTEGER NOT NULL
    ) STRICT;
    """

  /// All NULL for incarnations of before; what one counted also while it is open.
  private static let whatEachIncarnationCounted = """
    ALTER TABLE incarnation ADD COLUMN before_rx_bytes INTEGER;
    ALTER TABLE incarnation ADD COLUMN before_tx_bytes INTEGER;
    ALTER TABLE incarnation ADD COLUMN before_rx_packets INTEGER;
    ALTER TABLE incarnation ADD COLUMN before_tx_packets INTEGER;
    ALTER TABLE incarnation ADD COLUMN booked_from INTEGER;
    ALTER TABLE incarnation ADD COLUMN booked_until INTEGER;
    ALTER TABLE incarnation ADD COLUMN counted_rx_bytes INTEGER;
    ALTER TABLE incarnation ADD COLUMN counted_tx_bytes INTEGER;
    ALTER TABLE incarnation ADD COLUMN counted_rx_packets INTEGER;
    ALTER TABLE incarnation ADD COLUMN counted_tx_packets INTEGER;
    """

  /// NULL: 64 bits, as those of all earlier files are taken to have been.
  private static let widthOfBaselines = "ALTER TABLE link_total ADD COLUMN base_width INTEGER;"

  /// NULL: not found out.
  private static let whatATotalMakesOfEachLink = """
    ALTER TABLE link ADD COLUMN added INTEGER;
    ALTER TABLE link ADD COLUMN carrier INTEGER;
    """

  /// `label`: NULL without one; `member_of`: the group that it books to, by id; `member_lives`: of a group.
  private static let labelsGroupsAndIgnoredLinks = """
    ALTER TABLE link ADD COLUMN label TEXT;
    ALTER TABLE link ADD COLUMN rule TEXT;
    ALTER TABLE link ADD COLUMN member_of INTEGER;
    ALTER TABLE link ADD COLUMN ignored INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE link_total ADD COLUMN member_lives INTEGER NOT NULL DEFAULT 0;
    """

  /// `deleted_link` has the links whose buckets are still to be deleted; `highest_link` the highest id that ever was.
  private static let whatPeopleChanged = """
    ALTER TABLE link ADD COLUMN title TEXT;
    ALTER TABLE link ADD COLUMN merged_into INTEGER;
    ALTER TABLE link ADD COLUMN forgotten INTEGER;
    ALTER TABLE meta ADD COLUMN highest_link INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE change (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      uid INTEGER NOT NULL,
      action TEXT NOT NULL,
      link INTEGER NOT NULL,
      before TEXT NOT NULL,
      after TEXT NOT NULL,
      -- NULL: it stands.
      undone_at INTEGER,
      undone_by INTEGER
    ) STRICT;

    CREATE TABLE deleted_link (link INTEGER PRIMARY KEY) STRICT;
    """

  /// Brings a file from `version` to the present one, all steps in one transaction.
  static func migrate(_ database: Database, from version: Int64) throws(StoreError) {
    guard version < Schema.version else { return }
    try database.transaction("BEGIN IMMEDIATE") { () throws(StoreError) in
      for migration in migrations.dropFirst(Int(max(version, 0))) {
        do throws(StoreError) {
          try database.execute(migration.sql)
        } catch {
          throw StoreError(
            error.kind, "schema step \"\(migration.name)\": \(error.message)", extendedCode: error.extendedCode,
            sql: error.sql)
        }
      }
      try database.execute("PRAGMA user_version = \(Schema.version)")
    }
  }

  /// Lays out an empty file: the tables, whose file it is, and where folding begins.
  static func create(_ database: Database, watermarks: Watermarks) throws(StoreError) {
    try database.execute("PRAGMA page_size = \(pageSize); PRAGMA application_id = \(applicationID)")
    try migrate(database, from: 0)
    try database.statement(
      "INSERT INTO meta (id, sequence, folded_five_minutes, folded_hour, folded_day) VALUES (1, 0, ?, ?, ?)"
    ).run(.integer(watermarks.fiveMinutes), .integer(watermarks.hour), .integer(watermarks.day))
  }

  /// A commit rewrites whole pages, so they are small: with 4096 bytes it was measured to write twice as much.
  static let pageSize = 1024
}
