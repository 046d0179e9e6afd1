// The law of the ledger over random histories, in worlds of different trouble.
import Foundation
import Testing

@testable import TallyCore

/// How many histories are played in all; IFTALLY_HISTORIES sets it.
private let histories = ProcessInfo.processInfo.environment["IFTALLY_HISTORIES"].flatMap { Int($0) } ?? 6000

private let traffic: [(ToyOperation, Int)] = [(.push, 6), (.sample, 3), (.staleSample, 1), (.wake, 1), (.commit, 2)]
private let lives: [(ToyOperation, Int)] = [(.create, 2), (.pair, 1), (.delete, 2), (.rename, 2), (.touch, 2)]
private let moves: [(ToyOperation, Int)] = [(.moveOut, 1), (.moveBack, 1)]
private let absences: [(ToyOperation, Int)] = [(.crash, 1), (.start, 2), (.stop, 1)]
private let nuisances: [(ToyOperation, Int)] = [(.again, 1), (.failedCommit, 1), (.clock, 1)]
private let namespaces: [(ToyOperation, Int)] = [
  (.farPair, 3), (.farDelete, 2), (.moveEnd, 2), (.bringHome, 2), (.farNoise, 1),
]
private let lateStores: [(ToyOperation, Int)] = [
  (.crash, 1), (.stop, 2), (.loseStore, 3), (.start, 2), (.findStore, 1),
]
private let oddDrivers: [(ToyOperation, Int)] = [(.glitch, 2), (.reset, 1), (.stepBack, 1)]

private let changes: [(ToyOperation, Int)] = [
  (.title, 1), (.merge, 2), (.forget, 2), (.undo, 2), (.failedChange, 1),
]

/// One `[Rule]` of a configuration, by name.
private func rule(_ pattern: String, _ change: (inout LinkRule.Settings) -> Void) -> LinkRule {
  var rule = LinkRule(name: pattern)
  rule.match[.name] = LinkRule.Patterns(globs: [Glob(pattern)])
  change(&rule.set)
  return rule
}

private let labels: [[LinkRule]] = [
  [],
  [rule("ren1") { $0.label = "one" }, rule("ren*") { $0.label = "renamed" }, rule("v*") { $0.group = "pairs" }],
  [rule("ren*") { $0.group = "pairs" }, rule("tun*") { $0.label = "renamed" }, rule("eth*") { $0.label = "one" }],
  [rule("*") { $0.group = "all" }],
]
private let ignoring: [[LinkRule]] = [
  labels[1], [rule("ren2") { $0.isIgnored = true }, rule("ren*") { $0.label = "renamed" }],
  [rule("tun*") { $0.isIgnored = true }, rule("ren1") { $0.isIgnored = true }], [rule("v*") { $0.isIgnored = true }],
]

private let allWorlds: [ToyRules] = [
  ToyRules(
    name: "rules change while nothing is unseen", weights: traffic + lives + nuisances + [(.reload, 3)],
    isComplete: true, isUnlabelled: true, byIdentity: false, configurations: labels),
  ToyRules(
    name: "links are ignored and counted again",
    weights: [(.push, 6), (.sample, 3), (.wake, 1), (.commit, 2)] + lives.filter { $0.0 != .pair } + nuisances
      + [(.reload, 3)], isComplete: true, isUnlabelled: true, byIdentity: false, configurations: ignoring),
  ToyRules(
    name: "rules change while nobody watches",
    weights: traffic + absences + nuisances + [(.create, 1), (.rename, 2), (.touch, 1), (.reload, 3)],
    isComplete: true, byIdentity: false, configurations: labels),
  ToyRules(
    name: "rules and everything but odd drivers",
    weights: traffic + lives + moves + nuisances + absences + namespaces + [(.overrun, 1), (.reboot, 1), (.reload, 3)],
    byIdentity: false, hearsFarEnds: true, configurations: labels),
  ToyRules(
    name: "rules that ignore and everything but odd drivers",
    weights: traffic + lives + nuisances + absences + [(.overrun, 1), (.reboot, 1), (.reload, 3)],
    byIdentity: false, configurations: ignoring, knowsIgnored: false),
  ToyRules(
    name: "rules change with a queue that is kept",
    weights: traffic + lives + moves + nuisances + [(.start, 2), (.stop, 2), (.reload, 3)], isComplete: true,
    byIdentity: false, keepsQueue: true, configurations: labels),
  ToyRules(
    name: "rules change with odd drivers", weights: traffic + lives + nuisances + oddDrivers + [(.reload, 2)],
    byIdentity: false, configurations: labels),
  ToyRules(
    name: "nothing is unseen", weights: traffic + lives + moves + nuisances, isComplete: true, isUnlabelled: true),
  ToyRules(
    name: "links live on while nobody watches",
    weights: traffic + absences + nuisances + [(.create, 1), (.rename, 2), (.touch, 1)], isComplete: true,
    isUnlabelled: true),
  ToyRules(
    name: "stops and starts with a queue that is kept",
    weights: traffic + lives + moves + nuisances + [(.start, 2), (.stop, 2)], isComplete: true, isUnlabelled: true,
    keepsQueue: true),
  ToyRules(
    name: "veth ends in other namespaces with a queue that is kept",
    weights: traffic + lives + nuisances + [(.start, 2), (.stop, 2), (.farPair, 2), (.farDelete, 2), (.farNoise, 1)],
    isComplete: true, isUnlabelled: true, hearsFarEnds: true, keepsQueue: true),
  ToyRules(
    name: "crashes and lost events with a queue that is kept",
    weights: traffic + lives + moves + nuisances + absences + [(.overrun, 1), (.reboot, 1)], byIdentity: false,
    keepsQueue: true),
  ToyRules(
    name: "everything but odd drivers",
    weights: traffic + lives + moves + nuisances + absences + [(.overrun, 1), (.reboot, 1)], byIdentity: false),
  ToyRules(
    name: "the store is opened late",
    weights: traffic + nuisances + lateStores + [(.create, 1), (.rename, 1), (.touch, 1)], isComplete: true,
    byIdentity: false),
  ToyRules(
    name: "the store is opened late, and anything happens meanwhile",
    weights: traffic + lives + nuisances + lateStores + [(.overrun, 1), (.reboot, 1)], byIdentity: false),
  ToyRules(
    name: "the store is opened late, and drivers are odd",
    weights: traffic + lives + nuisances + lateStores + oddDrivers, byIdentity: false),
  ToyRules(name: "odd drivers", weights: traffic + lives + moves + nuisances + oddDrivers + [(.flood, 1)]),
  ToyRules(
    name: "32-bit readings", weights: traffic + lives + nuisances + absences + oddDrivers, byIdentity: false,
    width: .bits32, largest: 2 << 32),
  ToyRules(
    name: "32-bit readings of hardware", weights: traffic + nuisances + oddDrivers + [(.touch, 1), (.rename, 1)],
    width: .bits32, speed: 100, largest: 2 << 32),
  ToyRules(
    name: "sources of 32 and of 64 bits in turn",
    weights: traffic + nuisances + oddDrivers + [(.changeSource, 2), (.create, 1), (.delete, 1), (.touch, 2)],
    byIdentity: false, width: .bits32, largest: 2 << 32),
  ToyRules(
    name: "neither inodes nor a boot id",
    weights: traffic + lives + nuisances + absences + [(.reboot, 1), (.overrun, 1)], byIdentity: false,
    hasInodes: false, knowsBoot: false),
  ToyRules(
    name: "veth ends in other namespaces, all told", weights: traffic + lives + nuisances + namespaces,
    isComplete: true, isUnlabelled: true, hearsFarEnds: true),
  ToyRules(
    name: "people who change what is shown", weights: traffic + lives + moves + nuisances + changes, isComplete: true,
    isUnlabelled: true, byIdentity: false),
  ToyRules(
    name: "people who change what is shown, kills in the middle, and links that live on",
    weights: traffic + absences + nuisances + changes + [(.cutChange, 3), (.create, 1), (.rename, 2), (.touch, 1)],
    isComplete: true, byIdentity: false),
  ToyRules(
    name: "people who change what is shown, kills, lost events and reboots",
    weights: traffic + lives + moves + nuisances + absences + changes + [(.cutChange, 2), (.overrun, 1), (.reboot, 1)],
    byIdentity: false),
  ToyRules(
    name: "people who change what is shown, and rules that change",
    weights: traffic + lives + nuisances + changes + [(.reload, 3)], isComplete: true, byIdentity: false,
    configurations: labels),
  ToyRules(
    name: "namespaces that end, and moves that are shown late",
    weights: traffic + lives + nuisances + namespaces + absences + [(.endNamespace, 2), (.overrun, 1), (.reboot, 1)],
    byIdentity: false, hearsFarEnds: true, showsMoves: false),
  ToyRules(
    name: "veth ends in other namespaces, not told",
    weights: traffic + lives + nuisances + namespaces + absences + [(.endNamespace, 1), (.overrun, 1)],
    byIdentity: false),
]

@Suite("The law of the ledger, over random histories")
struct LedgerPropertyTests {
  static let worlds = allWorlds
  @Test(
    "counted never exceeds the truth, a loss is never without its label, and every tier adds up",
    arguments: LedgerPropertyTests.worlds)
  func law(rules: ToyRules) {
    let count = histories / Self.worlds.count
    print("\(count) histories: \(rules.name)")
    for seed in 0..<UInt64(count) {
      if let broken = rules.failure(seed: seed) {
        Issue.record("\(broken)")
        return
      }
    }
  }
}
