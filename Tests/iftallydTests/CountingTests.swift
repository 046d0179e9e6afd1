// What leads to a commit and what is in it, with a kernel, a store and clocks that do as they are told.
import TallyCore
import Testing

@testable import LinkSource
@testable import TallyStore
@testable import iftallyd

private let hour: Int64 = 3600
private let year: Int64 = 365 * 86400

struct CountingTests {
  private let kernel = ToldKernel()
  private let store = ToldStore()

  /// A daemon that goes on from `stored`; nil: a new store.
  private func counting(restoring stored: StoredState?) -> Counting {
    let kernel = kernel
    let watermarks = Watermarks.new(at: kernel.now.utcSeconds, calendar: localCalendar())
    let stored = stored ?? StoredState(sequence: 0, lastMoment: nil, links: [], watermarks: watermarks)
    let sampler = Sampler(kernel: kernel, now: { kernel.now }, calendar: localCalendar(), restoring: stored)
    let history = History(workers: store, state: stored, watermarks: watermarks, reason: nil)
    return Counting(sampler: sampler, history: history, say: { _, _, _ in })
  }

  /// What a daemon that has run for a minute leaves behind.
  private func stored() -> StoredState {
    let first = counting(restoring: nil)
    _ = first.start()
    kernel.pass(60)
    kernel.rxBytes += 1000
    _ = first.tick()
    return store.state
  }

  @Test("what is committed for the sake of an event was read then, from every link")
  func eventCommit() {
    let counting = counting(restoring: nil)
    _ = counting.start()
    kernel.pass(50)
    kernel.rxBytes += 5000
    kernel.events = [.appeared(ToldKernel.link(8, "tun8", rxBytes: 0))]
    counting.linkEvents()
    let commit = store.commits.last
    #expect(commit?.at == kernel.now)
    let bytes = commit?.rows.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == 5000)
    let baseline = commit?.links.first { $0.name.escaped == "tun7" }?.baseline
    #expect(baseline?.counters.rxBytes == 5000)
  }

  @Test("a link whose birth is read with a tick's sample is read again before the commit")
  func unreadBirth() {
    let counting = counting(restoring: nil)
    _ = counting.start()
    kernel.pass(60)
    kernel.events = [.appeared(ToldKernel.link(8, "tun8", rxBytes: 0))]
    kernel.bytesOfNew = 4000
    _ = counting.tick()
    let baseline = store.commits.last?.links.first { $0.name.escaped == "tun8" }?.baseline
    #expect(baseline?.counters.rxBytes == 4000)
  }

  @Test("a clock that seems to have leapt while nobody ran makes nothing be dropped by age for an hour")
  func lateStart() {
    let stored = stored()
    for isReboot in [false, true] {
      kernel.leap(seconds: year)
      if isReboot { kernel.reboot() }
      let counting = counting(restoring: stored)
      _ = counting.start()
      let first = store.commits.last
      #expect(first?.retention.isEmpty == true)
      kernel.pass(hour - 60)
      _ = counting.tick()
      #expect(store.commits.last?.retention.isEmpty == true)
      kernel.pass(hour)
      _ = counting.tick()
      #expect(store.commits.last?.retention.isEmpty == false)
    }
  }

  @Test("commits wait for a clock that stands in 1970, for five minutes at most; figures are told all the same")
  func unsetClock() {
    let stored = stored()
    for isSet in [true, false] {
      store.forget()
      kernel.leap(seconds: -kernel.now.utcSeconds)
      kernel.reboot()
      let counting = counting(restoring: stored)
      _ = counting.start()
      for _ in 1...4 {
        kernel.pass(60)
        kernel.rxBytes += 100
        _ = counting.tick()
      }
      #expect(store.commits.isEmpty)
      #expect(counting.history.isFounded)
      if isSet { kernel.leap(seconds: 1_700_003_600) }
      kernel.pass(60)
      _ = counting.tick()
      let rows = store.commits.flatMap(\.rows)
      let bytes = rows.reduce(0) { $0 + $1.amounts.rxBytes }
      let dates = rows.map { $0.start >= 1_700_000_000 }
      #expect(bytes == 400)
      let isDated = dates.allSatisfy { $0 == isSet }
      #expect(isDated)
      kernel.leap(seconds: 1_700_003_600 - kernel.now.utcSeconds)
    }
  }

  @Test("a clock that is set while no sample succeeds is waited for beyond the five minutes: the next sample dates all")
  func setUnseen() {
    let stored = stored()
    let right = kernel.now.utcSeconds
    store.forget()
    kernel.leap(seconds: -right)
    kernel.reboot()
    let counting = counting(restoring: stored)
    _ = counting.start()
    kernel.rxBytes += 500
    kernel.pass(60)
    _ = counting.tick()
    kernel.leap(seconds: right + hour)
    kernel.isFailing = true
    kernel.pass(400)
    let isHealthy = counting.tick()
    #expect(!isHealthy && store.commits.isEmpty)
    kernel.isFailing = false
    _ = counting.tick()
    let starts = store.commits.flatMap(\.rows).map(\.start)
    #expect(!starts.isEmpty)
    let isDated = starts.allSatisfy { $0 >= right }
    #expect(isDated)
  }

  @Test("a store that was begun anew gets every link, also those of which nothing has changed")
  func begunAnew() {
    let counting = counting(restoring: nil)
    _ = counting.start()
    kernel.pass(60)
    _ = counting.tick()
    store.forget()
    let watermarks = Watermarks.new(at: kernel.now.utcSeconds, calendar: localCalendar())
    let new = StoredState(sequence: 0, lastMoment: nil, links: [], watermarks: watermarks)
    _ = counting.history.takeOver(StoreOpening(state: new, notice: nil), nil, kernel.now)
    kernel.pass(60)
    _ = counting.tick()
    let names = store.commits.last?.links.map(\.name.escaped)
    #expect(names == ["tun7"])
    #expect(store.commits.last?.links.first?.baseline != nil)
  }

  @Test("a start soon after the end drops what is too old at once")
  func soonStart() {
    let stored = stored()
    kernel.pass(hour)
    let counting = counting(restoring: stored)
    _ = counting.start()
    #expect(store.commits.last?.retention.isEmpty == false)
  }
}

/// Links 7 and, when told of, 8; time stands still until it is passed.
private final class ToldKernel: LinkKernel {
  let source = LinkCounterSource.netlink
  let eventDescriptor: Int32 = -1
  let receiveBufferBytes: UInt32 = 0
  let health = KernelHealth()
  var now = Moment(
    utc: 1_700_000_000 * Moment.second, boot: 1000 * Moment.second, bootID: BootID(high: 1, low: 1))
  var rxBytes: UInt64 = 0
  var isFailing = false
  /// Of link 8 when that is there.
  var bytesOfNew: UInt64?
  var events: [LinkEvent] = []
  private let readings = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 2)

  deinit { readings.deallocate() }

  static func link(_ ifindex: UInt32, _ name: String, rxBytes: UInt64) -> ListedLink {
    var facts = LinkFacts()
    facts.ifindex = ifindex
    facts.name = LinkName(escaped: name)
    facts.infoKind = "tun"
    return ListedLink(facts: facts, counters: LinkCounters(rxBytes: rxBytes))
  }

  func pass(_ seconds: Int64) {
    now.utc += seconds * Moment.second
    now.boot += seconds * Moment.second
  }

  func leap(seconds: Int64) { now.utc += seconds * Moment.second }

  func reboot() {
    now.boot = 10 * Moment.second
    now.bootID.low += 1
    rxBytes = 0
  }

  func list() -> LinkList { LinkList(links: [ToldKernel.link(7, "tun7", rxBytes: rxBytes)], isWhole: true) }

  func drainEvents() -> DrainedEvents {
    defer { events = [] }
    return DrainedEvents(events: events, overrun: false)
  }

  func sample() throws(LinkSourceError) -> Sample {
    if isFailing { throw .readCounters(code: 12) }
    readings.initializeElement(at: 0, to: Reading(ifindex: 7, counters: LinkCounters(rxBytes: rxBytes)))
    let events = drainEvents().events
    var count = 1
    if let bytesOfNew, !events.contains(where: { $0.bornOrDead == 8 }) {
      readings.initializeElement(at: 1, to: Reading(ifindex: 8, counters: LinkCounters(rxBytes: bytesOfNew)))
      count = 2
    }
    return Sample(
      at: now, events: events, readings: UnsafeBufferPointer(rebasing: readings[..<count]), width: .bits64,
      overrun: false)
  }

  func crossCheck() -> CrossCheck { CrossCheck(checkedLinks: 0, disagreements: []) }
}

/// Takes every commit and remembers it.
private final class ToldStore: StoreQueue {
  private(set) var commits: [Commit] = []
  private var results: [StoreResult] = []
  var state = StoredState(
    sequence: 0, lastMoment: nil, links: [], watermarks: Watermarks(fiveMinutes: 0, hour: 0, day: 0))
  let health = StoreHealth(
    path: "", state: .ok, message: nil, sizeBytes: 0, commits: 0, failures: 0, pendingCommits: 0)

  func submit(_ commit: Commit, wake: Bool) {
    commits.append(commit)
    state.sequence = commit.sequence
    state.lastMoment = commit.at
    let changed = Set(commit.links.map(\.id))
    state.links = state.links.filter { !changed.contains($0.id) } + commit.links
    for fold in commit.folds { state.watermarks[fold.tier] = fold.end }
    results.append(.committed(sequence: commit.sequence))
  }

  func query(_ query: UsageQuery, token: UInt64) {
    let rows = UsageRows(
      sequence: state.sequence, watermarks: state.watermarks, rows: [], gaps: [], incarnations: [])
    results.append(.rows(token: token, .success(rows)))
  }

  func takeResults() -> [StoreResult] {
    defer { results = [] }
    return results
  }

  func forget() { commits = [] }
  func reopen() {}
  func wakeAfterCommits() {}
  func waitForCommits(deadlineSeconds: Int) {}
  func stop(commit: Commit?, deadlineSeconds: Int) -> (results: [StoreResult], finished: Bool) { ([], true) }
}
