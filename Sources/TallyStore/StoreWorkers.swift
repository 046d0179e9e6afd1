// The two threads of the store, a writer and a reader, and how the loop speaks to them without ever waiting.
import Glibc
package import TallyCore

/// Opens the store in `directory` on a thread of its own, and from then on writes there and reads on another.
///
/// No call waits for the disk, except `waitUntilOpened`, `waitForCommits` and `stop`. A failed commit stays the
/// caller's: what it held goes into the next one, under the sequence that failed. When an error says `.vanished` or
/// `.corrupt`, `reopen` and, after `.opened`, commit on from the sequence and watermarks of the new state, with every
/// link record: the totals that are known here survive that way, the history that was only in the old file does not.
package final class StoreWorkers: StoreQueue, Sendable {
  private let exchange: StoreExchange
  private let writer: WorkerThread
  private let reader: WorkerThread

  package init(directory: String, calendar: LocalCalendar) throws(StoreError) {
    let exchange = try StoreExchange(path: StoreFiles(directory: directory).database)
    self.exchange = exchange
    writer = try WorkerThread("store-writer") {
      StoreWriter(exchange: exchange, directory: directory, calendar: calendar).run()
    }
    do {
      reader = try WorkerThread("store-reader") { StoreReader(exchange: exchange, directory: directory).run() }
    } catch {
      exchange.monitor.change {
        $0.isStopping = true
        $0.readerHasEnded = true
      }
      writer.detach()
      throw error
    }
  }

  /// Readable when `takeResults` should be called. Of success in the ordinary run of commits it says nothing.
  package var descriptor: Int32 { exchange.eventfd }

  /// Waits until the store is open or could not be opened. That result is not among `takeResults`.
  package func waitUntilOpened() -> Result<StoreOpening, StoreError> {
    exchange.monitor.wait { state in
      for (index, result) in state.results.enumerated() {
        if case .opened(let outcome) = result {
          state.results.remove(at: index)
          return outcome
        }
      }
      return nil
    }
  }

  /// Opens the store again, after the commits that are queued; `.opened` follows. A damaged file is set aside then.
  package func reopen() {
    exchange.monitor.change { $0.writerJobs.append(.open(suspect: true)) }
  }

  /// Queues a commit. `wake`: signal the descriptor also when it succeeds.
  package func submit(_ commit: Commit, wake: Bool) {
    exchange.monitor.change { state in
      state.health.pendingCommits += 1
      state.writerJobs.append(.commit(commit, wake: wake))
    }
  }

  /// Signals the descriptor when the commits that are queued now are done.
  package func wakeAfterCommits() {
    exchange.monitor.change { $0.writerJobs.append(.wake) }
  }

  /// Queues a query; its answer carries the token. It sees the commits that were stored when it is its turn.
  package func query(_ query: UsageQuery, token: UInt64) {
    exchange.monitor.change { $0.readerJobs.append(.usage(query, token: token)) }
  }

  /// Has the whole file examined; `.checked` follows.
  package func check() {
    exchange.monitor.change { $0.readerJobs.append(.check) }
  }

  /// Has a copy made of what is stored when the commits that are queued are in it; `.copied` follows. One at a time.
  package func copy() {
    exchange.monitor.change { $0.wantsCopy = true }
  }

  /// Everything reported since the last call, in order.
  package func takeResults() -> [StoreResult] {
    exchange.take()
  }

  package var health: StoreHealth { exchange.monitor.read { $0.health } }

  /// Waits until nothing is queued or being written or opened, but not longer than the deadline.
  package func waitForCommits(deadlineSeconds: Int) {
    _ = exchange.monitor.wait(seconds: deadlineSeconds) { $0.unfinishedJobs == 0 ? true : nil }
  }

  /// Writes what is queued, then `commit`, and closes the store; waits for that, but not longer than the deadline.
  ///
  /// Queries that wait are dropped. `finished` is false when the deadline came first: the threads are then left to end
  /// with the process, and a commit without a result may be stored or not. Nothing else may be called afterwards.
  package func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool) {
    exchange.monitor.change { state in
      if let commit {
        state.health.pendingCommits += 1
        state.writerJobs.append(.commit(commit, wake: false))
      }
      state.readerJobs = []
      state.isStopping = true
    }
    let finished = exchange.monitor.wait(seconds: deadlineSeconds) { $0.writerHasEnded ? true : nil } ?? false
    for thread in [writer, reader] {
      if finished { thread.join() } else { thread.detach() }
    }
    return (takeResults(), finished)
  }
}
