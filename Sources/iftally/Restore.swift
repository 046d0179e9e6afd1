// The restore command: a backup in the place of the store of a daemon that does not run.
import Glibc
import TallyConfig
import TallyRender
import TallyStore

/// restore FILE
func restoreBackup(_ session: Session) throws(Failure) -> ExitCode {
  guard let file = session.settings.operands.first, !file.isEmpty else {
    throw Failure(
      .usage, "restore needs to know what from", remedy: "Write iftally restore FILE, with a file of iftally backup.")
  }
  let directory = try directory(session.settings)
  var status = stat()
  guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
    throw Failure(
      .failed, "there is no folder \(displayed(directory))",
      remedy: "Start iftallyd once, which makes it, or name the folder of its store with --directory.")
  }
  // Before the daemon's user, who need not be able to.
  let restore = try told(directory) { () throws(StoreError) in try StoreRestore(from: file) }
  try become(ownerOf: directory, status)
  let replaced = try told(directory) { () throws(StoreError) in try restore.put(into: directory) }
  let report = StoreReport(restore.summary, file: directory + "/iftally.db", replaced: replaced)
  try session.tell(report, headline: "\(displayed(directory)) holds the history of \(displayed(file))")
  return .ok
}

/// The folder that was named, else what the daemon reads: the same files, and the same default.
private func directory(_ settings: Settings) throws(Failure) -> String {
  if let directory = settings.directory { return directory }
  do throws(ConfigurationError) {
    let variables = environment("STATE_DIRECTORY").map { ["STATE_DIRECTORY": $0] } ?? [:]
    return try Configuration.load(file: nil, environment: variables).store.directory
  } catch {
    throw Failure(
      .failed, "the configuration does not say where the store is: \(displayed(error.description))",
      remedy: "Correct it, or name the folder with --directory.")
  }
}

/// From here on everything is done, and owned, by the user of the daemon, who must be able to write the store; nothing
/// that lies in that user's folder then leads root anywhere.
private func become(ownerOf directory: String, _ status: stat) throws(Failure) {
  if geteuid() == 0, status.st_uid != 0 {
    guard setgroups(0, nil) == 0, setegid(status.st_gid) == 0, seteuid(status.st_uid) == 0 else {
      throw Failure(.failed, "cannot become the owner of \(displayed(directory)): \(String(cString: strerror(errno)))")
    }
  }
  guard faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0 else { return }
  let number = errno
  throw Failure(
    number == EACCES ? .forbidden : .failed,
    "\(displayed(directory)) cannot be written: \(String(cString: strerror(number)))",
    remedy: number == EACCES ? "Run it with sudo." : "Mount its file system read-write.")
}

private func told<Value>(_ directory: String, _ body: () throws(StoreError) -> Value) throws(Failure) -> Value {
  do throws(StoreError) {
    return try body()
  } catch {
    guard error.kind == .locked else { throw Failure(.failed, displayed(error.message)) }
    throw Failure(
      .failed, "a daemon has the store in \(displayed(directory)) open",
      remedy: "Stop it first: systemctl stop iftallyd.")
  }
}
