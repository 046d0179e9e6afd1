// The reader's thread: answers queries, examines the file and copies it, each from one consistent state.
import Glibc
import TallyCore

/// Body of the reader's thread.
struct StoreReader {
  let exchange: StoreExchange
  let directory: String

  func run() {
    var connection: UsageReader?
    var copying: CopyInProgress?
    var generation = -1
    while case .work((let job, let store)) = exchange.nextReaderJob(isCopying: copying != nil) {
      if store.generation != generation {
        connection = nil
        generation = store.generation
      }
      switch job {
      case .usage(let query, let token):
        exchange.post(.rows(token: token, answer(query, store, &connection)), wake: true) { _ in }
      case .check:
        exchange.post(.checked(check(store)), wake: true) { _ in }
      case .copy, .goOnCopying:
        if let outcome = copy(store, &copying) { exchange.post(.copied(outcome), wake: true) { _ in } }
      }
    }
    connection = nil
    copying = nil
    exchange.monitor.change { $0.readerHasEnded = true }
  }

  private func answer(
    _ query: UsageQuery, _ store: ReadableStore, _ connection: inout UsageReader?
  ) -> Result<UsageRows, StoreError> {
    do throws(StoreError) {
      if hasNoPast(store) {
        let watermarks = Watermarks(fiveMinutes: 0, hour: 0, day: 0)
        return .success(UsageRows(sequence: 0, watermarks: watermarks, rows: [], gaps: [], incarnations: []))
      }
      let path = try path(of: store)
      let reader: UsageReader
      if let connection {
        reader = connection
      } else {
        reader = try UsageReader(path: path)
        connection = reader
      }
      return .success(try reader.usage(query))
    } catch {
      // The next query tries a fresh connection.
      if error.kind != .tooManyRows { connection = nil }
      return .failure(error)
    }
  }

  /// Where no file is and none was there is no past that could be missing.
  private func hasNoPast(_ store: ReadableStore) -> Bool {
    var status = stat()
    return store.path == nil && !store.hasBeenOpen && lstat(store.file, &status) != 0
      && [ENOENT, ENOTDIR].contains(errno)
  }

  private func check(_ store: ReadableStore) -> StoreError? {
    do throws(StoreError) {
      try Store.check(try Database(path: try path(of: store), mode: .readOnly), withoutBuckets: false)
      return nil
    } catch {
      return error
    }
  }

  /// Begins a copy or makes more of one; nil while it is not done.
  private func copy(_ store: ReadableStore, _ copying: inout CopyInProgress?) -> Result<StoreCopy, StoreError>? {
    do throws(StoreError) {
      let path = try path(of: store)
      guard let begun = copying else {
        copying = try CopyInProgress(of: path, in: StoreFiles(directory: directory), generation: store.generation)
        return nil
      }
      guard begun.generation == store.generation else {
        throw StoreError(.vanished, "the store \(path) was begun anew while it was copied: ask again")
      }
      guard let done = try begun.step() else { return nil }
      copying = nil
      return .success(done)
    } catch {
      copying = nil
      return .failure(error)
    }
  }

  private func path(of store: ReadableStore) throws(StoreError) -> String {
    guard let path = store.path else {
      throw StoreError(
        .unavailable, "there is no history to read from the store: \(store.reason.what)", remedy: store.reason.remedy)
    }
    return path
  }
}
