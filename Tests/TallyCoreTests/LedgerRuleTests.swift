// What the ledger makes of rules: records by label, links that are ignored, groups, and what happens when rules change.
import Testing
import Toys

@testable import TallyCore

private func rule(
  _ name: String, _ field: LinkRule.Field = .name, _ pattern: String, _ change: (inout LinkRule.Settings) -> Void
) -> LinkRule {
  var rule = LinkRule(name: name)
  rule.match[field] = LinkRule.Patterns(globs: [Glob(pattern)])
  change(&rule.set)
  return rule
}

private let home = rule("home", .name, "home*") { $0.label = "home" }
private let away = rule("away", .name, "*") { $0.label = "away" }
private let ignored = rule("no", .name, "t*") { $0.isIgnored = true }
private let grouped = rule("many", .name, "t*") { $0.group = "pool" }

@Suite("Rules in the ledger")
struct LedgerRuleTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  private func records(_ key: String) -> [LinkRecord] {
    daemon.ledger.shownSlots.map { daemon.ledger.record(slot: $0) }.filter { $0.key == key }
  }

  private func total(_ key: String, _ label: String?) -> UInt64? {
    records(key).first { $0.label == label }?.total.rxBytes
  }

  @Test("a reload gives what follows to the new label, and the old label again goes on with its own record")
  mutating func relabelled() {
    daemon.rules = [home]
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    kernel.push("tun0", rx: 100, tx: 0)
    daemon.reload([away], &kernel)
    kernel.push("tun0", rx: 30, tx: 0)
    daemon.sample(&kernel, after: 60)
    let (before, after) = (total("tun:tun0", nil), total("tun:tun0", "away"))
    #expect(before == 100 && after == 30)
    daemon.reload([], &kernel)
    kernel.push("tun0", rx: 5, tx: 0)
    daemon.sample(&kernel, after: 60)
    let again = total("tun:tun0", nil)
    #expect(again == 105 && records("tun:tun0").count == 2)
    let lives = daemon.incarnations.map { [$0.birth.rawValue, $0.death?.rawValue ?? ""] }
    #expect(lives.contains(["first_sight", "relabelled"]) && lives.contains(["relabelled", "relabelled"]))
    #expect(lives.contains(["relabelled", ""]))
    let rules = records("tun:tun0").map(\.rule)
    #expect(rules == ["built-in: tun", "away"])
  }

  @Test("a rename that another rule matches splits the history at the counters of its event")
  mutating func renamed() {
    daemon.rules = [home, away]
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    let index = kernel.index(of: "tun0")!
    kernel.push(index, rx: 100, tx: 0)
    kernel.rename(index, to: "home0")
    kernel.push(index, rx: 30, tx: 0)
    daemon.wake(&kernel)
    daemon.sample(&kernel, after: 60)
    let (old, new) = (total("tun:tun0", "away"), total("tun:home0", "home"))
    #expect(old == 100 && new == 30)
  }

  @Test("rules that changed while it was stopped hold from the start on: what passed until then is the old label's")
  mutating func changedWhileStopped() {
    daemon.rules = [away]
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    kernel.push("tun0", rx: 100, tx: 0)
    daemon.stop(&kernel)
    kernel.push("tun0", rx: 20, tx: 0)
    daemon.rules = []
    daemon.start(&kernel)
    kernel.push("tun0", rx: 3, tx: 0)
    daemon.sample(&kernel, after: 60)
    let (old, new) = (total("tun:tun0", "away"), total("tun:tun0", nil))
    #expect(old == 120 && new == 3)
  }

  @Test("an ignored link counts nothing, is no stranger, and counts from its reading when that ends")
  mutating func ignoring() {
    daemon.rules = [ignored]
    daemon.start(&kernel)
    kernel.create("tun0", kind: "tun")
    kernel.push("tun0", rx: 100, tx: 0)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.ledger.shownSlots.isEmpty && daemon.ledger.strangers == 0)
    daemon.commit()
    daemon.crash(&kernel)
    kernel.push("tun0", rx: 50, tx: 0)
    daemon.rules = []
    daemon.start(&kernel)
    kernel.push("tun0", rx: 7, tx: 0)
    daemon.sample(&kernel, after: 60)
    let counted = total("tun:tun0", nil)
    #expect(counted == 7)
    daemon.reload([ignored], &kernel)
    kernel.push("tun0", rx: 1000, tx: 0)
    daemon.sample(&kernel, after: 60)
    let slot = daemon.slot("tun0")
    let isPresent = slot.map(daemon.ledger.isPresent)
    let kept = total("tun:tun0", nil)
    #expect(kept == 7 && isPresent == false)
    let decisions = daemon.ledger.decisions.map { "\($0.rule) \($0.isIgnored)" }
    #expect(decisions == ["no true"])
    daemon.reload([], &kernel)
    kernel.push("tun0", rx: 2, tx: 0)
    daemon.sample(&kernel, after: 60)
    let again = total("tun:tun0", nil)
    #expect(again == 9 && records("tun:tun0").count == 1)
    let births = Set(daemon.incarnations.map(\.birth))
    #expect(births == [.ignoredBefore])
  }

  @Test("the bytes of a group's members are the group's, whose slots and records go with them")
  mutating func groups() {
    daemon.rules = [grouped]
    daemon.start(&kernel)
    for round in 0..<50 {
      kernel.create("t\(round)", kind: "tun")
      kernel.create("t\(round)b", kind: "tun")
      kernel.push("t\(round)", rx: 10, tx: 1)
      kernel.push("t\(round)b", rx: 10, tx: 0)
      daemon.wake(&kernel)
      if round % 2 == 0 { daemon.commit() }
      daemon.sample(&kernel, after: 1)
      kernel.push("t\(round)", rx: 3, tx: 0)
      kernel.delete(kernel.index(of: "t\(round)")!)
      daemon.wake(&kernel)
    }
    daemon.commit()
    let counted = total("group:pool", nil)
    #expect(counted == 1150)
    let slot = daemon.slot("pool")
    let members = slot.flatMap { daemon.ledger.members(slot: $0) }
    let (present, lives) = (members?.present, members?.lives)
    #expect(present == 50)
    #expect(lives == 100)
    let stored = daemon.store.state?.links.count
    #expect(daemon.ledger.records.count <= 53 && stored == 51)
    #expect(daemon.incarnations.isEmpty)
    // A member's name finds its group, whose record it never is.
    #expect(daemon.slot("t7b") == slot)
  }

  @Test("a group goes on after a crash from its members' baselines, to the byte")
  mutating func groupAfterCrash() {
    daemon.rules = [grouped]
    daemon.start(&kernel)
    kernel.create("t1", kind: "tun")
    kernel.push("t1", rx: 100, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    kernel.push("t1", rx: 10, tx: 0)
    daemon.sample(&kernel, after: 1)
    daemon.crash(&kernel)
    kernel.push("t1", rx: 1, tx: 0)
    daemon.start(&kernel)
    let counted = total("group:pool", nil)
    #expect(counted == 111)
    let isLabelled = daemon.record("pool")?.totalIsAtLeast
    #expect(isLabelled == true)
    daemon.crash(&kernel)
    kernel.reboot()
    daemon.start(&kernel)
    let hidden = daemon.ledger.records.count { $0.id != 0 && !$0.isShown }
    #expect(hidden == 0 && total("group:pool", nil) == 111)
    let gaps = daemon.gaps("pool").map(\.reason)
    #expect(gaps == [.reboot])
  }

  @Test("a link that joins a group before it counted anything leaves no record behind")
  mutating func emptyBefore() {
    daemon.start(&kernel)
    let (here, _) = kernel.createPair("cali1", "cali2")
    daemon.wake(&kernel)
    #expect(daemon.ledger.shownCount == 2)
    kernel.links[here]!.facts.lowerIsElsewhere = true
    kernel.touch(here)
    daemon.wake(&kernel)
    let keys = Set(daemon.ledger.shownSlots.map { daemon.ledger.records[$0].key })
    #expect(keys == ["group:containers", "veth:cali2"])
  }

  @Test("too many virtual links are counted together, hardware and what is known already is not")
  mutating func tooMany() {
    daemon.ledger.mostInterfaces = 3
    daemon.start(&kernel)
    for number in 0..<6 { kernel.create("x\(number)", kind: "tun") }
    kernel.create("eth0", kind: "", speed: 1000)
    for number in 0..<6 { kernel.push("x\(number)", rx: 10, tx: 0) }
    kernel.push("eth0", rx: 1, tx: 0)
    for _ in 0..<2 { daemon.sample(&kernel, after: 60) }
    daemon.commit()
    let others = total("group:others", nil)
    #expect(others == 30 && total("-:eth0", nil) == 1 && daemon.ledger.shownCount == 5)
    let overflow = daemon.ledger.decisions.count { $0.rule == Ledger.overflowRule }
    #expect(overflow == 3)
    kernel.push("x5", rx: 5, tx: 0)
    daemon.stop(&kernel)
    daemon.start(&kernel)
    let later = total("group:others", nil)
    #expect(later == 35)
  }

  @Test("a rule says by what hardware is recognised")
  func basis() {
    var facts = LinkFacts()
    facts.name = LinkName(escaped: "usb0")
    facts.permanentAddress = [2, 0, 0x5e, 0, 0x53, 1]
    facts.address = [6, 6, 6, 6, 6, 6]
    facts.paths = ["pci0/usb1"]
    #expect(identityKey(facts) == "mac:02:00:5e:00:53:01")
    #expect(identityKey(facts, .path) == "path:pci0/usb1")
    #expect(identityKey(facts, .name) == "-:usb0")
    facts.paths = []
    #expect(identityKey(facts, .path) == "-:usb0")
  }

  @Test(
    "names that runtimes make are crowds, names that people choose are not",
    arguments: [
      ("veth1a2b3c4", "veth", false, "containers"), ("veth12ab34cd", "veth", true, "containers"),
      ("vethX3bWMI", "veth", false, "containers"), ("vethbridge", "veth", true, nil), ("veth1", "veth", true, nil),
      ("lan0", "veth", true, nil), ("v1", "veth", true, nil), ("cali12345", "veth", true, "containers"),
      ("cali12345", "veth", false, nil), ("lxc0a1b2c3d4e5f", "veth", true, "containers"),
      ("ve-box", "veth", true, "containers"), ("veth100i0", "veth", true, "containers"), ("tap0", "tun", false, nil),
      ("tap1", "tun", false, nil), ("vnet3", "tun", false, "guests"), ("tap12ab34cd-e1", "tun", false, "guests"),
      ("tap100i0", "tun", false, "guests"), ("vnet", "tun", false, nil), ("eth0", "", false, nil),
    ] as [(String, String, Bool, String?)])
  func crowds(name: String, kind: String, isElsewhere: Bool, group: String?) {
    var facts = LinkFacts()
    facts.name = LinkName(escaped: name)
    facts.infoKind = kind
    facts.lowerIsElsewhere = isElsewhere
    if kind == "tun" { facts.tunType = 2 }
    let found = designate(facts, rules: [], master: nil)
    #expect(found.group == group)
    let without = designate(facts, rules: [rule("own", .name, "*") { $0.group = "" }], master: nil)
    #expect(without.group == nil)
  }

  @Test("podman's short names are containers at podman's bridge alone")
  func podman() {
    var facts = LinkFacts()
    facts.name = LinkName(escaped: "veth0")
    facts.infoKind = "veth"
    facts.lowerIsElsewhere = true
    #expect(designate(facts, rules: [], master: LinkName(escaped: "podman0")).group == "containers")
    #expect(designate(facts, rules: [], master: LinkName(escaped: "br0")).group == nil)
  }

  @Test("a rule by the link above is asked again when that is renamed")
  mutating func masters() {
    daemon.rules = [rule("ports", .master, "lan") { $0.label = "lan" }]
    let bridge = kernel.create("br0", kind: "bridge")
    let port = kernel.create("p0", kind: "dummy")
    kernel.links[port]!.facts.master = bridge
    daemon.start(&kernel)
    kernel.push(port, rx: 10, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.rename(bridge, to: "lan")
    daemon.wake(&kernel)
    kernel.push(port, rx: 5, tx: 0)
    daemon.sample(&kernel, after: 60)
    let (before, after) = (total("dummy:p0", nil), total("dummy:p0", "lan"))
    #expect(before == 10 && after == 5)
  }
}
