// A copy of a store put in the place of the one that a daemon left: verified before, whole at every moment.
import Glibc

/// A store's file that was found sound and is open for copying.
package final class StoreRestore {
  package let summary: StoreSummary
  private let path: String
  private let source: Database

  /// Examines the file at `path`; see `StoreSummary`. What follows does not need to be allowed to open it.
  package init(from path: String) throws(StoreError) {
    self.path = path
    summary = try StoreSummary(ofFile: path)
    source = try StoreSummary.open(path)
    _ = try source.integer("SELECT count(*) FROM sqlite_schema")
  }

  /// Makes it the store in `directory`, and returns the path under which the one that was there lies now, if any.
  ///
  /// Only while no daemon has that store open: `.locked`. Until the copy is complete and on the disk everything stays
  /// as it is, and at no moment is there no store. Once.
  package func put(into directory: String, now: Int64 = Int64(time(nil))) throws(StoreError) -> String? {
    let files = StoreFiles(directory: directory)
    guard !isSame(path, files.database) else {
      throw StoreError(.refused, "\(path) is the store itself; name a copy of it")
    }
    let lock = try StoreLock(files)
    return try withExtendedLifetime(lock) { () throws(StoreError) in
      try files.makeUnfinished()
      do throws(StoreError) {
        try copy(to: files.unfinished)
        return try exchange(files, now: now)
      } catch {
        files.remove(files.unfinished)
        throw error
      }
    }
  }

  private func copy(to unfinished: String) throws(StoreError) {
    let copy = try DatabaseCopy(of: source, to: unfinished)
    while !(try copy.step()) {}
    _ = try StoreSummary(ofFile: unfinished)
    let descriptor = open(unfinished, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, fsync(descriptor) == 0 else {
      let number = errno
      if descriptor >= 0 { close(descriptor) }
      throw .system("cannot write it to the disk", path: unfinished, errno: number)
    }
    close(descriptor)
  }

  /// The old file gets a second name, then its first one goes to the new file in one step.
  private func exchange(_ files: StoreFiles, now: Int64) throws(StoreError) -> String? {
    settle(files)
    let length = try files.databaseLength()
    let kept = files.unusedName("replaced", now: now)
    if length != nil, !files.hasCompanions, link(files.database, kept) == 0 {
      try files.finish()
      return kept
    }
    // With a journal that cannot be written back, or on a file system without such names.
    let name = try files.setAside(as: "replaced", now: now)
    try files.finish()
    return name
  }

  /// Writes the journal of a killed daemon back into its file; one that is damaged stays as it lies.
  private func settle(_ files: StoreFiles) {
    guard files.hasUnfinishedWAL, let old = try? Database(path: files.database, mode: .readWrite),
      (try? Store.identify(old)) != nil
    else { return }
    old.setCheckpointsOnClose()
    old.close()
  }
}

private func isSame(_ a: String, _ b: String) -> Bool {
  var (one, other) = (stat(), stat())
  return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino
}
