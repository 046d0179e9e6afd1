// Moments: seconds rounded down on both sides of 1970, and elapsed time within one boot alone.

import Testing
import Toys

@testable import TallyCore

private let boot = BootID(high: 1, low: 2)

@Suite("Moment")
struct MomentTests {
  @Test("seconds are rounded down, also before 1970")
  func seconds() {
    for (utc, seconds) in [
      (0, 0), (999_999_999, 0), (Moment.second, 1), (-1, -1), (-Moment.second, -1), (-Moment.second - 1, -2),
    ] {
      #expect(Moment(utc: utc, boot: 0, bootID: boot).utcSeconds == seconds)
    }
  }

  @Test("elapsed time is the boot clock's, whatever the wall clock did")
  func elapsed() {
    let early = Moment(utc: 5 * Moment.second, boot: 10, bootID: boot)
    let late = Moment(utc: 0, boot: 40, bootID: boot)
    #expect(late.elapsed(since: early) == 30)
    #expect(late.elapsed(since: late) == 0)
  }

  @Test("across boots no clock can tell")
  func otherBoot() {
    let early = Moment(utc: 0, boot: 10, bootID: boot)
    #expect(Moment(utc: 0, boot: 40, bootID: BootID(high: 1, low: 3)).elapsed(since: early) == nil)
  }

  @Test("a boot clock that went back proves another boot, also of an unknown id")
  func bootClockWentBack() {
    let unknown = BootID(high: 0, low: 0)
    let late = Moment(utc: 0, boot: 40, bootID: unknown)
    #expect(Moment(utc: 9, boot: 10, bootID: unknown).elapsed(since: late) == nil)
  }

  @Test("the instant of boot is the wall clock less the boot clock")
  func bootInstant() {
    #expect(Moment(utc: 100, boot: 30, bootID: boot).bootInstant == 70)
  }

  @Test("division rounds towards negative infinity for both signs", arguments: 1...4 as ClosedRange<UInt64>)
  func floor(seed: UInt64) {
    var random = Seeded(seed)
    for _ in 0..<500 {
      let a = Int64.random(in: -1_000_000...1_000_000, using: &random)
      let b = Int64.random(in: 1...5000, using: &random)
      let q = floorDivide(a, b)
      #expect(q * b <= a && a < (q + 1) * b)
      #expect(floorDivide(-a, -b) == q)
    }
  }
}
