// What time it is, as a value: the core never asks a clock.

/// The kernel's identity of one boot: the 128 bits of /proc/sys/kernel/random/boot_id.
package struct BootID: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// It could not be read.
  var isUnknown: Bool { high == 0 && low == 0 }
}

/// One reading of the clocks, taken once per event and passed in.
package struct Moment: Hashable, Sendable {
  /// Wall clock (CLOCK_REALTIME), nanoseconds since 1970-01-01 UTC. May step.
  package var utc: Int64
  /// CLOCK_BOOTTIME, nanoseconds since boot, suspend included. Never steps.
  package var boot: Int64
  package var bootID: BootID
  /// The part of `boot` that the machine was suspended for (CLOCK_BOOTTIME less CLOCK_MONOTONIC); nil when it is not
  /// known: a store does not keep it.
  package var asleep: Int64?

  package init(utc: Int64, boot: Int64, bootID: BootID, asleep: Int64? = nil) {
    self.utc = utc
    self.boot = boot
    self.bootID = bootID
    self.asleep = asleep
  }

  /// Nanoseconds a second.
  package static let second: Int64 = 1_000_000_000
  package static let minute: Int64 = 60 * second

  /// Whole seconds since 1970, rounded down also before it.
  package var utcSeconds: Int64 { floorDivide(utc, Moment.second) }

  /// The instant of boot on the wall clock as it stands at this moment, nanoseconds since 1970.
  package var bootInstant: Int64 { utc &- boot }

  /// Elapsed nanoseconds since `earlier` by the boot clock; nil when the boots differ and no clock can tell. A boot
  /// clock that went back proves another boot, also where the boot id is not known.
  package func elapsed(since earlier: Moment) -> Int64? {
    bootID == earlier.bootID && earlier.boot >= 0 && boot >= earlier.boot ? boot - earlier.boot : nil
  }

  /// Nanoseconds since `earlier` that the machine slept; 0 where that is not known, and for what is less than a second,
  /// since the two clocks are read one after the other.
  func slept(since earlier: Moment) -> Int64 {
    guard let elapsed = elapsed(since: earlier), let asleep, let before = earlier.asleep else { return 0 }
    let slept = min(asleep &- before, elapsed)
    return slept >= Moment.second ? slept : 0
  }
}

/// Division that rounds towards negative infinity, so that buckets before 1970 do not overlap.
package func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
  let q = a / b
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q
}
