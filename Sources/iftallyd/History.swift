// What was counted, on its way to the store and back: pending commits, folds, and queries that see each byte once.
import LinkSource
import TallyCore
import TallyStore

/// Commits the ledger through the store's threads and answers questions about the past.
///
/// A reply joins three parts: what the store held at one sequence number, the commits after that number, and what
/// the ledger has not handed over yet. Each byte is in one of them.
final class History {
  typealias Answer = Result<UsageRows, StoreError>

  private(set) var condition: Condition
  private(set) var watermarks: Watermarks
  private(set) var commitCount: UInt64 = 0
  private(set) var failureCount: UInt64 = 0
  /// The moment up to which everything is committed.
  private(set) var committed: Moment?
  /// The same of the last store that held anything: a new one that was taken away again before its first commit leaves
  /// what the one before it holds.
  private var held: Moment?
  /// Gaps that concern every link, for the coverage of totals, newest last.
  private(set) var gaps: [Gap] = []

  /// Commits wait for the clock to be set.
  var isHeld = false

  /// Called when the store was opened after the start: brings the ledger together with it, and gives back what is to be
  /// written. `waiting` is what no store has; `committed` is the last moment that one had.
  var takeOver: (_ opening: StoreOpening, _ waiting: Commit?, _ committed: Moment?) -> Commit? =
    { _, waiting, _ in waiting }
  /// Called when the store's trouble begins or is another one, and with nil when it is over.
  var conditionChanged: (StoreError?) -> Void = { _ in }

  /// Told of each commit on its way to the store, and of each that is in it.
  var mark: QueueMark?

  /// Given what the store's threads report besides commits and answers.
  var upkeepDone: (StoreResult) -> Void = { _ in }

  private let workers: (any StoreQueue)?
  let retention = Retention()
  private var sequence: UInt64
  private var backlog = Backlog()
  /// Who waits to hear of the commit in flight.
  private var making: Making?
  /// What waits for its turn between two commits.
  private var jobs: [() -> Void] = []
  /// How often the store was opened while counting went on.
  private var openings = 0

  /// The store is open, as far as is known; else nothing is submitted.
  private var isOpen: Bool
  /// Figures were told without a store; they are told on.
  private let beganWithoutStore: Bool
  private var failuresInARow = 0
  /// Boot-clock nanoseconds.
  private var boot: Int64 = 0
  private var reopening = Reopening()
  private var questions = OpenQuestions()
  private var lastRetentionHour: Int64 = 0

  /// An idle machine still writes when it was last seen, so that an absence is placed well.
  private static let heartbeat: Int64 = 300 * Moment.second
  private static let keptGaps = 1000
  /// Reading or writing that failed so often may succeed on files opened anew.
  private static let patience = 3
  /// Commits kept for a question that a stuck disk does not answer.
  private static let mostWritten = 100

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
  /// Seconds that a virtual link has a record of its own after it has gone; nil: for ever.
  var keepsGone: Int64? = 366 * 86400
  /// The same where there are as many interfaces as there may be.
  private static let keepsGoneInCrowds: Int64 = 30 * 86400

  /// `state` nil: the store could not be opened, for the reason given, and is tried again; `workers` nil: there is none.
  init(workers: (any StoreQueue)?, state: StoredState?, watermarks: Watermarks, reason: StoreError?) {
    self.workers = workers
    self.watermarks = state?.watermarks ?? watermarks
    sequence = state?.sequence ?? 0
    committed = state?.lastMoment
    held = committed
    isOpen = workers != nil && state != nil
    beganWithoutStore = !isOpen
    condition = isOpen ? .ok : .memoryOnly(reason ?? StoreError(.unavailable, "there is no store"))
  }

  /// False while the baseline of a new store is not in it yet: figures that were told before would not survive a kill.
  var isFounded: Bool { beganWithoutStore || committed != nil || failureCount > 0 || isHeld }

  /// The last moment of the oldest commit that is not in the store yet; nil when none waits.
  var pendingSince: Moment? { backlog.since }

  /// A commit is on its way to the disk.
  var isCommitting: Bool { backlog.inFlight != nil }

  /// There is more to commit than the store was given.
  var isBehind: Bool { backlog.waiting != nil }

  /// Rows that wait to be written.
  var pendingRows: Int { backlog.rowCount }

  // MARK: Committing

  /// Commits what the ledger has, if there is something to write or the heartbeat is due.
  func commit(_ sampler: Sampler, clockStepped: Bool) {
    // Answers that arrived are given first: they read the ledger, which must not be open for a change then.
    collect()
    boot = sampler.now().boot
    openIfDue()
    guard let now = sampler.ledger.lastMoment else { return }
    if !clockStepped {
      sampler.ledger.deleteForgotten(before: now.utcSeconds - keepsForgotten)
      expire(sampler, at: now)
    }
    let age = committed.flatMap(now.elapsed(since:)) ?? .max
    guard sampler.ledger.hasUncommitted || isBehind || age >= History.heartbeat else { return }
    guard let commit = takeCommit(sampler, at: now) else { return }
    guard let workers, isOpen, !isCommitting else { return backlog.hold(commit) }
    submit(
      commit, to: workers, sampler.ledger, clockStepped: clockStepped,
      wake: !isFounded || !questions.isEmpty || failuresInARow > 0)
  }

  /// Not while a change is on its way, which may be of one of them, nor a question, nor while there is no store to tell it.
  private func expire(_ sampler: Sampler, at now: Moment) {
    guard let keepsGone, isOpen, making == nil, questions.isEmpty else { return }
    // A store looks through all that it has for those that expire: once a day.
    let period = min(keepsGone, 86400)
    let today = floorDivide(now.utcSeconds, period) * period
    sampler.ledger.expire(before: today - keepsGone, early: today - History.keepsGoneInCrowds)
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
    guard let workers, isOpen else {
      return then(condition.error ?? StoreError(.unavailable, "the store is being opened", remedy: "try again"))
    }
    guard let now = sampler.ledger.lastMoment, let commit = takeCommit(sampler, at: now) else {
      return then(StoreError(.unavailable, "nothing was sampled yet"))
    }
    var changed = commit
    if let change { changed.put(sampler.ledger.records(with: change), of: change) }
    making = Making(change: change, unchanged: commit, then: then)
    submit(changed, to: workers, sampler.ledger, clockStepped: clockStepped, wake: true)
  }

  /// All that is not committed.
  private func takeCommit(_ sampler: Sampler, at now: Moment) -> Commit? {
    guard var commit = sampler.ledger.takeCommit(sequence: sequence + 1) else { return nil }
    keepGaps(gaps + commit.gaps)
    backlog.join(&commit, at: now)
    return commit
  }

  private func submit(
    _ commit: Commit, to workers: any StoreQueue, _ ledger: Ledger, clockStepped: Bool, wake: Bool
  ) {
    var commit = commit
    plan(&commit, at: commit.at.utcSeconds, ledger.calendar, clockStepped: clockStepped)
    backlog.send(commit)
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
      case .opened(let outcome): opened(outcome)
      case .committed(let number): succeeded(number)
      case .failed(_, let error): failed(error)
      case .rows(let token, let answer):
        if case .failure(let error) = answer, error.kind == .corrupt { suspect() }
        questions.take(token)?(answer)
      case .copied, .checked: upkeepDone(result)
      }
    }
    backlog.forget(upTo: questions.oldest ?? sequence)
    while !isCommitting, !jobs.isEmpty { jobs.removeFirst()() }
  }

  private func succeeded(_ number: UInt64) {
    guard let commit = backlog.succeeded(number, isKept: !questions.isEmpty) else { return }
    sequence = number
    committed = commit.at
    held = commit.at
    mark?.commits(commit.at)
    commitCount &+= 1
    failuresInARow = 0
    reopening.shortenPause()
    if isOpen { change(to: .ok) }
    for fold in commit.folds { watermarks[fold.tier] = fold.end }
    if backlog.written.count > History.mostWritten { refuseQuestions(History.unanswered) }
    tellMaker(nil)
  }

  private func tellMaker(_ error: StoreError?) {
    guard let making else { return }
    self.making = nil
    making.then(error)
  }

  private func failed(_ error: StoreError) {
    failureCount &+= 1
    failuresInARow += 1
    change(to: .failing(error))
    backlog.failed(leaving: making?.unchanged)
    switch error.kind {
    // The file was taken away, is damaged or holds another commit: what is there now is found out by opening it again.
    case .vanished, .corrupt, .unavailable, .refused: isOpen = false
    case .io, .other: if failuresInARow >= History.patience { isOpen = false }
    default: break
    }
    openIfDue()
    tellMaker(error)
  }

  // MARK: Opening again

  private func openIfDue() {
    if let workers, !isOpen, reopening.begins(at: boot) { workers.reopen() }
  }

  /// A question met damage: the file is checked, once in a while, and set aside if it is damaged.
  private func suspect() {
    guard isOpen, reopening.isDue(at: boot) else { return }
    isOpen = false
    reopening.lengthenPause()
    openIfDue()
  }

  private func opened(_ outcome: Result<StoreOpening, StoreError>) {
    reopening.ended()
    switch outcome {
    case .failure(let error): change(to: .memoryOnly(error))
    case .success(let opening):
      backlog.replaceWaiting(with: takeOver(opening, backlog.waiting, held))
      recall(backlog.waiting?.gaps ?? [])
      isOpen = true
      sequence = opening.state.sequence
      watermarks = opening.state.watermarks
      committed = opening.state.lastMoment
      held = committed ?? held
      openings += 1
      change(to: .ok)
      // The links that they are about may have other numbers now.
      refuseQuestions(History.justOpened)
    }
  }

  private func change(to new: Condition) {
    let (old, error) = (condition.error, new.error)
    condition = new
    if old?.what != error?.what { conditionChanged(error) }
  }

  // MARK: The end

  /// Hands over everything and waits for it, at the end of the process; returns why it could not be written.
  func finish(_ sampler: Sampler, deadlineSeconds: Int) -> StoreError? {
    guard let workers else { return condition.error.map { unwritten($0, sampler) } }
    // Nobody can be answered any more.
    jobs = []
    // What was mended a moment ago is not found out later.
    reopening.hurry()
    openIfDue()
    // Were the one being written to fail, a commit behind it would be refused: the last one has to hold both.
    if isCommitting || reopening.isUnderWay { workers.waitForCommits(deadlineSeconds: deadlineSeconds / 2) }
    collect()
    guard isOpen else {
      _ = workers.stop(commit: nil, deadlineSeconds: reopening.isUnderWay ? 1 : deadlineSeconds / 2)
      let stuck = StoreError(.busy, "the store was not opened within \(deadlineSeconds / 2) s")
      return unwritten(reopening.isUnderWay ? stuck : condition.error ?? stuck, sampler)
    }
    var commit = sampler.ledger.takeCommit(sequence: sequence + (isCommitting ? 2 : 1))
    if var last = commit {
      backlog.join(&last, at: last.at)
      commit = last
    }
    // Should that one be stored after all, this one must not take its change back.
    if isCommitting, let change = making?.change {
      let records = sampler.ledger.records(with: change)
      commit?.put(records, of: change)
    }
    if let commit { mark?.submits(commit.at, vethEnds: sampler.ledger.vethEnds) }
    let (results, finished) = workers.stop(commit: commit, deadlineSeconds: deadlineSeconds / 2)
    backlog.replaceWaiting(with: commit)
    for case .failed(_, let error) in results { return unwritten(error, sampler) }
    if finished { return nil }
    return unwritten(StoreError(.busy, "the store did not finish its last commit within \(deadlineSeconds) s"), sampler)
  }

  /// The error with what is lost by it.
  private func unwritten(_ error: StoreError, _ sampler: Sampler) -> StoreError {
    let rows = pendingRows + sampler.ledger.uncommittedRows.count
    let since = committed.map { "since \(rfc3339($0.utc))" } ?? "since the start"
    var told = error
    told.what +=
      "; what was counted \(since) is not written (\(rows) rows): the next start counts it again from the counters of links that "
      + "live on, the rest is lost"
    return told
  }

  // MARK: Asking

  /// Asks the store; `then` is called in the loop's thread, soon or when the disk answers.
  func ask(_ query: UsageQuery, then: @escaping (Answer) -> Void) {
    let before = openings
    collect()
    guard openings == before else { return then(.failure(History.justOpened)) }
    guard !questions.isFull else { return then(.failure(History.unanswered)) }
    guard let workers else {
      return then(
        .success(UsageRows(sequence: sequence, watermarks: watermarks, rows: [], gaps: [], incarnations: [])))
    }
    let token = questions.add(since: sequence, then)
    workers.query(query.reaching(backlog.after(sequence).flatMap(\.expiries)), token: token)
  }

  private func refuseQuestions(_ error: StoreError) {
    let refused = questions.takeAll()
    backlog.forget(upTo: .max)
    for then in refused { then(.failure(error)) }
  }

  private static let justOpened = StoreError(
    .unavailable, "the store was opened just now", remedy: "ask again")

  private static let unanswered = StoreError(
    .busy, "the disk of the store has not answered earlier questions yet", remedy: "ask again when it does")

  /// Adds to a reply of the store what came after it.
  func complete(_ stored: UsageRows, ledger: Ledger, from: Int64, to: Int64) -> UsageRows {
    var all = stored
    for commit in backlog.after(stored.sequence) {
      all.add(commit.rows, commit.clockSteps, commit.gaps, commit.incarnations, from: from, to: to)
      all.move(commit.expiries)
    }
    all.add(
      ledger.uncommittedRows, ledger.uncommittedSteps, ledger.uncommittedGaps, ledger.uncommittedIncarnations,
      from: from, to: to)
    all.incarnations = lastReports(of: all.incarnations)
    return all
  }

  /// Takes over the gaps that concern every link from before this process.
  func recall(_ old: [Gap]) {
    // The store may have this process's own already.
    keepGaps(old.filter { !gaps.contains($0) } + gaps)
  }

  /// Bytes on disk.
  var sizeBytes: Int64 { workers?.health.sizeBytes ?? 0 }

  /// Room for more; nil when it is not known.
  var freeBytes: Int64? { workers?.health.freeBytes }
}
