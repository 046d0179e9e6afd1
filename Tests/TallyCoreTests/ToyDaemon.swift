// A daemon around the ledger for tests: it samples the toy kernel, commits to a toy store, crashes and resumes.
@testable import TallyCore

struct ToyDaemon {
  var ledger = Ledger(calendar: utcCalendar)
  var stored: StoredState?
  /// Every committed row and gap, as a store would add them up.
  var rows: [BucketRow] = []
  var gaps: [Gap] = []
  var isRunning = false

  mutating func start(_ kernel: inout ToyKernel) {
    ledger = Ledger(calendar: utcCalendar)
    kernel.listening = true
    kernel.overrun = false
    kernel.queue = []
    if let stored { ledger.restore(stored) }
    list(&kernel, cause: .start)
    isRunning = true
    sample(&kernel)
    commit()  // else a crash before the first commit would make the next start a first one
  }

  mutating func list(_ kernel: inout ToyKernel, cause: ListCause) {
    let links = kernel.links.values.filter(\.isHere).sorted { $0.facts.ifindex < $1.facts.ifindex }
      .map { ListedLink(facts: $0.facts, counters: $0.counters) }
    let events = drain(&kernel)
    ledger.apply(links, events: events, cause: cause, at: kernel.now)
  }

  private func drain(_ kernel: inout ToyKernel) -> [LinkEvent] {
    let events = kernel.queue
    kernel.queue = []
    return events
  }

  mutating func sample(_ kernel: inout ToyKernel, width: CounterWidth = .bits64) {
    guard isRunning else { return }
    if kernel.overrun {
      ledger.apply(drain(&kernel), at: kernel.now)
      kernel.overrun = false
      list(&kernel, cause: .overrun)
    }
    let dump = kernel.links.values.filter(\.isHere).sorted { $0.facts.ifindex < $1.facts.ifindex }
      .map { Reading(ifindex: $0.facts.ifindex, counters: $0.counters) }
    let events = drain(&kernel)
    ledger.apply(events, at: kernel.now)
    let touched = Set(events.compactMap(\.bornOrDead))
    dump.filter { !touched.contains($0.ifindex) }
      .withUnsafeBufferPointer { ledger.apply($0, width: width, at: kernel.now) }
  }

  /// A wake-up for events alone.
  mutating func wake(_ kernel: inout ToyKernel) {
    guard isRunning, !kernel.overrun else { return }
    ledger.apply(drain(&kernel), at: kernel.now)
  }

  mutating func commit() {
    guard isRunning, let commit = ledger.takeCommit(sequence: (stored?.sequence ?? 0) + 1) else { return }
    var links: [LinkID: LinkRecord] = [:]
    for link in stored?.links ?? [] { links[link.id] = link }
    for link in commit.links { links[link.id] = link }
    rows += commit.rows
    gaps += commit.gaps
    stored = StoredState(
      sequence: commit.sequence, lastMoment: commit.at, links: links.values.sorted { $0.id < $1.id },
      watermarks: stored?.watermarks ?? .new(at: commit.at.utcSeconds, calendar: utcCalendar))
  }

  mutating func stop(_ kernel: inout ToyKernel) {
    sample(&kernel)
    commit()
    crash(&kernel)
  }

  mutating func crash(_ kernel: inout ToyKernel) {
    isRunning = false
    kernel.listening = false
    kernel.queue = []
  }

  func total(_ name: String) -> Amounts? {
    ledger.slot(name: LinkName(bytes: Array(name.utf8))).map { ledger.record(slot: $0).total }
  }
}
