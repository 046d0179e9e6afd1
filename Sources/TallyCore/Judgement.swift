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
/// that of the whole time since `last`. Down to `last - step` a lower reading is a small step back.
///
/// 64-bit counters do not wrap in practice, so a lower value is a driver's reset, a glitch of one reading or a
/// small step back; which one only the next reading tells.
func judge(last: UInt64, raw: UInt64, held: UInt64?, ceiling: UInt64, step: UInt64? = nil) -> Verdict {
  if raw >= last {
    let difference = raw - last
    if difference <= ceiling {
      // A reading fell and this one did not: a glitch, unless so much could have passed since a reset.
      if let held, held < last, raw - held <= ceiling { return .ambiguous(difference) }
      return .counted(difference)
    }
    // Shown twice is what both showed, and what plausibly passed since the first.
    if let held, held >= last, raw >= held { return .implausible(raw - held <= ceiling ? difference : held - last) }
    return .held
  }
  guard let held, held < last else { return .held }
  // Within an eighth of the high-water mark a reset and a step back look alike; booking the raw value would
  // invent nearly the whole counter if it was a step.
  let lowest = last - min(last, step ?? last / 8)
  if raw >= lowest { return .steppedBack }
  // One that stepped back may glitch as well; what was reset goes up from where it was seen first.
  guard held < lowest, raw >= held else { return .held }
  // More than can have passed: it lost a part of what it had, and how much passed since is not known.
  return .reset(raw <= ceiling ? raw : 0)
}

/// Takes over a counter from narrow readings that were extended to `last`, when a wide one lies so far below that it was
/// reset, perhaps while the readings were narrow. What passed since the last of them, at least, and the new high-water
/// mark.
///
/// The low halves were those of the true counter, so that of the bytes since the reset all but their distance may be
/// booked. Most of a period forward is a step back.
func joinNarrow(last: UInt64, raw: UInt64, sinceReset: UInt64) -> (bytes: UInt64, mark: UInt64) {
  let distance = UInt64(UInt32(truncatingIfNeeded: raw &- last))
  let behind = (1 << 32) - distance
  return behind <= narrowStep(below: last) ? (0, saturatingSum(raw, behind)) : (min(sinceReset, distance), raw)
}

/// The most that a narrow reading lies below the one before when it has only stepped back.
private func narrowStep(below last: UInt64) -> UInt64 { min(last / 8, 1 << 29) }

/// What the other counter of a direction, packets beside bytes, tells of a narrow one.
struct Witness {
  /// The most that its rise can stand for; 0 when it did not rise.
  var explained: UInt64
  /// It fell by more than a small step.
  var fell = false
}

/// Judges a 32-bit reading against the low half of an extended 64-bit counter.
///
/// A wrap must be possible in the time and borne out by the other counter, whatever way the number went: most of a period
/// forward is a step back for all that the number says. It is ambiguous when even a whole period more would have been
/// possible. A counter that was low before may have been reset, and the other one with it, and have risen since.
func judge32(last: UInt64, raw: UInt32, held: UInt64?, ceiling: Ceiling, witness: Witness) -> Verdict {
  let low = UInt32(truncatingIfNeeded: last)
  let distance = UInt64(raw &- low)
  if distance == 0, witness.explained == 0 { return .counted(0) }
  let step = witness.fell ? 0 : narrowStep(below: last)
  if (1 << 32) - distance <= step { return held == nil ? .held : .steppedBack }
  let isAhead = raw >= low && distance < 1 << 31
  let wasLow = held.map { $0 < low } ?? false
  guard distance <= ceiling.bytes, isAhead || distance <= witness.explained && !wasLow else {
    return judge(last: UInt64(low), raw: UInt64(raw), held: held, ceiling: ceiling.bytes, step: 0)
  }
  guard ceiling.isKnown, ceiling.bytes < 1 << 32 else { return .ambiguous(distance) }
  return judge(last: UInt64(low), raw: UInt64(low) + distance, held: held, ceiling: ceiling.bytes)
}
