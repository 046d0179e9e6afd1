// Copies of a database in use: some pages at a time, all of one moment, and never half of one under a name.
import CSQLite
import Glibc

/// A copy of the store in a file that has no name any more: it is gone when its descriptor is closed.
package struct StoreCopy: Sendable {
  /// The receiver's to close.
  package let descriptor: Int32
  /// Bytes.
  package let length: Int64
}

/// The store's copy for a client, in the making; what is unfinished goes with the object.
final class CopyInProgress {
  /// Of the store that is copied; see `ReadableStore`.
  let generation: Int
  private let files: StoreFiles
  private let copy: DatabaseCopy

  init(of path: String, in files: StoreFiles, generation: Int) throws(StoreError) {
    self.files = files
    self.generation = generation
    try files.makeEmpty(files.copy)
    copy = try DatabaseCopy(of: try Database(path: path, mode: .readOnly), to: files.copy)
  }

  deinit { files.remove(files.copy) }

  /// Copies more; nil while there is more to do.
  func step() throws(StoreError) -> StoreCopy? {
    guard try copy.step() else { return nil }
    let descriptor = open(files.copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .system("cannot open it", path: files.copy, errno: errno) }
    var status = stat()
    fstat(descriptor, &status)
    return StoreCopy(descriptor: descriptor, length: Int64(status.st_size))
  }
}

/// One database on its way into an empty file.
final class DatabaseCopy {
  private let source: Database
  private let target: Database
  private var handle: OpaquePointer?

  /// 1 MB: what waits behind a step waits for milliseconds.
  private static let pagesInStep: Int32 = 1024

  /// Copies what `source` holds now to the empty file at `path`; `source` is used for nothing else any more.
  init(of source: Database, to path: String) throws(StoreError) {
    self.source = source
    target = try Database(path: path, mode: .readWrite)
    // The first read takes the state that is copied.
    try source.execute("BEGIN")
    _ = try source.integer("SELECT count(*) FROM sqlite_schema")
    // A copy that is not finished is worth nothing: whoever wants it on the disk syncs it when it is.
    try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    handle = csqlite_copy_begin(target.handle, source.handle)
    guard handle != nil else { throw target.failure(csqlite_ioerr, sql: "") }
  }

  deinit { _ = end() }

  /// Copies more; true when all is there and the file is closed.
  func step() throws(StoreError) -> Bool {
    guard let handle else { return true }
    let code = csqlite_copy_step(handle, DatabaseCopy.pagesInStep)
    if code == csqlite_ok { return false }
    let ended = end()
    guard code == csqlite_done, ended == csqlite_ok else {
      throw failure(code == csqlite_done ? ended : code)
    }
    // Of the store's WAL mode: a file that is to be carried about should stand for itself.
    try target.execute("PRAGMA journal_mode = DELETE")
    target.close()
    source.close()
    return true
  }

  private func end() -> Int32 {
    guard let handle else { return csqlite_ok }
    self.handle = nil
    return csqlite_copy_end(handle)
  }

  private func failure(_ code: Int32) -> StoreError {
    let error = target.failure(code, sql: "")
    let remedy =
      switch error.kind {
      case .full: "free as much space on its file system as the store takes"
      case .corrupt: "the store is damaged; restart iftallyd, which sets it aside and begins a new one"
      default: "look for errors of the disk in the kernel log"
      }
    return StoreError(
      error.kind,
      "the store \(source.path) cannot be copied to \(target.path) (\(error.cause ?? "\(code)")): \(remedy)",
      extendedCode: code)
  }
}
