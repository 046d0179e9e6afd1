// A daemon around the ledger for tests: it samples the toy kernel, commits to a toy store, crashes and resumes.
import Toys

@testable import TallyCore

struct ToyDaemon {
  var ledger = Ledger(calendar: utcCalendar)
  var store = ToyStore()
  /// All rows ever committed.
  private(set) var committed: [BucketRow] = []
  var isRunning = false
  /// False while the store cannot be opened; `isOpen` is whether the ledger has come together with it.
  var storeIsThere = true
  private(set) var isOpen = false
  private(set) var takeovers: [Takeover] = []
  /// A commit that the store did not take.
  private var waiting: Commit?
  /// The queue of events outlives the daemon.
  var keepsQueue = false
  /// What is noted beside it: the last commit holds all that was read from it.
  private var queueIsWhole = false
  private var vethEnds: [VethEnd] = []
  /// The configuration.
  var rules: [LinkRule] = []

  init(calendar: LocalCalendar = utcCalendar) {
    ledger = Ledger(calendar: calendar)
    store.calendar = calendar
  }

  /// `meanwhile` happens after the list was read, before the events.
  mutating func start(_ kernel: inout ToyKernel, meanwhile: (inout ToyKernel) -> Void = { _ in }) {
    let mostInterfaces = ledger.mostInterfaces
    ledger = Ledger(calendar: ledger.calendar, rules: rules)
    ledger.mostInterfaces = mostInterfaces
    ledger.hearsFarEnds = kernel.hearsFarEnds
    waiting = nil
    kernel.listening = true
    isOpen = storeIsThere
    if storeIsThere, let stored = store.state { ledger.restore(stored) }
    let kept = keepsQueue ? readKept(&kernel) : nil
    kernel.overrun = false
    kernel.queue = []
    list(&kernel, kept: kept, cause: .start, meanwhile: meanwhile)
    isRunning = true
    sample(&kernel)
    commit()  // else a crash before the first commit would make the next start a first one
  }

  private mutating func readKept(_ kernel: inout ToyKernel) -> KeptEvents? {
    guard let last = ledger.lastMoment else { return nil }
    let isWhole = queueIsWhole && !kernel.overrun && kernel.now.elapsed(since: last) != nil
    return KeptEvents(events: read(&kernel), isWhole: isWhole, vethEnds: isWhole ? vethEnds : [])
  }

  private mutating func read(_ kernel: inout ToyKernel) -> [LinkEvent] {
    let events = kernel.drain()
    if kernel.overrun || events.contains(where: \.isFleeting) { queueIsWhole = false }
    return events
  }

  /// `meanwhile` happens after the list was read, before the events.
  mutating func list(
    _ kernel: inout ToyKernel, kept: KeptEvents? = nil, cause: ListCause,
    meanwhile: (inout ToyKernel) -> Void = { _ in }
  ) {
    let links = kernel.present.map(kernel.listed)
    meanwhile(&kernel)
    let events = read(&kernel)
    ledger.apply(links, kept: kept, events: events, cause: cause, at: kernel.now)
  }

  /// `meanwhile` happens after the counters were read, before the events.
  mutating func sample(_ kernel: inout ToyKernel, meanwhile: (inout ToyKernel) -> Void = { _ in }) {
    guard isRunning else { return }
    if kernel.overrun {
      let events = read(&kernel)
      ledger.apply(events, at: kernel.now)
      kernel.overrun = false
      list(&kernel, cause: .overrun)
    }
    let dump = kernel.dump()
    let now = kernel.now
    meanwhile(&kernel)
    let events = read(&kernel)
    ledger.apply(events, at: now)
    let touched = Set(events.compactMap(\.bornOrDead))
    dump.filter { !touched.contains($0.ifindex) }
      .withUnsafeBufferPointer { ledger.apply($0, width: kernel.width, at: now) }
    if !ledger.todayIsKnown { loadToday() }
  }

  /// A sample, so many seconds later.
  mutating func sample(_ kernel: inout ToyKernel, after seconds: Int64) {
    kernel.pass(seconds * Moment.second)
    sample(&kernel)
  }

  /// A wake-up for events alone.
  mutating func wake(_ kernel: inout ToyKernel) {
    guard isRunning, !kernel.overrun else { return }
    let events = read(&kernel)
    ledger.apply(events, at: kernel.now)
  }

  /// Asks the store about the running day, as the daemon does.
  mutating func loadToday() {
    ledger.setToday(
      from: UsageRows(
        sequence: 0, watermarks: .new(at: 0, calendar: store.calendar), rows: entries, gaps: gaps,
        incarnations: incarnations))
  }

  /// Other rules in the configuration, of a running daemon and for the next one.
  mutating func reload(_ rules: [LinkRule], _ kernel: inout ToyKernel) {
    self.rules = rules
    guard isRunning else { return }
    for _ in 0..<2 { sample(&kernel) }
    ledger.apply(rules, at: kernel.now)
  }

  mutating func commit(fails: Bool = false) {
    guard isRunning, var commit = ledger.takeCommit(sequence: (store.state?.sequence ?? 0) + 1) else { return }
    if let earlier = waiting { commit.absorb(earlier) }
    waiting = fails || !isOpen ? commit : nil
    if waiting == nil { put(commit) }
  }

  /// What becomes of a change on its way.
  enum Fate {
    case isMade, fails
    /// Stored, and the process killed before it is made.
    case isCut
  }

  /// Plans a change, stores it with all that is not stored, and makes it, as the daemon does; false when it is refused.
  @discardableResult
  mutating func change(_ request: ChangeRequest, fate: Fate, _ kernel: inout ToyKernel) -> Bool {
    guard isRunning, let change = try? ledger.plan(request, at: kernel.now.utcSeconds, uid: 0),
      var commit = ledger.takeCommit(sequence: (store.state?.sequence ?? 0) + 1)
    else { return false }
    if let earlier = waiting { commit.absorb(earlier) }
    waiting = fate == .fails || !isOpen ? commit : nil
    if waiting != nil { return false }
    commit.put(ledger.records(with: change), of: change)
    put(commit)
    if fate == .isCut {
      crash(&kernel)
      start(&kernel)
    } else {
      ledger.make(change)
      self.commit()
    }
    return true
  }

  private mutating func put(_ taken: Commit) {
    var commit = taken
    let watermarks = store.state?.watermarks ?? .new(at: commit.at.utcSeconds, calendar: store.calendar)
    commit.folds = watermarks.dueFolds(at: commit.at.utcSeconds, calendar: store.calendar)
    store.commit(commit)
    committed += commit.rows
    queueIsWhole = true
    vethEnds = ledger.vethEnds
  }

  /// The store can be opened again.
  mutating func findStore(_ kernel: inout ToyKernel) {
    storeIsThere = true
    guard isRunning, !isOpen else { return }
    isOpen = true
    let new = StoredState(
      sequence: 0, lastMoment: nil, links: [],
      watermarks: .new(at: kernel.now.utcSeconds, calendar: store.calendar))
    let taken = ledger.takeOver(store.state ?? new, waiting: waiting, committed: nil)
    waiting = taken.waiting
    takeovers.append(taken.outcome)
    if taken.outcome == .restarted { list(&kernel, cause: .start) }
    sample(&kernel)
    commit()
  }

  mutating func stop(_ kernel: inout ToyKernel) {
    sample(&kernel)
    commit()
    crash(&kernel)
  }

  mutating func crash(_ kernel: inout ToyKernel) {
    isRunning = false
    if keepsQueue { return }
    kernel.listening = false
    kernel.queue = []
  }

  // MARK: What it knows

  /// Every row, committed or not.
  var entries: [BucketRow] { committed + (waiting?.rows ?? []) + ledger.uncommittedRows }
  var gaps: [Gap] { store.gaps + (waiting?.gaps ?? []) + ledger.uncommittedGaps }

  /// Every incarnation by its last report.
  var incarnations: [Incarnation] {
    var store = store
    var rest = Commit(sequence: 0, at: Moment(utc: 0, boot: 0, bootID: BootID(high: 0, low: 0)))
    rest.incarnations = (waiting?.incarnations ?? []) + ledger.uncommittedIncarnations
    store.commit(rest)
    return store.incarnations
  }

  func slot(_ name: String) -> Int? { ledger.slot(name: LinkName(escaped: name)) }
  func record(_ name: String) -> LinkRecord? { slot(name).map { ledger.record(slot: $0) } }
  func total(_ name: String) -> Amounts? { record(name)?.total }
  func rows(_ name: String) -> [BucketRow] {
    let link = record(name)?.id
    return entries.filter { $0.link == link }
  }
  func gaps(_ name: String) -> [Gap] {
    let link = record(name)?.id
    return gaps.filter { $0.link == link }
  }

  /// The totals of all records by id.
  var totals: [LinkID: Amounts] {
    var totals: [LinkID: Amounts] = [:]
    for slot in ledger.records.indices { totals[ledger.records[slot].id] = ledger.record(slot: slot).total }
    return totals
  }
}
