// One connection to a SQLite file and its prepared statements; nothing here knows of traffic.
import CSQLite

/// How a connection is opened.
enum DatabaseMode {
  case readWrite
  case readOnly
  /// Reads the file as it lies there: takes no lock, looks at no WAL, makes no file beside it.
  case untouched
}

/// One connection. Used by one thread at a time.
final class Database {
  let path: String
  let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  private var isOpen = true

  /// Opens an existing file with small memory bounds.
  init(path: String, mode: DatabaseMode) throws(StoreError) {
    self.path = path
    var code = csqlite_setup()
    var db: OpaquePointer?
    var number: Int32 = 0
    if code == csqlite_ok {
      switch mode {
      case .readWrite: code = csqlite_open(path, csqlite_open_read_write, &db, &number)
      case .readOnly: code = csqlite_open(path, csqlite_open_read_only, &db, &number)
      case .untouched: code = csqlite_open(immutableURI(path), csqlite_open_read_only_uri, &db, &number)
      }
    }
    guard code == csqlite_ok, let db else {
      throw .sqlite(code: code, errno: number, text: "cannot open it", path: path, sql: nil)
    }
    handle = db
    // 256 KiB of pages at most, no page of the file mapped, and no overwriting of what is deleted (Debian's default,
    // which doubles the writing of retention).
    try execute("PRAGMA cache_size = -256; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = 0")
  }

  deinit {
    close()
  }

  /// Ends the connection. The WAL stays as it is unless `checkpointsOnClose` was set.
  func close() {
    guard isOpen else { return }
    isOpen = false
    for statement in statements.values { statement.finalize() }
    statements = [:]
    csqlite_close(handle)
  }

  /// How long to wait for a lock that another program holds.
  func setBusyTimeout(milliseconds: Int32) {
    _ = csqlite_busy_timeout(handle, milliseconds)
  }

  /// Lets closing write the WAL back and delete it. Only for a file that is known to lie at its path: SQLite deletes
  /// the WAL by name, which would be another file's.
  func setCheckpointsOnClose() {
    _ = csqlite_checkpoint_on_close(handle, true)
  }

  /// The file at the path is another one or none.
  var hasMoved: Bool { csqlite_has_moved(handle) }

  var isInTransaction: Bool { !csqlite_autocommit(handle) }

  func releaseMemory() {
    csqlite_release_memory(handle)
  }

  /// The statement for this SQL, compiled the first time it is asked for.
  func statement(_ sql: String) throws(StoreError) -> Statement {
    if let known = statements[sql] { return known }
    let (compiled, _) = try compile(sql, at: 0)
    guard let compiled else {
      throw StoreError(.other, "not a statement: \(sql)", sql: sql)
    }
    statements[sql] = compiled
    return compiled
  }

  /// Runs statements separated by semicolons, without values and once.
  func execute(_ sql: String) throws(StoreError) {
    var offset = 0
    while offset < sql.utf8.count {
      let (compiled, tail) = try compile(sql, at: offset)
      offset += tail
      guard let compiled else { break }
      defer { compiled.finalize() }
      while try compiled.step() {}
    }
  }

  /// Runs `body` in a transaction that is rolled back when it throws.
  func transaction<R>(_ begin: String, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try statement(begin).run()
    do {
      let result = try body()
      try statement("COMMIT").run()
      return result
    } catch {
      // Some errors have rolled back already; a rollback that fails leaves nothing to be done.
      if isInTransaction { try? statement("ROLLBACK").run() }
      throw error
    }
  }

  /// The one integer that a query without values gives; nil for no row.
  func integer(_ sql: String) throws(StoreError) -> Int64? {
    let (compiled, _) = try compile(sql, at: 0)
    guard let compiled else { return nil }
    defer { compiled.finalize() }
    return try compiled.step() ? compiled.integer(0) : nil
  }

  /// The first column of every row that a query without values gives.
  func texts(_ sql: String) throws(StoreError) -> [String] {
    let (compiled, _) = try compile(sql, at: 0)
    guard let compiled else { return [] }
    defer { compiled.finalize() }
    var texts: [String] = []
    while try compiled.step() { texts.append(compiled.text(0)) }
    return texts
  }

  func failure(_ code: Int32, sql: String) -> StoreError {
    let text = csqlite_error_message(handle).map { String(cString: $0) } ?? "no message"
    let primary = code & 0xFF
    let fromSystem = primary == csqlite_ioerr || primary == csqlite_cantopen || primary == csqlite_full
    let number = fromSystem ? csqlite_system_errno(handle) : 0
    return .sqlite(code: code, errno: number, text: text, path: path, sql: sql)
  }

  private func compile(_ sql: String, at offset: Int) throws(StoreError) -> (Statement?, Int) {
    let bytes = Array(sql.utf8.dropFirst(offset))
    var compiled: OpaquePointer?
    var tail: Int32 = 0
    let code = bytes.withUnsafeBytes { buffer in
      csqlite_prepare(
        handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), &compiled, &tail)
    }
    guard code == csqlite_ok else { throw failure(code, sql: sql) }
    let text = String(decoding: bytes.prefix(Int(tail)), as: UTF8.self)
    return (compiled.map { Statement($0, of: self, sql: text) }, Int(tail))
  }
}

/// The path as a URI that SQLite opens without locks and without a WAL.
private func immutableURI(_ path: String) -> String {
  var uri = "file:"
  for byte in path.utf8 {
    switch byte {
    case UInt8(ascii: "?"): uri += "%3f"
    case UInt8(ascii: "#"): uri += "%23"
    case UInt8(ascii: "%"): uri += "%25"
    case 0x80...: uri += "%" + String(byte, radix: 16)
    default: uri.unicodeScalars.append(Unicode.Scalar(byte))
    }
  }
  return uri + "?immutable=1"
}
