// The worlds that histories play in: what happens there, and what the daemon owes.
import TallyCore
import Toys

/// What can happen. Each draws its details from its own seed, so that it means the same when others are left out.
enum Operation: String, CaseIterable {
  case push, flood, create, pair, delete, recreate, rename, swap, touch, moveOut, moveBack
  case wait, away, meanwhile, callsFail, interrupted, paused, suspend, clock, zone, coldBoot, setRight
  case ask, askOften
  case trouble, relief, stall, slowReads, vanish, comeBack
  case kill, stop, start, reboot, powerLoss
  case glitch, reset, stepBack
  case change
  /// Other rules are put in force.
  case rules
}

struct Step {
  var operation: Operation
  var seed: UInt64

  init(_ operation: Operation, _ seed: UInt64) {
    self.operation = operation
    self.seed = seed
  }
}

struct World: Sendable, CustomStringConvertible {
  var name: String
  /// How often each operation is drawn.
  var weights: [(Operation, Int)]
  /// Counted must equal the truth, else it may be less where a label says so.
  var isComplete = false
  /// No figure of a link may carry a label.
  var isUnlabelled = false
  /// Judged identity by identity; else over all links, where identities may be mistaken while nobody watches.
  var byIdentity = true
  var width = CounterWidth.bits64
  var hasInodes = true
  /// Mbit/s of the first links, which makes them hardware.
  var speed: UInt32?
  /// Most bytes of one push.
  var largest: UInt64 = 3_000_000
  /// A period that claims to be complete shows what passed in it; not owed where counters lie or have 32 bits.
  var hasPeriods = true
  /// Configurations, one of which is in force at a time.
  var configurations: [[LinkRule]] = [[]]
  /// Histories are played on the real store.
  var hasFiles = false
  /// Seconds that a link that has gone keeps a record of its own; nil: for longer than a history.
  var keepsGone: Int64?
  /// The first start is one of a board without a clock.
  var startsUnset = false
  /// The queue of link events outlives the daemon, where it is killed or restarted.
  var keepsQueue = false
  var length = 40
  /// Its part of all histories.
  var share = 1

  var description: String { name }

  func has(_ operation: Operation) -> Bool { weights.contains { $0.0 == operation } }

  func steps(seed: UInt64) -> [Step] {
    var dice = Seeded(seed)
    let bag = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
    return (0..<length).map { _ in Step(bag.randomElement(using: &dice)!, dice.next()) }
  }
}

/// One `[Rule]` of a configuration, by name.
private func rule(_ pattern: String, _ change: (inout LinkRule.Settings) -> Void) -> LinkRule {
  var rule = LinkRule(name: pattern)
  rule.match[.name] = LinkRule.Patterns(globs: [Glob(pattern)])
  change(&rule.set)
  return rule
}

/// Labels and groups that overlap: nothing of what passes is outside all of them.
private let labels: [[LinkRule]] = [
  [], [rule("ren*") { $0.label = "renamed" }, rule("v*") { $0.group = "pairs" }],
  [rule("ren*") { $0.group = "pairs" }, rule("tun*") { $0.label = "renamed" }, rule("eth*") { $0.label = "one" }],
  [rule("*") { $0.group = "all" }],
]

private let traffic: [(Operation, Int)] = [(.push, 9), (.wait, 2), (.meanwhile, 2), (.ask, 3), (.touch, 1)]
private let lives: [(Operation, Int)] = [
  (.create, 2), (.pair, 1), (.delete, 2), (.recreate, 1), (.rename, 2), (.swap, 1),
]
private let moves: [(Operation, Int)] = [(.moveOut, 1), (.moveBack, 1)]
private let nuisances: [(Operation, Int)] = [
  (.callsFail, 1), (.suspend, 1), (.clock, 1), (.zone, 1), (.askOften, 1),
]
private let disks: [(Operation, Int)] = [(.trouble, 2), (.relief, 3), (.stall, 1), (.slowReads, 1)]
private let files: [(Operation, Int)] = [(.vanish, 1), (.comeBack, 1)]
private let absences: [(Operation, Int)] = [(.kill, 2), (.start, 3), (.stop, 1)]
/// The store cannot be opened at most starts, and opens while the daemon counts.
private let late: [(Operation, Int)] = [(.trouble, 4), (.relief, 3), (.kill, 3), (.start, 5), (.meanwhile, 3)]
private let disasters: [(Operation, Int)] = [
  (.paused, 1), (.interrupted, 1), (.reboot, 1), (.powerLoss, 1), (.coldBoot, 1), (.setRight, 1),
]
private let odd: [(Operation, Int)] = [(.glitch, 2), (.reset, 1), (.stepBack, 1), (.flood, 1)]

extension World {
  static let nothingUnseen = World(
    name: "nothing is unseen", weights: traffic + lives + moves + nuisances + disks + files, isComplete: true,
    isUnlabelled: true, share: 30)
  static let periods = World(
    name: "every period is right", weights: traffic + lives + moves + disks + [(.suspend, 1), (.callsFail, 1)],
    isComplete: true, isUnlabelled: true, share: 20)
  static let absentPeriods = World(
    name: "every period is right, also while nobody watches",
    weights: traffic + lives + disks + absences + [(.reboot, 1)], byIdentity: false,
    share: 20)
  static let livingPeriods = World(
    name: "every period is right of links that live on",
    weights: traffic + disks + absences + [(.create, 1), (.away, 2)], isComplete: true, isUnlabelled: true, share: 20)
  static let lateClock = World(
    name: "every period is right under a clock that is set late",
    weights: traffic + lives + disks + [(.suspend, 1), (.callsFail, 1), (.setRight, 1)], isComplete: true,
    isUnlabelled: true, startsUnset: true, share: 10)
  static let clockless = World(
    name: "every period is right on a board without a clock",
    weights: traffic + lives + disks + absences + [(.coldBoot, 2), (.setRight, 4), (.suspend, 1)], byIdentity: false,
    startsUnset: true, share: 20)
  static let keptQueue = World(
    name: "every period is right, the queue of events is kept while nobody watches",
    weights: traffic + lives + disks + absences + [(.reboot, 1), (.paused, 1)], byIdentity: false,
    keepsQueue: true, share: 20)
  static let recreated = World(
    name: "links are made anew while nobody watches",
    weights: traffic + disks + absences + [(.create, 1), (.recreate, 3), (.delete, 1), (.away, 1), (.reboot, 1)],
    share: 20)
  static let killed = World(
    name: "links live on while the daemon is killed",
    weights: traffic + absences + nuisances + disks + [(.create, 1), (.rename, 1)], isComplete: true,
    isUnlabelled: true, hasPeriods: false, share: 20)
  static let lateStore = World(
    name: "links live on while the store comes late",
    weights: traffic + late + [(.create, 1), (.rename, 1), (.away, 1)],
    isComplete: true, isUnlabelled: true, share: 10)
  static let lateStoreAndLives = World(
    name: "links come and go while the store comes late", weights: traffic + lives + late + [(.reboot, 1)],
    byIdentity: false, share: 10)
  static let everything = World(
    name: "everything but odd drivers",
    weights: traffic + lives + nuisances + disks + files + absences + disasters, byIdentity: false,
    hasPeriods: false, share: 30)
  static let changed = World(
    name: "people change what is shown",
    weights: traffic + lives + disks + absences + [(.change, 8), (.suspend, 1), (.callsFail, 1), (.askOften, 1)],
    byIdentity: false, hasPeriods: false, share: 15)
  static let realStoreChanged = World(
    name: "the real store, and people who change what is shown",
    weights: traffic + lives + disks + absences + [(.change, 8)], byIdentity: false, hasPeriods: false,
    hasFiles: true, share: 2)
  static let oddDrivers = World(
    name: "odd drivers", weights: traffic + lives + moves + nuisances + disks + odd, hasPeriods: false, share: 10)
  static let narrow = World(
    name: "32-bit readings", weights: traffic + lives + nuisances + disks + absences + [(.glitch, 1)],
    byIdentity: false, width: .bits32, largest: 2 << 32, hasPeriods: false, share: 10)
  static let blind = World(
    name: "without inodes", weights: traffic + lives + nuisances + disks + absences + disasters, byIdentity: false,
    hasInodes: false, hasPeriods: false, share: 10)
  static let realStore = World(
    name: "the real store, nothing unseen", weights: traffic + lives + disks + files + nuisances, isComplete: true,
    isUnlabelled: true, hasFiles: true, share: 3)
  static let realStoreKilled = World(
    name: "the real store, killed and without power",
    weights: traffic + lives + disks + files + absences + disasters + nuisances, byIdentity: false,
    hasPeriods: false, hasFiles: true, share: 3)

  static let ruled = World(
    name: "rules change, nothing is unseen",
    weights: traffic + lives + nuisances + disks + [(.rules, 3)], isComplete: true, isUnlabelled: true,
    byIdentity: false, hasPeriods: false, configurations: labels, share: 20)
  static let ruledEverything = World(
    name: "rules change, everything but odd drivers",
    weights: traffic + lives + nuisances + disks + files + absences + disasters + [(.rules, 3)], byIdentity: false,
    hasPeriods: false, configurations: labels, share: 20)
  static let ruledStore = World(
    name: "rules change, the real store", weights: traffic + lives + disks + absences + disasters + [(.rules, 3)],
    byIdentity: false, hasPeriods: false, configurations: labels, hasFiles: true, share: 3)

  static let expiring = World(
    name: "links expire, nothing is unseen",
    weights: traffic + lives + disks + files + [
      (.create, 3), (.delete, 4), (.wait, 6), (.callsFail, 1), (.askOften, 2),
    ],
    isComplete: true, isUnlabelled: true, byIdentity: false, keepsGone: 300, share: 20)
  static let expiringEverything = World(
    name: "links expire, everything but odd drivers",
    weights: traffic + lives + nuisances + disks + files + absences + disasters
      + [(.create, 3), (.delete, 4), (.wait, 6)],
    byIdentity: false, hasPeriods: false, keepsGone: 300, share: 20)
  static let expiringChanged = World(
    name: "links expire, and people change what is shown",
    weights: traffic + lives + disks + absences + [(.create, 3), (.delete, 4), (.wait, 6), (.change, 8)],
    byIdentity: false, keepsGone: 300, share: 10)
  static let expiringStore = World(
    name: "links expire, the real store, killed and without power",
    weights: traffic + lives + disks + files + absences + [(.create, 3), (.delete, 4), (.wait, 6), (.powerLoss, 2)],
    byIdentity: false, hasFiles: true, keepsGone: 300, share: 3)

  /// All whose histories are many and short.
  static let all = [
    nothingUnseen, periods, absentPeriods, livingPeriods, lateClock, clockless, keptQueue, recreated, killed, lateStore,
    lateStoreAndLives, everything, oddDrivers, narrow, blind, changed, realStore, realStoreKilled, realStoreChanged,
    ruled, ruledEverything, ruledStore, expiring, expiringEverything, expiringChanged, expiringStore,
  ]
}

extension World {
  static let zones: [LocalCalendar] = [
    utcCalendar,
    // Set back and forward an hour near the time when histories begin; half an hour off; a day that is skipped.
    zoneCalendar([(.min, 7200), (1_700_002_800, 3600), (1_700_010_000, 7200)]),
    zoneCalendar([(.min, 19800)]),
    zoneCalendar([(.min, -36000), (1_700_006_400, 50400)]),
  ]
}
