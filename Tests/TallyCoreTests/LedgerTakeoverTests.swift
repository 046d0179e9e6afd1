// A store that is opened while counting goes on: its past and the present become one history, each byte once.
import Testing
import Toys

@testable import TallyCore

@Suite("A store that is opened late")
struct LedgerTakeoverTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  /// A day on which the store was there, then a start without it.
  init() {
    kernel.create("eth0", kind: "")
    kernel.create("old0", kind: "tun")
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 100)
    kernel.push("old0", rx: 50, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.stop(&kernel)
    kernel.push("eth0", rx: 7, tx: 0)
    kernel.pass(600 * Moment.second)
    daemon.storeIsThere = false
    daemon.start(&kernel)
  }

  private mutating func comeAndGo(_ name: String, rx: UInt64) {
    let index = kernel.create(name, kind: "tun")
    kernel.push(name, rx: rx, tx: 0)
    kernel.delete(index)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
  }

  @Test("what a link that lives on carried before, in the absence and without the store adds up")
  mutating func livesOn() {
    #expect(daemon.total("eth0")?.rxBytes == 0)
    kernel.push("eth0", rx: 20, tx: 3)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    daemon.findStore(&kernel)
    #expect(daemon.takeovers == [.joined])
    #expect(daemon.total("eth0") == kernel.truth[0])
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
    #expect(daemon.record("eth0")?.resets == 0)
    #expect(daemon.record("eth0")?.id == 1)
    let stored = daemon.store.state?.links.first { $0.id == 1 }
    #expect(stored?.baseline?.counters.rxBytes == 1027)
    #expect(stored?.baseline?.birth == .firstSight)
    // The minute that was watched without the store keeps its own bytes; the absence is placed.
    let begun = (kernel.utc - 60 * Moment.second) / Moment.second / 60 * 60
    let earlier = daemon.rows("eth0").filter { $0.start < begun }.map(\.amounts.rxBytes).reduce(0, +)
    #expect((1000...1007).contains(earlier))
    let absences = daemon.gaps.filter { $0.reason == .notRunning }.map { $0.to - $0.from }
    #expect(absences == [600])
  }

  @Test("links that came and went without the store are put to their history, or begin one")
  mutating func cameAndWent() {
    kernel.delete(2)
    daemon.sample(&kernel, after: 1)
    comeAndGo("old0", rx: 400)
    comeAndGo("new0", rx: 30)
    comeAndGo("new0", rx: 3)
    daemon.findStore(&kernel)
    #expect(daemon.total("old0")?.rxBytes == 450)
    #expect(daemon.total("new0")?.rxBytes == 33)
    #expect(daemon.record("old0")?.id == 2)
    #expect(daemon.record("new0")?.id == 3)
    #expect(daemon.record("new0")?.resets == 1)
    let ids = Set(daemon.store.rows(.minute).map(\.link))
    #expect(ids == [1, 2, 3])
    let lives = daemon.incarnations.filter { $0.link == 2 }
    #expect(lives.count == 2)
    let areClosed = lives.allSatisfy { $0.closed != nil }
    #expect(areClosed)
  }

  @Test("what each life is told to have counted adds up to the total, on both sides of the opening")
  mutating func lives() {
    kernel.push("eth0", rx: 20, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.delete(2)
    daemon.sample(&kernel, after: 1)
    comeAndGo("old0", rx: 400)
    comeAndGo("new0", rx: 30)
    daemon.findStore(&kernel)
    comeAndGo("new0", rx: 4)
    kernel.push("eth0", rx: 3, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.delete(1)
    daemon.sample(&kernel, after: 1)
    daemon.commit()
    for name in ["eth0", "old0", "new0"] {
      let id = daemon.record(name)?.id
      let lives = daemon.incarnations.filter { $0.link == id }
      let counted = lives.compactMap(\.booked?.amounts?.rxBytes)
      #expect(counted.count == lives.count)
      let sum = counted.reduce(0, +)
      #expect(sum == daemon.total(name)?.rxBytes)
    }
  }

  @Test("a name that the store knows, of a link that was made without it, goes on in that history")
  mutating func sameName() {
    kernel.delete(2)
    daemon.crash(&kernel)
    daemon.start(&kernel)
    kernel.create("old0", kind: "tun")
    kernel.push("old0", rx: 5, tx: 0)
    daemon.sample(&kernel, after: 60)
    daemon.findStore(&kernel)
    #expect(daemon.ledger.records.count == 2)
    #expect(daemon.total("old0")?.rxBytes == 55)
    #expect(daemon.record("old0")?.resets == 1)
    #expect(daemon.record("old0")?.totalIsAtLeast == true)
  }

  @Test("what events tell while the links are listed is counted once")
  mutating func toldMeanwhile() {
    daemon.crash(&kernel)
    daemon.start(&kernel) { kernel in
      kernel.push("eth0", rx: 11, tx: 0)
      kernel.touch(1)
      kernel.push("old0", rx: 13, tx: 2)
      kernel.delete(2)
      let new = kernel.create("new0", kind: "tun")
      kernel.push("new0", rx: 5, tx: 0)
      kernel.delete(new)
    }
    daemon.sample(&kernel, after: 60)
    daemon.findStore(&kernel)
    #expect(daemon.takeovers == [.joined])
    for (name, truth) in zip(["eth0", "old0", "new0"], kernel.truth) { #expect(daemon.total(name) == truth) }
    #expect(daemon.record("old0")?.resets == 0)
    #expect(daemon.record("old0")?.baseline == nil)
    let lives = daemon.incarnations.filter { $0.link == 2 }.map { $0.closed == nil }
    #expect(lives == [false])
  }

  @Test("a link that died just before the links were listed is counted to its end")
  mutating func diedBeforeTheList() throws {
    kernel.push("old0", rx: 40, tx: 0)
    let final = kernel.listed(2).counters
    var ledger = Ledger(calendar: utcCalendar)
    let events = [LinkEvent.departed(ifindex: 2, name: LinkName(escaped: "old0"), final: final, movedOut: false)]
    ledger.apply([kernel.listed(1)], events: events, cause: .start, at: kernel.now)
    let stored = try #require(daemon.store.state)
    let taken = ledger.takeOver(stored, waiting: nil, committed: nil)
    #expect(taken.outcome == .joined)
    let slot = try #require(ledger.slot(id: 2))
    #expect(ledger.record(slot: slot).total == kernel.truth[1])
  }

  @Test("which of two lives a list shows has to be clear, else the ledger begins again from the store")
  mutating func unclearList() throws {
    let stored = try #require(daemon.store.state)
    let events = [
      LinkEvent.departed(ifindex: 2, name: LinkName(escaped: "old0"), final: nil, movedOut: false),
      LinkEvent.appeared(kernel.listed(2)),
    ]
    var ledger = Ledger(calendar: utcCalendar)
    ledger.apply([kernel.listed(1), kernel.listed(2)], events: events, cause: .start, at: kernel.now)
    let taken = ledger.takeOver(stored, waiting: nil, committed: nil)
    #expect(taken.outcome == .restarted)
  }

  @Test("a new store is given all that was counted")
  mutating func newStore() {
    daemon.store = ToyStore()
    kernel.push("eth0", rx: 20, tx: 3)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
    daemon.findStore(&kernel)
    #expect(daemon.takeovers == [.begunAnew])
    #expect(daemon.store.state?.links.count == 2)
    #expect(daemon.store.sums(.minute)[1]?.rxBytes == 20)
    #expect(daemon.gaps == [])
  }

  @Test("a new store in the place of one that was lost is given every link, and the lost time is said to be missing")
  mutating func lostStore() throws {
    daemon.findStore(&kernel)
    var ledger = daemon.ledger
    let new = StoredState(sequence: 0, lastMoment: nil, links: [], watermarks: .new(at: 0, calendar: utcCalendar))
    let taken = ledger.takeOver(new, waiting: nil, committed: kernel.now)
    #expect(taken.outcome == .begunAnew)
    let written = ledger.takeCommit(sequence: 1)
    let commit = try #require(written)
    #expect(commit.links.count == 2)
    let arePresent = commit.links.allSatisfy { $0.baseline != nil }
    #expect(arePresent)
    #expect(commit.gaps.map(\.reason) == [.historyLost])
  }

  @Test("a store that another daemon wrote meanwhile counts the same bytes: the ledger begins again from it")
  mutating func writtenMeanwhile() {
    var other = ToyDaemon()
    other.store = daemon.store
    var there = kernel
    other.start(&there)
    kernel.push("eth0", rx: 20, tx: 3)
    there.push("eth0", rx: 20, tx: 3)
    daemon.sample(&kernel, after: 60)
    there.pass(61 * Moment.second)
    other.stop(&there)
    daemon.store = other.store
    kernel.pass(100 * Moment.second)
    kernel.push("eth0", rx: 5, tx: 0)
    daemon.findStore(&kernel)
    #expect(daemon.takeovers == [.restarted])
    #expect(daemon.total("eth0") == kernel.truth[0])
  }

  @Test("a store that holds an earlier state of this ledger is written on, and what it lacks is said to be missing")
  mutating func earlierState() {
    var ledger = daemon.ledger
    let first = ledger.takeCommit(sequence: 1)
    let at = first?.at ?? kernel.now
    _ = ledger.takeOver(
      StoredState(sequence: 0, lastMoment: nil, links: [], watermarks: .new(at: 0, calendar: utcCalendar)),
      waiting: first, committed: nil)
    let links = ledger.takeCommit(sequence: 1)?.links ?? []
    let copy = StoredState(
      sequence: 1, lastMoment: at, links: links, watermarks: .new(at: 0, calendar: utcCalendar))
    var later = at
    later.utc += 600 * Moment.second
    later.boot += 600 * Moment.second
    let taken = ledger.takeOver(copy, waiting: nil, committed: later)
    #expect(taken.outcome == .continued)
    #expect(ledger.uncommittedGaps.map(\.reason) == [.historyLost])
    let lengths = ledger.uncommittedGaps.map { $0.to - $0.from }
    #expect(lengths == [601])

    var foreign = copy
    foreign.links[0].firstSeen -= 1
    let refused = ledger.takeOver(foreign, waiting: nil, committed: later)
    #expect(refused.outcome == .restarted)
  }

  @Test("a lost file makes the figures of its time at least so much, also of links that lived through it")
  func lostFile() {
    let gap = Gap(link: nil, from: 1000, to: 2000, reason: .historyLost, lossy: true)
    let life = Incarnation(
      link: 1, bootID: BootID(high: 1, low: 1), ifindex: 1, inode: 1, opened: 1000, birth: .firstSight)
    let quality = Quality(
      flags: [], placedBy: [], link: 1, firstSeen: 1000, watchedSince: 1000, from: 1500, to: 1600, gaps: [gap],
      incarnations: [life])
    #expect(quality.completeness == .atLeast)
    let after = Quality(
      flags: [], placedBy: [], link: 1, firstSeen: 1000, watchedSince: 1000, from: 2000, to: 2600, gaps: [gap],
      incarnations: [life])
    #expect(after.completeness == .complete)
  }
}
