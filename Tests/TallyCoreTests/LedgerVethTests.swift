// The two ends of a veth pair: the last bytes that one received are those that the other sent.

import Testing
import Toys

@testable import TallyCore

@Suite("Veth pairs")
struct LedgerVethTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    daemon.start(&kernel)
    kernel.createPair("va", "vb")
    daemon.wake(&kernel)
    kernel.push("va", rx: 1000, tx: 200)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
  }

  private func expectComplete(_ rx: UInt64, _ tx: UInt64) {
    #expect(daemon.total("va")?.rxBytes == rx && daemon.total("va")?.txBytes == tx)
    #expect(daemon.total("vb")?.rxBytes == tx && daemon.total("vb")?.txBytes == rx)
    #expect(daemon.total("vb")?.txPackets == daemon.total("va")?.rxPackets)
    #expect(!daemon.gaps.contains { $0.lossy })
  }

  @Test("both tails are booked, whichever end dies first", arguments: ["va", "vb"])
  mutating func tails(first: String) {
    kernel.push("va", rx: 30, tx: 4)
    kernel.delete(kernel.index(of: first)!)
    daemon.wake(&kernel)
    expectComplete(1030, 204)
  }

  @Test("also when the two deaths are read one after the other, around a sample")
  mutating func twoDrains() {
    kernel.push("va", rx: 30, tx: 4)
    kernel.delete(kernel.index(of: "va")!)
    let deaths = kernel.drain()
    daemon.ledger.apply([deaths[0]], at: kernel.now)
    daemon.sample(&kernel, after: 1)
    daemon.ledger.apply([deaths[1]], at: kernel.now)
    expectComplete(1030, 204)
  }

  @Test("a reading of an end that is going down, with nothing received, changes nothing")
  mutating func goingDown() {
    kernel.push("va", rx: 30, tx: 4)
    for name in ["va", "vb"] {
      let index = kernel.index(of: name)!
      kernel.odd[index] = LinkCounters(txBytes: kernel.links[index]!.counters.txBytes)
    }
    daemon.sample(&kernel, after: 1)
    kernel.delete(kernel.index(of: "va")!)
    daemon.wake(&kernel)
    expectComplete(1030, 204)
    #expect(daemon.record("va")?.totalIsAtLeast == false)
  }

  @Test("an end whose peer is elsewhere books what it sent, and says that it may have received more")
  mutating func peerElsewhere() {
    let index = kernel.create("vc", kind: "veth")
    kernel.links[index]!.facts.lower = 2
    kernel.links[index]!.facts.lowerIsElsewhere = true
    kernel.links[index]!.peer = 99
    kernel.touch(index)
    daemon.wake(&kernel)
    kernel.push(index, rx: 30, tx: 4)
    kernel.delete(index)
    daemon.wake(&kernel)
    #expect(daemon.total("vc") == Amounts(txBytes: 4, txPackets: 1))
    #expect(daemon.gaps("vc").map(\.reason) == [.peerTail])
    #expect(daemon.record("vc")?.totalIsAtLeast == true)
    #expect(daemon.record("va")?.totalIsAtLeast == false)
  }

  @Test("an end whose peer moved away no longer speaks for it")
  mutating func peerMovedAway() {
    let (a, b) = (kernel.index(of: "va")!, kernel.index(of: "vb")!)
    kernel.links[b]!.isHere = false
    kernel.post(
      .departed(
        ifindex: b, name: LinkName(escaped: "vb"), final: kernel.links[b]!.counters, movedOut: true))
    daemon.wake(&kernel)
    kernel.push(a, rx: 30, tx: 4)
    kernel.delete(a)
    daemon.wake(&kernel)
    #expect(daemon.total("va")?.rxBytes == 1000)
    #expect(daemon.total("va")?.txBytes == 204)
    #expect(daemon.total("vb")?.rxBytes == 200)
    #expect(daemon.gaps("va").map(\.reason) == [.peerTail])
    #expect(daemon.gaps("vb") == [])
  }

  @Test("an end whose peer's death is not told in time is labelled")
  mutating func peerUntold() {
    kernel.push("va", rx: 30, tx: 4)
    kernel.delete(kernel.index(of: "va")!)
    let deaths = kernel.drain()
    daemon.ledger.apply([deaths[0]], at: kernel.now)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("va")?.rxBytes == 1000)
    #expect(daemon.gaps("va").map(\.reason) == [.peerTail])
    #expect(daemon.record("va")?.totalIsAtLeast == true)
  }
}
