// Links that a complete dump has no line of: the ends of links that no event told.

/// Finds links that have gone without an event, from the lines that are missing. One sample is no proof: a link that
/// came with its events has no line yet.
struct MissingLines {
  private var last: Set<UInt32> = []
  /// Listed since, and still without a line: the kernel shows no counters of them.
  private var excused: Set<UInt32> = []

  /// Takes the indices that had no line in a sample; true when one had none in the sample before either, and no list
  /// has been taken for it.
  mutating func areConfirmed(by missing: Set<UInt32>) -> Bool {
    excused.formIntersection(missing)
    let confirmed = last.intersection(missing).subtracting(excused)
    excused.formUnion(confirmed)
    last = missing
    return !confirmed.isEmpty
  }
}
