// Commits: what changed and nothing else, once; and what waits after a failure, in bounded memory.

import Testing
import Toys

@testable import TallyCore

private let moment = Moment(utc: 0, boot: 0, bootID: BootID(high: 1, low: 1))

@Suite("Commits")
struct CommitTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    for name in ["eth0", "eth1", "eth2"] { kernel.create(name, kind: "") }
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1000, tx: 100)
    daemon.sample(&kernel, after: 60)
    daemon.commit()
  }

  @Test("an idle machine has nothing to write")
  mutating func idle() {
    for _ in 0..<3 { daemon.sample(&kernel, after: 60) }
    #expect(!daemon.ledger.hasUncommitted)
    let commit = daemon.ledger.takeCommit(sequence: 9)
    #expect(commit?.at == kernel.now)
    #expect(commit?.rows == [] && commit?.links == [] && commit?.gaps == [] && commit?.incarnations == [])
  }

  @Test("only what changed is written: one row and one baseline of one busy link")
  mutating func onlyChanged() {
    kernel.push("eth1", rx: 5, tx: 6)
    daemon.sample(&kernel, after: 10)
    let commit = daemon.ledger.takeCommit(sequence: 9)
    #expect(commit?.links.map(\.name.escaped) == ["eth1"])
    #expect(commit?.rows.map(\.amounts) == [Amounts(rxBytes: 5, txBytes: 6, rxPackets: 1, txPackets: 1)])
    #expect(commit?.links.first?.baseline?.counters.rxBytes == 5)
    #expect(commit?.links.first?.total.rxBytes == 5)
  }

  @Test("taking twice gives nothing the second time")
  mutating func twice() {
    kernel.push("eth1", rx: 5, tx: 6)
    kernel.create("tun0", kind: "tun")
    daemon.sample(&kernel, after: 60)
    #expect(daemon.ledger.hasUncommitted)
    _ = daemon.ledger.takeCommit(sequence: 9)
    #expect(!daemon.ledger.hasUncommitted)
    let second = daemon.ledger.takeCommit(sequence: 10)
    #expect(second?.rows == [] && second?.links == [] && second?.incarnations == [])
  }

  @Test("a store that lost what it had is given every link again")
  mutating func markAll() {
    daemon.ledger.markAllChanged()
    let commit = daemon.ledger.takeCommit(sequence: 9)
    #expect(commit?.links.count == 3)
    #expect(commit?.links.allSatisfy { $0.baseline != nil } == true)
  }

  /// One step of a history, the same for whoever takes it.
  private mutating func step(_ number: Int) {
    kernel.push("eth1", rx: UInt64(number), tx: 1)
    if number == 1 { kernel.utc += 5 * Moment.second }
    if number == 2 { kernel.delete(kernel.index(of: "eth2")!) }
    if number == 3 { kernel.create("eth2", kind: "") }
    daemon.sample(&kernel, after: 20)
  }

  @Test("commits that failed, absorbed, hold what one commit would have held")
  mutating func absorbed() throws {
    var other = self
    var waiting: Commit?
    for number in 0..<5 {
      step(number)
      other.step(number)
      var commit = daemon.ledger.takeCommit(sequence: UInt64(number))
      if let earlier = waiting { commit?.absorb(earlier) }
      waiting = commit
    }
    let merged = try #require(waiting)
    let taken = other.daemon.ledger.takeCommit(sequence: 4)
    let one = try #require(taken)
    let links = merged.links.sorted { $0.id < $1.id }
    #expect(merged.sequence == one.sequence && merged.at == one.at)
    #expect(merged.rows.joined(slot: 60).sorted { $0.start < $1.start } == one.rows.joined(slot: 60))
    #expect(links.map(\.total) == one.links.map(\.total))
    #expect(links.map { $0.baseline?.counters } == one.links.map { $0.baseline?.counters })
    #expect(merged.incarnations == one.incarnations)
    #expect(merged.gaps == one.gaps && merged.clockSteps == one.clockSteps)
  }

  @Test("what waits is bounded: rows are joined, sums and labels stay, and what was moved says so")
  func compact() {
    var commit = Commit(sequence: 1, at: moment)
    let links: Int32 = 30
    let minutes: Int64 = 6000
    for minute in 0..<minutes {
      for link in 1...links {
        let flags: BucketFlags = link == 7 && minute == 2999 ? .atLeast : []
        commit.rows.append(
          BucketRow(
            tier: .minute, start: minute * 60, link: link, amounts: Amounts(rxBytes: 3, txPackets: 1), flags: flags))
      }
    }
    commit.compact()
    #expect(commit.rows.count <= Commit.rowBound)
    #expect(commit.rows.reduce(0) { $0 + $1.amounts.rxBytes } == 3 * UInt64(minutes) * UInt64(links))
    #expect(commit.rows.filter { $0.link == 7 }.count { $0.flags.contains(.atLeast) } == 1)
    #expect(commit.rows.allSatisfy { $0.placedRx == $0.amounts.rxBytes && $0.flags.contains(.acrossMinute) })
    #expect(commit.rows.allSatisfy { !$0.flags.contains(.acrossHour) })
  }

  @Test("rows that only repeat a minute are joined without being moved")
  func compactRepeats() {
    var commit = Commit(sequence: 1, at: moment)
    for _ in 0..<60_000 {
      commit.rows.append(BucketRow(tier: .minute, start: 60, link: 1, amounts: Amounts(rxBytes: 1)))
    }
    commit.compact()
    #expect(commit.rows == [BucketRow(tier: .minute, start: 60, link: 1, amounts: Amounts(rxBytes: 60_000))])
  }

  @Test("rows moved to the start of a UTC hour or day may be in another local one, and are labelled so")
  func compactAcross() {
    let rows = ([3600 * 5, 3600 * 5 + 1740] as [Int64]).map {
      BucketRow(tier: .minute, start: $0, link: 1, amounts: Amounts(rxBytes: 1))
    }
    let others: BucketFlags = [.acrossHour, .acrossDay, .acrossMonth]
    let hours = rows.joined(slot: 3600)
    #expect(hours.count == 1)
    #expect(hours[0].flags.isSuperset(of: others))
    #expect([rows[0]].joined(slot: 3600)[0].flags.isDisjoint(with: others))
    #expect(rows.joined(slot: 300).allSatisfy { $0.flags == BucketFlags.acrossMinute })
  }

  @Test("gaps beyond the bound become one that covers them and is lossy if one of them was")
  func compactGaps() {
    var commit = Commit(sequence: 1, at: moment)
    for n in 0..<12_000 as Range<Int64> {
      commit.gaps.append(Gap(link: 1, from: n, to: n + 1, reason: .peerTail, lossy: n == 5))
    }
    commit.compact()
    #expect(commit.gaps.count == 10_000)
    #expect(commit.gaps[0] == Gap(link: nil, from: 0, to: 2001, reason: .peerTail, lossy: true))
    #expect(!commit.gaps[1].lossy)
  }
}
