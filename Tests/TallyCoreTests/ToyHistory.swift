// Random histories of links, clocks, drivers and crashes, the law they must obey, and their shortest failing part.
import Toys

@testable import TallyCore

/// What can happen. Each draws its details from its own seed, so that it means the same when others are left out.
enum ToyOperation: CaseIterable {
  case push, flood, create, pair, delete, rename, moveOut, moveBack, touch
  case sample, staleSample, again, wake, commit, failedCommit, clock
  case glitch, reset, stepBack
  case crash, start, stop, overrun, reboot
  /// Stopped, and started with another source of counters.
  case changeSource
  /// Other rules are put in force.
  case reload
  case farPair, farDelete, moveEnd, bringHome, endNamespace, farNoise
  case loseStore, findStore
  /// What people change; and one whose store fails, or after which the process is killed before it is made.
  case title, merge, forget, undo, failedChange, cutChange
}

struct ToyStep {
  var operation: ToyOperation
  var seed: UInt64
}

/// A world in which histories play: what happens in it, and what its ledger owes.
struct ToyRules: Sendable, CustomStringConvertible {
  var name: String
  /// How often each operation is drawn.
  var weights: [(ToyOperation, Int)]
  /// Counted must equal the truth, else it may be less where a label says so.
  var isComplete = false
  /// No figure of a link may carry a label.
  var isUnlabelled = false
  /// Judged identity by identity; else over all links, where identities may be mistaken while nobody watches.
  var byIdentity = true
  var width = CounterWidth.bits64
  var hasInodes = true
  var knowsBoot = true
  /// Departures of veth ends in other namespaces are told.
  var hearsFarEnds = false
  /// A veth end shows at once where its other end moved.
  var showsMoves = true
  /// The queue of events outlives the daemon.
  var keepsQueue = false
  /// Mbit/s of the links that are hardware.
  var speed: UInt32?
  /// Most bytes of one push.
  var largest: UInt64 = 3_000_000
  /// Configurations, one of which is in force at a time.
  var configurations: [[LinkRule]] = [[]]
  /// What is ignored is exactly known: nothing happens unseen.
  var knowsIgnored = true

  var description: String { name }

  func has(_ operation: ToyOperation) -> Bool { weights.contains { $0.0 == operation } }
}

struct ToyWorld {
  let rules: ToyRules
  var kernel = ToyKernel()
  var daemon = ToyDaemon()
  var broken: String?
  /// What passed links that were ignored.
  var ignored = Amounts.zero

  init(_ rules: ToyRules, seed: UInt64) {
    self.rules = rules
    kernel.width = rules.width
    kernel.hearsFarEnds = rules.hearsFarEnds
    if !rules.knowsBoot { kernel.bootID = BootID(high: 0, low: 0) }
    var dice = Seeded(seed)
    for i in 0..<UInt64.random(in: 0...3, using: &dice) { kernel.create("eth\(i)", kind: "", speed: rules.speed) }
    for index in kernel.present {
      kernel.push(index, rx: UInt64.random(in: 0...rules.largest, using: &dice), tx: 7000)
    }
    kernel.truth = kernel.truth.map { _ in .zero }  // what was there before the first start is a baseline
    daemon.keepsQueue = rules.keepsQueue
    daemon.rules = rules.configurations[0]
    daemon.start(&kernel)
  }

  /// Link events are heard, now or by the next start.
  private var isWatched: Bool { daemon.isRunning || rules.keepsQueue }

  mutating func play(_ step: ToyStep) {
    let passages = kernel.passages.count
    let inForce = daemon.rules
    happen(step)
    for passage in kernel.passages.dropFirst(passages) where isIgnored(kernel.keys[passage.history], inForce) {
      ignored += passage.amounts
    }
  }

  /// By the name that an identity bears.
  private func isIgnored(_ key: String, _ rules: [LinkRule]) -> Bool {
    var facts = LinkFacts()
    facts.name = LinkName(escaped: String(key.split(separator: ":").last ?? ""))
    return designate(facts, rules: rules, master: nil).isIgnored
  }

  private mutating func happen(_ step: ToyStep) {
    var dice = Seeded(step.seed)
    let passing = Int64.random(in: 1_000_000...40_000_000_000, using: &dice)
    kernel.pass(passing)
    let here = kernel.present
    let any = here.isEmpty ? 0 : here[Int.random(in: 0..<here.count, using: &dice)]
    switch step.operation {
    case .sample: daemon.sample(&kernel)
    case .again:
      again()
      broken = broken ?? parts(&dice)
    case .wake: daemon.wake(&kernel)
    case .commit: daemon.commit()
    case .failedCommit: daemon.commit(fails: true)
    case .clock:
      daemon.wake(&kernel)
      kernel.utc += Int64.random(in: -90_000...90_000, using: &dice) * Moment.second
    case .staleSample:
      daemon.sample(&kernel) { kernel in
        // In these milliseconds no link moves half of what a narrow counter holds.
        var rules = rules
        rules.largest = min(rules.largest, 1 << 30)
        let possible = [ToyOperation.push, .touch, .delete, .create, .push, .touch].filter(rules.has)
        for operation in possible.shuffled(using: &dice).prefix(3) {
          kernel.pass(3_000_000)
          ToyWorld.happen(operation, any, rules, 3_000_000, &kernel, &dice)
        }
      }
    case .reload:
      daemon.reload(rules.configurations.randomElement(using: &dice)!, &kernel)
      // The daemon does so at once.
      daemon.commit()
    case .crash: daemon.crash(&kernel)
    case .start: if !daemon.isRunning { daemon.start(&kernel) }
    case .stop: if daemon.isRunning { daemon.stop(&kernel) }
    case .changeSource:
      // Two odd readings in a row would be a reset for all that anybody can tell.
      guard kernel.odd.isEmpty, kernel.lied.isEmpty else { return }
      if daemon.isRunning { daemon.stop(&kernel) }
      kernel.width = kernel.width == .bits32 ? .bits64 : .bits32
      daemon.start(&kernel)
    case .loseStore: if !daemon.isRunning { daemon.storeIsThere = false }
    case .findStore: daemon.findStore(&kernel)
    case .overrun:
      if isWatched, kernel.links.values.allSatisfy({ $0.isHere || $0.place != nil }) { kernel.overrun = true }
    case .reboot:
      daemon.crash(&kernel)
      kernel.reboot()
      kernel.listening = rules.keepsQueue
      if !rules.knowsBoot { kernel.bootID = BootID(high: 0, low: 0) }
    case .moveBack:
      // A link that moved in while nobody watched is taken for one that was born here: a known limit.
      guard isWatched, !kernel.overrun else { return }
      ToyWorld.happen(.moveBack, any, rules, passing, &kernel, &dice)
      daemon.wake(&kernel)
      daemon.commit()
    case .moveEnd, .endNamespace:
      if daemon.isRunning { elsewhere(step.operation, any, &dice) }
    case .bringHome:
      // As with any link that moved in while nobody watched.
      guard daemon.isRunning, !kernel.overrun else { return }
      elsewhere(step.operation, any, &dice)
      daemon.wake(&kernel)
      daemon.commit()
    case .title, .merge, .forget, .undo, .failedChange, .cutChange: change(step.operation, &dice)
    case .farPair, .farDelete, .farNoise: elsewhere(step.operation, any, &dice)
    case .flood:
      // That a fallen counter is back too soon to have been reset holds for what is possible.
      guard daemon.ledger.lives.allSatisfy(\.held.isEmpty) else { return }
      ToyWorld.happen(.flood, any, rules, passing, &kernel, &dice)
    case .moveOut: if isWatched { ToyWorld.happen(.moveOut, any, rules, passing, &kernel, &dice) }
    case .reset, .stepBack:
      // A counter that has passed its old value again by the next reading hides what happened to it.
      guard daemon.isRunning, kernel.links[any]?.peer == 0, kernel.odd.isEmpty, !kernel.overrun else { return }
      // So does one that leapt further than can be and is shown only once.
      daemon.wake(&kernel)
      for _ in 0..<2 { daemon.sample(&kernel) }
      ToyWorld.happen(step.operation, any, rules, passing, &kernel, &dice)
      daemon.sample(&kernel)
    default: ToyWorld.happen(step.operation, any, rules, passing, &kernel, &dice)
    }
    if !rules.hasInodes { for index in kernel.links.keys { kernel.links[index]!.facts.inode = 0 } }
  }

  /// What a person asks for, of any record.
  private mutating func change(_ operation: ToyOperation, _ dice: inout Seeded) {
    guard daemon.isRunning else { return }
    daemon.sample(&kernel)
    let slots = daemon.ledger.shownSlots
    guard let one = slots.randomElement(using: &dice), let other = slots.randomElement(using: &dice) else { return }
    let number = Int64.random(in: 1...Int64(max(1, daemon.ledger.changes.count)), using: &dice)
    let device = Bool.random(using: &dice) ? daemon.ledger.devices[one] ?? [one] : [one]
    let all: [ChangeRequest] = [
      .rename(one, title: "title \(number)"), .merge(one, into: other),
      .forget(device[0], with: Array(device.dropFirst())), .undo(number),
    ]
    let place = [ToyOperation.title, .merge, .forget, .undo].firstIndex(of: operation)
    // A vacant place may be taken.
    let (before, hidden) = (daemon.totals.filter { $0.key != 0 }, daemon.ledger.hiddenTotal)
    let request = all[place ?? Int.random(in: all.indices, using: &dice)]
    daemon.change(
      request, fate: operation == .failedChange ? .fails : operation == .cutChange ? .isCut : .isMade, &kernel)
    // The next process may find more.
    if operation != .cutChange, daemon.totals.filter({ before[$0.key] != nil }) != before {
      broken = "\(request) changed what was counted"
    }
    if operation == .failedChange, daemon.ledger.hiddenTotal != hidden {
      broken = "\(request) failed and hid something"
    }
    broken = broken ?? shown()
  }

  /// What is shown is all that is not hidden, each record once.
  private func shown() -> String? {
    let ledger = daemon.ledger
    var sum = ledger.hiddenTotal
    for slot in ledger.shown { sum += ledger.sum(ledger.parts(of: slot)).total }
    var all = Amounts.zero
    for total in daemon.totals.values { all += total }
    return sum == all ? nil : "shown and hidden are \(sum), all is \(all)"
  }

  /// Undone from the last to the first, nothing is left of any change.
  private mutating func undoAll() -> String? {
    let before = daemon.totals
    for change in daemon.ledger.changes.reversed() where change.undone == nil {
      if !daemon.change(.undo(change.id), fate: .isMade, &kernel) { return "change \(change.id) cannot be undone" }
    }
    let ledger = daemon.ledger
    if ledger.shown != ledger.shownSlots { return "undone, not every record is shown alone" }
    if ledger.records.contains(where: { !$0.title.isEmpty }) { return "undone, a title is left" }
    return daemon.totals == before ? nil : "undone, figures are others"
  }

  /// What happens to veths with ends in other namespaces.
  private mutating func elsewhere(_ operation: ToyOperation, _ any: UInt32, _ dice: inout Seeded) {
    let namespace = Int32.random(in: 0...2, using: &dice)
    let far = kernel.farEnds.randomElement(using: &dice) ?? 0
    let isShown = rules.showsMoves || Bool.random(using: &dice)
    switch operation {
    case .farPair: kernel.createFarPair("vn\(kernel.nextIndex)", in: namespace)
    case .farDelete: kernel.delete(far, peerFirst: Bool.random(using: &dice))
    case .moveEnd: kernel.moveEnd(Bool.random(using: &dice) ? any : far, to: namespace, isShown: isShown)
    case .bringHome: kernel.bringHome(far, isShown: isShown)
    case .endNamespace:
      let isSampled = Bool.random(using: &dice)
      var daemon = daemon
      kernel.endNamespace(namespace) { kernel in
        if isSampled {
          daemon.wake(&kernel)
          daemon.sample(&kernel)
        }
      }
      self.daemon = daemon
    case .farNoise:
      // A link of the same index as one of ours, in a namespace in which none of ours has its other end there.
      let place = FarEnd(namespace: namespace, ifindex: UInt32.random(in: 1...9, using: &dice))
      let isPeer = kernel.links.values.contains { $0.place == place }
      if !isPeer { kernel.postFar(place, final: LinkCounters(txBytes: 1 << 28, txPackets: 1 << 20), movedOut: false) }
    default: break
    }
  }

  /// What happens in the kernel, to a link that was drawn; 0 is none.
  private static func happen(
    _ operation: ToyOperation, _ any: UInt32, _ rules: ToyRules, _ nanoseconds: Int64, _ kernel: inout ToyKernel,
    _ dice: inout Seeded
  ) {
    func roll(_ largest: UInt64) -> UInt64 { UInt64.random(in: 0...largest, using: &dice) }
    switch operation {
    case .push:
      // Hardware moves no more than its speed allows.
      let limit = kernel.links[any]?.facts.speedMbit.map { UInt64($0) * UInt64(nanoseconds / 1_000_000) * 125 }
      kernel.push(any, rx: roll(min(rules.largest, limit ?? .max)), tx: roll(min(rules.largest / 3, limit ?? .max)))
    case .flood: if kernel.links[any]?.peer == 0 { kernel.push(any, rx: 1 << (30 + roll(18)), tx: 0) }
    case .create:
      let away = kernel.links.values.contains { !$0.isHere }
      let base = roll(3) == 0 && !away ? roll(1 << 20) : nil
      let counters = base.map { LinkCounters(rxBytes: .max - $0, txBytes: 1 << 63, rxPackets: $0, txPackets: $0) }
      let isOdd = rules.has(.reset) && !rules.has(.crash)
      kernel.create("tun\(roll(2))-\(kernel.links.count)", kind: "tun", base: isOdd ? counters ?? .zero : .zero)
    case .pair: kernel.createPair("va\(kernel.nextIndex)", "vb\(kernel.nextIndex)")
    case .delete: kernel.delete(any)
    case .rename: kernel.rename(any, to: "ren\(roll(3))")
    case .touch: kernel.touch(any)
    case .moveOut: kernel.moveOut(any)
    case .moveBack: kernel.moveAnyBack()
    case .reset: kernel.resetDriver(any)
    case .stepBack: kernel.stepBack(any, by: roll(100_000))
    case .glitch: kernel.glitch(any, roll(rules.width == .bits64 ? 3 : 1))
    default: break
    }
  }

  /// The same reading twice changes nothing.
  private mutating func again() {
    guard daemon.isRunning else { return }
    for _ in 0..<4 { daemon.sample(&kernel) }  // what was odd is settled
    let totals = daemon.totals
    daemon.sample(&kernel)
    if daemon.totals != totals { broken = "a reading that was shown again was booked again" }
  }

  mutating func end(seed: UInt64) {
    var dice = Seeded(seed)
    if !daemon.isRunning { daemon.start(&kernel) }
    daemon.findStore(&kernel)
    for _ in 0..<4 {
      kernel.pass(Moment.second)
      daemon.sample(&kernel)
    }
    daemon.commit()
    broken = broken ?? law() ?? sums() ?? parts(&dice) ?? bounds() ?? shown() ?? undoAll()
  }

  /// Counted is never more than the truth, and a difference is never without a label.
  private func law() -> String? {
    let ledger = daemon.ledger
    for key in rules.byIdentity ? Set(kernel.keys).sorted() : [""] {
      var truth = Amounts.zero
      for history in kernel.truth.indices where key.isEmpty || kernel.keys[history] == key {
        truth += kernel.truth[history]
      }
      var counted = Amounts.zero
      var isLabelled = daemon.gaps.contains { $0.link == nil && $0.lossy }
      if rules.isUnlabelled, rules.keepsQueue, isLabelled { return "labelled without a loss" }
      for slot in ledger.records.indices where key.isEmpty || ledger.records[slot].key == key {
        let record = ledger.record(slot: slot)
        counted += record.total
        let isOwnLoss = record.totalIsAtLeast || daemon.gaps.contains { $0.link == record.id && $0.lossy }
        if rules.isUnlabelled, isOwnLoss { return "\(key): labelled without a loss" }
        isLabelled = isLabelled || isOwnLoss
      }
      if rules.knowsIgnored, let counting = truth.without(ignored) { truth = counting }
      guard counted.rxBytes <= truth.rxBytes, counted.txBytes <= truth.txBytes, counted.rxPackets <= truth.rxPackets,
        counted.txPackets <= truth.txPackets
      else { return "\(key): invented, counted \(counted) of \(truth)" }
      if !rules.knowsIgnored { continue }
      if rules.isComplete || !isLabelled, counted.rxBytes != truth.rxBytes || counted.txBytes != truth.txBytes {
        return "\(key): lost, counted \(counted) of \(truth)"
      }
    }
    return nil
  }

  /// What is not shown goes with its links, here and in the store.
  private func bounds() -> String? {
    let ledger = daemon.ledger
    let hidden = (daemon.store.state?.links ?? []).filter { !$0.isShown }
    let members = ledger.lives.count { $0.account != $0.slot }
    if hidden.count != members { return "\(hidden.count) hidden records for \(members) links" }
    for slot in ledger.records.indices where !ledger.records[slot].isShown {
      if !ledger.record(slot: slot).total.isZero { return "a record that is not shown counted something" }
    }
    for slot in ledger.shownSlots where ledger.records[slot].isGroup {
      if ledger.members(slot: slot)?.present != ledger.lives.count(where: { $0.account == slot }) {
        return "the group \(ledger.records[slot].name) does not know its members"
      }
    }
    return nil
  }

  /// Totals, the running day and every tier add up to the entries.
  private func sums() -> String? {
    let ledger = daemon.ledger
    var all: [LinkID: Amounts] = [:]
    var today: [LinkID: Amounts] = [:]
    for row in daemon.entries {
      all[row.link, default: .zero] += row.amounts
      if row.start >= ledger.day.start, row.start < ledger.day.end { today[row.link, default: .zero] += row.amounts }
    }
    for slot in ledger.records.indices {
      let record = ledger.record(slot: slot)
      if all[record.id, default: .zero] != record.total { return "\(record.name): rows do not add up to the total" }
      if ledger.todayIsKnown, today[record.id, default: .zero] != ledger.today(slot: slot).amounts {
        return "\(record.name): rows do not add up to the running day"
      }
    }
    for tier in Tier.allCases where daemon.store.sums(tier) != daemon.store.sums(.minute) {
      return "tier \(tier) does not add up to the minutes"
    }
    return nil
  }
}

extension Ledger {
  /// Of all records whose history is forgotten.
  fileprivate var hiddenTotal: Amounts {
    shownSlots.filter(isHidden).reduce(into: .zero) { $0 += record(slot: $1).total }
  }
}

extension ToyRules {
  /// Plays a history; what broke, or nil.
  func play(_ steps: [ToyStep], seed: UInt64) -> String? {
    var world = ToyWorld(self, seed: seed)
    for step in steps where world.broken == nil { world.play(step) }
    if world.broken == nil { world.end(seed: seed) }
    return world.broken
  }

  func steps(seed: UInt64, count: Int = 50) -> [ToyStep] {
    var dice = Seeded(seed)
    let bag = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
    return (0..<count).map { _ in ToyStep(operation: bag.randomElement(using: &dice)!, seed: dice.next()) }
  }

  /// Plays the history of a seed; on failure what broke, with the shortest history found by leaving out steps.
  func failure(seed: UInt64) -> String? {
    var steps = steps(seed: seed)
    guard var broken = play(steps, seed: seed) else { return nil }
    var isShorter = true
    while isShorter {
      isShorter = false
      for index in steps.indices.reversed() {
        var fewer = steps
        fewer.remove(at: index)
        guard let still = play(fewer, seed: seed) else { continue }
        (steps, broken, isShorter) = (fewer, still, true)
      }
    }
    let history = steps.map { "\($0.operation)(\($0.seed))" }.joined(separator: " ")
    return "\(name), seed \(seed): \(broken)\n  after \(history)"
  }
}
