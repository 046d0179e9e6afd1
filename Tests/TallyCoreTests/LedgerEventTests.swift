// Link events: births, deaths with their last bytes, moves, names, and what a late dump or event may not do.

import Testing
import Toys

@testable import TallyCore

@Suite("Link events")
struct LedgerEventTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
  }

  private var isUnlabelled: Bool {
    !daemon.gaps.contains(where: \.lossy) && !daemon.ledger.records.contains(where: \.totalIsAtLeast)
  }

  @Test("a link that is born while we watch counts from zero")
  mutating func born() {
    kernel.create("tun0", kind: "tun")
    kernel.push("tun0", rx: 300, tx: 40)
    daemon.wake(&kernel)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0") == Amounts(rxBytes: 300, txBytes: 40, rxPackets: 1, txPackets: 1))
    #expect(isUnlabelled)
  }

  @Test("a link that moved in counts from its first reading, and one that comes back goes on with its total")
  mutating func movedIn() {
    let index = kernel.create("tun0", kind: "tun", base: LinkCounters(rxBytes: 5000, rxPackets: 5))
    kernel.push(index, rx: 300, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0")?.rxBytes == 300)
    kernel.moveOut(index)
    kernel.push(index, rx: 9_000_000, tx: 0)
    kernel.moveBack(index)
    kernel.push(index, rx: 7, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0")?.rxBytes == 307)
    #expect(daemon.ledger.records.count == 2)
    #expect(isUnlabelled)
  }

  @Test("a deletion right after a push books the tail, and its moment is not lost")
  mutating func tail() {
    let index = kernel.create("tun0", kind: "tun")
    daemon.sample(&kernel, after: 30)
    kernel.push(index, rx: 12345, tx: 678)
    kernel.pass(Moment.second)
    kernel.delete(index)
    daemon.wake(&kernel)
    #expect(daemon.total("tun0")?.rxBytes == 12345)
    #expect(daemon.total("tun0")?.txBytes == 678)
    #expect(daemon.record("tun0")?.baseline == nil)
    #expect(isUnlabelled)
  }

  @Test("twenty reconnects in an interval lose nothing and are one interface")
  mutating func reconnects() {
    for _ in 0..<20 {
      let index = kernel.create("ppp0", kind: "ppp")
      kernel.push(index, rx: 1000, tx: 10)
      kernel.delete(index)
    }
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("ppp0")?.rxBytes == 20_000)
    #expect(daemon.record("ppp0")?.resets == 19)
    #expect(isUnlabelled)
  }

  @Test(
    "a link made anew counts from zero, with fewer bytes or more, on the old index or another", arguments: [10, 9000])
  mutating func madeAnew(again: UInt64) {
    for index in [UInt32?(77), nil] {
      let name = "tun\(index ?? 0)"
      let first = kernel.create(name, kind: "tun", index: index)
      kernel.push(first, rx: 5000, tx: 0)
      daemon.sample(&kernel, after: 30)
      daemon.sample(&kernel, after: 30)
      kernel.delete(first)
      kernel.create(name, kind: "tun", index: index)
      kernel.push(name, rx: again, tx: 0)
      daemon.sample(&kernel, after: 60)
      daemon.sample(&kernel, after: 60)
      #expect(daemon.total(name)?.rxBytes == 5000 + again)
    }
    #expect(isUnlabelled)
  }

  @Test("a dump that was read before a deletion and a creation on the same index is of neither")
  mutating func staleDump() {
    kernel.create("tun0", kind: "tun", index: 50)
    kernel.push("tun0", rx: 5000, tx: 0)
    kernel.pass(60 * Moment.second)
    daemon.sample(&kernel) { kernel in
      kernel.push("tun0", rx: 70, tx: 0)
      kernel.delete(50)
      kernel.create("tun0", kind: "tun", index: 50)
      kernel.push("tun0", rx: 3, tx: 0)
    }
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0")?.rxBytes == 5073)
    #expect(isUnlabelled)
  }

  @Test("an event older than a dump, with lower counters, means nothing")
  mutating func lateEvent() {
    kernel.push("eth0", rx: 500, tx: 500)
    kernel.touch(kernel.index(of: "eth0")!)
    kernel.push("eth0", rx: 500, tx: 500)
    let late = kernel.drain()
    daemon.sample(&kernel, after: 60)
    daemon.ledger.apply(late, at: kernel.now)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("eth0")?.rxBytes == 1000)
    #expect(isUnlabelled)
  }

  @Test("dumps older than the events beside them are no resets, also of a young link, sample after sample")
  mutating func lateDumps() {
    kernel.create("tun0", kind: "tun")
    daemon.wake(&kernel)
    for _ in 0..<4 {
      kernel.pass(Moment.second)
      daemon.sample(&kernel) { kernel in
        kernel.push("tun0", rx: 1000, tx: 1000)
        kernel.touch(kernel.index(of: "tun0")!)
      }
    }
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0")?.rxBytes == 4000)
    #expect(daemon.record("tun0")?.resets == 0)
    #expect(isUnlabelled)
  }

  @Test("what passed before the first reading of a link is placed from its birth on")
  mutating func birthPlaced() {
    kernel.pass((60 - kernel.utc / Moment.second % 60 + 30) * Moment.second)
    daemon.sample(&kernel)
    kernel.create("tun0", kind: "tun")
    kernel.push("tun0", rx: 9000, tx: 0)
    daemon.sample(&kernel, after: 60)  // leaves its line out: the birth was in the queue
    daemon.sample(&kernel, after: 60)
    #expect(daemon.rows("tun0").count == 3)
    #expect(daemon.rows("tun0").allSatisfy { $0.flags.contains(.acrossMinute) })
    #expect(daemon.total("tun0")?.rxBytes == 9000)
  }
}
