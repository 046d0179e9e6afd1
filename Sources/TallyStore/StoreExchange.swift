// What passes between the loop and the store's threads: work one way, results and a wake-up the other.
import CSQLite
import Glibc
package import TallyCore

/// What the store's threads report.
package enum StoreResult: Sendable {
  /// The store was opened, or opened again; or why it was not.
  case opened(Result<StoreOpening, StoreError>)
  case committed(sequence: UInt64)
  /// Nothing of the commit is stored. Commits behind it were refused too, since they did not follow on.
  case failed(sequence: UInt64, StoreError)
  /// The answer to the query that was given this token.
  case rows(token: UInt64, Result<UsageRows, StoreError>)
  /// The copy that was asked for.
  case copied(Result<StoreCopy, StoreError>)
  /// What the examination that was asked for found; nil: the whole file is sound.
  case checked(StoreError?)
}

/// How the store fares, for `status`.
package struct StoreHealth: Sendable {
  package enum State: String, Sendable {
    /// It is being opened.
    case loading
    case ok
    /// The last commit failed; the next one is tried.
    case failing
    /// There is no store to write to.
    case memoryOnly = "memory_only"
  }

  package var path: String
  package var state: State
  /// Why the state is not `ok`, or what had to be done to open the store.
  package var message: String?
  /// On disk, as of the last commit.
  package var sizeBytes: Int64
  /// Room for more on its file system, as of then; nil: not known.
  package var freeBytes: Int64?
  /// Commits since the start that were stored, and that were not.
  package var commits: UInt64
  package var failures: UInt64
  /// Commits that wait for the writer or are being written.
  package var pendingCommits: Int
}

/// Work for the writer, in order.
enum WriterJob: Sendable {
  case open(suspect: Bool)
  case commit(Commit, wake: Bool)
  case wake
}

/// What a thread does next.
enum Next<Job: Sendable>: Sendable {
  case work(Job)
  case end
}

/// Work for the reader.
enum ReaderJob: Sendable {
  case usage(UsageQuery, token: UInt64)
  case check
  case copy
  /// More of the copy that it has begun.
  case goOnCopying
}

/// The store as the reader finds it.
struct ReadableStore: Sendable {
  /// Where it lies or would lie.
  let file: String
  /// nil: there is none.
  var path: String?
  /// Goes up whenever the store is opened again: an older connection may be on a file that is gone.
  var generation = 0
  /// There was one since the start.
  var hasBeenOpen = false
  /// Why there is none.
  var reason = StoreError(.unavailable, "it is still being opened", remedy: "ask again in a moment")
}

/// The shared state of the loop, the writer and the reader.
final class StoreExchange: Sendable {
  struct State: Sendable {
    var writerJobs: [WriterJob] = [.open(suspect: false)]
    var readerJobs: [ReaderJob] = []
    /// A copy is asked for; it is made when nothing is on its way to the store.
    var wantsCopy = false
    var results: [StoreResult] = []
    var store: ReadableStore
    var health: StoreHealth
    /// Jobs that the writer has not begun or not finished.
    var unfinishedJobs: Int { writerJobs.count + (writerIsBusy ? 1 : 0) }
    var writerIsBusy = false
    var isStopping = false
    var readerHasEnded = false
    var writerHasEnded = false
  }

  let monitor: Monitor<State>
  /// Readable while there are results that are worth waking up for.
  let eventfd: Int32

  init(path: String) throws(StoreError) {
    eventfd = csqlite_make_eventfd()
    guard eventfd >= 0 else {
      throw StoreError(.other, "cannot make an eventfd (\(errorText(errno))): raise LimitNOFILE=")
    }
    monitor = Monitor(
      State(
        store: ReadableStore(file: path),
        health: StoreHealth(
          path: path, state: .loading, message: nil, sizeBytes: 0, commits: 0, failures: 0, pendingCommits: 0)))
  }

  deinit {
    close(eventfd)
  }

  /// The writer's next job; everything queued is done before the end.
  func nextWriterJob() -> Next<WriterJob> {
    monitor.change { $0.writerIsBusy = false }
    return monitor.wait { state in
      guard state.writerJobs.isEmpty else {
        state.writerIsBusy = true
        return .work(state.writerJobs.removeFirst())
      }
      return state.isStopping ? .end : nil
    }
  }

  /// The reader's next job and the store as it stands; the end comes before what is queued, and that before the rest of
  /// a copy.
  func nextReaderJob(isCopying: Bool) -> Next<(ReaderJob, ReadableStore)> {
    monitor.wait { state in
      if state.isStopping { return .end }
      if !state.readerJobs.isEmpty { return .work((state.readerJobs.removeFirst(), state.store)) }
      if isCopying { return .work((.goOnCopying, state.store)) }
      guard state.wantsCopy, state.health.pendingCommits == 0 else { return nil }
      state.wantsCopy = false
      return .work((.copy, state.store))
    }
  }

  /// Queues a result; `change` is made to the state in the same step.
  func post(_ result: StoreResult, wake: Bool, _ change: (inout State) -> Void) {
    monitor.change { state in
      change(&state)
      state.results.append(result)
      if wake { signal() }
    }
  }

  /// Signals for results that are queued already.
  func wake() {
    monitor.change { _ in signal() }
  }

  /// Takes the results and the signal for them.
  func take() -> [StoreResult] {
    monitor.take { state in
      var count: UInt64 = 0
      _ = read(eventfd, &count, 8)
      defer { state.results = [] }
      return state.results
    }
  }

  /// Under the lock, so that no signal outlives the taking of its result; it never blocks.
  private func signal() {
    var one: UInt64 = 1
    _ = write(eventfd, &one, 8)
  }
}
