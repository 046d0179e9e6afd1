// The backup command: the store from the daemon into a file, which gets its name when it is complete and sound.
import Glibc
import TallyRender
import TallyStore
import TallyWire

/// backup FILE
func makeBackup(_ session: Session) throws(Failure) -> ExitCode {
  guard let operand = session.settings.operands.first, !operand.isEmpty else {
    throw Failure(
      .usage, "backup needs to know where to", remedy: "Write iftally backup FILE, or a folder for a dated file in it.")
  }
  let file = try destination(operand, replaces: session.settings.force)
  let unfinished = "\(file).part-\(getpid())"
  let descriptor = open(unfinished, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
  guard descriptor >= 0 else { throw fileFailure("\(displayed(unfinished)) cannot be made", errno) }
  let summary: StoreSummary
  do throws(Failure) {
    try receive(session, into: descriptor, file)
    summary = try examined(unfinished)
    try name(unfinished, file, replaces: session.settings.force)
  } catch {
    unlink(unfinished)
    throw error
  }
  try session.tell(StoreReport(summary, file: file, replaced: nil), headline: "\(displayed(file)) holds the history")
  return .ok
}

/// The file that is meant, which must not be there yet unless it may be replaced.
private func destination(_ operand: String, replaces: Bool) throws(Failure) -> String {
  var status = stat()
  guard stat(operand, &status) == 0 else { return operand }
  if status.st_mode & S_IFMT == S_IFDIR {
    return operand + (operand.hasSuffix("/") ? "" : "/") + "iftally-\(fileDate(time(nil))).db"
  }
  guard status.st_mode & S_IFMT == S_IFREG else {
    throw Failure(
      .failed, "\(displayed(operand)) is no file", remedy: "Name a file that is not there yet, or a folder.")
  }
  guard replaces else { throw exists(operand) }
  return operand
}

private func exists(_ file: String) -> Failure {
  Failure(.failed, "\(displayed(file)) is there already", remedy: "Name another file, or replace it with --force.")
}

/// Writes what the daemon sends, and has it on the disk before it returns. Closes the descriptor.
private func receive(_ session: Session, into descriptor: CInt, _ file: String) throws(Failure) {
  var problem: Failure?
  let answer: (status: Int, body: [UInt8])
  do throws(Failure) {
    answer = try session.transport.download(.backup) { piece in
      problem = write(piece, to: descriptor, file)
      return problem == nil
    }
  } catch {
    close(descriptor)
    throw problem ?? error
  }
  let isSynced = fsync(descriptor) == 0
  let number = errno
  close(descriptor)
  guard answer.status == 200 else { throw session.failure(answer.status, answer.body) }
  guard isSynced else { throw fileFailure("\(displayed(file)) cannot be written", number) }
}

private func write(_ bytes: [UInt8], to descriptor: CInt, _ file: String) -> Failure? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno != EINTR {
      return fileFailure("\(displayed(file)) cannot be written", errno)
    }
  }
  return nil
}

/// Gives the complete file its name. Without `replaces` one that came meanwhile stays.
private func name(_ unfinished: String, _ file: String, replaces: Bool) throws(Failure) {
  if !replaces {
    if link(unfinished, file) == 0 {
      unlink(unfinished)
      return syncFolder(of: file)
    }
    if errno == EEXIST { throw exists(file) }
    // Some file systems know no second names.
    var status = stat()
    if lstat(file, &status) == 0 { throw exists(file) }
  }
  guard rename(unfinished, file) == 0 else { throw fileFailure("\(displayed(file)) cannot get its name", errno) }
  syncFolder(of: file)
}

private func syncFolder(of file: String) {
  let folder = file.lastIndex(of: "/").map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
  let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { return }
  fsync(descriptor)
  close(descriptor)
}

private func examined(_ file: String) throws(Failure) -> StoreSummary {
  do throws(StoreError) {
    return try StoreSummary(ofFile: file)
  } catch {
    throw Failure(.failed, "what the daemon sent is no sound store: \(displayed(error.message))")
  }
}

/// With the exit code for a lack of permission where it is one.
func fileFailure(_ doing: String, _ number: CInt) -> Failure {
  let remedy =
    switch number {
    case EACCES, EPERM: "Choose a place where you may write, or run it with sudo."
    case ENOSPC, EDQUOT: "Free space there, or choose another place."
    case ENOENT, ENOTDIR: "The folder is not there: make it, or choose another place."
    default: "Choose another place."
    }
  return Failure(
    number == EACCES || number == EPERM ? .forbidden : .failed,
    "\(doing): \(String(cString: strerror(number)))", remedy: remedy)
}
