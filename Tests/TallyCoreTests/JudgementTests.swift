// Judging counters: odd readings, resets, steps back and leaps of 64 bits, wraps of 32.

import Testing
import Toys

@testable import TallyCore

private let unknown = Ceiling.over(nanoseconds: 60 * Moment.second, speedMbit: nil, width: .bits32)
private let known = Ceiling.over(nanoseconds: 60 * Moment.second, speedMbit: 100, width: .bits32)

@Suite("Judging a 64-bit counter")
struct JudgementTests {
  @Test("what is higher by a plausible amount passed, on both sides of 2^63 and up to 2^64")
  func plain() {
    for last in [0, 5, 1 << 32, (1 << 63) - 5, 1 << 63, .max - 10] as [UInt64] {
      #expect(judge(last: last, raw: last, held: nil, ceiling: 0) == .counted(0))
      #expect(judge(last: last, raw: last + 10, held: nil, ceiling: 10) == .counted(10))
    }
  }

  @Test("one odd zero is held, and what comes back is counted from before it")
  func oddZero() {
    #expect(judge(last: 1000, raw: 0, held: nil, ceiling: .max) == .held)
    // A reset and 1010 bytes since are possible in the time, so there may be more.
    #expect(judge(last: 1000, raw: 1010, held: 0, ceiling: 2000) == .ambiguous(10))
    // They are not: it was a glitch.
    #expect(judge(last: 1_000_000, raw: 1_000_010, held: 0, ceiling: 2000) == .counted(10))
  }

  @Test("a low value that stays is a reset: what it shows passed since")
  func reset() {
    #expect(judge(last: 1000, raw: 300, held: 0, ceiling: 5000) == .reset(300))
    #expect(judge(last: .max, raw: 5, held: 5, ceiling: 5000) == .reset(5))
  }

  @Test("a fall to more than can have passed since books nothing: a part of the counter was lost, not all of it")
  func partLost() {
    #expect(judge(last: 10_000_000, raw: 6_000_000, held: 5_999_000, ceiling: 5000) == .reset(0))
  }

  @Test("a small step back keeps the high-water mark, however long it lasts")
  func stepBack() {
    #expect(judge(last: 1000, raw: 950, held: nil, ceiling: 10) == .held)
    #expect(judge(last: 1000, raw: 960, held: 950, ceiling: 10) == .steppedBack)
    #expect(judge(last: 1000, raw: 999, held: 960, ceiling: 10) == .steppedBack)
  }

  @Test("one odd zero of a counter that stepped back is no reset")
  func zeroAfterStep() {
    #expect(judge(last: 1000, raw: 0, held: 950, ceiling: .max) == .held)
    #expect(judge(last: 1000, raw: 960, held: 0, ceiling: .max) == .steppedBack)
  }

  @Test("two odd readings that fall further are no reset yet")
  func falling() {
    #expect(judge(last: 1000, raw: 0, held: 500, ceiling: .max) == .held)
    #expect(judge(last: 1000, raw: 1010, held: 0, ceiling: 10) == .counted(10))
  }

  @Test("an implausible leap is held, booked with a label if it is shown again, and dropped if it was a glitch")
  func leap() {
    #expect(judge(last: 1000, raw: 1 << 60, held: nil, ceiling: 500) == .held)
    #expect(judge(last: 1000, raw: 1 << 60, held: 1 << 60, ceiling: 500) == .implausible((1 << 60) - 1000))
    #expect(judge(last: 1000, raw: 1100, held: 1 << 60, ceiling: 500) == .counted(100))
    #expect(judge(last: 1000, raw: 1 << 60, held: 1 << 61, ceiling: 500) == .held)
    // The second may be a glitch on top of a true leap.
    #expect(judge(last: 1000, raw: 1 << 62, held: 1 << 60, ceiling: 500) == .implausible((1 << 60) - 1000))
    // Held when less time had passed: it was too much then.
    #expect(judge(last: 1000, raw: 3000, held: 2000, ceiling: 1500) == .implausible(2000))
    #expect(judge(last: 0, raw: .max, held: .max - 1, ceiling: 500) == .implausible(.max))
  }

  @Test("random readings never trap, and what is booked is never more than the counter showed", arguments: 0..<4)
  func hostile(seed: UInt64) {
    var dice = Seeded(seed)
    let edges: [UInt64] = [0, 1, 7, 1 << 31, 1 << 32, 1 << 63, .max - 1, .max]
    func roll() -> UInt64 { Bool.random(using: &dice) ? edges.randomElement(using: &dice)! : dice.next() }
    for _ in 0..<5000 {
      let (last, raw, held, ceiling) = (roll(), roll(), Bool.random(using: &dice) ? roll() : nil, roll())
      switch judge(last: last, raw: raw, held: held, ceiling: ceiling) {
      case .counted(let bytes), .ambiguous(let bytes): #expect(bytes <= ceiling && last &+ bytes == raw)
      case .implausible(let bytes): #expect(held != nil && last &+ bytes <= raw)
      case .reset(let bytes): #expect(held != nil && raw < last && bytes <= raw && bytes <= ceiling)
      case .steppedBack: #expect(held != nil && raw < last)
      case .held: break
      }
      _ = judge32(
        last: last, raw: UInt32(truncatingIfNeeded: raw), held: held,
        ceiling: Ceiling(bytes: ceiling, isKnown: Bool.random(using: &dice)), witness: Witness(explained: roll()))
      _ = Ceiling.over(nanoseconds: Int64(bitPattern: roll()), speedMbit: .max, width: .bits64)
    }
  }
}

@Suite("Judging a 32-bit counter")
struct NarrowJudgementTests {
  @Test("one wrap that the packets bear out is counted across the 32 bits")
  func wrap() {
    let last: UInt64 = 5 << 32 | 0xFFFF_FF00
    #expect(
      judge32(last: last, raw: 0x100, held: nil, ceiling: known, witness: Witness(explained: 1 << 20))
        == .counted(0x200))
  }

  @Test("a link of unknown speed, or a long time, leaves open how often it wrapped")
  func ambiguity() {
    let week = Ceiling.over(nanoseconds: 7 * 86400 * Moment.second, speedMbit: 100, width: .bits32)
    #expect(
      judge32(last: 1000, raw: 1500, held: nil, ceiling: unknown, witness: Witness(explained: .max)) == .ambiguous(500))
    #expect(
      judge32(last: 1000, raw: 1500, held: nil, ceiling: week, witness: Witness(explained: .max)) == .ambiguous(500))
    #expect(
      judge32(last: 1000, raw: 1500, held: nil, ceiling: known, witness: Witness(explained: .max)) == .counted(500))
  }

  @Test("an idle direction is no question, whatever is known of the speed")
  func idle() {
    #expect(
      judge32(last: 7 << 32 | 1000, raw: 1000, held: nil, ceiling: unknown, witness: Witness(explained: 0))
        == .counted(0))
  }

  @Test("a fall that the packets do not bear out is a glitch or a reset, and never a wrap")
  func fall() {
    for ceiling in [known, unknown] {
      let last: UInt64 = 3 << 32 | 4_200_000_000
      #expect(judge32(last: last, raw: 0, held: nil, ceiling: ceiling, witness: Witness(explained: 0)) == .held)
      #expect(judge32(last: last, raw: 70, held: 0, ceiling: ceiling, witness: Witness(explained: 0)) == .reset(70))
    }
    #expect(judge32(last: 1000, raw: 950, held: nil, ceiling: known, witness: Witness(explained: 0)) == .held)
    #expect(judge32(last: 1000, raw: 960, held: 950, ceiling: known, witness: Witness(explained: 0)) == .steppedBack)
  }

  @Test("a small step back just after a wrap is no reset")
  func stepAfterWrap() {
    let last: UInt64 = 3 << 32 | 5000
    #expect(judge32(last: last, raw: 100, held: 90, ceiling: known, witness: Witness(explained: 0)) == .steppedBack)
    #expect(
      judge32(last: last | 1 << 30, raw: 100, held: 90, ceiling: known, witness: Witness(explained: 0)) == .reset(100))
  }

  @Test("nor is one back over it, which looks like most of a period forward, with packets or without")
  func stepBackOverWrap() {
    let last: UInt64 = 3 << 32 | 5000
    for ceiling in [known, unknown] {
      for witness in [Witness(explained: 0), Witness(explained: .max)] {
        #expect(judge32(last: last, raw: .max - 90, held: nil, ceiling: ceiling, witness: witness) == .held)
        #expect(
          judge32(last: last, raw: .max - 80, held: UInt64(UInt32.max) - 90, ceiling: ceiling, witness: witness)
            == .steppedBack)
      }
    }
  }

  @Test("a fall by less than half a GiB is a reset when the packets fell as well")
  func resetNearWrap() {
    let last: UInt64 = 3 << 32 | 5000
    let witness = Witness(explained: 0, fell: true)
    #expect(judge32(last: last, raw: 100, held: 90, ceiling: unknown, witness: witness) == .reset(100))
  }

  @Test("a counter that was low before is no wrap, though its packets rise: they may have been reset, too")
  func riseAfterReset() {
    #expect(
      judge32(last: 5000, raw: 4900, held: 4800, ceiling: unknown, witness: Witness(explained: .max)) == .steppedBack)
    #expect(
      judge32(last: 5000, raw: 700, held: 600, ceiling: unknown, witness: Witness(explained: .max)) == .reset(700))
  }

  @Test("a distance that is impossible in the time is a reset, too")
  func impossible() {
    #expect(
      judge32(last: 2_000_000_000, raw: 10, held: nil, ceiling: known, witness: Witness(explained: .max)) == .held)
    #expect(
      judge32(last: 2_000_000_000, raw: 20, held: 10, ceiling: known, witness: Witness(explained: .max)) == .reset(20))
  }

  @Test("where a wide source takes over after a reset, all but the distance of the low halves may be booked")
  func join() {
    let last: UInt64 = 3 << 32 | 5000
    for (raw, bytes, mark) in [
      (5000, 0, 5000), (7000, 2000, 7000), (1 << 32 | 7000, 2000, 1 << 32 | 7000), (4000, 0, 5000),
      (1 << 31, (1 << 31) - 5000, 1 << 31),
    ] as [(UInt64, UInt64, UInt64)] {
      let joined = joinNarrow(last: last, raw: raw, sinceReset: raw)
      #expect(joined == (bytes, mark))
    }
    // Reset again since: no more than it shows.
    let again = joinNarrow(last: 3 << 32 | 1 << 31, raw: 100, sinceReset: 100)
    #expect(again == (100, 100))
  }

  @Test("a leap that stays is booked by its distance, with a label, and not as a reset")
  func leap() {
    let last: UInt64 = 1 << 32
    #expect(
      judge32(last: last, raw: 3_000_000_000, held: nil, ceiling: known, witness: Witness(explained: .max)) == .held)
    #expect(
      judge32(last: last, raw: 3_000_000_000, held: 3_000_000_000, ceiling: known, witness: Witness(explained: .max))
        == .implausible(3_000_000_000))
  }
}

@Suite("Odd readings in the ledger")
struct OddReadingTests {
  /// A link that is known, with a megabyte each way counted and committed.
  static func scene(speed: UInt32? = nil, width: CounterWidth = .bits64) -> (ToyKernel, ToyDaemon) {
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    kernel.width = width
    kernel.create("eth0", kind: "", speed: speed)
    daemon.start(&kernel)
    kernel.push("eth0", rx: 1_000_000, tx: 1_000_000)
    daemon.sample(&kernel, after: 60)
    return (kernel, daemon)
  }

  @Test("each direction is judged alone: a reset of one costs the other nothing")
  func alone() {
    var (kernel, daemon) = Self.scene()
    let index = kernel.index(of: "eth0")!
    kernel.links[index]!.counters.rxBytes = 0
    for _ in 0..<2 {
      kernel.push("eth0", rx: 500, tx: 7000)
      daemon.sample(&kernel, after: 60)
    }
    #expect(daemon.total("eth0")?.rxBytes == 1_001_000)
    #expect(daemon.total("eth0")?.txBytes == 1_014_000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
    #expect(daemon.record("eth0")?.resets == 1)
    #expect(daemon.gaps("eth0").map(\.reason) == [.counterReset])
  }

  @Test("what passed around an odd reading is placed over both intervals")
  func placedOverBoth() {
    var (kernel, daemon) = Self.scene()
    let index = kernel.index(of: "eth0")!
    kernel.push("eth0", rx: 6000, tx: 0)
    kernel.odd[index] = .zero
    daemon.sample(&kernel, after: 60)
    daemon.sample(&kernel, after: 60)
    let rows = daemon.rows("eth0").suffix(3)
    #expect(rows.map(\.amounts.rxBytes).reduce(0, +) == 6000)
    #expect(rows.allSatisfy { $0.flags.contains(.acrossMinute) })
    #expect(Set(rows.map(\.start)).count == 3)
  }

  @Test("a burst at full speed before an odd reading is not taken for a leap after a short interval")
  func ceilingOfBoth() {
    for width in [CounterWidth.bits64, .bits32] {
      var (kernel, daemon) = Self.scene(speed: 1000, width: width)
      let index = kernel.index(of: "eth0")!
      kernel.push("eth0", rx: 3_000_000_000, tx: 0)
      kernel.odd[index] = .zero
      daemon.sample(&kernel, after: 30)
      kernel.pass(100_000_000)
      daemon.sample(&kernel)
      #expect(daemon.total("eth0")?.rxBytes == 3_001_000_000)
      #expect(!daemon.rows("eth0").contains { $0.flags.contains(.implausible) })
    }
  }

  @Test("a link that changed to a lower speed in the interval moved no implausible amount")
  func slower() {
    var (kernel, daemon) = Self.scene(speed: 10_000)
    let index = kernel.index(of: "eth0")!
    kernel.push("eth0", rx: 20_000_000_000, tx: 0)
    kernel.pass(30 * Moment.second)
    kernel.links[index]!.facts.speedMbit = 10
    kernel.touch(index)
    daemon.sample(&kernel, after: 30)
    #expect(daemon.total("eth0")?.rxBytes == 20_001_000_000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
  }

  @Test("a final reading that is odd books nothing that may not be believed, and says so", arguments: [0, 1 << 62])
  func oddEnd(final: UInt64) {
    for width in [CounterWidth.bits64, .bits32] {
      var (kernel, daemon) = Self.scene(width: width)
      let index = kernel.index(of: "eth0")!
      kernel.links[index]!.counters.rxBytes = final
      kernel.delete(index)
      daemon.wake(&kernel)
      #expect(daemon.total("eth0")?.rxBytes == 1_000_000)
      #expect(daemon.record("eth0")?.totalIsAtLeast == true)
      #expect(daemon.gaps("eth0").map(\.reason) == [.counterReset])
    }
  }

  @Test("a last interval above the speed that the link says it has is booked, and labelled as implausible")
  func fastEnd() {
    var (kernel, daemon) = Self.scene(speed: 10)
    kernel.push("eth0", rx: 9 << 30, tx: 0)
    kernel.pass(60 * Moment.second)
    kernel.delete(kernel.index(of: "eth0")!)
    daemon.wake(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == (1_000_000 + (9 << 30)) as UInt64)
    #expect(daemon.rows("eth0").last?.flags.contains(.implausible) == true)
    #expect(daemon.record("eth0")?.totalIsAtLeast == false)
  }

  @Test("a leap that was held and is confirmed by the final counters is booked as implausible")
  func leapAtTheEnd() {
    var (kernel, daemon) = Self.scene()
    kernel.push("eth0", rx: 1 << 60, tx: 0)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("eth0")?.rxBytes == 1_000_000)
    kernel.delete(kernel.index(of: "eth0")!)
    daemon.wake(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == (1_000_000 + (1 << 60)) as UInt64)
    #expect(daemon.rows("eth0").last?.flags.contains(.implausible) == true)
  }

  @Test("an idle link of a 32-bit source has no label and writes nothing")
  func idleNarrow() {
    var (kernel, daemon) = Self.scene(width: .bits32)
    daemon.commit()
    daemon.sample(&kernel, after: 60)
    #expect(!daemon.ledger.hasUncommitted)
  }

  @Test(
    "of a 32-bit source a wrap of hardware is counted; one that cannot be seen, or two, lose no more than they hide",
    arguments: [(100, 100_000_000, 0), (nil, 100_000_000, 0), (nil, 1 << 32, 1), (nil, (2 << 32) + 5, 2)]
      as [(UInt32?, UInt64, UInt64)])
  func wraps(speed: UInt32?, bytes: UInt64, hidden: UInt64) {
    var (kernel, daemon) = Self.scene(speed: speed, width: .bits32)
    let index = kernel.index(of: "eth0")!
    kernel.links[index]!.counters.rxBytes += UInt64(UInt32.max) - 1_000_000
    daemon.stop(&kernel)
    daemon.store = ToyStore()  // where it stands now is the baseline
    daemon.start(&kernel)
    kernel.push("eth0", rx: bytes, tx: 0)
    daemon.sample(&kernel, after: 60)
    let lost = hidden << 32
    #expect(daemon.total("eth0")?.rxBytes == bytes - lost)
    #expect(daemon.record("eth0")?.totalIsAtLeast == (speed == nil))
    // The final counters have all the bits.
    kernel.delete(index)
    daemon.wake(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == bytes)
  }

  @Test(
    "what narrow readings booked since a reset is not booked again when the source becomes a wide one in the same boot",
    arguments: [0, 5000, 3_000_000] as [UInt64])
  func wideAfterNarrowReset(after: UInt64) {
    var (kernel, daemon) = Self.scene(width: .bits32)
    let index = kernel.index(of: "eth0")!
    kernel.push("eth0", rx: 2_000_000_000, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.resetDriver(index)
    for _ in 0..<3 {
      kernel.push("eth0", rx: 700_000, tx: 0)
      daemon.sample(&kernel, after: 60)
    }
    let before = daemon.total("eth0")?.rxBytes ?? .max
    daemon.stop(&kernel)
    kernel.width = .bits64
    kernel.push("eth0", rx: after, tx: 0)
    daemon.start(&kernel)
    for _ in 0..<3 { daemon.sample(&kernel, after: 60) }
    #expect(daemon.total("eth0")?.rxBytes == before + after)
    kernel.push("eth0", rx: 12_345, tx: 0)
    daemon.sample(&kernel, after: 60)
    #expect(daemon.total("eth0")?.rxBytes == before + after + 12_345)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
  }

  @Test("a wrap taken for a reset is not booked again by the final counters, which have all the bits")
  func wrapTakenForReset() {
    var (kernel, daemon) = Self.scene(width: .bits32)
    let index = kernel.index(of: "eth0")!
    kernel.push("eth0", rx: 4_000_000_000, tx: 0)
    daemon.sample(&kernel, after: 60)
    kernel.links[index]!.counters.rxBytes += 400_000_000  // of a driver that counts no packets
    for _ in 0..<2 { daemon.sample(&kernel, after: 60) }
    daemon.stop(&kernel)
    daemon.start(&kernel)
    kernel.delete(index)
    daemon.wake(&kernel)
    #expect((daemon.total("eth0")?.rxBytes ?? .max) <= 4_401_000_000)
    #expect(daemon.record("eth0")?.totalIsAtLeast == true)
  }

  @Test("the final counters of a link that was reset are not booked as if it had not been", arguments: [true, false])
  func endAfterNarrowReset(isOdd: Bool) {
    var (kernel, daemon) = Self.scene(width: .bits32)
    let index = kernel.index(of: "eth0")!
    daemon.sample(&kernel, after: 60)
    kernel.resetDriver(index)
    for _ in 0..<2 {
      daemon.sample(&kernel, after: 60)
      kernel.push("eth0", rx: 300_000, tx: 0)
    }
    daemon.sample(&kernel, after: 60)
    if isOdd { kernel.odd[index] = .zero }
    daemon.sample(&kernel, after: 60)
    kernel.delete(index)
    daemon.wake(&kernel)
    #expect((daemon.total("eth0")?.rxBytes ?? .max) <= 1_600_000)
    #expect((daemon.total("eth0")?.rxPackets ?? .max) <= 1600)
  }

  @Test("a 32-bit source loses no tail above 4 GiB when the link dies")
  func narrowTail() {
    var (kernel, daemon) = Self.scene(width: .bits32)
    for _ in 0..<3 {
      kernel.push("eth0", rx: 3 << 30, tx: 0)
      daemon.sample(&kernel, after: 60)
    }
    kernel.push("eth0", rx: 777, tx: 0)
    kernel.delete(kernel.index(of: "eth0")!)
    daemon.wake(&kernel)
    #expect(daemon.total("eth0")?.rxBytes == (1_000_777 + (9 << 30)) as UInt64)
  }
}
