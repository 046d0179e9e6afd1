// Starting again: which lives go on from their baseline, and what is said of those that do not.

import Testing
import Toys

@testable import TallyCore

@Suite("Starting again")
struct LedgerResumeTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.create("eth0", kind: "")
    kernel.create("eth1", kind: "")
    kernel.push("eth0", rx: 5_000_000, tx: 0)
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 100)
    kernel.push("eth1", rx: 1, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
  }

  private var notRunning: [Gap] { daemon.gaps.filter { $0.reason == .notRunning && $0.link == nil } }

  @Test("the first start takes what is there as a baseline")
  func firstStart() {
    #expect(daemon.total("eth0")?.rxBytes == 1000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
    #expect(daemon.store.incarnations.allSatisfy { $0.birth == .firstSight && $0.closed == nil })
    #expect(daemon.gaps == [])
  }

  @Test("a store that was there but knows no link: what is present was born meanwhile and counts from zero")
  mutating func emptyStore() {
    var fresh = ToyKernel()
    daemon = ToyDaemon()
    daemon.start(&fresh)
    daemon.stop(&fresh)
    fresh.create("tun0", kind: "tun")
    fresh.push("tun0", rx: 4000, tx: 0)
    fresh.pass(60 * Moment.second)
    daemon.start(&fresh)
    #expect(daemon.total("tun0")?.rxBytes == 4000)
    #expect(daemon.store.incarnations.map(\.birth) == [.bornUnseen])
  }

  @Test("the same boot, index and inode: it goes on, and loses nothing between the last commit and a kill")
  mutating func resumes() {
    kernel.push("eth0", rx: 20, tx: 3)
    daemon.sample(&kernel, after: 10)
    daemon.crash(&kernel)
    kernel.push("eth0", rx: 7, tx: 0)
    kernel.pass(300 * Moment.second)
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 1027)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
    #expect(daemon.record("eth0")?.resets == 0)
    #expect(daemon.rows("eth0").suffix(2).allSatisfy { $0.flags.contains(.acrossMinute) })
    #expect(notRunning.map { $0.to - $0.from } == [310])
    #expect(daemon.store.incarnations.count == 2)
  }

  @Test("nothing passed while away: only the gap and the moment are written")
  mutating func idle() {
    daemon.stop(&kernel)
    let rows = daemon.rows("eth0").count
    kernel.pass(60 * Moment.second)
    daemon.start(&kernel)
    #expect(daemon.rows("eth0").count == rows)
    #expect(daemon.store.state?.lastMoment == kernel.now)
  }

  @Test("another inode on the index: the old one vanished, the new one was born unseen and counts from zero")
  mutating func otherInode() {
    daemon.crash(&kernel)
    let index = kernel.index(of: "eth0")!
    kernel.delete(index)
    kernel.create("eth0", kind: "", index: index)
    kernel.push("eth0", rx: 9_000_000, tx: 0)
    kernel.pass(60 * Moment.second)
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 9_001_000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
    #expect(daemon.gaps("eth0").map(\.reason) == [.vanished])
    let lives = daemon.store.incarnations.filter { $0.link == daemon.record("eth0")?.id }
    #expect(Set(lives.map(\.birth)) == [.firstSight, .bornUnseen])
    #expect(lives.first { $0.birth == .firstSight }?.death == .vanished)
  }

  @Test("made anew while away on another index: it is the same interface, not a second one of its name")
  mutating func madeAnew() {
    daemon.crash(&kernel)
    kernel.delete(kernel.index(of: "eth0")!)
    kernel.create("eth0", kind: "")
    kernel.push("eth0", rx: 50, tx: 0)
    daemon.start(&kernel)
    #expect(daemon.ledger.records.count == 2)
    #expect(daemon.total("eth0")?.rxBytes == 1050)
  }

  @Test("made anew between the join of the events and the list, it is the same interface as well")
  mutating func madeAnewAtStart() {
    daemon.crash(&kernel)
    kernel.delete(kernel.index(of: "eth0")!)
    daemon.ledger = Ledger(calendar: utcCalendar)
    daemon.ledger.restore(daemon.store.state!)
    kernel.listening = true
    daemon.list(&kernel, cause: .start) { $0.create("eth0", kind: "") }
    #expect(daemon.ledger.records.count == 2)
  }

  @Test("renamed or swapped while away: each history follows its link")
  mutating func renamed() {
    daemon.crash(&kernel)
    let (zero, one) = (kernel.index(of: "eth0")!, kernel.index(of: "eth1")!)
    kernel.rename(zero, to: "x")
    kernel.rename(one, to: "eth0")
    kernel.rename(zero, to: "eth1")
    kernel.push(zero, rx: 10, tx: 0)
    kernel.push(one, rx: 2, tx: 0)
    daemon.start(&kernel)
    #expect(daemon.total("eth1")?.rxBytes == 1010)
    #expect(daemon.total("eth0")?.rxBytes == 3)
    #expect(daemon.record("eth1")?.totalIsAtLeast == false)
    #expect(daemon.ledger.records.count == 2)
  }

  @Test("renamed while away where no inode is known: nothing is counted twice, and the doubt is labelled")
  mutating func renamedWithoutInodes() {
    for index in kernel.links.keys { kernel.links[index]!.facts.inode = 0 }
    var daemon = ToyDaemon()
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 0)
    daemon.stop(&kernel)
    kernel.rename(kernel.index(of: "eth0")!, to: "lan0")
    kernel.push("lan0", rx: 10, tx: 0)
    daemon.start(&kernel)
    #expect(daemon.total("lan0")?.rxBytes == 1010)
    #expect(daemon.record("lan0")?.totalIsAtLeast == true)
    #expect(daemon.record("eth1")?.totalIsAtLeast == false)
    #expect(daemon.ledger.records.count == 2)
  }

  // MARK: With a queue that was kept

  /// A crash after a commit, then these events, then a start a minute later.
  private mutating func startKept(after happening: (inout ToyKernel) -> Void) {
    daemon.keepsQueue = true
    daemon.crash(&kernel)
    happening(&kernel)
    kernel.pass(60 * Moment.second)
    daemon.start(&kernel)
  }

  /// Nothing says at_least: neither a total nor a gap.
  private var isWhole: Bool {
    !daemon.gaps.contains(where: \.lossy) && !daemon.ledger.records.contains(where: \.totalIsAtLeast)
  }

  @Test("deleted while away with the queue kept: its last bytes are counted, placed over the absence")
  mutating func keptDeparture() {
    startKept { kernel in
      kernel.push("eth0", rx: 70, tx: 0)
      kernel.delete(kernel.index(of: "eth0")!)
    }
    #expect(daemon.total("eth0")?.rxBytes == 1070)
    #expect(isWhole)
    #expect(notRunning.map { $0.to - $0.from } == [60])
    let late = daemon.rows("eth0").suffix(2)
    let bytes = late.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == 70)
    #expect(late.allSatisfy { $0.flags.contains(.acrossMinute) })
    let deaths = daemon.store.incarnations.compactMap(\.death)
    #expect(deaths == [.deleted])
  }

  @Test("made anew while away with the queue kept, on the same index: both lives count")
  mutating func keptMadeAnew() {
    startKept { kernel in
      let index = kernel.index(of: "eth0")!
      kernel.push("eth0", rx: 70, tx: 0)
      kernel.delete(index)
      kernel.create("eth0", kind: "", index: index)
      kernel.push("eth0", rx: 9, tx: 0)
    }
    #expect(daemon.total("eth0")?.rxBytes == 1079)
    #expect(daemon.record("eth0")?.resets == 1)
    #expect(daemon.ledger.records.count == 2)
    #expect(isWhole)
  }

  @Test("born and gone while away with the queue kept: it is known and counted")
  mutating func keptShortLife() {
    startKept { kernel in
      let index = kernel.create("tun0", kind: "tun")
      kernel.push("tun0", rx: 5, tx: 0)
      kernel.delete(index)
    }
    #expect(daemon.total("tun0")?.rxBytes == 5)
    #expect(isWhole)
  }

  @Test("renamed and then deleted while away with the queue kept: the history follows to the end")
  mutating func keptRename() {
    startKept { kernel in
      let index = kernel.index(of: "eth0")!
      kernel.rename(index, to: "wan0")
      kernel.push("wan0", rx: 70, tx: 0)
      kernel.delete(index)
    }
    #expect(daemon.total("wan0")?.rxBytes == 1070)
    #expect(daemon.record("eth0") == nil)
    #expect(isWhole)
  }

  @Test("a veth pair deleted while away with the queue kept: each end tells what the other received")
  mutating func keptPair() {
    kernel.createPair("va", "vb")
    daemon.sample(&kernel, after: 1)
    daemon.commit()
    startKept { kernel in
      kernel.push("va", rx: 70, tx: 5)
      kernel.delete(kernel.index(of: "va")!)
    }
    #expect(daemon.total("va")?.rxBytes == 70)
    #expect(daemon.total("vb")?.rxBytes == 5)
    #expect(isWhole)
  }

  @Test("moved in while away with the queue kept: what it counted elsewhere is not ours")
  mutating func keptMoveIn() {
    kernel.create("wg0", kind: "wireguard")
    kernel.push("wg0", rx: 10, tx: 0)
    daemon.sample(&kernel, after: 1)
    kernel.moveOut(kernel.index(of: "wg0")!)
    daemon.sample(&kernel, after: 1)
    daemon.commit()
    startKept { kernel in
      let index = kernel.links.values.first { !$0.isHere }!.facts.ifindex
      kernel.push(index, rx: 1_000_000, tx: 0)
      kernel.moveBack(index)
      kernel.push("wg0", rx: 3, tx: 0)
    }
    #expect(daemon.total("wg0")?.rxBytes == 13)
    #expect(isWhole)
  }

  @Test("events were read and not committed before the kill: the rest of the queue counts, and the gap says at_least")
  mutating func keptWithHole() {
    daemon.keepsQueue = true
    kernel.push("eth0", rx: 70, tx: 0)
    kernel.delete(kernel.index(of: "eth0")!)
    daemon.wake(&kernel)
    startKept { kernel in
      kernel.push("eth1", rx: 9, tx: 0)
      kernel.delete(kernel.index(of: "eth1")!)
    }
    #expect(daemon.total("eth0")?.rxBytes == 1000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
    #expect(daemon.total("eth1")?.rxBytes == 10)
    #expect(notRunning.map(\.lossy) == [true])
  }

  @Test("the kept queue overflowed: what it holds counts, and the gap says at_least")
  mutating func keptOverrun() {
    startKept { kernel in
      kernel.push("eth1", rx: 9, tx: 0)
      kernel.delete(kernel.index(of: "eth1")!)
      kernel.overrun = true
      kernel.delete(kernel.index(of: "eth0")!)
    }
    #expect(daemon.total("eth1")?.rxBytes == 10)
    #expect(daemon.gaps("eth0").map(\.reason) == [.vanished])
    #expect(notRunning.map(\.lossy) == [true])
  }

  @Test("a queue of this boot after a store of another: what came and went before the start is counted from zero")
  mutating func keptReboot() {
    daemon.keepsQueue = true
    daemon.crash(&kernel)
    kernel.reboot()
    kernel.listening = true
    let index = kernel.create("eth0", kind: "")
    kernel.push("eth0", rx: 300, tx: 0)
    kernel.delete(index)
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 1300)
    #expect(daemon.gaps("eth0").map(\.reason) == [.reboot])
  }

  @Test("a new boot counts from zero and is at_least, and its lives of before are closed")
  mutating func reboot() {
    daemon.crash(&kernel)
    kernel.reboot()
    kernel.create("eth0", kind: "")
    kernel.push("eth0", rx: 300, tx: 0)
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 1300)
    for name in ["eth0", "eth1"] {
      #expect(daemon.record(name)?.totalIsAtLeast == true)
      #expect(daemon.gaps(name).map(\.reason) == [.reboot])
    }
    #expect(daemon.record("eth1")?.baseline == nil)
    #expect(daemon.store.incarnations.count { $0.death == .reboot } == 2)
    // A second start in this boot has nothing more to say of the first.
    daemon.stop(&kernel)
    daemon.start(&kernel)
    #expect(daemon.gaps("eth1").count == 1)
    #expect(daemon.store.incarnations.count { $0.closed == nil } == 1)
  }

  @Test("the clock was set back while away: there is a gap all the same, a step, and nothing is lost")
  mutating func setBack() {
    daemon.crash(&kernel)
    kernel.push("eth0", rx: 10, tx: 0)
    kernel.pass(60 * Moment.second)
    kernel.utc -= 86400 * Moment.second
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 1010)
    #expect(notRunning.map { $0.to - $0.from } == [1])
    #expect(daemon.store.steps.map(\.by) == [-86400 * Moment.second])
  }

  @Test("without a boot id a boot clock that went back is another boot")
  mutating func unknownBoot() {
    kernel.bootID = BootID(high: 0, low: 0)
    daemon = ToyDaemon()
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 0)
    daemon.stop(&kernel)
    kernel.boot -= 50 * Moment.second
    kernel.links[kernel.index(of: "eth0")!]!.counters = LinkCounters(rxBytes: 70)
    daemon.start(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == 1070)
    #expect(daemon.gaps("eth0").map(\.reason) == [.reboot])
  }

  @Test("without a boot id one that went on is the same, and labelled unless the boot began at the same time")
  mutating func doubtfulBoot() {
    kernel.bootID = BootID(high: 0, low: 0)
    daemon = ToyDaemon()
    daemon.start(&kernel)
    daemon.stop(&kernel)
    kernel.pass(60 * Moment.second)
    daemon.start(&kernel)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
    daemon.stop(&kernel)
    kernel.utc += 500 * Moment.second
    daemon.start(&kernel)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
  }

  @Test("the baseline is the last thing that was seen, at the moment of the commit")
  mutating func baselineMoment() {
    kernel.push("eth0", rx: 5, tx: 0)
    daemon.sample(&kernel, after: 10)
    kernel.pass(3 * Moment.second)
    kernel.create("tun0", kind: "tun")
    daemon.wake(&kernel)
    daemon.commit()
    let baseline = daemon.store.state?.links.first { $0.name.escaped == "eth0" }?.baseline
    #expect(baseline?.counters.rxBytes == 5_001_005)
    #expect(baseline?.at == kernel.now)
    #expect(daemon.store.state?.lastMoment == kernel.now)
  }

  @Test("a stored state full of absurd values starts all the same", arguments: 0..<8)
  func hostileStore(seed: UInt64) {
    var dice = Seeded(seed)
    let edges: [UInt64] = [0, 1, 1 << 62, 1 << 63, .max]
    func roll() -> UInt64 { edges.randomElement(using: &dice)! }
    func signed() -> Int64 { Int64(bitPattern: roll()) }
    for _ in 0..<100 {
      var state = daemon.store.state!
      let moment = Moment(utc: signed(), boot: signed(), bootID: kernel.bootID)
      state.lastMoment = moment
      state.watermarks = Watermarks(fiveMinutes: signed(), hour: signed(), day: signed())
      for index in state.links.indices {
        state.links[index].total = Amounts(rxBytes: roll(), txBytes: roll(), rxPackets: roll())
        state.links[index].firstSeen = signed()
        state.links[index].baseline = Baseline(
          at: moment, ifindex: UInt32(index + 1), inode: roll(),
          counters: LinkCounters(rxBytes: roll(), txBytes: roll()), opened: signed(), birth: .born)
      }
      var ledger = Ledger(calendar: utcCalendar)
      ledger.restore(state)
      ledger.apply(kernel.present.map(kernel.listed), events: [], cause: .start, at: kernel.now)
      var kernel = kernel
      kernel.dump().withUnsafeBufferPointer { ledger.apply($0, width: .bits64, at: kernel.now) }
      #expect(ledger.takeCommit(sequence: 1) != nil)
    }
  }
}
