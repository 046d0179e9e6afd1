// What the daemon asks of a store that works on its own: work is queued, results are taken, nothing waits for the disk.
package import TallyCore

/// A store behind a queue. `StoreWorkers` is SQLite on two threads; the simulation of the daemon's tests has a disk that
/// fails and stalls by the seed.
package protocol StoreQueue: AnyObject {
  /// Opens the store again, after the commits that are queued; `.opened` follows. A damaged file is set aside then.
  func reopen()
  /// Queues a commit. `wake`: signal also when it succeeds.
  func submit(_ commit: Commit, wake: Bool)
  /// Signals when the commits that are queued now are done.
  func wakeAfterCommits()
  /// Queues a query; its answer carries the token.
  func query(_ query: UsageQuery, token: UInt64)
  /// Everything reported since the last call, in order.
  func takeResults() -> [StoreResult]
  var health: StoreHealth { get }
  /// Waits until nothing is queued or being written or opened, but not longer than the deadline.
  func waitForCommits(deadlineSeconds: Int)
  /// Writes what is queued, then `commit`, and closes the store; waits for that, but not longer than the deadline.
  /// `finished` is false when the deadline came first. Nothing else may be called afterwards.
  func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool)
}
