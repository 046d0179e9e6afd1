// Time: steps of the clock, days and zones, and the running day's sums; no byte is lost or doubled by any of them.

import Testing
import Toys

@testable import TallyCore

private let hour: Int64 = 3600
private let day: Int64 = 86400

@Suite("Time in the ledger")
struct LedgerTimeTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.utc = (19676 * day + 12 * hour) * Moment.second
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
  }

  /// Traffic and a sample a minute later, and what the store has to agree with.
  private mutating func tick(_ rx: UInt64) {
    kernel.push("eth0", rx: rx, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
  }

  private func expectSums(_ total: UInt64, today: UInt64, sourceLocation: SourceLocation = #_sourceLocation) {
    let slot = daemon.slot("eth0")!
    #expect(daemon.total("eth0")?.rxBytes == total, sourceLocation: sourceLocation)
    #expect(daemon.rows("eth0").reduce(0) { $0 + $1.amounts.rxBytes } == total, sourceLocation: sourceLocation)
    #expect(daemon.ledger.today(slot: slot).amounts.rxBytes == today, sourceLocation: sourceLocation)
    #expect(daemon.ledger.todayIsKnown, sourceLocation: sourceLocation)
  }

  @Test("a clock set a day ahead, back an hour, to 1970 and back: every byte once, every step recorded")
  mutating func steps() {
    tick(1)
    kernel.utc += day * Moment.second
    tick(10)
    expectSums(11, today: 10)
    kernel.utc -= hour * Moment.second
    tick(100)
    expectSums(111, today: 110)
    let there = kernel.utc
    kernel.utc = 0
    tick(1000)
    expectSums(1111, today: 1000)
    kernel.utc = there
    tick(10_000)
    expectSums(11_111, today: 10_110)
    #expect(daemon.ledger.clockStepCount == 4)
    #expect(
      daemon.store.steps.map { $0.by / Moment.second } == [
        day, -hour, -(there / Moment.second), there / Moment.second - 60,
      ])
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
  }

  @Test("amounts go to the minutes of the clock as it stands now, as long before as they took")
  mutating func placedBackwards() {
    tick(1)
    kernel.push("eth0", rx: 600, tx: 0)
    kernel.utc -= 960 * Moment.second
    daemon.sample(&kernel, after: 60)
    let row = daemon.rows("eth0").last!
    #expect(row.start == floorDivide(kernel.utc / Moment.second, 60) * 60 - 60)
  }

  @Test("at midnight the running day begins anew, with what of the last minute is in it")
  mutating func rollover() {
    tick(5)
    kernel.pass((11 * hour + 58 * 60) * Moment.second)  // one minute before midnight
    daemon.sample(&kernel)
    kernel.push("eth0", rx: 120, tx: 0)
    kernel.pass(90 * Moment.second)
    daemon.sample(&kernel)
    #expect(daemon.ledger.day.start == 19677 * day)
    expectSums(125, today: 40)
  }

  @Test("a first day that ends while nothing was put ahead of it needs no store to know that the next is empty")
  mutating func nextDayIsEmpty() {
    tick(5)
    kernel.pass(12 * hour * Moment.second)
    kernel.dump().withUnsafeBufferPointer { daemon.ledger.apply($0, width: .bits64, at: kernel.now) }
    #expect(daemon.ledger.todayIsKnown)
  }

  @Test("a day that the clock was in before by mistake is not empty when it comes")
  mutating func dayAhead() {
    kernel.utc += day * Moment.second
    tick(7)
    kernel.utc -= day * Moment.second
    tick(30)
    kernel.pass(12 * hour * Moment.second)
    kernel.dump().withUnsafeBufferPointer { daemon.ledger.apply($0, width: .bits64, at: kernel.now) }
    #expect(!daemon.ledger.todayIsKnown)
    daemon.loadToday()
    expectSums(37, today: 7)
  }

  @Test("also when the mistake was made before a restart")
  mutating func dayAheadOfRestart() {
    kernel.utc += day * Moment.second
    tick(7)
    kernel.utc -= day * Moment.second
    tick(30)
    daemon.stop(&kernel)
    daemon.start(&kernel)
    kernel.pass(12 * hour * Moment.second)
    daemon.sample(&kernel)
    expectSums(37, today: 7)
  }

  @Test("another zone is another day, whose sums are asked for")
  mutating func zone() {
    tick(8)
    kernel.pass(8 * hour * Moment.second)
    daemon.sample(&kernel)
    tick(4)
    daemon.ledger.zoneChanged(zoneCalendar([(.min, 6 * hour)]))  // it is past midnight there
    #expect(!daemon.ledger.todayIsKnown)
    daemon.loadToday()
    expectSums(12, today: 4)
  }

  @Test("time asleep is time: what passed before and after is placed over all of it")
  mutating func suspend() {
    tick(1)
    kernel.push("eth0", rx: 7200, tx: 0)
    daemon.sample(&kernel, after: 2 * hour)
    expectSums(7201, today: 7201)
    #expect(daemon.ledger.clockStepCount == 0)
    let rows = daemon.rows("eth0").dropFirst()
    #expect(rows.count == 120)
    #expect(rows.allSatisfy { $0.flags.contains(.acrossHour) })
  }

  @Test("a slow drift and a moment's jitter are no steps")
  mutating func jitter() {
    for _ in 0..<5 {
      kernel.utc += Moment.second - 1
      tick(1)
    }
    #expect(daemon.ledger.clockStepCount == 0)
  }

  @Test("rates are those of the last whole second or more, and none before there is one")
  mutating func rates() {
    let slot = daemon.slot("eth0")!
    #expect(daemon.ledger.rate(slot: slot) == nil)
    kernel.push("eth0", rx: 6000, tx: 600)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.ledger.rate(slot: slot)?.rx == 100)
    kernel.push("eth0", rx: 50, tx: 0)
    kernel.pass(Moment.second / 2)
    daemon.sample(&kernel)
    #expect(daemon.ledger.rate(slot: slot)?.rx == 100)
    kernel.pass(Moment.second / 2)
    daemon.sample(&kernel)
    #expect(daemon.ledger.rate(slot: slot)?.rx == 50)
    #expect(daemon.ledger.rate(slot: slot)?.seconds == 1)
  }
}
