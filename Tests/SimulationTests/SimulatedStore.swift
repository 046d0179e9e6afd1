// The store's two queues in simulated time: work waits, stalls, fails and is answered out of step.
import TallyCore
import Toys

@testable import TallyStore

/// What the disk is like, whoever uses it.
struct Weather {
  /// Every write fails so.
  var trouble: StoreError.Kind?
  /// Boot-clock nanoseconds: nothing is written, nothing is read before.
  var writesStallUntil: Int64 = 0
  var readsStallUntil: Int64 = 0
}

/// What one process has of the disk: a writer and a reader that take their time.
final class SimulatedStore: StoreQueue {
  private enum Work {
    case open
    case commit(Commit, wake: Bool)
    case wake
  }
  private struct Asked {
    var query: UsageQuery
    var token: UInt64
    var answer: Result<UsageRows, StoreError>?
  }

  private let disk: any SimulatedDisk
  private let weather: () -> Weather
  private let now: () -> Moment
  /// Lets time pass while the process waits for its store.
  private let wait: (Int64) -> Void
  private var dice: Seeded
  private(set) var isOpen: Bool
  private var hasBeenOpen: Bool
  private var writing: [Work] = []
  private var writesAt: Int64?
  private var reading: [Asked] = []
  private var readsAt: Int64?
  private var results: [StoreResult] = []
  private(set) var isSignalled = false
  /// Called when the store was opened while the process counted.
  var opened: (StoreOpening) -> Void = { _ in }

  private(set) var health = StoreHealth(
    path: "toy", state: .ok, message: nil, sizeBytes: 0, commits: 0, failures: 0, pendingCommits: 0)

  init(
    _ disk: any SimulatedDisk, weather: @escaping () -> Weather, now: @escaping () -> Moment,
    wait: @escaping (Int64) -> Void, isOpen: Bool, seed: UInt64
  ) {
    self.isOpen = isOpen
    hasBeenOpen = isOpen
    self.disk = disk
    self.weather = weather
    self.now = now
    self.wait = wait
    dice = Seeded(seed)
  }

  // MARK: The daemon's side

  func reopen() { add(.open) }

  func submit(_ commit: Commit, wake: Bool) {
    health.pendingCommits += 1
    add(.commit(commit, wake: wake))
  }

  func wakeAfterCommits() { add(.wake) }

  func query(_ query: UsageQuery, token: UInt64) {
    reading.append(Asked(query: query, token: token))
    if reading.count == 1 { beginReading(at: now().boot) }
  }

  func takeResults() -> [StoreResult] {
    advance()
    isSignalled = false
    defer { results = [] }
    return results
  }

  func waitForCommits(deadlineSeconds: Int) {
    work(until: now().boot + Int64(deadlineSeconds) * Moment.second) { writing.isEmpty }
  }

  func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool) {
    if let commit { submit(commit, wake: false) }
    reading = []
    readsAt = nil
    work(until: now().boot + Int64(deadlineSeconds) * Moment.second) { writing.isEmpty }
    let isFinished = writing.isEmpty
    if isFinished { disk.close() }
    return (takeResults(), isFinished)
  }

  /// The process is gone in the middle of whatever it did.
  func kill() {
    advance()
    var commit: Commit?
    if case .commit(let interrupted, _)? = writing.first, isOpen, weather().trouble == nil { commit = interrupted }
    disk.kill(during: commit, &dice)
  }

  // MARK: The disk's side

  /// When something is done next, boot-clock nanoseconds; nil: nothing is asked for.
  var nextDue: Int64? {
    let writes = writesAt.map { max($0, weather().writesStallUntil) }
    let reads = readsAt.map { max($0, weather().readsStallUntil) }
    return [writes, reads].compactMap { $0 }.min()
  }

  /// Does what is due by now, in order.
  func advance() {
    while let due = nextDue, due <= now().boot {
      if let at = writesAt, max(at, weather().writesStallUntil) == due { write(at: due) } else { answer(at: due) }
    }
  }

  private func work(until deadline: Int64, done: () -> Bool) {
    advance()
    while !done(), let due = nextDue, due <= deadline {
      wait(max(0, due - now().boot))
      advance()
    }
    if !done() { wait(max(0, deadline - now().boot)) }
  }

  private func add(_ work: Work) {
    writing.append(work)
    if writing.count == 1 { writesAt = now().boot + duration() }
  }

  /// Mostly milliseconds, at times seconds.
  private func duration() -> Int64 {
    Int64.random(in: 0...30, using: &dice) * (Int64.random(in: 0..<10, using: &dice) == 0 ? 100_000_000 : 1_000_000)
  }

  private func write(at moment: Int64) {
    switch writing.removeFirst() {
    case .open: open()
    case .commit(let commit, let wake): self.commit(commit, wake: wake)
    case .wake: isSignalled = true
    }
    writesAt = writing.isEmpty ? nil : moment + duration()
  }

  private func open() {
    disk.close()
    isOpen = false
    do throws(StoreError) {
      try complain()
      let opening = try disk.open(at: now().utcSeconds)
      isOpen = true
      hasBeenOpen = true
      opened(opening)
      results.append(.opened(.success(opening)))
    } catch {
      results.append(.opened(.failure(error)))
    }
    isSignalled = true
  }

  private func commit(_ commit: Commit, wake: Bool) {
    health.pendingCommits -= 1
    do throws(StoreError) {
      guard isOpen else { throw StoreError(.unavailable, "there is no store to write to") }
      try complain()
      try disk.commit(commit)
      health.commits += 1
      results.append(.committed(sequence: commit.sequence))
      isSignalled = isSignalled || wake
    } catch {
      health.failures += 1
      results.append(.failed(sequence: commit.sequence, error))
      isSignalled = true
    }
  }

  private func complain() throws(StoreError) {
    if let trouble = weather().trouble { throw StoreError(trouble, "the disk is in trouble") }
  }

  /// A reader sees what is stored when it begins, however long it takes to tell.
  private func beginReading(at moment: Int64) {
    do throws(StoreError) {
      guard isOpen || !hasBeenOpen && disk.model == nil else {
        throw StoreError(.unavailable, "there is no store to read from")
      }
      reading[0].answer = .success(isOpen ? try disk.read(reading[0].query) : SimulatedStore.nothing)
    } catch {
      reading[0].answer = .failure(error)
    }
    readsAt = moment + duration()
  }

  private static let nothing = UsageRows(
    sequence: 0, watermarks: Watermarks(fiveMinutes: 0, hour: 0, day: 0), rows: [], gaps: [], incarnations: [])

  private func answer(at moment: Int64) {
    let asked = reading.removeFirst()
    readsAt = nil
    if let answer = asked.answer { results.append(.rows(token: asked.token, answer)) }
    isSignalled = true
    if !reading.isEmpty { beginReading(at: moment) }
  }
}
