// A machine in simulated time: a kernel, a disk, and a daemon whose timers fire as the loop's do.
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
  /// nil: it could not be opened, and counting goes on in memory alone.
  let store: SimulatedStore?
  /// UTC second of the next minute.
  var nextMinute: Int64 = 0
  // Boot-clock nanoseconds.
  var commitDue: Int64?
  var retryDue: Int64?
  var wakeDue: Int64?
  /// What is not owed by what it tells.
  var origin = Origin()

  init(_ counting: Counting, store: SimulatedStore?) {
    self.counting = counting
    self.store = store
  }

  var ledger: Ledger { counting.sampler.ledger }
  /// Figures are served.
  var isServing: Bool { counting.sampler.sampleCount > 0 && counting.history.isFounded }
}

final class Machine {
  let kernel = SimulatedKernel()
  let disk: any SimulatedDisk
  let zone: SimulatedZone
  var weather = Weather()
  /// The configuration.
  var rules: [LinkRule] = []
  private(set) var process: SimulatedProcess?
  /// What happened, as somebody would tell it; kept when it is to be told.
  var diary: [String]?
  /// The wall clock was set, or the zone.
  private(set) var hasOddTime = false
  private(set) var hasOddZone = false
  /// Nanoseconds in all that nothing of the daemon ran although it should have.
  private(set) var slept: Int64 = 0
  private(set) var lowestSecond: Int64
  private(set) var highestSecond: Int64
  private var dice: Seeded
  /// Called after the daemon did something.
  var afterTurn: () -> Void = {}

  init(disk: any SimulatedDisk, zone: SimulatedZone, seed: UInt64) {
    self.disk = disk
    self.zone = zone
    dice = Seeded(seed ^ 0x5EED)
    lowestSecond = kernel.toy.now.utcSeconds
    highestSecond = lowestSecond
  }

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
    kernel.toy.listening = true
    kernel.toy.overrun = false
    kernel.toy.queue = []
    let opening = open()
    let state = opening?.state
    let store = opening.map { _ in
      SimulatedStore(
        disk, weather: { [unowned self] in weather }, now: { [unowned self] in now },
        wait: { [unowned self] in kernel.toy.pass($0) }, seed: dice.next())
    }
    let sampler = Sampler(
      kernel: kernel, now: { [unowned self] in now }, calendar: zone.current, rules: rules, restoring: state)
    let history = History(
      workers: store, state: state, watermarks: .new(at: now.utcSeconds, calendar: zone.current), reason: nil)
    let counting = Counting(sampler: sampler, history: history, say: { [unowned self] in tell("\($0) \($1): \($2)") })
    let process = SimulatedProcess(counting, store: store)
    self.process = process
    if state?.lastMoment != nil, let origin = disk.origin { process.origin = origin }
    counting.commitAfter = { [unowned self, unowned process] in
      process.commitDue = now.boot + Int64($0) * 1_000_000
    }
    kernel.listed = { [unowned self, unowned process] in
      // The first baseline of all: what passed before is not owed.
      guard process.ledger.lastSample == nil else { return }
      process.origin = Origin(truth: kernel.toy.truth, passages: kernel.toy.passages.count)
      if store != nil { disk.origin = process.origin }
    }
    store?.reopened = { [unowned self, unowned process] in
      process.origin.isFractured = true
      disk.origin = process.origin
    }
    // What dies in the moment of the first baseline of all was never counted.
    if state?.lastMoment == nil { kernel.meanwhile = nil }
    tell("iftallyd starts\(state == nil ? " without a store" : state?.lastMoment == nil ? " with a new store" : "")")
    begin(process)
    armMinute(process)
    afterTurn()
  }

  private func open() -> StoreOpening? {
    if weather.trouble != nil { return nil }
    return try? disk.open(at: now.utcSeconds)
  }

  private func begin(_ process: SimulatedProcess) {
    process.retryDue = process.counting.start() ? nil : now.boot + Moment.second
  }

  private func armMinute(_ process: SimulatedProcess) {
    process.nextMinute = (floorDivide(now.utc, Moment.minute) + 1) * 60
  }

  func kill() {
    process?.store?.kill()
    gone()
  }

  /// SIGTERM; true when everything was committed.
  func stop() -> Bool {
    guard let process else { return true }
    let error = process.counting.finish(deadlineSeconds: 20)
    tell("iftallyd stops\(error.map { ": \($0.message)" } ?? "")")
    // What a deadline cut short dies with the process.
    if error != nil { process.store?.kill() }
    gone()
    return error == nil && process.store != nil
  }

  private func gone() {
    process = nil
    kernel.toy.listening = false
    kernel.toy.queue = []
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
      let due = [process.commitDue, process.retryDue, process.wakeDue, process.store?.nextDue].reduce(minute) {
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

  /// Lets time pass while nothing of the daemon runs: the machine sleeps, or the process does.
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
    process.store?.advance()
    if process.store?.isSignalled == true { process.counting.history.collect() }
  }

  private func tick(_ process: SimulatedProcess) {
    _ = process.counting.tick()
    armMinute(process)
  }

  private func note() {
    lowestSecond = min(lowestSecond, now.utcSeconds)
    highestSecond = max(highestSecond, now.utcSeconds)
  }

  /// Sets the wall clock; the daemon's timer tells it at once.
  func setClock(by nanoseconds: Int64) {
    kernel.toy.utc += nanoseconds
    hasOddTime = true
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

  /// The machine starts again, with or without having been switched off.
  func reboot(losingPower: Bool) {
    kill()
    if losingPower { disk.losePower(&dice) }
    kernel.toy.reboot()
    kernel.omitted = []
    kernel.failures = 0
    weather.writesStallUntil = 0
    weather.readsStallUntil = 0
  }
}
