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
}
