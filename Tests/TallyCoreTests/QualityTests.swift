// The labels of a figure: completeness, coverage, resets and gaps of its span.

import Testing
import Toys

@testable import TallyCore

private let boot = BootID(high: 1, low: 1)

private func life(_ opened: Int64, _ closed: Int64? = nil, link: LinkID = 1) -> Incarnation {
  Incarnation(link: link, bootID: boot, ifindex: 2, inode: 3, opened: opened, birth: .born, closed: closed)
}

private func gap(_ from: Int64, _ to: Int64, link: LinkID? = nil, reason: GapReason = .notRunning) -> Gap {
  Gap(link: link, from: from, to: to, reason: reason, lossy: true)
}

/// Of link 1 over [100, 200), first seen at 50.
private func quality(
  _ flags: BucketFlags = [], placedBy: BucketFlags = .acrossHour, gaps: [Gap] = [], lives: [Incarnation] = [life(50)]
) -> Quality {
  Quality(
    flags: flags, placedBy: placedBy, link: 1, firstSeen: 50, watchedSince: 0, from: 100, to: 200, gaps: gaps,
    incarnations: lives)
}

@Suite("Quality")
struct QualityTests {
  @Test("without flags and gaps a figure is complete and wholly covered")
  func complete() {
    #expect(quality() == Quality(completeness: .complete, coverage: 1, resets: 0, gaps: 0))
  }

  @Test("it is placed when bytes were placed across a boundary of its own resolution, and not of a finer one")
  func placed() {
    #expect(quality(.acrossHour).completeness == .placed)
    #expect(quality([.acrossMinute, .acrossFiveMinutes]).completeness == .complete)
    #expect(quality(.acrossMinute, placedBy: []).completeness == .complete)
    #expect(
      Resolution.allCases.map(\.placedBy) == [
        .acrossMinute, .acrossFiveMinutes, .acrossHour, .acrossDay, .acrossMonth, .acrossMonth,
      ])
  }

  @Test("what is at_least is so whatever else it is")
  func atLeast() {
    #expect(quality([.atLeast, .acrossHour]).completeness == .atLeast)
    #expect(quality([.acrossHour], gaps: [gap(120, 130, link: 1)]).completeness == .atLeast)
    #expect([Completeness.placed, .atLeast, .complete].max() == .atLeast)
  }

  @Test("a gap that its device lived through under another label hid nothing of a link, and is no further life of it")
  func kin() {
    func quality(_ kin: Set<LinkID>) -> Quality {
      Quality(
        flags: [], placedBy: [], of: [Sighting(link: 1, firstSeen: 50, kin: kin)], watchedSince: 0, from: 100, to: 200,
        gaps: [gap(120, 130), gap(140, 150, link: 2)], incarnations: [life(50, 110), life(110, link: 2)])
    }
    #expect(quality([2]) == Quality(completeness: .complete, coverage: 0.9, resets: 0, gaps: 1))
    #expect(quality([]).completeness == .atLeast)
  }

  @Test("what lived through a gap of all links lost nothing in it; what was absent, or ended in it, may have")
  func survival() {
    #expect(quality(gaps: [gap(120, 130)]).completeness == .complete)
    #expect(quality(gaps: [gap(120, 130)], lives: [life(50, 125)]).completeness == .atLeast)
    #expect(quality(gaps: [gap(120, 130)], lives: [life(125)]).completeness == .atLeast)
    #expect(quality(gaps: [gap(120, 130)], lives: []).completeness == .atLeast)
    #expect(quality(gaps: [gap(120, 130)], lives: [life(50, link: 2)]).completeness == .atLeast)
    #expect(quality(gaps: [gap(120, 130, link: 1)]).completeness == .atLeast)
  }

  @Test("what lies before counting began was not observed, and a span wholly before it is at_least")
  func before() {
    func since(_ start: Int64, _ from: Int64, _ to: Int64) -> Quality {
      Quality(
        flags: [], placedBy: [], link: 1, firstSeen: start, watchedSince: start, from: from, to: to, gaps: [],
        incarnations: [life(start)])
    }
    #expect(since(150, 100, 200) == Quality(completeness: .complete, coverage: 0.5, resets: 0, gaps: 0))
    #expect(since(200, 100, 200) == Quality(completeness: .atLeast, coverage: 0, resets: 0, gaps: 0))
    #expect(since(50, 100, 200).coverage == 1)
  }

  @Test("a gap that lost nothing is a gap all the same")
  func harmless() {
    let harmless = Gap(link: nil, from: 120, to: 130, reason: .notRunning, lossy: false)
    let quality = quality(gaps: [harmless], lives: [])
    #expect(quality.completeness == .complete)
    #expect(quality.gaps == 1)
    #expect(quality.coverage == 0.9)
  }

  @Test("coverage counts overlapping gaps once, and only their part of the span")
  func coverage() {
    #expect(quality(gaps: [gap(90, 110), gap(105, 120), gap(110, 115), gap(190, 250)]).coverage == 0.7)
    #expect(quality(gaps: [gap(0, 500)]).coverage == 0)
    #expect(quality(gaps: [gap(0, 100), gap(200, 300), gap(120, 150, link: 2)]) == quality())
  }

  @Test("resets are the incarnations that began in the span, but the first ever, and the counters that fell")
  func resets() {
    #expect(quality(lives: [life(50, 120), life(130, 140), life(150), life(160, link: 2)]).resets == 2)
    let fallen = gap(120, 130, link: 1, reason: .counterReset)
    #expect(quality(gaps: [fallen, gap(10, 20, link: 1, reason: .counterReset)]).resets == 1)
    let first = Quality(
      flags: [], placedBy: [], link: 1, firstSeen: 100, watchedSince: 0, from: 100, to: 200, gaps: [],
      incarnations: [life(100)])
    #expect(first.resets == 0)
  }

  @Test("an empty span is covered, and an inverted one does no harm")
  func empty() {
    for to in [100, 50] as [Int64] {
      let quality = Quality(
        flags: [], placedBy: [], link: 1, firstSeen: 0, watchedSince: 0, from: 100, to: to, gaps: [gap(0, 500)],
        incarnations: [])
      #expect(quality.coverage == 1)
    }
  }

  @Test("a link that was made anew and lived over a restart is not taken for alive after its end")
  func endAfterRestart() {
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    daemon.start(&kernel)
    kernel.create("tun0", kind: "tun")
    daemon.sample(&kernel, after: 60)
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.sample(&kernel, after: 60)
    kernel.create("tun0", kind: "tun")
    daemon.stop(&kernel)
    kernel.pass(60 * Moment.second)
    daemon.start(&kernel)
    kernel.delete(kernel.index(of: "tun0")!)
    daemon.sample(&kernel, after: 60)
    daemon.stop(&kernel)
    let from = kernel.now.utcSeconds
    kernel.pass(600 * Moment.second)
    daemon.start(&kernel)
    let record = daemon.record("tun0")!
    let quality = Quality(
      flags: [], placedBy: [], link: record.id, firstSeen: record.firstSeen, watchedSince: 0, from: from,
      to: kernel.now.utcSeconds,
      gaps: daemon.gaps, incarnations: Array(daemon.store.incarnations))
    #expect(quality.completeness == .atLeast)
  }
}
