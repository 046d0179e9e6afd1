// A store for the history's tests that answers when it is told to, and a clock to move by hand.
import TallyCore

@testable import LinkSource
@testable import TallyStore
@testable import iftallyd

/// A store's queue whose disk hangs until `answers` are put into it.
final class SlowStore: StoreQueue {
  var submitted: [Commit] = []
  var queries: [UInt64] = []
  var lastQuery: UsageQuery?
  var reopenings = 0
  var answers: [StoreResult] = []
  var health = StoreHealth(
    path: "/s/iftally.db", state: .ok, message: nil, sizeBytes: 0, commits: 0, failures: 0, pendingCommits: 0)

  func reopen() { reopenings += 1 }
  func submit(_ commit: Commit, wake: Bool) { submitted.append(commit) }
  func wakeAfterCommits() {}
  func query(_ query: UsageQuery, token: UInt64) {
    queries.append(token)
    lastQuery = query
  }
  func takeResults() -> [StoreResult] {
    defer { answers = [] }
    return answers
  }
  func waitForCommits(deadlineSeconds: Int) {}
  func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool) { ([], false) }
}

/// A kernel without links: the tests give the ledger its readings themselves.
final class StillKernel: LinkKernel {
  var source: LinkCounterSource { .netlink }
  var eventDescriptor: Int32 { -1 }
  var receiveBufferBytes: UInt32 { 0 }
  var health: KernelHealth { KernelHealth() }
  func list() throws(LinkSourceError) -> LinkList { LinkList(links: [], isWhole: true) }
  func drainEvents() throws(LinkSourceError) -> DrainedEvents { DrainedEvents(events: [], overrun: false) }
  func sample() throws(LinkSourceError) -> Sample { throw .readCounters(code: 5) }
  func crossCheck() throws(LinkSourceError) -> CrossCheck { throw .readCounters(code: 5) }
}

/// Ten links that move a little every minute, before a history with that store.
final class Machine {
  let store = SlowStore()
  var now = Moment(
    utc: 1_781_524_800 * Moment.second, boot: 100 * Moment.second, bootID: BootID(high: 1, low: 1))
  private(set) var history: History
  private(set) var sampler: Sampler
  private var counters: [UInt32: LinkCounters] = [:]
  /// What the links moved.
  private(set) var moved: UInt64 = 0

  /// `isOpen` false: the store could not be opened at the start.
  init(isOpen: Bool) {
    var clock: () -> Moment = { Moment(utc: 0, boot: 0, bootID: BootID(high: 1, low: 1)) }
    let state = isOpen ? Machine.empty : nil
    sampler = Sampler(kernel: StillKernel(), now: { clock() }, calendar: localCalendar(), restoring: state)
    history = History(
      workers: store, state: state, watermarks: Machine.empty.watermarks,
      reason: isOpen ? nil : StoreError(.notWritable, "it is read-only", remedy: "mount it read-write"))
    clock = { [unowned self] in now }
    let links = (1...10).map { (index: UInt32) in
      var facts = LinkFacts()
      facts.ifindex = index
      facts.inode = UInt64(index)
      facts.name = LinkName(bytes: Array("tun\(index)".utf8))
      facts.infoKind = "tun"
      counters[index] = .zero
      return ListedLink(facts: facts, counters: .zero)
    }
    sampler.ledger.apply(links, events: [], cause: .start, at: now)
  }

  /// Link 1 goes, and so many days pass.
  func lose(days: Int64) {
    sampler.ledger.apply(
      [.departed(ifindex: 1, name: LinkName(bytes: Array("tun1".utf8)), final: nil, movedOut: false)], at: now)
    counters[1] = nil
    minute()
    now.utc += days * 86400 * Moment.second
    now.boot += days * 86400 * Moment.second
  }

  static let empty = StoredState(
    sequence: 0, lastMoment: nil, links: [], watermarks: Watermarks(fiveMinutes: 0, hour: 0, day: 0))

  /// A minute with traffic, and its commit.
  func minute() {
    now.utc += Moment.minute
    now.boot += Moment.minute
    for index in counters.keys {
      counters[index]?.rxBytes += 100
      moved += 100
    }
    let readings = counters.map { Reading(ifindex: $0.key, counters: $0.value) }
    readings.withUnsafeBufferPointer { sampler.ledger.apply($0, width: .bits64, at: now) }
    history.commit(sampler, clockStepped: false)
  }
}
