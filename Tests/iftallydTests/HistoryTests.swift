// The history's way to the store: what a commit that fails held is in the next one, also at the end.
import Foundation
import LinkSource
import TallyCore
import Testing

@testable import TallyStore
@testable import iftallyd

struct HistoryTests {
  /// A link of its own that the ledger sees appear, count and go.
  private func liveAndDie(_ sampler: Sampler, bytes: UInt64) {
    var facts = LinkFacts()
    facts.ifindex = 4_000_000
    facts.name = LinkName(bytes: Array("gone0".utf8))
    facts.infoKind = "tun"
    let final = LinkCounters(rxBytes: bytes)
    sampler.ledger.apply(
      [
        .appeared(ListedLink(facts: facts, counters: .zero)),
        .departed(ifindex: facts.ifindex, name: facts.name, final: final, movedOut: false),
      ], at: sampler.now())
  }

  @Test("a stop behind a commit that fails commits what both held")
  func stopBehindFailure() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("iftally-history-\(getpid())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let workers = try StoreWorkers(directory: folder, calendar: localCalendar())
    let opening = try workers.waitUntilOpened().get()
    let clocks = Clocks()
    let kernel = try KernelLinks(now: clocks.now, complete: { _ in })
    let sampler = Sampler(kernel: kernel, now: clocks.now, calendar: localCalendar(), restoring: opening.state)
    let history = History(
      workers: workers, state: opening.state, watermarks: opening.state.watermarks, reason: nil)
    try sampler.sample()
    history.commit(sampler, clockStepped: false)
    workers.waitForCommits(deadlineSeconds: 10)
    history.collect()

    // Another connection of this process holds the lock for longer than a commit waits.
    let other = try Database(path: workers.health.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    liveAndDie(sampler, bytes: 1_000_000)
    history.commit(sampler, clockStepped: false)
    liveAndDie(sampler, bytes: 500_000)
    // Used by that thread alone from here on.
    nonisolated(unsafe) let held = other
    Thread.detachNewThread {
      sleep(6)
      try? held.execute("ROLLBACK")
    }
    #expect(history.finish(sampler, deadlineSeconds: 40) == nil)

    let store = try Store.open(directory: folder, calendar: localCalendar())
    let total = store.opening.state.links.first { $0.name == LinkName(bytes: Array("gone0".utf8)) }?.total.rxBytes
    #expect(total == UInt64(1_500_000))
  }

  @Test("a fold starts where the last one ended")
  func folds() {
    let machine = Machine(isOpen: true)
    for _ in 0..<20 {
      machine.minute()
      machine.store.answers = machine.store.submitted.last.map { [.committed(sequence: $0.sequence)] } ?? []
    }
    let folds = machine.store.submitted.flatMap(\.folds).filter { $0.tier == .fiveMinutes }
    #expect(folds.count >= 4)
    let joins = zip(folds, folds.dropFirst()).map { $0.end == $1.start }
    #expect(!joins.contains(false))
  }

  // MARK: A disk that is gone or hangs for long

  @Test("twelve days of minutes without a store take bounded memory and lose no byte")
  func longWithoutStore() {
    let machine = Machine(isOpen: false)
    var most = 0
    for _ in 0..<(12 * 1440) {
      machine.minute()
      most = max(most, machine.history.pendingRows)
    }
    // 172 800 minutes of a link are more than are kept one by one.
    #expect(most <= Commit.rowBound + 10)
    let waiting = machine.history.complete(
      UsageRows(
        sequence: 0, watermarks: Machine.empty.watermarks, rows: [], gaps: [], incarnations: []),
      ledger: machine.sampler.ledger, from: .min, to: .max)
    let bytes = waiting.rows.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == machine.moved)
    #expect(machine.store.submitted.isEmpty)
  }

  @Test("a store that cannot be opened is tried after pauses that grow to five minutes")
  func pauses() {
    let machine = Machine(isOpen: false)
    let reason = StoreError(.notWritable, "it is read-only", remedy: "mount it read-write")
    var tried: [Int] = []
    for minute in 1...60 {
      let before = machine.store.reopenings
      machine.minute()
      guard machine.store.reopenings > before else { continue }
      tried.append(minute)
      machine.store.answers = [.opened(.failure(reason))]
    }
    #expect(tried.prefix(7) == [1, 2, 3, 4, 5, 6, 7])
    let pauses = zip(tried, tried.dropFirst()).map { $1 - $0 }
    #expect(pauses.suffix(5) == [5, 5, 5, 5, 5])
    guard case .memoryOnly(let told) = machine.history.condition else {
      Issue.record("it is said to be open")
      return
    }
    #expect(told.remedy == "mount it read-write")
  }

  @Test("a commit that hangs for hours holds up no other, is told by its age, and all of it is written afterwards")
  func hanging() {
    let machine = Machine(isOpen: true)
    machine.minute()
    for _ in 0..<180 { machine.minute() }
    #expect(machine.store.submitted.count == 1)
    #expect(machine.history.isCommitting)
    let age = machine.history.pendingSince.flatMap { machine.now.elapsed(since: $0) }
    #expect(age == Int64(180) * Moment.minute)
    machine.store.answers = [.committed(sequence: 1)]
    machine.minute()
    #expect(machine.store.submitted.map(\.sequence) == [1, 2])
    machine.store.answers = [.committed(sequence: 2)]
    machine.history.collect()
    #expect(machine.history.pendingSince == nil)
    let written = machine.store.submitted.flatMap(\.rows).reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(written == machine.moved)
  }

  @Test("a commit that fails after hanging is in the next one, beside what waited behind it")
  func failsAfterHanging() throws {
    let machine = Machine(isOpen: true)
    for _ in 0..<3 { machine.minute() }
    machine.store.answers = [.failed(sequence: 1, StoreError(.full, "no space left", remedy: "free space"))]
    machine.minute()
    #expect(machine.store.submitted.map(\.sequence) == [1, 1])
    let last = try #require(machine.store.submitted.last)
    let bytes = last.rows.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == machine.moved)
  }

  @Test("a question that was asked before the store was opened is to be asked again")
  func askedBefore() {
    let machine = Machine(isOpen: false)
    machine.minute()
    var told: [String] = []
    func ask() {
      machine.history.ask(UsageQuery(links: nil, tier: .day, from: 0, to: 1)) { answer in
        if case .failure(let error) = answer { told.append(error.what) }
      }
    }
    ask()
    // The second one finds the store opened when it is asked: its links may have had other numbers.
    machine.store.answers = [.opened(.success(StoreOpening(state: Machine.empty, notice: nil)))]
    ask()
    #expect(told == Array(repeating: "the store was opened just now", count: 2))
    let late = UsageRows(sequence: 0, watermarks: Machine.empty.watermarks, rows: [], gaps: [], incarnations: [])
    machine.store.answers = [.rows(token: 1, .success(late))]
    machine.history.collect()
    #expect(told.count == 2)
  }

  @Test("questions that a stuck disk does not answer are bounded")
  func questions() {
    let machine = Machine(isOpen: true)
    var refused = 0
    for _ in 0..<500 {
      machine.history.ask(UsageQuery(links: nil, tier: .day, from: 0, to: 1)) { answer in
        if case .failure(let error) = answer, error.kind == .busy { refused += 1 }
      }
    }
    #expect(machine.store.queries.count == 100)
    #expect(refused == 400)
  }

  @Test("a commit that the store holds although it was told to have failed is not written twice")
  func toldFailed() throws {
    let machine = Machine(isOpen: true)
    machine.minute()
    let first = try #require(machine.store.submitted.first)
    machine.store.answers = [
      .failed(sequence: 1, StoreError(.refused, "commit 1 does not follow on 1", remedy: nil))
    ]
    machine.history.takeOver = { opening, waiting, committed in
      machine.sampler.takeOver(opening.state, waiting: waiting, committed: committed).waiting
    }
    machine.history.collect()
    #expect(machine.store.reopenings == 1)
    let held = StoredState(
      sequence: 1, lastMoment: first.at, links: first.links, watermarks: Machine.empty.watermarks)
    machine.store.answers = [.opened(.success(StoreOpening(state: held, notice: nil)))]
    machine.history.collect()
    #expect(machine.history.pendingRows == 0)
    let totals = machine.sampler.ledger.records.indices.map { machine.sampler.ledger.record(slot: $0).total.rxBytes }
    #expect(totals == Array(repeating: UInt64(100), count: 10))
  }
}
