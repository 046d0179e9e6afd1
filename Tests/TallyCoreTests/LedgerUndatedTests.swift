// A board without a clock of its own: what is counted before its clock is set gets the date that the boot clock tells.

import Testing
import Toys

@testable import TallyCore

private let day: Int64 = 86400

@Suite("A clock that is not set yet")
struct LedgerUndatedTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()
  /// The true time, on a second that is within a minute.
  let noon: Int64 = 19676 * day + 12 * 3600 + 17

  /// A daemon that counted for a minute at noon, and a reboot an hour later into a clock that shows 40 s after 1970.
  private mutating func reboot() {
    kernel.utc = (noon - 60) * Moment.second
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.stop(&kernel)
    kernel.reboot()
    kernel.boot = 40 * Moment.second
    kernel.utc = 40 * Moment.second
    kernel.create("eth0", kind: "")
    start()
  }

  /// As the daemon does, but without a commit.
  private mutating func start() {
    daemon.ledger = Ledger(calendar: utcCalendar)
    if let stored = daemon.store.state { daemon.ledger.restore(stored) }
    kernel.listening = true
    daemon.isRunning = true
    daemon.list(&kernel, cause: .start)
    daemon.sample(&kernel)
  }

  private mutating func setClock(_ second: Int64) { kernel.utc = second * Moment.second }

  /// UTC seconds of the minutes that hold bytes, and these.
  private func minutes(_ name: String) -> [Int64: UInt64] {
    daemon.rows(name).filter { !$0.amounts.isZero }.reduce(into: [:]) { $0[$1.start, default: 0] += $1.amounts.rxBytes }
  }

  @Test("what was counted before the clock was set is put into the minutes in which it passed")
  mutating func dated() {
    reboot()
    #expect(daemon.ledger.isUndated)
    kernel.push("eth0", rx: 600, tx: 0)
    daemon.sample(&kernel, after: 20)  // 1970-01-01 00:01:00
    kernel.create("tun0", kind: "tun")
    daemon.wake(&kernel)
    kernel.push("eth0", rx: 6000, tx: 0)
    kernel.push("tun0", rx: 50, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.wake(&kernel)
    let born = noon + 3600 + 20
    setClock(noon + 3600 + 80)
    daemon.sample(&kernel)
    #expect(!daemon.ledger.isUndated)
    daemon.commit()

    let total = daemon.total("eth0")?.rxBytes
    #expect(total == 7600)
    let found = minutes("eth0")
    #expect(found.values.reduce(0, +) == 7600)
    let early = found.keys.filter { $0 < noon - 120 }
    #expect(early.isEmpty)
    // The first minute of 1970 began 40 s before the start, and is now one that lies across two.
    let boundary = (noon + 3600 + 20) / 60 * 60
    let before = found.filter { $0.key > noon && $0.key <= boundary }.values.reduce(0, +)
    let after = found.filter { $0.key > boundary }.values.reduce(0, +)
    #expect(before + after == 6600)
    #expect(before > 600 && after > 600)
    let moved = daemon.rows("eth0").filter { $0.start > noon && !$0.amounts.isZero }
    let isLabelled = moved.allSatisfy { $0.flags.contains(.acrossMinute) && $0.placedRx == $0.amounts.rxBytes }
    #expect(isLabelled)
    #expect(daemon.record("tun0")?.firstSeen == born)
    let lives = daemon.incarnations.filter { $0.opened < noon - 120 }
    #expect(lives.isEmpty)
    let tun = daemon.incarnations.first { $0.link == daemon.record("tun0")?.id }
    #expect(tun?.opened == born)
    #expect(tun?.closed == born + 60)
    let today = daemon.ledger.today(slot: daemon.slot("eth0")!).amounts.rxBytes
    #expect(today == 7600)
    #expect(daemon.ledger.clockStepCount == 1)
  }

  @Test("the time that the machine was off ends where this boot began, on the clock that is right")
  mutating func gap() {
    reboot()
    daemon.sample(&kernel, after: 60)
    setClock(noon + 3600 + 60)
    daemon.sample(&kernel)
    let off = daemon.gaps.filter { $0.reason == .reboot && $0.link == nil }
    #expect(off == [Gap(link: nil, from: noon, to: noon + 3600, reason: .reboot, lossy: true)])
  }

  @Test("what is stored already keeps its date")
  mutating func committed() {
    reboot()
    kernel.push("eth0", rx: 600, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    #expect(!daemon.ledger.isUndated)
    kernel.push("eth0", rx: 50, tx: 0)
    setClock(noon + 3600)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    let found = minutes("eth0")
    let in1970 = found.filter { $0.key < 120 }.values.reduce(0, +)
    #expect(in1970 == 600)
    #expect(found.values.reduce(0, +) == 1650)
    #expect(daemon.total("eth0")?.rxBytes == 1650)
  }

  @Test("a crash while it waits loses nothing of a link that lives on")
  mutating func crash() {
    reboot()
    kernel.push("eth0", rx: 600, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.crash(&kernel)
    start()
    #expect(daemon.ledger.isUndated)
    kernel.push("eth0", rx: 50, tx: 0)
    setClock(noon + 3600)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    #expect(daemon.total("eth0")?.rxBytes == 1650)
    let late = minutes("eth0").filter { $0.key > noon }.values.reduce(0, +)
    #expect(late == 650)
  }

  @Test("the very first start under a clock of 1970 begins when the clock says so later")
  mutating func firstStart() {
    kernel.utc = 40 * Moment.second
    kernel.create("eth0", kind: "")
    start()
    #expect(daemon.ledger.isUndated)
    kernel.push("eth0", rx: 600, tx: 0)
    daemon.sample(&kernel, after: 60)
    setClock(noon)
    daemon.sample(&kernel)
    daemon.commit()
    #expect(daemon.ledger.watchedSince == noon - 60)
    let isRecent = minutes("eth0").keys.allSatisfy { $0 > noon - 180 }
    #expect(isRecent)
    #expect(daemon.total("eth0")?.rxBytes == 600)
  }

  @Test("a clock that is behind by little and goes on until it is not is taken for right")
  mutating func catchesUp() {
    kernel.utc = (noon + 30) * Moment.second
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
    daemon.stop(&kernel)
    kernel.reboot()
    setClock(noon)
    kernel.create("eth0", kind: "")
    start()
    #expect(daemon.ledger.isUndated)
    daemon.sample(&kernel, after: 60)
    #expect(!daemon.ledger.isUndated)
  }

  @Test("a clock that is set back while nobody runs, within a boot, is as right as any")
  mutating func sameBoot() {
    kernel.utc = noon * Moment.second
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
    daemon.stop(&kernel)
    setClock(noon - 3600)
    daemon.start(&kernel)
    #expect(!daemon.ledger.isUndated)
  }
}
