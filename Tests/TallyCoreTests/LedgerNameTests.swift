// Links and their histories: renames, swaps, shared addresses, and events that know only half of a link.

import Testing
import Toys

@testable import TallyCore

@Suite("Links and their histories")
struct LedgerNameTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
  }

  @Test("a live rename is followed, and the name it left is free")
  mutating func rename() {
    kernel.push("eth0", rx: 100, tx: 0)
    kernel.rename(kernel.index(of: "eth0")!, to: "lan0")
    kernel.push("lan0", rx: 10, tx: 0)
    kernel.create("eth0", kind: "")
    kernel.push("eth0", rx: 1, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("lan0")?.rxBytes == 110)
    #expect(daemon.total("eth0")?.rxBytes == 1)
  }

  @Test("two links that swap names keep their histories")
  mutating func swap() {
    kernel.create("eth1", kind: "")
    daemon.wake(&kernel)
    let (zero, one) = (kernel.index(of: "eth0")!, kernel.index(of: "eth1")!)
    kernel.push(zero, rx: 100, tx: 0)
    kernel.push(one, rx: 20, tx: 0)
    kernel.rename(zero, to: "swap")
    kernel.rename(one, to: "eth0")
    kernel.rename(zero, to: "eth1")
    kernel.push(zero, rx: 5, tx: 0)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("eth1")?.rxBytes == 105)
    #expect(daemon.total("eth0")?.rxBytes == 20)
    #expect(daemon.ledger.records.count == 2)
  }

  @Test("a link renamed to a name with a history keeps its own, and the old one stays under its id")
  mutating func renameOnto() {
    kernel.create("lan0", kind: "")
    kernel.push("lan0", rx: 7, tx: 0)
    daemon.wake(&kernel)
    kernel.delete(kernel.index(of: "lan0")!)
    daemon.wake(&kernel)
    let old = daemon.record("lan0")!
    kernel.push("eth0", rx: 100, tx: 0)
    kernel.rename(kernel.index(of: "eth0")!, to: "lan0")
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("lan0")?.rxBytes == 100)
    #expect(daemon.totals[old.id]?.rxBytes == 7)
  }

  @Test("two links of one address keep their histories, whichever comes first after a boot")
  mutating func sharedAddress() {
    func face(_ name: String, _ index: UInt32) -> LinkEvent {
      var facts = LinkFacts()
      facts.name = LinkName(escaped: name)
      facts.ifindex = index
      facts.permanentAddress = [2, 0, 0, 0, 0, 9]
      return .appeared(ListedLink(facts: facts, counters: .zero))
    }
    daemon.ledger.apply([face("wlan0", 20), face("p2p0", 21)], at: kernel.now)
    let (radio, other) = (daemon.record("wlan0")?.id, daemon.record("p2p0")?.id)
    for index in [20, 21] as [UInt32] {
      daemon.ledger.apply(
        [.departed(ifindex: index, name: LinkName(bytes: []), final: .zero, movedOut: false)], at: kernel.now)
    }
    daemon.ledger.apply([face("p2p0", 30), face("wlan0", 31)], at: kernel.now)
    #expect(daemon.ledger.records.count == 3)
    #expect(daemon.record("wlan0")?.id == radio && daemon.record("p2p0")?.id == other)
  }

  @Test("an unplugged device keeps its kind, though its last events have no facts from sysfs")
  mutating func unplugged() {
    var facts = LinkFacts()
    facts.name = LinkName(escaped: "wlan0")
    facts.ifindex = 9
    facts.hardwareType = 1
    facts.inode = 77
    facts.devtype = "wlan"
    facts.hasDevice = true
    daemon.ledger.apply([.appeared(ListedLink(facts: facts, counters: .zero))], at: kernel.now)
    (facts.inode, facts.devtype, facts.hasDevice) = (0, "", false)
    daemon.ledger.apply(
      [
        .changed(ListedLink(facts: facts, counters: .zero)),
        .departed(ifindex: 9, name: facts.name, final: .zero, movedOut: false),
        .appeared(ListedLink(facts: facts, counters: .zero)),
        .departed(ifindex: 9, name: facts.name, final: .zero, movedOut: false),
      ], at: kernel.now)
    #expect(daemon.record("wlan0")?.kind == .wifi)
    let kept = daemon.slot("wlan0").flatMap { daemon.ledger.facts[$0] }
    #expect(kept.map(classify)?.touchesMedium == true)
  }
}
