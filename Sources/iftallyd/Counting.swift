// What leads to samples and commits: the start, the minute, link events, the end.
import LinkSource
import TallyCore
import TallyStore

/// Counts one network namespace into its history.
///
/// It owns no timer, descriptor or clock: the daemon calls it when one of them wakes the loop, and the simulation of the
/// tests when a seed says so.
final class Counting {
  let sampler: Sampler
  let history: History
  /// Has `commit` called after so many milliseconds.
  var commitAfter: (Int) -> Void = { _ in }
  /// Has `watchTick` called after so many nanoseconds.
  var watchAfter: (Int64) -> Void = { _ in }
  /// Where the present links stand, asked before a commit when a link came, went or changed.
  var findStandings: (Moment) -> LinkGraph? = { _ in nil }
  /// Called when the store is a new file, with what was done about the old one.
  var storeWasReplaced: (_ notice: String?) -> Void = { _ in }
  /// Called when the store holds other counts than this process had, and counting goes on from the store's.
  var storeHoldsOthers: () -> Void = {}

  private let say: (LogLevel, _ code: String, _ message: String) -> Void
  private var watch = Watch()
  private var isWatching = false
  private var lastCommit: Int64 = 0
  private var noticedSteps: UInt64 = 0
  /// Boot-clock instant before which nothing is dropped by age.
  private var cautiousUntil: Int64 = 0
  /// Boot-clock instant since which commits wait for the clock to be set.
  private var undatedSince = Int64.max
  private var isLoadingToday = false
  private var gapsAreKnown = true
  private var notedChanges: UInt64 = 0

  /// Departures are committed at most this often.
  private static let commitSpacing = Moment.second
  /// After a clock step nothing is dropped by age for this long, nor after a start that seems so much later than the end.
  private static let caution: Int64 = 3600 * Moment.second
  private static let longAbsence: Int64 = 86400 * Moment.second
  private static let longestWait: Int64 = 300 * Moment.second

  /// `say`: what the log should hold.
  init(
    sampler: Sampler, history: History, say: @escaping (LogLevel, _ code: String, _ message: String) -> Void
  ) {
    self.sampler = sampler
    self.history = history
    self.say = say
    history.takeOver = { [unowned self] in storeWasOpened($0, waiting: $1, committed: $2) }
    history.conditionChanged = { error in
      if let error {
        say(.error, "store_failing", error.description)
      } else {
        say(.notice, "store_recovered", "the store takes commits again")
      }
    }
  }

  /// Brings what was counted without the store together with it.
  private func storeWasOpened(
    _ opening: StoreOpening, waiting: Commit?, committed: Moment?
  ) -> Commit? {
    let taken = sampler.takeOver(opening.state, waiting: waiting, committed: committed)
    switch taken.outcome {
    case .begunAnew:
      if committed != nil || opening.notice != nil { storeWasReplaced(opening.notice) }
    case .continued: break
    case .joined:
      say(.notice, "store_joined", "the store was opened; its history goes on with what was counted without it")
    case .restarted: storeHoldsOthers()
    }
    gapsAreKnown = false
    // Not from here: the history is in the middle of its results.
    commitAfter(1)
    return taken.waiting
  }

  /// The first sample, its commit, and what the store has of today; false when the kernel did not answer: try again.
  func start() -> Bool {
    let before = sampler.ledger.lastMoment
    do {
      try sampler.sample()
    } catch {
      say(.error, "sampling_failed", "\(error); trying again")
      return false
    }
    sampler.checkCounters(olderThan: 0)
    // It may have been off for long, or its clock may be wrong: only time tells.
    let now = sampler.now()
    if let before, now.utc &- before.utc > Counting.longAbsence { cautiousUntil = now.boot &+ Counting.caution }
    commit()
    loadToday()
    recallGaps()
    say(
      .info, "started", "watching \(sampler.ledger.presentCount) links, \(sampler.ledger.shownCount) known")
    return true
  }

  /// The minute boundary, or the moment in which the clock was set; false when the sample failed.
  func tick() -> Bool {
    let isHealthy = sampler.attemptSample()
    if !isHealthy, let error = sampler.lastError { say(.warning, "sampling_failed", "\(error)") }
    if !sampler.ledger.todayIsKnown { loadToday() }
    if sampler.now().utcSeconds % 3600 < 60 { sampler.checkCounters(olderThan: 1800) }
    commit()
    return isHealthy
  }

  /// A question for the present came; answering it takes the sample that may be due now.
  func asked() {
    watch.asked(at: sampler.now())
    guard !isWatching, watch.nanosecondsUntilSample(at: sampler.now(), lastSample: nil) != nil else { return }
    isWatching = true
    watchAfter(Watch.interval)
  }

  /// Samples between the questions of somebody who watches; when nobody does any more only the minute does.
  func watchTick() {
    let wait = watch.nanosecondsUntilSample(at: sampler.now(), lastSample: sampler.ledger.lastSample)
    isWatching = wait != nil
    guard let wait else { return }
    if wait == 0 { sampler.attemptSample() }
    watchAfter(wait == 0 ? Watch.interval : wait)
  }

  /// Books the events that wait; a link that came or went is committed soon.
  func linkEvents() {
    guard sampler.drainEvents() else { return }
    let wait = lastCommit + Counting.commitSpacing - sampler.now().boot
    if wait <= 0 {
      commit()
    } else {
      commitAfter(Int(wait / 1_000_000) + 1)
    }
  }

  func commit() {
    readAll()
    noteClockSteps()
    let now = sampler.now().boot
    if mustWait(at: now) { return }
    lastCommit = now
    history.commit(sampler, clockStepped: now < cautiousUntil)
    guard !gapsAreKnown else { return }
    gapsAreKnown = true
    if !sampler.ledger.todayIsKnown { loadToday() }
    recallGaps()
  }

  /// Makes a change once it is stored; `then` hears when it is made, or why it is not. Call when the history is idle.
  func make(_ change: Change, then: @escaping (StoreError?) -> Void) {
    if sampler.ledger.isUndated {
      return then(StoreError(.unavailable, "nothing is stored until the wall clock is set"))
    }
    readAll()
    noteClockSteps()
    let clockStepped = sampler.now().boot < cautiousUntil
    history.write(change, sampler, clockStepped: clockStepped) { [self] error in
      if error != nil { return then(error) }
      sampler.ledger.make(change)
      let what = "\(change.action.rawValue) of id:\(change.link)"
      if let undone = change.undone {
        say(.notice, "undone", "change \(change.id), \(what), was undone by user \(undone.uid)")
      } else {
        say(.notice, "changed", "change \(change.id) by user \(change.uid): \(what)")
      }
      let isForgotten = change.action == .forget && change.undone == nil
      guard isForgotten else { return then(nil) }
      if history.keepsForgotten == 0 { sampler.ledger.deleteForgotten(before: change.at) }
      // A link that goes on as a new record is stored as that before anyone is told of it.
      noteStandings()
      history.write(nil, sampler, clockStepped: clockStepped) { _ in then(nil) }
    }
  }

  /// A store says when every link was read last: an event tells of one alone, and what the others counted before it would
  /// be placed after it by a process that goes on from there. So would what a new one has counted since its birth.
  private func readAll() {
    if sampler.ledger.lastMoment != sampler.ledger.lastSample || sampler.ledger.hasUnread { sampler.attemptSample() }
    noteStandings()
  }

  /// Until the clock is set what was counted under it can be dated right only as long as it is not stored: it waits, but
  /// not for long, since a crash of the machine would take it.
  private func mustWait(at now: Int64) -> Bool {
    history.isHeld = sampler.ledger.isUndated
    guard history.isHeld else { return false }
    undatedSince = min(undatedSince, now)
    // Where it was set and no sample has succeeded since, the next one dates all.
    let maySettle = now - undatedSince < Counting.longestWait || !sampler.ledger.isUndated(at: sampler.now())
    if maySettle, sampler.ledger.uncommittedCount < Commit.rowBound { return true }
    history.isHeld = false
    say(
      .warning, "clock_not_set", "the wall clock is earlier than it can be; what was counted is stored under its date")
    return false
  }

  /// Keeps with each link what a total makes of it, for when it is gone.
  private func noteStandings() {
    let changes = sampler.ledger.linkChanges
    guard changes != notedChanges, let graph = findStandings(sampler.now()) else { return }
    notedChanges = changes
    sampler.ledger.note(graph)
  }

  /// Puts other rules in force; what is booked elsewhere from now on is so after a crash as well.
  func take(_ rules: [LinkRule]) {
    sampler.take(rules)
    commit()
  }

  /// Days are other spans in another zone.
  func zoneChanged(_ calendar: LocalCalendar) { sampler.ledger.zoneChanged(calendar) }

  /// Counts and commits what there is; returns why that could not be written.
  func finish(deadlineSeconds: Int) -> StoreError? {
    sampler.attemptSample()
    if sampler.ledger.hasUnread { sampler.attemptSample() }
    return history.finish(sampler, deadlineSeconds: deadlineSeconds)
  }

  /// The running day's earlier amounts are in the store.
  private func loadToday() {
    guard !isLoadingToday else { return }
    isLoadingToday = true
    let day = sampler.ledger.day
    history.ask(UsageQuery(links: nil, tier: .day, from: day.start, to: day.end)) { [unowned self] answer in
      isLoadingToday = false
      guard sampler.ledger.day == day, case .success(let stored) = answer else { return }
      let known = history.complete(stored, ledger: sampler.ledger, from: day.start, to: day.end)
      sampler.ledger.setToday(from: known)
    }
  }

  /// So are the gaps of earlier processes; later ones the history keeps itself.
  private func recallGaps() {
    history.ask(UsageQuery(links: [], tier: .day, from: 0, to: sampler.ledger.day.end)) { [unowned self] answer in
      if case .success(let stored) = answer { history.recall(stored.gaps) }
    }
  }

  private func noteClockSteps() {
    let ledger = sampler.ledger
    guard ledger.clockStepCount != noticedSteps, let step = ledger.clockSteps.last else { return }
    noticedSteps = ledger.clockStepCount
    cautiousUntil = sampler.now().boot &+ Counting.caution
    say(.notice, "clock_step", "the clock was set by \(step.by / Moment.second) s")
  }
}
