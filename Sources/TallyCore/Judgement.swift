// Judging one counter: how much of the difference between two readings of one incarnation is certain.

/// What a reading of one counter is held to be.
enum Verdict: Equatable {
  /// So much passed.
  case counted(UInt64)
  /// Odd: wait for the next reading before believing it.
  case held
  /// It stepped back a little and stays there: nothing is booked until it passes its high-water mark.
  case steppedBack
  /// The driver reset it: the raw value passed since, and something before may be missing.
  case reset(UInt64)
  /// So much passed at least; a narrow counter may have wrapped more often than can be seen.
  case ambiguous(UInt64)
  /// So much was shown twice in a row although it is hardly possible: booked, and labelled.
  case implausible(UInt64)
}

/// The most bytes a link can have moved in a span, by what is known of it.
struct Ceiling {
  /// Bytes; nothing above it is plausible.
  var bytes: UInt64
  /// The speed behind it is a fact of hardware; the speed a virtual link reports is never trusted.
  var isKnown: Bool

  /// Slack for counters that a driver updates in batches, and for samples that lie milliseconds apart.
  private static let slack: UInt64 = 4 << 30
  /// No link moves a tebibyte a second.
  private static let absurd: UInt64 = 1 << 40

  static func over(nanoseconds: Int64, speedMbit: UInt32?, width: CounterWidth) -> Ceiling {
    let rate = speedMbit.map { UInt64($0) * 125_000 * 2 } ?? absurd
    let (high, low) = rate.multipliedFullWidth(by: UInt64(max(0, nanoseconds)))
    let moved = high >= 1_000_000_000 ? UInt64.max : UInt64(1_000_000_000).dividingFullWidth((high, low)).quotient
    // A narrow counter's slack must stay far below its period, else a reset could pass for a wrap.
    let slack = width == .bits64 ? Ceiling.slack : 16 << 20
    return Ceiling(bytes: saturatingSum(moved, slack), isKnown: speedMbit != nil)
  }
}

/// Judges a 64-bit reading of a dump. `held` is the reading that was held the last time, if one was.
///
/// 64-bit counters do not wrap in practice, so a lower value is a driver's reset, a glitch of one reading or a
/// small step back; which one only the next reading tells.
func judge(last: UInt64, raw: UInt64, held: UInt64?, ceiling: UInt64) -> Verdict {
  if raw >= last {
    let difference = raw - last
    if difference <= ceiling { return .counted(difference) }
    if let held, held >= last, held - last > ceiling, raw >= held { return .implausible(difference) }
    return .held
  }
  guard let held, held < last else { return .held }
  // Within an eighth of the high-water mark a reset and a step back look alike; booking the raw value would
  // invent nearly the whole counter if it was a step.
  return raw >= last - last / 8 ? .steppedBack : .reset(raw)
}

/// Judges a 32-bit reading against the low half of an extended 64-bit counter.
///
/// A decrease is a wrap when the modular distance is possible in the time; it is ambiguous when even a whole
/// period more would have been possible. An impossible distance is a decrease like any other.
func judge32(last: UInt64, raw: UInt32, held: UInt64?, ceiling: Ceiling) -> Verdict {
  let distance = UInt64(raw &- UInt32(truncatingIfNeeded: last))
  if distance <= ceiling.bytes {
    return ceiling.isKnown && ceiling.bytes < 1 << 32 ? .counted(distance) : .ambiguous(distance)
  }
  guard held != nil else { return .held }
  return .reset(UInt64(raw))
}
