// Commits between the ledger and the store: on their way, waiting for another try, and written but not yet seen.
import TallyCore

/// What was taken from the ledger and may not be in a store's answer; each byte in one place, oldest first.
struct Backlog {
  /// Written, but perhaps not seen by a query that began before.
  private(set) var written: [Commit] = []
  private(set) var inFlight: Commit?
  /// Failed or not yet submitted, older than anything in the ledger.
  private(set) var waiting: Commit?
  /// The last moments of the oldest commits in both.
  private var inFlightSince: Moment?
  private var waitingSince: Moment?

  /// The last moment of the oldest commit that is not in the store yet; nil when none waits.
  var since: Moment? { inFlightSince ?? waitingSince }

  var rowCount: Int { (waiting?.rows.count ?? 0) + (inFlight?.rows.count ?? 0) }

  /// All that a store lacks that was at this sequence number.
  func after(_ sequence: UInt64) -> [Commit] {
    (written + [inFlight].compactMap { $0 }).filter { $0.sequence > sequence } + [waiting].compactMap { $0 }
  }

  /// Gives what waits to a newer commit, the first of which was of this moment.
  mutating func join(_ commit: inout Commit, at now: Moment) {
    waitingSince = waitingSince ?? now
    guard let earlier = waiting else { return }
    commit.absorb(earlier)
    waiting = nil
  }

  /// Keeps a commit for a later one.
  mutating func hold(_ commit: Commit) {
    var commit = commit
    commit.compact()
    waiting = commit
  }

  mutating func send(_ commit: Commit) {
    (inFlight, inFlightSince, waitingSince) = (commit, waitingSince, nil)
  }

  /// The commit of this number is in the store; nil when it is not the one in flight. `isKept`: questions are open that
  /// may not see it.
  mutating func succeeded(_ number: UInt64, isKept: Bool) -> Commit? {
    guard let commit = inFlight, commit.sequence == number else { return nil }
    (inFlight, inFlightSince) = (nil, nil)
    if isKept { written.append(commit) }
    return commit
  }

  /// The commit in flight, or what is to be left of it, waits again.
  mutating func failed(leaving rest: Commit?) {
    guard let commit = rest ?? inFlight else { return }
    if waiting == nil {
      waiting = commit
    } else {
      waiting?.absorb(commit)
    }
    waitingSince = inFlightSince
    (inFlight, inFlightSince) = (nil, nil)
  }

  /// Puts this in the place of what waits.
  mutating func replaceWaiting(with commit: Commit?) {
    waiting = commit
    if waiting == nil { waitingSince = nil }
  }

  /// No question needs written commits up to this number any more.
  mutating func forget(upTo sequence: UInt64) {
    written.removeAll { $0.sequence <= sequence }
  }
}
