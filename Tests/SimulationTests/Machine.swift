// A machine in simulated time: a kernel, a disk, and a daemon whose timers fire as the loop's do.
import Glibc
import LinkSource
import TallyCore
import Toys

@testable import TallyStore
@testable import iftallyd

/// The zone that the machine is set to; the daemon's calendar and the store's follow it, as the C library's do.
final class SimulatedZone: @unchecked Sendable {
  // Written between steps alone, by the one thread that plays the history.
  var calendar: LocalCalendar

  init(_ calendar: LocalCalendar) { self.calendar = calendar }

  var current: LocalCalendar {
    LocalCalendar(start: { self.calendar.start($0, $1) }, next: { self.calendar.next($0, $1) })
  }
}

/// One life of the daemon: what `Daemon` wires to the loop, wired to simulated time.
final class SimulatedProcess {
  let counting: Counting
  let store: SimulatedStore
  /// Boot-clock nanoseconds.
  let started: Int64
  /// A wall clock that shows less, nanoseconds since 1970, was never set since the boot.
  let behind: Int64
  /// UTC second of the next minute.
  var nextMinute: Int64 = 0
  // Boot-clock nanoseconds.
  var commitDue: Int64?
  var retryDue: Int64?
  var wakeDue: Int64?
  /// What is not owed by what it tells.
  var origin = Origin()

  init(_ counting: Counting, store: SimulatedStore, started: Int64, behind: Int64) {
    self.counting = counting
    self.store = store
    self.started = started
    self.behind = behind
  }

  var ledger: Ledger { counting.sampler.ledger }
  /// Figures are served.
  var isServing: Bool { counting.sampler.sampleCount > 0 && counting.history.isFounded }
  /// Commits are written.
  var isStoring: Bool { counting.history.condition.error == nil }
}

final class Machine {
  let kernel = SimulatedKernel()
  let disk: any SimulatedDisk
  let zone: SimulatedZone
  /// The service manager keeps the queue of link events, with a mark beside it, from one process to the next.
  private let keepsQueue: Bool
  private var keptMark: QueueMark?
  var weather = Weather()
  /// The configuration.
  var rules: [LinkRule] = []
  /// Seconds that a link that has gone keeps a record of its own.
  var keepsGone: Int64?
  private(set) var process: SimulatedProcess?
  /// What happened, as somebody would tell it; kept when it is to be told.
  var diary: [String]?
  /// The wall clock was set, or the zone; or something was stored under a date that is not right.
  private(set) var hasOddTime = false
  private(set) var hasOddZone = false
  /// Nanoseconds in all that nothing of the daemon ran although the machine did.
  private(set) var slept: Int64 = 0
  private(set) var lowestSecond: Int64
  private(set) var highestSecond: Int64
  private var dice: Seeded
  /// Called after the daemon did something.
  var afterTurn: () -> Void = {}
  /// Called when another file, or another state of one, was opened while the daemon counted.
  var storeChanged: () -> Void = {}

  init(disk: any SimulatedDisk, zone: SimulatedZone, seed: UInt64, keepsQueue: Bool = false) {
    self.disk = disk
    self.zone = zone
    self.keepsQueue = keepsQueue
    dice = Seeded(seed ^ 0x5EED)
    lowestSecond = kernel.toy.now.utcSeconds
    highestSecond = lowestSecond
  }

  /// 2020: a clock that shows less is not set, also where there is no store.
  private static let earliest: Int64 = 1_577_836_800 * Moment.second

  var now: Moment { kernel.toy.now }
  var isRunning: Bool { process != nil }

  func tell(_ text: @autoclosure () -> String) { diary?.append("\(clock()) \(text())") }

  private func clock() -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let second = now.utcSeconds - floorDivide(now.utcSeconds, 86400) * 86400
    return "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
  }

  // MARK: Lives of the daemon

  func start() {
    guard process == nil else { return }
    openQueue()
    let opening = open()
    let state = opening?.state
    let store = SimulatedStore(
      disk, weather: { [unowned self] in weather }, now: { [unowned self] in now },
      wait: { [unowned self] in kernel.toy.pass($0) }, isOpen: opening != nil, seed: dice.next())
    let sampler = Sampler(
      kernel: kernel, now: { [unowned self] in now }, calendar: zone.current, rules: rules, restoring: state)
    let history = History(
      workers: store, state: state, watermarks: .new(at: now.utcSeconds, calendar: zone.current),
      reason: opening == nil ? StoreError(.unavailable, "the disk is in trouble") : nil)
    history.mark = kernel.mark
    history.keepsGone = keepsGone
    let counting = Counting(sampler: sampler, history: history, say: { [unowned self] in tell("\($0) \($1): \($2)") })
    let process = SimulatedProcess(
      counting, store: store, started: now.boot, behind: max(state?.lastMoment?.utc ?? .min, Machine.earliest))
    self.process = process
    if state?.lastMoment != nil, let origin = disk.origin { process.origin = origin }
    counting.commitAfter = { [unowned self, unowned process] in
      process.commitDue = now.boot + Int64($0) * 1_000_000
    }
    kernel.listed = { [unowned self, unowned process] in
      // The first baseline of all: what passed before is not owed.
      guard process.ledger.lastSample == nil else { return }
      process.origin = Origin(truth: kernel.toy.truth, passages: kernel.toy.passages.count)
      if process.isStoring, disk.model?.lastMoment == nil { disk.origin = process.origin }
    }
    store.opened = { [unowned self, unowned process] in opened($0, process) }
    // What dies in the moment of the first baseline of all was never counted.
    if disk.model?.lastMoment == nil { kernel.meanwhile = nil }
    tell("iftallyd starts\(state == nil ? " without a store" : state?.lastMoment == nil ? " with a new store" : "")")
    note()
    begin(process)
    armMinute(process)
    afterTurn()
  }

  /// A queue of its own for this process, or the one that the manager has.
  private func openQueue() {
    if keptMark == nil { dropQueue() }
    if keepsQueue { keptMark = keptMark ?? QueueMark() }
    kernel.mark = keptMark.flatMap { QueueMark(adopting: dup($0.descriptor)) }
    kernel.toy.listening = true
  }

  /// With a service that is stopped, and with the machine, its queue ends.
  func dropQueue() {
    keptMark = nil
    kernel.toy.listening = false
    kernel.toy.overrun = false
    kernel.toy.queue = []
  }

  private func open() -> StoreOpening? {
    if weather.trouble != nil { return nil }
    return try? disk.open(at: now.utcSeconds)
  }

  /// A store was opened while the process counted: whose beginning it owes, and what it misses.
  private func opened(_ opening: StoreOpening, _ process: SimulatedProcess) {
    let committed = process.counting.history.committed
    guard let at = opening.state.lastMoment else {
      process.origin.isFractured = process.origin.isFractured || committed != nil
      disk.origin = process.origin
      return storeChanged()
    }
    if committed?.elapsed(since: at) == 0 { return }
    let known = disk.origin ?? process.origin
    if committed == nil {
      process.origin = known
    } else {
      process.origin.isFractured = true
      disk.origin = process.origin
      process.counting.storeHoldsOthers = { [unowned self, unowned process] in
        process.origin = known
        disk.origin = known
      }
    }
    storeChanged()
  }

  private func begin(_ process: SimulatedProcess) {
    process.retryDue = process.counting.start() ? nil : now.boot + Moment.second
  }

  private func armMinute(_ process: SimulatedProcess) {
    process.nextMinute = (floorDivide(now.utc, Moment.minute) + 1) * 60
  }

  func kill() {
    process?.store.kill()
    gone()
  }

  /// SIGTERM; true when everything was committed.
  func stop() -> Bool {
    guard let process else { return true }
    let error = process.counting.finish(deadlineSeconds: 20)
    if kernel.toy.clockError != 0 { hasOddTime = true }
    tell("iftallyd stops\(error.map { ": \($0.message)" } ?? "")")
    // What a deadline cut short dies with the process.
    if error != nil { process.store.kill() }
    gone()
    return error == nil
  }

  private func gone() {
    process = nil
    kernel.mark = nil
    if !keepsQueue { dropQueue() }
    kernel.listed = {}
    kernel.meanwhile = nil
  }

  /// Other rules in the configuration, of a running daemon and for the next one.
  func reload(_ rules: [LinkRule]) {
    self.rules = rules
    process?.counting.take(rules)
    afterTurn()
  }

  // MARK: Time

  /// Lets time pass while the loop runs.
  func pass(_ nanoseconds: Int64) {
    let end = now.boot + nanoseconds
    while let process {
      // What waits in the kernel's queue wakes the loop a moment later.
      if kernel.toy.queue.isEmpty && !kernel.toy.overrun {
        process.wakeDue = nil
      } else if process.wakeDue == nil {
        process.wakeDue = now.boot + Int64.random(in: 10_000...2_000_000, using: &dice)
      }
      let minute = now.boot + process.nextMinute * Moment.second - now.utc
      let due = [process.commitDue, process.retryDue, process.wakeDue, process.store.nextDue].reduce(minute) {
        min($0, $1 ?? .max)
      }
      if due > end { break }
      // The loop is never quite on time.
      kernel.toy.pass(max(0, due - now.boot) + (due == minute ? Int64.random(in: 0...3_000_000, using: &dice) : 0))
      turn(process, isMinute: due == minute)
      afterTurn()
    }
    kernel.toy.pass(max(0, end - now.boot))
    note()
  }

  /// Lets time pass while the machine sleeps; its wall clock moves against the monotonic one, which wakes the daemon.
  func suspend(_ nanoseconds: Int64) {
    kernel.toy.suspend(nanoseconds)
    note()
    guard let process else { return }
    kernel.toy.pass(Int64.random(in: 0...3_000_000, using: &dice))
    tick(process)
    afterTurn()
  }

  /// Lets time pass while the process stands still.
  func sleep(_ nanoseconds: Int64) {
    slept += nanoseconds
    kernel.toy.pass(nanoseconds)
    note()
  }

  private func turn(_ process: SimulatedProcess, isMinute: Bool) {
    note()
    let boot = now.boot
    if let due = process.wakeDue, due <= boot {
      process.wakeDue = nil
      process.counting.linkEvents()
    }
    if let due = process.commitDue, due <= boot {
      process.commitDue = nil
      process.counting.commit()
    }
    if let due = process.retryDue, due <= boot { begin(process) }
    if isMinute { tick(process) }
    process.store.advance()
    if process.store.isSignalled { process.counting.history.collect() }
  }

  private func tick(_ process: SimulatedProcess) {
    _ = process.counting.tick()
    armMinute(process)
  }

  private func note() {
    // Nothing is dated yet by a clock that is known to be wrong, for some minutes.
    if kernel.toy.clockError != 0, !hasOddTime {
      guard let process else { return }
      hasOddTime = now.utc >= process.behind || now.boot - process.started >= 300 * Moment.second
      if !hasOddTime { return }
    }
    lowestSecond = min(lowestSecond, now.utcSeconds)
    highestSecond = max(highestSecond, now.utcSeconds)
  }

  /// Sets the wall clock; the daemon's timer tells it at once.
  func setClock(by nanoseconds: Int64) {
    kernel.toy.setClock(by: nanoseconds)
    hasOddTime = true
    note()
    guard let process else { return }
    tick(process)
    afterTurn()
  }

  /// The machine, which has no clock of its own, has started: `back` before the right time, or in 1970 without.
  func loseClock(back nanoseconds: Int64?) {
    kernel.toy.setClock(by: nanoseconds.map { -$0 } ?? now.boot - now.utc)
    tell("the wall clock is wrong")
  }

  /// The network tells the time.
  func setRight() {
    guard kernel.toy.clockError != 0 else { return }
    kernel.toy.setClock(by: -kernel.toy.clockError)
    tell("the wall clock is set right")
    note()
    guard let process else { return }
    tick(process)
    afterTurn()
  }

  /// Another zone for the machine; the daemon looks for that with every tick.
  func setZone(_ calendar: LocalCalendar) {
    zone.calendar = calendar
    hasOddTime = true
    hasOddZone = true
    guard let process else { return }
    process.counting.zoneChanged(zone.current)
    tick(process)
    afterTurn()
  }

  /// The machine starts again, after so many nanoseconds.
  func reboot(losingPower: Bool, after off: Int64 = 0) {
    kill()
    kernel.toy.pass(off)
    if losingPower { disk.losePower(&dice) }
    dropQueue()
    kernel.toy.reboot()
    // The manager opens its socket long before it starts the service.
    if keepsQueue, Bool.random(using: &dice) {
      keptMark = QueueMark()
      kernel.toy.listening = true
    }
    kernel.omitted = []
    kernel.failures = 0
    weather.writesStallUntil = 0
    weather.readsStallUntil = 0
  }
}
