// Devices: the records of one link under several labels, which a name means together, and what they are not.
import Testing
import Toys

@testable import TallyCore

private func labelled(_ label: String?) -> LinkRule {
  var rule = LinkRule(name: label ?? "none")
  rule.match[.name] = LinkRule.Patterns(globs: [Glob("*")])
  rule.set.label = label
  return rule
}

@Suite("Devices")
struct DeviceTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  private mutating func push(_ name: String, _ bytes: UInt64) {
    kernel.push(name, rx: bytes, tx: 0)
    daemon.sample(&kernel, after: 60)
  }

  /// What a name means: the labels and what they counted, the first the one that goes on.
  private func told(_ name: String) -> [String] {
    let ledger = daemon.ledger
    guard let slot = daemon.slot(name).map(ledger.root(of:)) else { return [] }
    return (ledger.devices[slot] ?? [slot]).map { slot in
      let record = ledger.sum(ledger.parts(of: slot))
      return "\(record.label ?? "-") \(record.total.rxBytes)"
    }
  }

  private mutating func make(_ request: ChangeRequest) { daemon.change(request, fate: .isMade, &kernel) }

  private mutating func throughLabels() {
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    push("tun0", 100)
    daemon.reload([labelled("cafe")], &kernel)
    push("tun0", 30)
    daemon.reload([labelled("home")], &kernel)
    push("tun0", 7)
  }

  @Test("a name means the records of all labels, of which the one that is there comes first, also after an absence")
  mutating func labels() {
    throughLabels()
    #expect(told("tun0") == ["home 7", "cafe 30", "- 100"])
    daemon.reload([labelled("cafe")], &kernel)
    push("tun0", 1)
    #expect(told("tun0") == ["cafe 31", "home 7", "- 100"])
    daemon.commit()
    daemon.crash(&kernel)
    kernel.push("tun0", rx: 2, tx: 0)
    daemon.start(&kernel)
    #expect(told("tun0") == ["cafe 33", "home 7", "- 100"])
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.wake(&kernel)
    #expect(told("tun0") == ["home 7", "cafe 33", "- 100"])
  }

  @Test("what lived through an absence missed nothing under its other labels, else something may have been missed")
  mutating func marks() {
    throughLabels()
    daemon.commit()
    daemon.crash(&kernel)
    daemon.start(&kernel)
    let marks = daemon.ledger.shownSlots.map { daemon.ledger.records[$0].totalIsAtLeast }
    #expect(marks == [false, false, false])
    let today = daemon.ledger.shownSlots.map { daemon.ledger.today(slot: $0).flags.contains(.atLeast) }
    #expect(today == [false, false, false])
    daemon.crash(&kernel)
    kernel.delete(kernel.index(of: "tun0")!)
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    let later = daemon.ledger.shownSlots.map { daemon.ledger.records[$0].totalIsAtLeast }
    #expect(later == [true, true, true])
  }

  @Test("a live rename takes along what was counted under other labels, and the name it left is free")
  mutating func renamed() {
    throughLabels()
    kernel.rename(kernel.index(of: "tun0")!, to: "vpn0")
    daemon.wake(&kernel)
    push("vpn0", 1)
    #expect(told("vpn0") == ["home 8", "cafe 30", "- 100"])
    #expect(told("tun0").isEmpty)
    kernel.create("tun0", kind: "tun")
    daemon.wake(&kernel)
    push("tun0", 5)
    daemon.stop(&kernel)
    daemon.start(&kernel)
    #expect(told("tun0") == ["home 5"])
    #expect(told("vpn0") == ["home 8", "cafe 30", "- 100"])
    daemon.reload([labelled("cafe")], &kernel)
    push("vpn0", 2)
    push("tun0", 3)
    #expect(told("tun0") == ["cafe 3", "home 5"])
    #expect(told("vpn0") == ["cafe 32", "home 8", "- 100"])
  }

  @Test("a device that took a name with a history is another one than that")
  mutating func sameName() {
    kernel.create("old", kind: "tun")
    kernel.create("new", kind: "tun")
    daemon.start(&kernel)
    push("old", 1000)
    daemon.reload([labelled("cafe")], &kernel)
    push("old", 200)
    push("new", 5)
    kernel.delete(kernel.index(of: "old")!)
    kernel.rename(kernel.index(of: "new")!, to: "old")
    daemon.wake(&kernel)
    push("old", 1)
    #expect(told("old") == ["cafe 6", "- 0"])
  }

  @Test("what a name means after a rename onto a history is the same after a restart")
  mutating func renamedOntoHistory() {
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    push("tun0", 1)
    daemon.reload([labelled("cafe")], &kernel)
    push("tun0", 20)
    kernel.create("vpn0", kind: "tun")
    daemon.wake(&kernel)
    push("vpn0", 300)
    kernel.delete(kernel.index(of: "vpn0")!)
    daemon.reload([], &kernel)
    kernel.rename(kernel.index(of: "tun0")!, to: "vpn0")
    daemon.wake(&kernel)
    push("vpn0", 4000)
    let before = told("vpn0")
    daemon.stop(&kernel)
    daemon.start(&kernel)
    #expect(told("vpn0") == before)
    let all = daemon.ledger.shown.map { daemon.ledger.record(slot: $0).total.rxBytes }.sorted()
    #expect(all == [20, 300, 4001])
  }

  @Test("two links of one address that are there at once are two devices, under whatever labels")
  mutating func sharedAddress() {
    for name in ["wlan0", "p2p0"] {
      let index = kernel.create(name, kind: "")
      kernel.links[index]!.facts.permanentAddress = [2, 0, 0, 0, 0, 9]
    }
    daemon.start(&kernel)
    push("wlan0", 100)
    push("p2p0", 20)
    daemon.reload([labelled("cafe")], &kernel)
    push("wlan0", 3)
    push("p2p0", 4)
    #expect(told("wlan0") == ["cafe 3", "- 100"])
    #expect(told("p2p0") == ["cafe 4", "- 20"])
    var own = labelled("home")
    own.match[.name] = LinkRule.Patterns(globs: [Glob("p2p0")])
    daemon.reload([own], &kernel)
    push("wlan0", 1000)
    push("p2p0", 2000)
    #expect(told("wlan0") == ["- 1100", "cafe 3"])
    #expect(told("p2p0") == ["home 2000", "cafe 4", "- 20"])
    // It goes by its name when the other one is gone, too, and comes first after that.
    kernel.delete(kernel.index(of: "wlan0")!)
    daemon.reload([labelled("office")], &kernel)
    push("p2p0", 1)
    #expect(told("p2p0") == ["office 1", "home 2000", "cafe 4", "- 20"])
    kernel.delete(kernel.index(of: "p2p0")!)
    daemon.wake(&kernel)
    daemon.rules = [labelled("other")]
    daemon.ledger.apply([labelled("other")], at: kernel.now)
    let index = kernel.create("p2p0", kind: "")
    kernel.links[index]!.facts.permanentAddress = [2, 0, 0, 0, 0, 9]
    kernel.queue = []
    kernel.post(.appeared(kernel.listed(index)))
    daemon.wake(&kernel)
    #expect(told("p2p0") == ["other 0", "office 1", "home 2000", "cafe 4", "- 20"])
    #expect(told("wlan0") == ["cafe 3", "- 1100"])
  }

  @Test("a store in which two present links have one key does not add them up")
  mutating func sharedKey() {
    throughLabels()
    kernel.create("tun1", kind: "tun")
    daemon.wake(&kernel)
    let other = daemon.slot("tun1")!
    daemon.ledger.records[other].key = "tun:tun0"
    daemon.ledger.records[other].label = "office"
    daemon.ledger.slots[daemon.ledger.records[other].identity] = other
    #expect(daemon.ledger.devices.isEmpty)
  }

  @Test("a title is the device's, whichever record bears it, and a label that comes later has it too")
  mutating func titles() {
    throughLabels()
    let cafe = daemon.ledger.shown.first { daemon.ledger.records[$0].label == "cafe" } ?? -1
    make(.rename(cafe, title: "Phone"))
    make(.rename(daemon.slot("tun0")!, title: "Tether"))
    daemon.reload([labelled("office")], &kernel)
    push("tun0", 1)
    let titles = daemon.ledger.titles(daemon.ledger.devices)
    let all = daemon.ledger.shown.map { titles[$0] }
    #expect(all == ["Tether", "Tether", "Tether", "Tether"])
    for change: Int64 in [2, 1] { make(.undo(change)) }
    let none = daemon.ledger.titles(daemon.ledger.devices)
    #expect(none.isEmpty)
  }

  @Test(
    "a device is forgotten with all its labels by one change, whose undoing brings all of it back",
    arguments: [false, true])
  mutating func forgotten(isCut: Bool) {
    throughLabels()
    let device = daemon.ledger.devices[daemon.slot("tun0")!] ?? []
    daemon.change(.forget(device[0], with: Array(device[1...])), fate: isCut ? .isCut : .isMade, &kernel)
    #expect(told("tun0") == ["home 0"])
    push("tun0", 2)
    daemon.crash(&kernel)
    daemon.start(&kernel)
    #expect(told("tun0") == ["home 2"])
    let ledger = daemon.ledger
    let hidden = ledger.shownSlots.filter(ledger.isHidden).reduce(0) { $0 + ledger.record(slot: $1).total.rxBytes }
    #expect(hidden == 137)
    make(.undo(1))
    // The record that took the place of the last label bears its name.
    #expect(told("tun0") == ["home 2", "cafe 30", "- 100"])
    let all = daemon.ledger.shown.map { daemon.ledger.record(slot: $0).total.rxBytes }.sorted()
    #expect(all == [2, 7, 30, 100])
  }

  @Test("what is merged into one of its records is the device's, and a record that is shown with another is not")
  mutating func merged() {
    throughLabels()
    for name in ["old", "other"] {
      kernel.create(name, kind: "tun")
      daemon.wake(&kernel)
      push(name, 1000)
      kernel.delete(kernel.index(of: name)!)
      daemon.wake(&kernel)
    }
    let device = daemon.ledger.devices[daemon.slot("tun0")!] ?? []
    make(.merge(daemon.slot("old")!, into: device[1]))
    #expect(told("tun0") == ["home 7", "cafe 1030", "- 100"])
    #expect(told("old") == ["home 7", "cafe 1030", "- 100"])
    make(.merge(device[2], into: daemon.slot("other")!))
    #expect(told("tun0") == ["home 7", "cafe 1030"])
    #expect(told("other") == ["home 1100"])
  }

  @Test("what a device counted under other labels does not expire while it is here, and all of it does when it is gone")
  mutating func expiry() {
    throughLabels()
    let year = 366 * 86400 * Moment.second
    func expire(_ daemon: inout ToyDaemon, _ kernel: inout ToyKernel) {
      kernel.pass(2 * year)
      daemon.sample(&kernel, after: 10)
      let bound = kernel.now.utcSeconds - year / Moment.second
      daemon.ledger.expire(before: bound, early: bound)
      daemon.commit()
    }
    daemon.commit()
    daemon.crash(&kernel)
    daemon.start(&kernel)
    expire(&daemon, &kernel)
    #expect(told("tun0") == ["home 7", "cafe 30", "- 100"])
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.wake(&kernel)
    expire(&daemon, &kernel)
    #expect(told("tun0").isEmpty)
    let groups = told("expired-tunnel").sorted()
    #expect(groups == ["- 100", "cafe 30", "home 7"])
  }

  @Test("a group under two labels is one, though links of both are there")
  mutating func group() {
    var (one, two) = (labelled("a"), labelled("b"))
    one.match[.name] = LinkRule.Patterns(globs: [Glob("a*")])
    (one.set.group, two.set.group) = ("pool", "pool")
    daemon.rules = [one, two]
    daemon.start(&kernel)
    for name in ["a1", "b1"] { kernel.create(name, kind: "tun") }
    daemon.wake(&kernel)
    push("a1", 10)
    push("b1", 5)
    let pool = told("pool").sorted()
    #expect(pool == ["a 10", "b 5"])
  }
}
