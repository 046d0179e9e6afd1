// A machine that is suspended: its bytes are those of the time before, and nothing is missing.

import Testing
import Toys

@testable import TallyCore

private let hour: Int64 = 3600
private let day: Int64 = 86400

@Suite("Sleep in the ledger")
struct LedgerSleepTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.utc = (19676 * day + 12 * hour) * Moment.second
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
    sample()
  }

  private mutating func sample() {
    let now = kernel.now
    kernel.dump().withUnsafeBufferPointer { daemon.ledger.apply($0, width: .bits64, at: now) }
  }

  private mutating func sleep(_ seconds: Int64) { kernel.suspend(seconds * Moment.second) }

  private func bytes(_ rows: [BucketRow]) -> UInt64 { rows.reduce(0) { $0 + $1.amounts.rxBytes } }

  @Test("what passed before a sleep is put into the minutes before it, labelled, and no gap is told of")
  mutating func beforeSleep() {
    kernel.push("eth0", rx: 9000, tx: 0)
    kernel.pass(90 * Moment.second)
    sleep(8 * hour)
    sample()
    let rows = daemon.rows("eth0").filter { !$0.amounts.isZero }
    let starts = rows.map { $0.start - (19676 * day + 12 * hour) }
    #expect(starts == [0, 60])
    let bytes = rows.map(\.amounts.rxBytes)
    #expect(bytes == [6000, 3000])
    let isLabelled = rows.allSatisfy { $0.flags.contains(.acrossHour) && !$0.flags.contains(.atLeast) }
    #expect(isLabelled)
    let placed = rows.map(\.placedRx)
    #expect(placed == [6000, 3000])
    #expect(daemon.gaps.isEmpty)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
    #expect(daemon.ledger.clockStepCount == 0)
  }

  @Test("what passed after a sleep and before the next sample leaves no minute or hour that claims to be complete")
  mutating func lateLook() {
    kernel.pass(20 * Moment.second)
    sleep(8 * hour)
    kernel.pass(30 * Moment.second)
    kernel.push("eth0", rx: 9000, tx: 0)
    kernel.pass(50 * Moment.second)
    sample()
    let rows = daemon.rows("eth0")
    // It was awake for 100 s in all, the last of which began 20 s after the hour.
    let labelled = rows.filter { $0.flags.contains(.acrossHour) }.map { $0.start - (19676 * day + 12 * hour) }
    #expect(Set(labelled) == [0, 60, 8 * hour, 8 * hour + 60])
    let sum = bytes(rows)
    #expect(sum == 9000)
  }

  @Test("what a sample after a sleep did not settle is not spread over the sleep")
  mutating func unsettled() throws {
    let index = try #require(kernel.index(of: "eth0"))
    kernel.push(index, rx: 5000, tx: 0)
    sample()
    kernel.pass(20 * Moment.second)
    sleep(8 * hour)
    // Read as nothing for once: that waits for the next reading.
    kernel.odd[index] = .zero
    sample()
    kernel.push(index, rx: 9000, tx: 0)
    kernel.pass(30 * Moment.second)
    sample()
    let rows = daemon.rows("eth0")
    let starts = Set(rows.map { $0.start - (19676 * day + 12 * hour) })
    #expect(starts == [0, 8 * hour])
    let sum = bytes(rows)
    #expect(sum == 14000)
  }

  @Test("a look that fails after a sleep still tells when that was: what passes then is put after it")
  mutating func failedLook() {
    kernel.pass(20 * Moment.second)
    sleep(8 * hour)
    daemon.ledger.looked(at: kernel.now)
    kernel.push("eth0", rx: 9000, tx: 0)
    kernel.pass(30 * Moment.second)
    sleep(8 * hour)
    sample()
    let rows = daemon.rows("eth0").filter { !$0.amounts.isZero }
    let starts = rows.map { $0.start - (19676 * day + 12 * hour) }
    #expect(starts == [0, 8 * hour])
    let bytes = rows.map(\.amounts.rxBytes)
    #expect(bytes == [3600, 5400])
    let isLabelled = daemon.rows("eth0").allSatisfy { $0.flags.contains(.acrossHour) }
    #expect(isLabelled)
  }

  @Test("a sleep over midnight leaves the evening's bytes in their day")
  mutating func overMidnight() {
    kernel.pass((11 * hour + 59 * 60) * Moment.second)
    sample()
    kernel.push("eth0", rx: 500, tx: 0)
    kernel.pass(30 * Moment.second)
    sleep(7 * hour)
    sample()
    let rows = daemon.rows("eth0").filter { !$0.amounts.isZero }
    #expect(bytes(rows) == 500)
    let staysInDay = rows.allSatisfy { $0.start < 19677 * day && $0.flags.contains(.acrossDay) }
    #expect(staysInDay)
    let today = daemon.ledger.today(slot: 0).amounts.rxBytes
    #expect(today == 0)
    #expect(daemon.ledger.day.start == 19677 * day)
  }

  @Test("a sleep within a minute changes nothing")
  mutating func shortSleep() {
    kernel.push("eth0", rx: 500, tx: 0)
    kernel.pass(10 * Moment.second)
    sleep(30)
    kernel.pass(20 * Moment.second + 3_000_000)
    sample()
    let rows = daemon.rows("eth0").filter { !$0.amounts.isZero }
    let bytes = rows.map(\.amounts.rxBytes)
    #expect(bytes == [500])
    let isPlain = rows.allSatisfy { $0.flags.isEmpty }
    #expect(isPlain)
  }

  @Test("what passes after a sleep is put after it")
  mutating func afterSleep() {
    sleep(2 * hour)
    sample()
    kernel.push("eth0", rx: 700, tx: 0)
    kernel.pass(20 * Moment.second)
    sample()
    let rows = daemon.rows("eth0").filter { !$0.amounts.isZero }
    let starts = rows.map { $0.start - (19676 * day + 14 * hour) }
    #expect(starts == [0])
    let isPlain = rows.allSatisfy { $0.flags.isEmpty }
    #expect(isPlain)
  }

  @Test("a rate is over the time awake")
  mutating func rates() {
    let slot = daemon.slot("eth0")!
    kernel.push("eth0", rx: 6000, tx: 0)
    kernel.pass(30 * Moment.second)
    sleep(5 * hour)
    sample()
    #expect(daemon.ledger.rate(slot: slot)?.rx == 200)
    #expect(daemon.ledger.rate(slot: slot)?.seconds == 30)
  }

  @Test("where it is not known whether the machine slept, bytes are spread over the whole time")
  mutating func unknown() {
    let before = Moment(utc: 0, boot: 0, bootID: BootID(high: 1, low: 1), asleep: nil)
    var after = Moment(utc: 0, boot: 100 * Moment.second, bootID: BootID(high: 1, low: 1), asleep: 50 * Moment.second)
    #expect(after.slept(since: before) == 0)
    after.asleep = nil
    #expect(after.slept(since: before) == 0)
    let awake = Moment(utc: 0, boot: 0, bootID: BootID(high: 1, low: 1), asleep: 1_500_000)
    after.asleep = 0
    #expect(after.slept(since: awake) == 0)
    after.asleep = 900 * Moment.second
    let limited = after.slept(since: awake)
    #expect(limited == 100 * Moment.second)
    let another = Moment(utc: 0, boot: 0, bootID: BootID(high: 2, low: 2), asleep: 0)
    #expect(after.slept(since: another) == 0)
  }
}
