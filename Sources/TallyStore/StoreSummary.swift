// What a store's file holds, told without opening it for writing: whether it is ours, whether it is sound, and of what.
import Glibc

/// A sound store in a file.
package struct StoreSummary: Sendable, Equatable {
  /// Names of its interfaces as bytes, in the order in which they were first seen.
  package var interfaces: [[UInt8]]
  /// UTC seconds at which counting of the oldest one began; nil in an empty store.
  package var from: Int64?
  /// UTC nanoseconds of its last commit; nil before the first.
  package var to: Int64?
  /// Its schema's version.
  package var schema: Int64
  /// Bytes.
  package var size: Int64

  /// Examines the whole file at `path`, which stays as it is.
  ///
  /// - Throws: `.foreign`, `.newer`, `.corrupt`, or why it could not be read; the words are about a file that somebody
  ///   named, not about the daemon's store.
  package init(ofFile path: String) throws(StoreError) {
    do throws(StoreError) {
      self = try StoreSummary(try StoreSummary.open(path), path: path)
    } catch {
      guard let words = StoreSummary.words(error, path) else { throw error }
      throw StoreError(error.kind, words, extendedCode: error.extendedCode)
    }
  }

  /// A connection to a file that nobody has open. One that was not closed in order has a journal beside it, without
  /// which it is an older store than it was.
  static func open(_ path: String) throws(StoreError) -> Database {
    var status = stat()
    let hasJournal = stat(path + "-wal", &status) == 0 && status.st_size > 0
    guard stat(path, &status) == 0 else { throw .system("cannot open it", path: path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      throw .corrupt(path: path, cause: status.st_size == 0 ? "it is empty" : "it is no regular file")
    }
    return try Database(path: path, mode: hasJournal ? .readOnly : .untouched)
  }

  init(_ database: Database, path: String) throws(StoreError) {
    schema = try Store.identify(database)
    let findings = try database.texts("PRAGMA integrity_check(1)")
    guard findings == ["ok"] else {
      throw .corrupt(path: path, cause: findings.first ?? "its check gave no answer")
    }
    // Columns of every schema so far.
    to = try database.integer("SELECT utc FROM meta WHERE utc IS NOT NULL")
    from = try database.integer("SELECT min(first_seen) FROM link HAVING count(*) > 0")
    interfaces = []
    let names = try database.statement("SELECT name FROM link ORDER BY first_seen, id")
    defer { names.reset() }
    while try names.step() { interfaces.append(names.blob(0)) }
    var status = stat()
    size = stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private static func words(_ error: StoreError, _ path: String) -> String? {
    switch error.kind {
    case .foreign: "\(path) is a database of another program; name a file that iftally backup has written"
    case .newer:
      "\(path) was written by a newer iftally than this one, which knows schemas up to \(Schema.version); install that "
        + "version or a newer one"
    case .corrupt: "\(path) is no sound store (\(error.cause ?? error.message)); take another copy"
    case .notWritable, .io: "\(path) cannot be read (\(error.cause ?? error.message))"
    default: nil
    }
  }
}
