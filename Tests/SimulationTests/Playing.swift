// What each operation does to the machine, with details drawn from the step's own seed.
import Toys

@testable import TallyCore
@testable import TallyStore
@testable import iftallyd

/// A history as it is played: the machine, what was shown to those who asked, and what broke.
final class Playing {
  let world: World
  let machine: Machine
  /// What broke first.
  var broken: String?
  /// Shown sums by tier, link and period: they may not go back.
  var shown = Shown()
  /// The last answer at each resolution.
  var answers: [Tier: UsageRows] = [:]
  /// What was shown of the store before this commit was grouped by another zone.
  private(set) var regrouped: UInt64 = 0
  /// Changes that were answered, by number, as they were last: they hold whatever comes.
  private var promised: [Int64: Change] = [:]
  /// The last process ended without having committed all that it told.
  private var isCut = false
  private var hasMovedIn = false
  private(set) var hasVanished = false

  init(_ world: World, seed: UInt64, isTold: Bool = false) {
    self.world = world
    var dice = Seeded(seed)
    let zone = SimulatedZone(World.zones[Int(seed % UInt64(World.zones.count))])
    machine = Machine(
      disk: world.hasFiles ? FileDisk(calendar: zone.current) : MemoryDisk(calendar: zone.current), zone: zone,
      seed: seed, keepsQueue: world.keepsQueue)
    if isTold {
      machine.diary = []
      machine.kernel.toy.told = { [unowned machine] in machine.diary?.append("         \($0)") }
    }
    machine.kernel.hasInodes = world.hasInodes
    machine.rules = world.configurations[0]
    machine.keepsGone = world.keepsGone
    shown.isOverAll = world.keepsGone != nil
    machine.kernel.toy.width = world.width
    for i in 0..<UInt64.random(in: 0...3, using: &dice) {
      let index = machine.kernel.toy.create("eth\(i)", kind: "", speed: world.speed)
      machine.kernel.toy.push(index, rx: UInt64.random(in: 0...world.largest, using: &dice), tx: 7000)
    }
    if world.startsUnset { machine.loseClock(back: nil) }
    machine.storeChanged = { [unowned self] in shown.forgetAll() }
    machine.afterTurn = { [unowned self] in if let process = machine.process { checkTurn(process) } }
    machine.start()
    machine.pass(Moment.second)
  }

  func play(_ step: Step) {
    var dice = Seeded(step.seed)
    let passing = Playing.time(&dice)
    machine.pass(passing)
    if broken != nil { return }
    let present = machine.kernel.toy.present
    let any = present.isEmpty ? 0 : present[Int.random(in: 0..<present.count, using: &dice)]
    machine.tell(step.operation.rawValue + (any == 0 ? "" : " \(name(any))"))
    switch step.operation {
    case .wait: machine.pass(Int64.random(in: 30...400, using: &dice) * Moment.second)
    case .away: if !machine.isRunning { machine.pass(Int64.random(in: 1...30, using: &dice) * 3600 * Moment.second) }
    case .meanwhile:
      var later = Seeded(dice.next())
      machine.kernel.meanwhile = { [world] kernel in
        Playing.happenings(any, world, &kernel, &later)
      }
    case .callsFail: machine.kernel.failures = Int.random(in: 1...3, using: &dice)
    case .interrupted:
      machine.kernel.omitted = [any]
      if machine.isRunning, machine.kernel.toy.links.values.allSatisfy(\.isHere) { machine.kernel.toy.overrun = true }
    case .paused: pause(any, &dice)
    case .suspend: machine.suspend(Int64.random(in: 1...(9 * 3600), using: &dice) * Moment.second)
    case .clock:
      let most: Int64 = Bool.random(using: &dice) ? 3600 : 100 * 86400
      machine.setClock(by: Int64.random(in: -most...most, using: &dice) * Moment.second)
    case .setRight: machine.setRight()
    case .coldBoot:
      machine.reboot(
        losingPower: Bool.random(using: &dice), after: Int64.random(in: 0...(30 * 3600), using: &dice) * Moment.second)
      isCut = true
      // Some boards note their time every hour.
      let noted = Int64.random(in: 0...(40 * 3600), using: &dice) * Moment.second
      machine.loseClock(back: Bool.random(using: &dice) ? noted : nil)
    case .zone:
      // What is on its way to the store is folded into periods of the old zone.
      shown.forgetAll()
      regrouped = (machine.disk.model?.sequence ?? 0) + 1
      machine.setZone(World.zones.randomElement(using: &dice)!)
    case .change: change(&dice)
    case .ask: ask(Tier.allCases.randomElement(using: &dice)!)
    case .askOften: for tier in Tier.allCases { ask(tier) }
    case .trouble: machine.weather.trouble = [.full, .notWritable, .io, .busy, .corrupt].randomElement(using: &dice)!
    case .relief: machine.weather = Weather()
    case .stall:
      machine.weather.writesStallUntil = machine.now.boot + Int64.random(in: 1...900, using: &dice) * Moment.second
    case .slowReads:
      machine.weather.readsStallUntil = machine.now.boot + Int64.random(in: 1...300, using: &dice) * Moment.second
    case .vanish:
      shown.forgetAll()
      hasVanished = true
      machine.disk.vanish()
    case .comeBack:
      // It knows of no link that moved in since.
      if !hasMovedIn, machine.disk.comeBack() { shown.forgetAll() }
    case .rules: machine.reload(world.configurations.randomElement(using: &dice)!)
    case .kill: kill()
    case .stop:
      stop()
      // Else it is the first half of a restart.
      if Bool.random(using: &dice), !machine.isRunning { machine.dropQueue() }
    case .start: start()
    case .reboot, .powerLoss:
      machine.reboot(losingPower: step.operation == .powerLoss)
      isCut = true
    case .moveBack: moveBack(any, &dice)
    case .moveOut: if isWatched { happen(.moveOut, any, passing, &dice) }
    case .flood:
      // That a fallen counter is back too soon to have been reset holds for what is possible.
      guard let process = machine.process, process.ledger.lives.allSatisfy(\.held.isEmpty) else { return }
      happen(.flood, any, passing, &dice)
    case .reset, .stepBack:
      // A counter that has passed its old value again by the next reading hides what happened to it, and one that
      // leapt further than can be and is shown only once.
      guard isWatched, machine.kernel.toy.links[any]?.peer == 0, machine.kernel.toy.odd.isEmpty else { return }
      machine.kernel.failures = 0
      for _ in 0..<2 { sample() }
      happen(step.operation, any, passing, &dice)
      sample()
    default: happen(step.operation, any, passing, &dice)
    }
  }

  /// Runs, and knows of every event so far.
  private var isWatched: Bool { machine.isRunning && !machine.kernel.toy.overrun }

  private func name(_ index: UInt32) -> String { machine.kernel.toy.links[index]?.facts.name.escaped ?? "?" }

  private func sample() {
    machine.kernel.toy.pass(1_000_000)
    machine.process?.counting.sampler.attemptSample()
  }

  func start() {
    guard !machine.isRunning else { return }
    machine.start()
    if machine.process?.store.isOpen != true {
      shown.forgetAll()
    } else if isCut {
      shown.forgetUncommitted(machine.disk.model)
    }
    isCut = false
    if let process = machine.process, process.store.isOpen { checkPromises(process) }
  }

  /// A person asks for something, of any record.
  private func change(_ dice: inout Seeded) {
    guard let process = machine.process, process.isServing else { return }
    let counting = process.counting
    let slots = process.ledger.shownSlots
    guard let one = slots.randomElement(using: &dice), let other = slots.randomElement(using: &dice) else { return }
    let number = Int64.random(in: 1...Int64(max(1, process.ledger.changes.count)), using: &dice)
    let requests: [ChangeRequest] = [
      .rename(one, title: "title \(number)"), .merge(one, into: other), .forget(one), .undo(number), .undo(number),
    ]
    guard let request = requests.randomElement(using: &dice) else { return }
    counting.history.whenIdle { [unowned self, unowned process] in
      guard let change = try? process.ledger.plan(request, at: machine.now.utcSeconds, uid: 0) else { return }
      machine.tell("\(request) is asked for")
      counting.make(change) { [unowned self, unowned process] error in
        let isMade = process.ledger.changes.contains(change)
        if isMade != (error == nil) {
          broken = "\(request): \(error.map { "\($0.kind)" } ?? "stored"), made: \(isMade)"
        }
        if error == nil { promised[change.id] = change }
      }
    }
  }

  private func checkPromises(_ process: SimulatedProcess) {
    for change in promised.values {
      let kept = process.ledger.changes.first { $0.id == change.id }
      // It may have been undone without an answer.
      if kept == nil || change.undone != nil && kept != change { broken = "\(change) was answered and is lost" }
    }
  }

  func stop() {
    if machine.isRunning, !machine.stop() { isCut = true }
  }

  private func kill() {
    machine.kill()
    isCut = true
  }

  /// The process stands still while the kernel goes on, and may drop events.
  private func pause(_ any: UInt32, _ dice: inout Seeded) {
    guard machine.isRunning, machine.kernel.toy.links.values.allSatisfy(\.isHere) else { return }
    machine.kernel.toy.capacity = Int.random(in: 0...6, using: &dice)
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      machine.sleep(Int64.random(in: 1...30_000, using: &dice) * 1_000_000)
      Playing.happenings(any, world, &machine.kernel.toy, &dice)
    }
    machine.kernel.toy.capacity = .max
  }

  /// A link that moved in while nobody watched is taken for one that was born here: a known limit. So is one whose
  /// coming was not committed before the daemon was killed.
  private func moveBack(_ any: UInt32, _ dice: inout Seeded) {
    guard isWatched, machine.process?.isStoring == true else { return }
    machine.kernel.failures = 0
    machine.kernel.meanwhile = nil
    machine.weather = Weather()
    happen(.moveBack, any, 0, &dice)
    hasMovedIn = true
    machine.pass(70 * Moment.second)
  }

  private func happen(_ operation: Operation, _ any: UInt32, _ passing: Int64, _ dice: inout Seeded) {
    Playing.happen(operation, any, world, passing, &machine.kernel.toy, &dice)
  }

  /// Milliseconds to minutes, mostly short.
  private static func time(_ dice: inout Seeded) -> Int64 {
    let largest: Int64 = [3_000_000, 900_000_000, 15_000_000_000, 90_000_000_000].randomElement(using: &dice)!
    return Int64.random(in: 1_000_000...largest, using: &dice)
  }
}
