// A change between two commits: made when it is stored and not before, in turn, and not at all where that fails.
import LinkSource
import TallyCore
import Testing

@testable import TallyStore
@testable import iftallyd

struct ChangingTests {
  private let kernel = ScriptedKernel()
  private let store = HeldStore()
  private let counting: Counting

  init() {
    let kernel = kernel
    let sampler = Sampler(kernel: kernel, now: { kernel.now }, calendar: localCalendar(), restoring: Machine.empty)
    let history = History(
      workers: store, state: Machine.empty, watermarks: Machine.empty.watermarks, reason: nil)
    counting = Counting(sampler: sampler, history: history, say: { _, _, _ in })
    kernel.seconds = 1_700_000_000
    _ = counting.start()
    store.finish()
    counting.history.collect()
  }

  private var ledger: Ledger { counting.sampler.ledger }
  private func title(_ slot: Int) -> String { ledger.records[slot].title }

  /// Asks for a change as the API does; what became of it is in the outcome.
  private func ask(_ request: ChangeRequest) -> Outcome {
    let outcome = Outcome()
    counting.history.whenIdle { [counting] in
      do throws(ChangeError) {
        let change = try counting.sampler.ledger.plan(request, at: kernel.now.utcSeconds, uid: 5)
        counting.make(change) { error in
          outcome.error = error
          outcome.isKnown = true
        }
      } catch {
        outcome.isRefused = true
      }
    }
    return outcome
  }

  private func tick(_ bytes: UInt64 = 100) {
    kernel.seconds += 60
    for index in kernel.links.keys { kernel.links[index]! += bytes }
    _ = counting.tick()
  }

  @Test("a change is made when it is stored, not when it is asked for")
  func order() {
    let outcome = ask(.rename(0, title: "x"))
    #expect(title(0).isEmpty)
    #expect(!outcome.isKnown)
    #expect(store.commits.last?.changes.map(\.after) == ["x"])
    store.finish()
    counting.history.collect()
    #expect(title(0) == "x")
    #expect(outcome.isKnown && outcome.error == nil)
  }

  @Test("changes wait for the commit in flight and for each other, and each sees what the one before made")
  func turns() {
    tick()
    let first = ask(.rename(0, title: "x"))
    let second = ask(.rename(0, title: "y"))
    let third = ask(.undo(2))
    #expect(store.wakes > 0)
    #expect(store.commits.last?.changes.isEmpty == true)
    for _ in 0..<3 {
      store.finish()
      counting.history.collect()
    }
    #expect(first.isKnown && second.isKnown && !third.isKnown)
    #expect(ledger.changes.map(\.before) == ["", "x"])
    store.finish()
    counting.history.collect()
    #expect(third.isKnown)
    #expect(title(0) == "x")
  }

  @Test("a change whose commit fails is not made, and no later commit holds it, but all that was counted")
  func failure() {
    for request in [ChangeRequest.rename(0, title: "x"), .forget(0)] {
      kernel.links[1]! += 1000
      let shown = ledger.shown
      let outcome = ask(request)
      tick()
      store.fail(.full)
      counting.history.collect()
      #expect(outcome.isKnown && outcome.error?.kind == .full)
      #expect(ledger.changes.isEmpty)
      #expect(ledger.shown == shown)
      tick()
      let last = store.commits.last
      #expect(last?.changes.isEmpty == true)
      let isUnchanged = last?.links.allSatisfy { $0.title.isEmpty && $0.forgotten == nil } ?? false
      #expect(isUnchanged)
      let bytes = last?.rows.filter { $0.link == ledger.records[0].id }.reduce(0) { $0 + $1.amounts.rxBytes }
      #expect(bytes == 1200)
      store.finish()
      counting.history.collect()
    }
  }

  @Test("what is committed behind a change does not take it back")
  func behind() {
    let outcome = ask(.rename(0, title: "x"))
    tick()
    tick()
    store.finish()
    counting.history.collect()
    #expect(outcome.isKnown)
    tick()
    let titles = store.commits.last?.links.filter { $0.id == ledger.records[0].id }.map(\.title)
    #expect(titles == ["x"])
  }

  @Test("a stop while a change is in flight leaves it as the commit that holds it says")
  func stop() {
    let outcome = ask(.rename(0, title: "x"))
    kernel.links[1]! += 7
    _ = counting.finish(deadlineSeconds: 2)
    #expect(!outcome.isKnown)
    let titles = store.last?.links.filter { $0.id == ledger.records[0].id }.map(\.title)
    #expect(titles == ["x"])
    #expect(store.last?.changes.map(\.id) == [1])
  }

  @Test("forgetting is answered when what the link goes on as is stored, too")
  func successor() {
    let outcome = ask(.forget(0))
    store.finish()
    counting.history.collect()
    #expect(!outcome.isKnown)
    #expect(ledger.shown.count == 2)
    let born = store.commits.last?.links.max { $0.id < $1.id }
    #expect(born?.baseline?.counters.rxBytes == 1000)
    #expect(born?.total == .zero)
    store.finish()
    counting.history.collect()
    #expect(outcome.isKnown && outcome.error == nil)
  }

  @Test("without a store nothing can be changed")
  func withoutStore() {
    let kernel = kernel
    let sampler = Sampler(kernel: kernel, now: { kernel.now }, calendar: localCalendar(), restoring: nil)
    let history = History(
      workers: nil, state: nil, watermarks: .new(at: kernel.now.utcSeconds, calendar: localCalendar()),
      reason: StoreError(.unavailable, "no disk"))
    let counting = Counting(sampler: sampler, history: history, say: { _, _, _ in })
    _ = counting.start()
    var told: StoreError?
    history.whenIdle {
      guard let change = try? sampler.ledger.plan(.forget(0), at: 0, uid: 0) else { return }
      counting.make(change) { told = $0 }
    }
    #expect(told?.kind == .unavailable)
    #expect(told?.message.contains("no disk") == true)
    #expect(sampler.ledger.changes.isEmpty)
  }
}

private final class Outcome {
  var isKnown = false
  var isRefused = false
  var error: StoreError?
}

/// Takes commits and keeps them until it is told how they ended.
private final class HeldStore: StoreQueue {
  private(set) var commits: [Commit] = []
  private(set) var last: Commit?
  private(set) var wakes = 0
  private var held: [UInt64] = []
  private var results: [StoreResult] = []
  let health = StoreHealth(
    path: "", state: .ok, message: nil, sizeBytes: 0, commits: 0, failures: 0, pendingCommits: 0)

  func finish() {
    results += held.map { .committed(sequence: $0) }
    held = []
  }

  func fail(_ kind: StoreError.Kind) {
    results += held.map { .failed(sequence: $0, StoreError(kind, "told to fail")) }
    held = []
  }

  func submit(_ commit: Commit, wake: Bool) {
    commits.append(commit)
    held.append(commit.sequence)
  }

  func query(_ query: UsageQuery, token: UInt64) {}

  func takeResults() -> [StoreResult] {
    defer { results = [] }
    return results
  }

  func reopen() {}
  func wakeAfterCommits() { wakes += 1 }
  func waitForCommits(deadlineSeconds: Int) {}
  func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool) {
    last = commit
    return ([], true)
  }
}
