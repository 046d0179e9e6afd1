// What can go wrong with the store: one error type that names the thing, the cause and the remedy.
import CSQLite
import Glibc

/// An error of the store. Nothing of the commit or query that failed has happened.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a caller decides by.
  package enum Kind: String, Sendable {
    /// No space left. Passes when space is freed: try the same commit again.
    case full
    /// The directory, the file or the file system does not let us write.
    case notWritable = "not_writable"
    /// The device or file system failed. Try the same commit again.
    case io
    /// The file's content is damaged: `reopen` sets it aside and begins a new one.
    case corrupt
    /// The file is no longer at its path: `reopen` begins a new one.
    case vanished
    /// A database of something else lies at the path. Left untouched.
    case foreign
    /// Written by a newer version. Left untouched.
    case newer
    /// Another daemon has the store.
    case locked
    /// Another program holds a lock on the file. Try the same commit again.
    case busy
    /// A commit that does not follow on the last one, or a fold that does not follow on the watermark.
    case refused
    /// The answer would have more rows than the query allows.
    case tooManyRows = "too_many_rows"
    /// There is no open store to read or write.
    case unavailable
    /// Anything else that SQLite or the system reports.
    case other
  }

  package var kind: Kind
  /// What happened to which file, and why.
  package var what: String
  /// What a person does about it; nil when it is nothing that a person can mend.
  package var remedy: String?
  /// SQLite's extended result code; 0 when the error is not SQLite's.
  package var extendedCode: Int32
  /// The statement that failed, if one did.
  package var sql: String?
  /// What the system or SQLite said, to be quoted within another message.
  var cause: String?

  package init(
    _ kind: Kind, _ what: String, remedy: String? = nil, extendedCode: Int32 = 0, sql: String? = nil
  ) {
    self.kind = kind
    self.what = what
    self.remedy = remedy
    self.extendedCode = extendedCode
    self.sql = sql
  }

  private init(_ kind: Kind, path: String, cause: String, extendedCode: Int32 = 0, sql: String? = nil) {
    let (what, remedy) = StoreError.words(kind, path: path, cause: cause)
    self.init(kind, what, remedy: remedy, extendedCode: extendedCode, sql: sql)
    self.cause = cause
  }

  /// What happened, and what to do.
  package var message: String { remedy.map { "\(what): \($0)" } ?? what }

  /// The low byte of the extended code.
  package var primaryCode: Int32 { extendedCode & 0xFF }

  /// The message, and behind it what SQLite said, for a log.
  package var description: String {
    guard extendedCode != 0 else { return message }
    return message + " [SQLite \(primaryCode)/\(extendedCode)" + (sql.map { ": \($0)" } ?? "") + "]"
  }
}

extension StoreError {
  /// The error for a result code of SQLite on the file at `path`; `text` is SQLite's own message.
  static func sqlite(code: Int32, errno number: Int32, text: String, path: String, sql: String?) -> StoreError {
    StoreError(
      kind(code: code, errno: number), path: path, cause: cause(text, errno: number), extendedCode: code, sql: sql)
  }

  /// The error for a failed system call on `path`, which is the store's file or its directory.
  static func system(_ doing: String, path: String, errno number: Int32) -> StoreError {
    StoreError(kind(code: csqlite_ioerr, errno: number), path: path, cause: cause(doing, errno: number))
  }

  static func corrupt(path: String, cause: String) -> StoreError {
    StoreError(.corrupt, path: path, cause: cause)
  }

  static func vanished(path: String) -> StoreError {
    StoreError(.vanished, path: path, cause: "another file or none lies there now")
  }

  private static func kind(code: Int32, errno number: Int32) -> Kind {
    // SQLite says "disk I/O error" for a full disk where it could not grow the shared memory file, and "unable to
    // open" for a read-only file system: the system's number is the more telling one.
    switch code & 0xFF {
    case csqlite_full: return .full
    case csqlite_corrupt, csqlite_notadb: return .corrupt
    case csqlite_busy, csqlite_locked: return .busy
    case csqlite_readonly: return code == csqlite_readonly_dbmoved ? .vanished : .notWritable
    case csqlite_ioerr, csqlite_cantopen, csqlite_perm:
      switch number {
      case ENOSPC, EDQUOT: return .full
      case EROFS, EACCES, EPERM: return .notWritable
      default: return code & 0xFF == csqlite_perm ? .notWritable : .io
      }
    default: return .other
    }
  }

  /// What happened, and what to do about it; each remedy has a test in which it helps.
  private static func words(_ kind: Kind, path: String, cause: String) -> (what: String, remedy: String) {
    switch kind {
    case .full:
      ("no space left to write the store \(path) (\(cause))", "free space on its file system")
    case .notWritable:
      (
        "the store \(path) cannot be written (\(cause))",
        "make the directory writable for the user of iftallyd, and its file system mounted read-write"
      )
    case .corrupt:
      (
        "the store \(path) is damaged (\(cause))",
        "wait until it is opened again: then it is set aside under a dated name and a new one begun"
      )
    case .busy:
      (
        "another program holds a lock on the store \(path) (\(cause))", "end that program, or wait until it is done"
      )
    case .vanished:
      (
        "the store \(path) was removed or replaced while it was open (\(cause))",
        "wait until a new one is begun with the totals that are known here; put an older file back only while iftallyd is "
          + "stopped"
      )
    case .io:
      (
        "the store \(path) could not be read or written (\(cause))",
        "look for errors of the device in the kernel log"
      )
    default:
      ("the store \(path) failed (\(cause))", "restart iftallyd, and report it when it comes again")
    }
  }

  private static func cause(_ text: String, errno number: Int32) -> String {
    number == 0 ? text : "\(text): \(errorText(number))"
  }
}

/// The system's words for an errno.
func errorText(_ number: Int32) -> String {
  // strerror of glibc is thread-safe for known numbers since 2.32.
  strerror(number).map { String(cString: $0) } ?? "error \(number)"
}
