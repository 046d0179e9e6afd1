// What was counted, on its way to the store and back: pending commits, folds, and queries that see each byte once.
import LinkSource
import TallyCore
import TallyStore

/// Commits the ledger through the store's threads and answers questions about the past.
///
/// A reply joins three parts: what the store held at one sequence number, the commits after that number, and what
/// the ledger has not handed over yet. Each byte is in one of them.
final class History {
  /// The store as `status` shows it.
  enum Condition {
    case ok
    /// There is no store: counting goes on in memory alone.
    case memoryOnly(String)
    /// The last commit failed; what it held waits.
    case failing(String)
  }

  typealias Answer = Result<UsageRows, StoreError>

  private(set) var condition: Condition
  private(set) var watermarks: Watermarks
  private(set) var commitCount: UInt64 = 0
  private(set) var failureCount: UInt64 = 0
  /// The moment up to which everything is committed.
  private(set) var committed: Moment?
  /// Gaps that concern every link, for the coverage of totals, newest last.
  private(set) var gaps: [Gap] = []

  /// Commits wait for the clock to be set.
  var isHeld = false

  /// Called when the store is a new file: the ledger has to hand over everything it knows.
  var storeWasReplaced: (_ notice: String?) -> Void = { _ in }
  /// Called when a commit failed, with what is wrong and what to do.
  var commitFailed: (StoreError) -> Void = { _ in }

  /// Told of each commit on its way to the store, and of each that is in it.
  var mark: QueueMark?

  private let workers: (any StoreQueue)?
  private let reason: String?
  let retention = Retention()
  private var sequence: UInt64
  private var inFlight: Commit?
  /// Who waits to hear of the commit in flight.
  private var making: Making?
  /// What waits for its turn between two commits.
  private var jobs: [() -> Void] = []
  /// Failed or not yet submitted, older than anything in the ledger.
  private var waiting: Commit?
  /// Written, but perhaps not seen by a query that began before.
  private var written: [Commit] = []
  private var questions: [UInt64: (since: UInt64, then: (Answer) -> Void)] = [:]
  private var nextToken: UInt64 = 1
  private var lastRetentionHour: Int64 = 0

  /// An idle machine still writes when it was last seen, so that an absence is placed well.
  private static let heartbeat: Int64 = 300 * Moment.second
  private static let keptGaps = 1000

  /// A change on its way to the store.
  private struct Making {
    /// nil: the commit is just to be heard of.
    var change: Change?
    /// The commit without the change, for when it fails.
    var unchanged: Commit
    var then: (StoreError?) -> Void
  }

  /// Seconds that forgotten history is kept for.
  var keepsForgotten: Int64 = 30 * 86400

  /// `workers` nil: in memory alone, for the reason given.
  init(workers: (any StoreQueue)?, state: StoredState?, watermarks: Watermarks, reason: String?) {
    self.workers = workers
    self.reason = reason
    self.watermarks = state?.watermarks ?? watermarks
    sequence = state?.sequence ?? 0
    committed = state?.lastMoment
    condition = workers == nil ? .memoryOnly(reason ?? "no store") : .ok
  }

  /// False while the baseline of a new store is not in it yet: figures that were told before would not survive a kill.
  var isFounded: Bool { workers == nil || committed != nil || failureCount > 0 || isHeld }

  /// Rows that wait to be written.
  var pendingRows: Int { (waiting?.rows.count ?? 0) + (inFlight?.rows.count ?? 0) }

  // MARK: Committing

  /// Commits what the ledger has, if there is something to write or the heartbeat is due.
  func commit(_ sampler: Sampler, clockStepped: Bool) {
    // Answers that arrived are given first: they read the ledger, which must not be open for a change then.
    collect()
    guard let now = sampler.ledger.lastMoment else { return }
    if !clockStepped { sampler.ledger.deleteForgotten(before: now.utcSeconds - keepsForgotten) }
    let age = committed.flatMap(now.elapsed(since:)) ?? .max
    guard sampler.ledger.hasUncommitted || waiting != nil || age >= History.heartbeat else { return }
    guard var commit = takeCommit(sampler) else { return }
    guard let workers, inFlight == nil else {
      commit.compact()
      waiting = commit
      return
    }
    submit(commit, to: workers, sampler.ledger, clockStepped: clockStepped, wake: !isFounded || !questions.isEmpty)
  }

  /// Calls `job` when no commit is on its way, so that it can send one on: now or soon, in turn.
  func whenIdle(_ job: @escaping () -> Void) {
    guard let workers else { return job() }
    jobs.append(job)
    collect()
    if !jobs.isEmpty { workers.wakeAfterCommits() }
  }

  /// Commits what the ledger has and the change with it, which is not made yet; `then` hears when it is stored, or why
  /// it is not: then nothing has changed. Call when idle.
  func write(
    _ change: Change?, _ sampler: Sampler, clockStepped: Bool, then: @escaping (StoreError?) -> Void
  ) {
    guard let workers else {
      return then(StoreError(.unavailable, "history is kept in memory alone\(reason.map { ": \($0)" } ?? "")"))
    }
    guard let commit = takeCommit(sampler) else { return then(StoreError(.unavailable, "nothing was sampled yet")) }
    var changed = commit
    if let change { changed.put(sampler.ledger.records(with: change), of: change) }
    making = Making(change: change, unchanged: commit, then: then)
    submit(changed, to: workers, sampler.ledger, clockStepped: clockStepped, wake: true)
  }

  /// All that is not committed.
  private func takeCommit(_ sampler: Sampler) -> Commit? {
    guard var commit = sampler.ledger.takeCommit(sequence: sequence + 1) else { return nil }
    keepGaps(gaps + commit.gaps)
    if let earlier = waiting {
      commit.absorb(earlier)
      waiting = nil
    }
    return commit
  }

  private func submit(
    _ commit: Commit, to workers: any StoreQueue, _ ledger: Ledger, clockStepped: Bool, wake: Bool
  ) {
    var commit = commit
    plan(&commit, at: commit.at.utcSeconds, ledger.calendar, clockStepped: clockStepped)
    inFlight = commit
    mark?.submits(commit.at, vethEnds: ledger.vethEnds)
    workers.submit(commit, wake: wake)
  }

  private func plan(_ commit: inout Commit, at second: Int64, _ calendar: LocalCalendar, clockStepped: Bool) {
    commit.folds = watermarks.dueFolds(at: second, calendar: calendar)
    var after = watermarks
    for fold in commit.folds { after[fold.tier] = fold.end }
    let hour = floorDivide(second, 3600)
    // A clock that just leapt ahead must not make the store forget: dropping waits for an hour without a step.
    if hour != lastRetentionHour, !clockStepped {
      commit.retention = retention.bounds(at: second, watermarks: after)
      lastRetentionHour = hour
    }
  }

  /// Keeps the newest of those that concern every link.
  private func keepGaps(_ all: [Gap]) {
    gaps = Array(all.filter { $0.link == nil }.suffix(History.keptGaps))
  }

  /// Takes what the store's threads have finished. Call when their descriptor is readable, and before a commit.
  func collect() {
    guard let workers else { return }
    for result in workers.takeResults() {
      switch result {
      case .opened(let outcome): reopened(outcome)
      case .committed(let number): succeeded(number)
      case .failed(_, let error): failed(error)
      case .rows(let token, let answer):
        guard let question = questions.removeValue(forKey: token) else { continue }
        question.then(answer)
      }
    }
    let oldest = questions.values.map(\.since).min() ?? sequence
    written.removeAll { $0.sequence <= oldest }
    while inFlight == nil, !jobs.isEmpty { jobs.removeFirst()() }
  }

  private func succeeded(_ number: UInt64) {
    guard let commit = inFlight, commit.sequence == number else { return }
    inFlight = nil
    sequence = number
    committed = commit.at
    mark?.commits(commit.at)
    commitCount &+= 1
    condition = .ok
    for fold in commit.folds { watermarks[fold.tier] = fold.end }
    if !questions.isEmpty { written.append(commit) }
    tellMaker(nil)
  }

  private func tellMaker(_ error: StoreError?) {
    guard let making else { return }
    self.making = nil
    making.then(error)
  }

  private func failed(_ error: StoreError) {
    failureCount &+= 1
    condition = .failing(error.description)
    commitFailed(error)
    guard let commit = making?.unchanged ?? inFlight else { return }
    inFlight = nil
    // The file was taken away or is damaged: a new one is begun, and every link is written to it again. Where that
    // failed for want of space or permission, the next failed commit tries again.
    if [.vanished, .corrupt, .unavailable].contains(error.kind) { workers?.reopen() }
    if var later = waiting {
      later.absorb(commit)
      waiting = later
    } else {
      waiting = commit
    }
    tellMaker(error)
  }

  private func reopened(_ outcome: Result<StoreOpening, StoreError>) {
    switch outcome {
    case .failure(let error): condition = .failing(error.description)
    case .success(let opening):
      sequence = opening.state.sequence
      watermarks = opening.state.watermarks
      written = []
      condition = .ok
      storeWasReplaced(opening.notice)
    }
  }

  /// Hands over everything and waits for it, at the end of the process; returns why it could not be written.
  func finish(_ sampler: Sampler, deadlineSeconds: Int) -> StoreError? {
    guard let workers else { return nil }
    // Nobody can be answered any more.
    jobs = []
    // Were the one being written to fail, a commit behind it would be refused: the last one has to hold both.
    if inFlight != nil { workers.waitForCommits(deadlineSeconds: deadlineSeconds / 2) }
    collect()
    let last = sampler.ledger.takeCommit(sequence: sequence + (inFlight == nil ? 1 : 2))
    var commit = last
    if let earlier = waiting {
      commit?.absorb(earlier)
      waiting = nil
    }
    // Should that one be stored after all, this one must not take its change back.
    if inFlight != nil, let change = making?.change {
      let records = sampler.ledger.records(with: change)
      commit?.put(records, of: change)
    }
    if let commit { mark?.submits(commit.at, vethEnds: sampler.ledger.vethEnds) }
    let (results, finished) = workers.stop(commit: commit, deadlineSeconds: deadlineSeconds / 2)
    for case .failed(_, let error) in results { return error }
    return finished
      ? nil : StoreError(.busy, "the store did not finish its last commit within \(deadlineSeconds) s")
  }

  // MARK: Asking

  /// Asks the store; `then` is called in the loop's thread, soon or when the disk answers.
  func ask(_ query: UsageQuery, then: @escaping (Answer) -> Void) {
    collect()
    guard let workers else {
      return then(
        .success(UsageRows(sequence: sequence, watermarks: watermarks, rows: [], gaps: [], incarnations: [])))
    }
    let token = nextToken
    nextToken &+= 1
    questions[token] = (sequence, then)
    workers.query(query, token: token)
  }

  /// Adds to a reply of the store what came after it.
  func complete(_ stored: UsageRows, ledger: Ledger, from: Int64, to: Int64) -> UsageRows {
    var all = stored
    var later = written.filter { $0.sequence > stored.sequence }
    if let inFlight, inFlight.sequence > stored.sequence { later.append(inFlight) }
    if let waiting { later.append(waiting) }
    for commit in later {
      let rows = commit.rows.filter { $0.start >= from && $0.start < to }
      all.rows += rows
      all.detail += rows
      all.clockSteps += commit.clockSteps.filter { $0.touches(from: from, to: to) }
      all.gaps += commit.gaps.filter { $0.from < to && $0.to > from }
      all.incarnations += commit.incarnations
    }
    let rows = ledger.uncommittedRows.filter { $0.start >= from && $0.start < to }
    all.rows += rows
    all.detail += rows
    all.clockSteps += ledger.uncommittedSteps.filter { $0.touches(from: from, to: to) }
    all.gaps += ledger.uncommittedGaps.filter { $0.from < to && $0.to > from }
    all.incarnations += ledger.uncommittedIncarnations
    all.incarnations = newest(all.incarnations)
    return all
  }

  /// Takes over the gaps that concern every link from before this process.
  func recall(_ old: [Gap]) {
    // The store may have this process's own already.
    keepGaps(old.filter { !gaps.contains($0) } + gaps)
  }

  /// Bytes on disk.
  var sizeBytes: Int64 { workers?.health.sizeBytes ?? 0 }
}

/// Of several reports of one incarnation the last: it knows how it ended.
private func newest(_ incarnations: [Incarnation]) -> [Incarnation] {
  struct Life: Hashable {
    var link: LinkID
    var bootID: BootID
    var ifindex: UInt32
    var opened: Int64
  }
  var places: [Life: Int] = [:]
  var result: [Incarnation] = []
  for incarnation in incarnations {
    let life = Life(
      link: incarnation.link, bootID: incarnation.bootID, ifindex: incarnation.ifindex, opened: incarnation.opened)
    if let place = places[life] {
      result[place] = incarnation
    } else {
      places[life] = result.count
      result.append(incarnation)
    }
  }
  return result
}
