// The writer's side of the store: opening it in whatever state it was left, and closing it.
import Glibc
package import TallyCore

/// What an opened store holds, and what had to be done to open it.
package struct StoreOpening: Sendable {
  package var state: StoredState
  /// A sentence for the log and for `status` when a damaged file was set aside and a new one begun; else nil.
  package var notice: String?
}

/// An open store: the one connection that writes. Used by one thread at a time.
package final class Store {
  package let opening: StoreOpening
  let files: StoreFiles
  let calendar: LocalCalendar
  let database: Database
  /// Retention that a commit was too short to finish, for the next ones to go on with.
  var retentionLeft: [Tier: Int64] = [:]
  /// Tells our WAL from one that came with another file.
  private var walInode: UInt64?
  /// The same of deleted links' buckets.
  var purge = Purge()
  /// nil once closed.
  private var lock: StoreLock?

  /// Pages in the WAL after which a commit writes them back to the file and begins the WAL anew: 1 MB, two hours of
  /// ten busy links. Half as much would write 5 % more in all, and twice as much save nothing.
  private static let checkpointPages = 1024
  /// After an unclean end the whole file is checked up to this size, half a second from the page cache; of a larger one
  /// everything but the buckets, whose damage shows when they are read.
  private static let checkedBytes: Int64 = 32 << 20
  /// How long another program's lock on the file is waited for.
  private static let busyMilliseconds: Int32 = 5000

  /// Opens the store in `directory`, making directory and file where they are missing.
  ///
  /// A damaged file is set aside as `iftally.db.corrupt-YYYYMMDDTHHMMSSZ` and a new one begun; `opening.notice` says
  /// so. A newer or foreign file is left untouched, and a store that another daemon has open is refused.
  ///
  /// - Parameters:
  ///   - calendar: gives the local periods that late rows and folds are put into.
  ///   - now: UTC seconds, for the name of a file set aside and the watermarks of a new one: a new store is folded up
  ///     to the periods that hold `now`, so what is added before them goes directly to the coarser tiers.
  ///   - suspect: check the whole file, whatever its size and however it was closed.
  package static func open(
    directory: String, calendar: LocalCalendar, now: Int64 = Int64(time(nil)), suspect: Bool = false
  ) throws(StoreError) -> Store {
    let files = StoreFiles(directory: directory)
    try files.makeDirectory()
    let lock = try StoreLock(files)
    files.remove(files.copy)
    var notice: String?
    if try files.databaseLength() == nil, let name = try begin(files, calendar: calendar, now: now) {
      notice =
        "the store \(files.database) was gone but for its journal, which was set aside as \(name); "
        + "a new store was begun"
    }
    do {
      return try Store(files, lock: lock, calendar: calendar, notice: notice, suspect: suspect)
    } catch {
      guard error.kind == .corrupt, let name = try begin(files, calendar: calendar, now: now) else { throw error }
      return try Store(
        files, lock: lock, calendar: calendar,
        notice: "the store \(files.database) was damaged (\(error.cause ?? error.message)); it was set aside as "
          + "\(name) and a new one was begun: what was counted before is in that file alone",
        suspect: false)
    }
  }

  private init(
    _ files: StoreFiles, lock: StoreLock, calendar: LocalCalendar, notice: String?, suspect: Bool
  ) throws(StoreError) {
    self.files = files
    self.lock = lock
    self.calendar = calendar
    guard try files.databaseLength() != 0 else {
      throw .corrupt(path: files.database, cause: "it is empty")
    }
    // First without locks or a WAL, so that a file which is not ours stays as it is to the byte. Then again: a newer
    // version may have left its number in the WAL.
    _ = try Store.identify(try Database(path: files.database, mode: .untouched))
    let wasUnclean = files.hasUnfinishedWAL
    database = try Database(path: files.database, mode: .readWrite)
    database.setBusyTimeout(milliseconds: Store.busyMilliseconds)
    let version = try Store.identify(database)
    if suspect || wasUnclean {
      let isLarge = try files.databaseLength() ?? 0 > Store.checkedBytes
      try Store.check(database, withoutBuckets: isLarge && !suspect)
    }
    try Schema.migrate(database, from: version)
    // NORMAL: a commit is in the kernel's hands when it returns, so a kill of the process loses nothing. The WAL is
    // synced before a checkpoint and the file after it, so a power loss never damages the file; it takes at most the
    // commits since the last checkpoint, in practice those that the kernel had not written back yet (30 s).
    try database.execute(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = \(Store.checkpointPages);
      PRAGMA journal_size_limit = \(2 * Store.checkpointPages * Schema.pageSize)
      """)
    // SQLite opens a file that it may not write as read-only without a word.
    try database.execute("BEGIN IMMEDIATE; ROLLBACK")
    opening = StoreOpening(state: try Store.load(database), notice: notice)
    walInode = files.walInode
  }

  /// Writes the WAL back, ends the connection and lets the next daemon in; the WAL is left alone when another
  /// file has taken the place of this one.
  package func close() {
    if !database.hasMoved { database.setCheckpointsOnClose() }
    database.close()
    lock = nil
  }

  /// Ends the connection without a checkpoint, for a file that may not be ours any more. A WAL of ours that lies beside
  /// another file is set aside: SQLite would play it into that one.
  func abandon() {
    let isOrphan = database.hasMoved && files.hasDatabase && files.walInode == walInode
    database.close()
    lock = nil
    if isOrphan { files.setAsideWAL(now: Int64(time(nil))) }
  }

  /// Bytes on disk, WAL included.
  package var sizeBytes: Int64 { files.sizeBytes }

  /// Bytes that the daemon may still write on its file system; nil when that cannot be told.
  var freeBytes: Int64? { files.freeBytes }

  /// Path of the file.
  package var path: String { files.database }

  /// Reads the whole file and throws `.corrupt` with what is wrong first.
  package func quickCheck() throws(StoreError) {
    try Store.check(database, withoutBuckets: false)
  }

  /// Begins a new file, and returns the name that what lay in its place was set aside under. The new one is complete
  /// before anything is moved: on a full disk all stays as it is.
  private static func begin(_ files: StoreFiles, calendar: LocalCalendar, now: Int64) throws(StoreError) -> String? {
    try files.makeUnfinished()
    let database = try Database(path: files.unfinished, mode: .readWrite)
    defer { database.close() }
    try Schema.create(database, watermarks: .new(at: now, calendar: calendar))
    database.close()
    let name = try files.setAside(now: now)
    try files.finish()
    return name
  }

  /// The schema version of a file of ours.
  static func identify(_ database: Database) throws(StoreError) -> Int64 {
    let id = try database.integer("PRAGMA application_id") ?? 0
    let version = try database.integer("PRAGMA user_version") ?? 0
    guard id == Schema.applicationID else {
      throw StoreError(
        .foreign,
        "\(database.path) is a database of another program (application id \(id), ours is \(Schema.applicationID)) and "
          + "is left untouched",
        remedy: "move it away, or name another directory with Directory= in [Store] and restart iftallyd")
    }
    guard version <= Schema.version else {
      throw StoreError(
        .newer,
        "the store \(database.path) was written by a newer iftally (schema \(version), this one knows "
          + "\(Schema.version)) and is left untouched",
        remedy: "install that version again, or move the file away for a new one to be begun")
    }
    guard version > 0 else { throw .corrupt(path: database.path, cause: "it has no schema version") }
    return version
  }

  static func check(_ database: Database, withoutBuckets: Bool) throws(StoreError) {
    var checks = ["PRAGMA quick_check(1)"]
    if withoutBuckets {
      checks = ["meta", "link", "link_total", "incarnation", "gap", "clock_step", "change", "deleted_link"]
        .map { "PRAGMA quick_check(\($0))" }
    }
    for check in checks {
      let findings = try database.texts(check)
      guard findings == ["ok"] else {
        throw .corrupt(path: database.path, cause: findings.first ?? "its check gave no answer")
      }
    }
  }

  private static func load(_ database: Database) throws(StoreError) -> StoredState {
    let meta = try StoredMeta(database)
    return StoredState(
      sequence: meta.sequence, lastMoment: meta.at, links: try LinkTable(database: database).all(),
      watermarks: meta.watermarks, changes: try ChangeTable(database: database).all(),
      highestLink: try DeletedLinks(database: database).highest())
  }
}
