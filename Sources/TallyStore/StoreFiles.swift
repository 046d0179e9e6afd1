// The files of a store in its directory: names, making, setting aside, and the lock that one daemon holds.
import Glibc
import TallyCore

/// Paths of a store's files.
struct StoreFiles {
  let directory: String

  var database: String { directory + "/iftally.db" }
  /// Where a new file is built before it gets its name, so that no half-made one is ever found.
  var unfinished: String { directory + "/iftally.db.new" }
  var lock: String { directory + "/iftally.lock" }
  /// Where a copy is made for a client that asked for one; it loses its name before it is sent.
  var copy: String { directory + "/iftally.db.copy" }

  /// Beside the database while it is open, and after it was not closed in order.
  private static let companions = ["-wal", "-shm"]

  /// Makes the directory (0750) and those above it where they are missing.
  func makeDirectory() throws(StoreError) {
    try make(directory, mode: 0o750)
  }

  private func make(_ path: String, mode: mode_t) throws(StoreError) {
    if mkdir(path, mode) == 0 { return }
    var number = errno
    if number == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try make(String(path[..<slash]), mode: 0o755)
      if mkdir(path, mode) == 0 { return }
      number = errno
    }
    var status = stat()
    if number == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    if number == EEXIST { number = ENOTDIR }
    throw StoreError(
      number == ENOSPC || number == EDQUOT ? .full : .notWritable,
      "cannot make the store's directory \(path) (\(errorText(number)))",
      remedy: "make it by hand, owned by the user of iftallyd, or name another with Directory= in [Store] and restart "
        + "iftallyd")
  }

  /// Makes an empty file of mode 0640 for SQLite, which gives its WAL the same mode.
  func makeUnfinished() throws(StoreError) {
    try makeEmpty(unfinished)
  }

  /// The same at another path of the directory, in the place of what was left there.
  func makeEmpty(_ path: String) throws(StoreError) {
    remove(path)
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw .system("cannot make it", path: database, errno: errno) }
    Glibc.close(descriptor)
  }

  /// Removes a file that is no store, and what SQLite may have left beside it.
  func remove(_ path: String) {
    for suffix in ["", "-journal"] + Self.companions { _ = unlink(path + suffix) }
  }

  /// Gives the unfinished file its name, to stay.
  func finish() throws(StoreError) {
    guard rename(unfinished, database) == 0 else {
      throw .system("cannot rename \(unfinished)", path: database, errno: errno)
    }
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    Glibc.close(descriptor)
  }

  /// Length of the file at the store's path; nil when there is none.
  func databaseLength() throws(StoreError) -> Int64? {
    var status = stat()
    if stat(database, &status) == 0 { return Int64(status.st_size) }
    if errno == ENOENT { return nil }
    throw .system("cannot look at it", path: database, errno: errno)
  }

  var hasCompanions: Bool { Self.companions.contains { exists(database + $0) } }

  /// Closing in order leaves no WAL: one with content says that the last daemon was killed or the power went.
  var hasUnfinishedWAL: Bool { length(database + "-wal") > 0 }

  /// Bytes on disk of the database and its companions.
  var sizeBytes: Int64 {
    Self.companions.reduce(length(database)) { $0 + length(database + $1) }
  }

  /// Room for an unprivileged process on the file system of the directory.
  var freeBytes: Int64? {
    var facts = statvfs()
    guard statvfs(directory, &facts) == 0 else { return nil }
    return Int64(clamping: UInt64(facts.f_bavail) &* UInt64(facts.f_frsize))
  }

  /// Renames what is there to a dated name and returns that name; nil when nothing was there. A WAL goes with its
  /// database, so that SQLite's own tools can still read both, and is never applied to a new file.
  func setAside(as word: String = "corrupt", now: Int64) throws(StoreError) -> String? {
    let present = ([""] + Self.companions).filter { exists(database + $0) }
    guard !present.isEmpty else { return nil }
    let name = unusedName(word, now: now)
    for suffix in present where rename(database + suffix, name + suffix) != 0 {
      throw .system("cannot rename it to \(name)", path: database + suffix, errno: errno)
    }
    return name
  }

  /// "iftally.db.WORD-YYYYMMDDTHHMMSSZ", which nothing beside the store bears.
  func unusedName(_ word: String, now: Int64) -> String {
    let dated = database + ".\(word)-" + timestamp(now)
    var name = dated
    var count = 1
    while ([""] + Self.companions).contains(where: { exists(name + $0) }) {
      count += 1
      name = dated + "-\(count)"
    }
    return name
  }

  /// Something lies at the store's path.
  var hasDatabase: Bool { exists(database) }

  /// The WAL's inode; nil when there is none.
  var walInode: UInt64? {
    var status = stat()
    return lstat(database + "-wal", &status) == 0 ? UInt64(status.st_ino) : nil
  }

  /// Renames the WAL alone, as `setAside` would with its database.
  func setAsideWAL(now: Int64) {
    // One that cannot be renamed belongs to a directory in which no store can be opened either.
    _ = rename(database + "-wal", unusedName("corrupt", now: now) + "-wal")
  }

  private func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private func length(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}

/// UTC as YYYYMMDDTHHMMSSZ.
private func timestamp(_ seconds: Int64) -> String {
  var time = time_t(seconds)
  var parts = tm()
  guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
  func digits(_ value: Int32, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
  return digits(parts.tm_year &+ 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2) + "T"
    + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
}

/// The lock of the one daemon that may have a store open; held as long as this lives.
final class StoreLock {
  private let descriptor: Int32

  /// The lock is on a file of its own: closing any descriptor of the database would drop SQLite's locks on it.
  init(_ files: StoreFiles) throws(StoreError) {
    let descriptor = open(files.lock, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw .system("cannot make \(files.lock)", path: files.database, errno: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let number = errno
      let holder = StoreLock.holder(descriptor)
      Glibc.close(descriptor)
      guard number == EWOULDBLOCK else {
        throw .system("cannot lock \(files.lock)", path: files.database, errno: number)
      }
      throw StoreError(
        .locked,
        "the store \(files.database) is in use by \(holder), and two daemons would count every byte twice",
        remedy: "stop that one, or name another directory with Directory= in [Store]")
    }
    self.descriptor = descriptor
    // The pid is for messages alone: a full disk must not stop us here.
    let pid = Array("\(getpid())\n".utf8)
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, pid, pid.count, 0) }
  }

  deinit {
    Glibc.close(descriptor)
  }

  private static func holder(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    let length = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, length)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return Int32(text).map { "process \($0)" } ?? "another process"
  }
}
