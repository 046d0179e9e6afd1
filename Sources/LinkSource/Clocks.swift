// The clocks as moments, and a timer that notices when the wall clock is set.
import CLinkStats
import Glibc
package import TallyCore

/// The wall clock, the boot clock and the identity of this boot.
package struct Clocks: Sendable {
  /// The identity of this boot; `BootID.unknown` when it could not be read.
  package let bootID: BootID

  /// Reads the boot id, once: it cannot change while a process lives.
  ///
  /// A sandbox may hide it (ProcSubset=pid does). Nothing else is stable within a boot and new with the next one: the
  /// boot instant moves with every step of the wall clock, and a boot id that changes within a boot would count the same
  /// bytes twice. So it becomes the one unknown boot, under which a boot clock that went back still proves a reboot.
  package init(bootIDPath: String = "/proc/sys/kernel/random/boot_id") {
    bootID = readBootID(bootIDPath) ?? .unknown
  }

  /// This moment; the clocks are read one after the other.
  package func now() -> Moment {
    let (utc, boot) = (nanoseconds(CLOCK_REALTIME), nanoseconds(CLOCK_BOOTTIME))
    // CLOCK_MONOTONIC stands still while the machine is suspended.
    return Moment(utc: utc, boot: boot, bootID: bootID, asleep: max(0, boot - nanoseconds(CLOCK_MONOTONIC)))
  }
}

extension BootID {
  /// A boot whose id could not be read.
  package static let unknown = BootID(high: 0, low: 0)

  /// From "4fd0b1c4-8f3c-4f7b-9a55-0c2a1d3e5f60"; nil for anything else.
  init?(text: String) {
    let digits = text.filter { $0 != "-" }
    guard text.utf8.count == 36, digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit),
      let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}

/// A timer for one reader: set to a second of the wall clock, it fires then, or tells at once that the clock was set.
package final class ClockTimer {
  package enum Outcome: Hashable, Sendable {
    /// The second has come.
    case fired
    /// The wall clock jumped; arm it anew.
    case clockWasSet
    case nothing
  }

  /// Readable when `read` has something to say.
  package let descriptor: Int32

  package init() throws(ClockError) {
    let descriptor = ls_clock_timer_open()
    guard descriptor >= 0 else { throw ClockError(doing: "open", code: -descriptor) }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Fires once at this UTC second; at once when it has passed.
  package func arm(utcSecond: Int64) throws(ClockError) {
    let code = ls_clock_timer_arm(descriptor, utcSecond)
    guard code >= 0 else { throw ClockError(doing: "set", code: -code) }
  }

  /// Fires at the first minute boundary after `moment`.
  package func armNextMinute(after moment: Moment) throws(ClockError) {
    try arm(utcSecond: nextMinute(after: moment))
  }

  /// What happened since it was armed or last read; never waits.
  package func read() throws(ClockError) -> Outcome {
    switch ls_clock_timer_read(descriptor) {
    case Int32(LS_CLOCK_FIRED): .fired
    case Int32(LS_CLOCK_WAS_SET): .clockWasSet
    case Int32(LS_CLOCK_NOTHING): .nothing
    case let code: throw ClockError(doing: "read", code: -code)
    }
  }
}

/// UTC second of the first minute boundary that is later than the moment.
func nextMinute(after moment: Moment) -> Int64 {
  (floorDivide(moment.utc, Moment.minute) + 1) * 60
}

/// A failure of the timer. `code` is the errno.
package struct ClockError: Error, Hashable, Sendable, CustomStringConvertible {
  package let doing: String
  package let code: Int32

  package var description: String {
    "cannot \(doing) the wall clock timer (timerfd): \(String(cString: strerror(code))): "
      + (code == EMFILE || code == ENFILE
        ? "raise the limit of open files (LimitNOFILE=)"
        : "allow timerfd to the service (SystemCallFilter=, or the container's seccomp profile)")
  }
}

/// Saturates instead of overflowing, in the year 2262.
private func nanoseconds(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  guard clock_gettime(clock, &time) == 0 else { return 0 }
  let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: Moment.second)
  return overflow ? .max : seconds &+ Int64(time.tv_nsec)
}

private func readBootID(_ path: String) -> BootID? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 36)
  guard read(descriptor, &bytes, bytes.count) == bytes.count else { return nil }
  return BootID(text: String(decoding: bytes, as: UTF8.self))
}
