// Lost link events: what the list finds is counted once, and whoever may have lost bytes unseen says so.

import Testing
import Toys

@testable import TallyCore

@Suite("Lost events")
struct LedgerOverrunTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.create("eth0", kind: "")
    kernel.create("tun0", kind: "tun")
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 0)
    kernel.push("tun0", rx: 1000, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.pass(10 * Moment.second)
  }

  private func isAtLeast(_ name: String) -> Bool? { daemon.record(name)?.totalIsAtLeast }

  @Test("a change that is told of another incarnation on the index, whose birth was lost, waits for the list")
  mutating func changeAfterALoss() {
    kernel.overrun = true
    let index = kernel.index(of: "tun0")!
    kernel.delete(index)
    kernel.create("tun0", kind: "tun", index: index)
    kernel.push(index, rx: 5000, tx: 0)
    // The queue was read empty, and takes events again before anybody has listed the links.
    kernel.overrun = false
    kernel.touch(index)
    daemon.ledger.apply(kernel.drain(), at: kernel.now)
    #expect(daemon.total("tun0")?.rxBytes == 1000)
    daemon.list(&kernel, cause: .overrun)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("tun0")?.rxBytes == 6000)
    #expect(isAtLeast("tun0") == true)
    #expect(isAtLeast("eth0") == false)
  }

  @Test("an absent link may have come and gone among lost events, and its total and its day say so")
  mutating func absent() {
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.sample(&kernel, after: 60)
    #expect(isAtLeast("tun0") == false)
    kernel.pass(10 * Moment.second)
    kernel.overrun = true
    kernel.create("tun0", kind: "tun")
    kernel.push("tun0", rx: 777, tx: 0)
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.sample(&kernel)
    #expect(daemon.total("tun0")?.rxBytes == 1000)
    #expect(isAtLeast("tun0") == true)
    let flags = daemon.slot("tun0").map { daemon.ledger.tallies[$0].todayFlags }
    #expect(flags?.contains(.atLeast) == true)
    let ofAll = daemon.gaps.filter { $0.link == nil }
    #expect(ofAll.map(\.reason) == [.eventOverrun])
    #expect(ofAll.first?.lossy == true)
    #expect(isAtLeast("eth0") == false)
  }

  @Test("a link that is first seen after lost events may have had a life among them, and has a gap of its own")
  mutating func unknown() {
    kernel.overrun = true
    kernel.create("tun7", kind: "tun")
    kernel.push("tun7", rx: 777, tx: 0)
    kernel.delete(kernel.index(of: "tun7")!)
    kernel.create("tun7", kind: "tun")
    kernel.push("tun7", rx: 50, tx: 0)
    daemon.sample(&kernel)
    #expect(daemon.total("tun7")?.rxBytes == 50)
    #expect(isAtLeast("tun7") == true)
    let reasons = daemon.gaps("tun7").map(\.reason)
    #expect(reasons == [.eventOverrun])
    #expect(isAtLeast("eth0") == false)
  }
}
