// Judging one counter: how much of the difference between two readings of one incarnation is certain.

/// What a reading of one counter is held to be.
enum Verdict: Equatable {
  /// So much passed.
  case counted(UInt64)
  /// Odd: wait for the next reading before believing it.
  case held
  /// It stepped back a little and stays there: nothing is booked until it passes its high-water mark.
  case steppedBack
  /// The driver reset it: so much passed since, and something before may be missing.
  case reset(UInt64)
  /// So much passed at least: a narrow counter may have wrapped more often than can be seen, and one that fell for a
  /// reading may have been reset and have passed its old value again.
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

/// Judges a 64-bit reading of a dump. `held` is the reading that was held the last time, if one was; the ceiling is
/// that of the whole time since `last`.
///
/// 64-bit counters do not wrap in practice, so a lower value is a driver's reset, a glitch of one reading or a
/// small step back; which one only the next reading tells.
func judge(last: UInt64, raw: UInt64, held: UInt64?, ceiling: UInt64) -> Verdict {
  if raw >= last {
    let difference = raw - last
    if difference <= ceiling {
      // A reading fell and this one did not: a glitch, unless so much could have passed since a reset.
      if let held, held < last, raw - held <= ceiling { return .ambiguous(difference) }
      return .counted(difference)
    }
    if let held, held >= last, raw >= held { return .implausible(difference) }
    return .held
  }
  guard let held, held < last else { return .held }
  // Within an eighth of the high-water mark a reset and a step back look alike; booking the raw value would
  // invent nearly the whole counter if it was a step.
  let step = last - last / 8
  if raw >= step { return .steppedBack }
  // One that stepped back may glitch as well; what was reset goes up from where it was seen first.
  guard held < step, raw >= held else { return .held }
  // More than can have passed: it lost a part of what it had, and how much passed since is not known.
  return .reset(raw <= ceiling ? raw : 0)
}

/// Judges a 32-bit reading against the low half of an extended 64-bit counter.
///
/// A decrease is a wrap when the modular distance is possible in the time and borne out by the other counter of the
/// direction: `explained` is the most that what that one rose by can stand for, 0 when it fell as well. It is ambiguous
/// when even a whole period more would have been possible. Any other decrease is judged as of 64 bits.
func judge32(last: UInt64, raw: UInt32, held: UInt64?, ceiling: Ceiling, explained: UInt64) -> Verdict {
  let low = UInt32(truncatingIfNeeded: last)
  let distance = UInt64(raw &- low)
  if distance == 0, explained == 0 { return .counted(0) }
  guard distance <= ceiling.bytes, raw >= low || distance <= explained else {
    return judge(last: UInt64(low), raw: UInt64(raw), held: held, ceiling: ceiling.bytes)
  }
  guard ceiling.isKnown, ceiling.bytes < 1 << 32 else { return .ambiguous(distance) }
  return judge(last: UInt64(low), raw: UInt64(low) + distance, held: held, ceiling: ceiling.bytes)
}
