// Veths with one end in another namespace: the last bytes that the end here received are those that the other sent.

import Testing
import Toys

@testable import TallyCore

@Suite("Veth pairs across namespaces")
struct LedgerFarEndTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()
  var near: UInt32

  init() {
    kernel.hearsFarEnds = true
    daemon.start(&kernel)
    near = kernel.createFarPair("va", in: 0)
    daemon.wake(&kernel)
    kernel.push(near, rx: 1000, tx: 200)
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    kernel.push(near, rx: 30, tx: 4)
  }

  private var place: FarEnd { kernel.links[kernel.links[near]!.peer]!.place! }
  private let farFinal = LinkCounters(rxBytes: 0, txBytes: 1030, rxPackets: 0, txPackets: 2)

  private func expectComplete(rx: UInt64 = 1030) {
    #expect(daemon.total("va") == Amounts(rxBytes: rx, txBytes: 204, rxPackets: 2, txPackets: 2))
    let hasLoss = daemon.gaps.contains { $0.lossy }
    #expect(!hasLoss)
    #expect(daemon.record("va")?.totalIsAtLeast == false)
  }

  private func expectTailLost(rx: UInt64 = 1000) {
    #expect(daemon.total("va")?.rxBytes == rx && daemon.total("va")?.txBytes == 204)
    #expect(daemon.gaps("va").map(\.reason) == [.peerTail])
    #expect(daemon.record("va")?.totalIsAtLeast == true)
  }

  @Test("the tail is booked, whichever end is told of first", arguments: [false, true])
  mutating func tail(peerFirst: Bool) {
    kernel.delete(near, peerFirst: peerFirst)
    daemon.wake(&kernel)
    expectComplete()
  }

  @Test("also when the two are read one after the other, around a sample", arguments: [false, true])
  mutating func twoDrains(peerFirst: Bool) {
    kernel.delete(near, peerFirst: peerFirst)
    let deaths = kernel.drain()
    daemon.ledger.apply([deaths[0]], at: kernel.now)
    daemon.sample(&kernel, after: 1)
    daemon.ledger.apply([deaths[1]], at: kernel.now)
    expectComplete()
    #expect(daemon.ledger.farHalves.isEmpty && daemon.ledger.farEnds.isEmpty)
  }

  @Test("where far ends are not heard the loss is labelled at once")
  mutating func notHeard() {
    daemon.ledger.hearsFarEnds = false
    kernel.hearsFarEnds = false
    kernel.delete(near)
    daemon.wake(&kernel)
    expectTailLost()
  }

  @Test("a far end that is never told of is given up with the samples")
  mutating func untold() {
    kernel.hearsFarEnds = false
    kernel.delete(near)
    daemon.wake(&kernel)
    for _ in 0..<2 { daemon.sample(&kernel, after: 60) }
    expectTailLost()
    #expect(daemon.ledger.farHalves.isEmpty)
    daemon.ledger.apply(
      [.farEndDeparted(FarEnd(namespace: 0, ifindex: 1), final: farFinal, movedOut: false)], at: kernel.now)
    #expect(daemon.total("va")?.rxBytes == 1000)
  }

  @Test("another link of the same index, in another namespace or here, says nothing of it")
  mutating func otherLinks() {
    let many = LinkCounters(txBytes: 1 << 21, txPackets: 1)
    for end in [FarEnd(namespace: 1, ifindex: place.ifindex), FarEnd(namespace: 0, ifindex: place.ifindex + 1)] {
      kernel.postFar(end, final: many, movedOut: false)
    }
    daemon.wake(&kernel)
    kernel.delete(near)
    daemon.wake(&kernel)
    expectComplete()
  }

  @Test("a far end that moves on is followed", arguments: [false, true])
  mutating func movesOn(peerFirst: Bool) {
    let old = place
    kernel.moveEnd(kernel.links[near]!.peer, to: 1)
    // Who has its place now dies there.
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    daemon.wake(&kernel)
    kernel.delete(near, peerFirst: peerFirst)
    daemon.wake(&kernel)
    expectComplete()
  }

  @Test("and where its new place is not shown, nothing of the old one is taken for it")
  mutating func movesOnUnseen() {
    let old = place
    kernel.moveEnd(kernel.links[near]!.peer, to: 1, isShown: false)
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    kernel.delete(near)
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    daemon.wake(&kernel)
    expectTailLost()
  }

  @Test("a list that is older than the move does not bring the old place back")
  mutating func staleList() {
    let old = place
    daemon.list(&kernel, cause: .overrun) { [near] kernel in
      kernel.moveEnd(kernel.links[near]!.peer, to: 1, isShown: false)
    }
    let losses = daemon.gaps("va").count
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    kernel.delete(near)
    daemon.wake(&kernel)
    #expect(daemon.total("va")?.rxBytes == 1000)
    #expect(daemon.gaps("va").count == losses + 1)
  }

  @Test("an end that comes home makes an ordinary pair, and one that leaves makes one across")
  mutating func homeAndAway() {
    let far = kernel.links[near]!.peer
    kernel.bringHome(far)
    daemon.wake(&kernel)
    kernel.push(near, rx: 7, tx: 0)
    kernel.moveEnd(far, to: 2)
    daemon.wake(&kernel)
    kernel.push(near, rx: 0, tx: 0)
    kernel.bringHome(far)
    daemon.wake(&kernel)
    kernel.push(near, rx: 5, tx: 0)
    kernel.delete(near)
    daemon.wake(&kernel)
    #expect(daemon.total("va")?.rxBytes == 1042)
    #expect(daemon.record("va")?.totalIsAtLeast == false)
    let hasLoss = daemon.gaps.contains { $0.lossy }
    #expect(!hasLoss)
    #expect(daemon.total("far-of-\(near)")?.txBytes == 12)
  }

  @Test("with both ends elsewhere nothing is counted")
  mutating func bothAway() {
    kernel.moveEnd(near, to: 1)
    daemon.wake(&kernel)
    kernel.push(near, rx: 1 << 30, tx: 1 << 30)
    kernel.delete(near)
    daemon.wake(&kernel)
    #expect(daemon.total("va")?.txBytes == 204)
    #expect(daemon.total("va")?.rxBytes == 1030)
    #expect(daemon.ledger.farEnds.isEmpty && daemon.ledger.farHalves.isEmpty)
  }

  @Test(
    "when a namespace ends its veths are labelled, and a sample at that moment still sees what came",
    arguments: [false, true])
  mutating func namespaceEnds(isSampled: Bool) {
    var daemon = daemon
    let (hadEnds, hasNone) = (daemon.ledger.hasFarEnds(in: 0), !daemon.ledger.hasFarEnds(in: 1))
    #expect(hadEnds && hasNone)
    kernel.endNamespace(0) { kernel in
      daemon.wake(&kernel)
      if isSampled { daemon.sample(&kernel) }
    }
    daemon.wake(&kernel)
    self.daemon = daemon
    expectTailLost(rx: isSampled ? 1030 : 1000)
    #expect(daemon.ledger.farEnds.isEmpty)
  }

  @Test("the id of a namespace that ended may be another's: its links are not taken for those of the old one")
  mutating func reusedID() {
    let old = place
    kernel.post(.namespaceEnded(0))
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    kernel.die(near)
    kernel.postFar(old, final: LinkCounters(txBytes: 1 << 21), movedOut: false)
    daemon.wake(&kernel)
    expectTailLost()
  }

  @Test("more than can have passed is not believed of a far end")
  mutating func absurd() {
    kernel.die(near)
    kernel.postFar(FarEnd(namespace: 0, ifindex: 1), final: LinkCounters(txBytes: .max), movedOut: false)
    daemon.wake(&kernel)
    expectTailLost()
  }

  @Test("a storm of other namespaces' events leaves nothing behind")
  mutating func storm() {
    for index in 0..<10_000 as Range<UInt32> {
      let end = FarEnd(namespace: 7, ifindex: index)
      daemon.ledger.apply(
        [.farEndDeparted(end, final: farFinal, movedOut: index % 2 == 0), .namespaceEnded(8)], at: kernel.now)
    }
    #expect(daemon.ledger.farEnds.count == 1 && daemon.ledger.farHalves.isEmpty)
    kernel.delete(near)
    daemon.wake(&kernel)
    expectComplete()
  }
}
