// Where an amount goes: the minutes that a span touches, and shares that always add up to the whole.

/// A suspension of the machine, nanoseconds: so long, some time between two instants at which it was looked at.
struct Sleep: Sendable {
  var after: Int64
  var until: Int64
  var length: Int64
}

/// A span cut at minute boundaries (coarser for long spans), with a weight for each slice.
struct Placement {
  struct Slice {
    /// UTC seconds of the bucket's start.
    var start: Int64
    /// Nanoseconds of the span that fall into it; at least 1 in sum.
    var weight: Int64
  }

  var slices: [Slice]
  /// Which boundaries the span crosses; empty when one minute holds it.
  var flags: BucketFlags

  /// A boundary that is overshot by less than this does not split a sample: the tick comes a moment after
  /// the minute, and what passed in that moment cannot be told apart.
  static let tolerance = Moment.second

  /// Spans longer than this are cut in local five minutes, hours or days instead of minutes, so that a week
  /// of absence does not write ten thousand rows a link. The slices stand in the minute tier at their start.
  private static let cuts: [(span: Int64, slice: Resolution)] = [
    (2 * 3600, .minute), (24 * 3600, .fiveMinutes), (35 * 86400, .hour), (.max, .day),
  ]

  /// Cuts [from, to] (UTC nanoseconds, `from` <= `to`), in which the machine slept so, in order of time.
  ///
  /// Nothing passes in a sleep, and whoever wakes with the machine looks at once, so all passed before it or after it was
  /// looked at. That is likely and not certain (a look may fail), so the flags are those of the whole span, and the minutes
  /// in which the machine may have been awake after a sleep bear them with nothing in them.
  init(from: Int64, to: Int64, sleeps: [Sleep], calendar: LocalCalendar) {
    self.init(from: from, to: to, calendar: calendar)
    guard !sleeps.isEmpty, !flags.isEmpty else { return }
    slices = []
    var start = from
    for sleep in sleeps {
      let end = max(start, sleep.until - sleep.length)
      append(from: start, to: end, weighs: true, calendar)
      append(from: max(sleep.after + sleep.length, end), to: sleep.until, weighs: false, calendar)
      start = sleep.until
    }
    append(from: start, to: to, weighs: true, calendar)
    // It slept all the time.
    if slices.isEmpty { slices = Placement(from: from, to: from, calendar: calendar).slices }
    if slices.allSatisfy({ $0.weight == 0 }) { slices[0].weight = 1 }
  }

  private mutating func append(from: Int64, to: Int64, weighs: Bool, _ calendar: LocalCalendar) {
    guard from < to else { return }
    var more = Placement(from: from, to: to, calendar: calendar).slices
    if more.count == 1 { more[0].weight = to - from }
    for slice in more {
      let weight = weighs ? slice.weight : 0
      if let last = slices.last, last.start >= slice.start {
        slices[slices.count - 1].weight += weight
      } else {
        slices.append(Slice(start: slice.start, weight: weight))
      }
    }
  }

  /// Cuts [from, to] (UTC nanoseconds, `from` <= `to`).
  init(from: Int64, to: Int64, calendar: LocalCalendar) {
    let firstMinute = floorDivide(from, Moment.minute)
    let lastMinute = floorDivide(to, Moment.minute)
    if firstMinute == lastMinute {
      slices = [Slice(start: firstMinute * 60, weight: 1)]
      flags = []
      return
    }
    let before = (firstMinute + 1) * Moment.minute - from
    let after = to - lastMinute * Moment.minute
    if firstMinute + 1 == lastMinute, min(before, after) < Placement.tolerance {
      slices = [Slice(start: (after <= before ? firstMinute : lastMinute) * 60, weight: 1)]
      flags = []
      return
    }
    let seconds = (to - from) / Moment.second
    let slice = Placement.cuts.first { seconds <= $0.span }?.slice ?? .day
    slices = []
    var start = floorDivide(from, Moment.minute) * 60
    while true {
      let end = max(calendar.next(slice, start), start + 60)
      let low = max(from, start * Moment.second)
      let high = min(to, end * Moment.second)
      if high > low { slices.append(Slice(start: start, weight: high - low)) }
      if end * Moment.second >= to { break }
      start = end
    }
    flags = Placement.crossed(from: slices[0].start, to: slices[slices.count - 1].start, calendar: calendar)
  }

  private static func crossed(from: Int64, to: Int64, calendar: LocalCalendar) -> BucketFlags {
    guard from != to else { return [] }
    var flags: BucketFlags = .acrossMinute
    let boundaries: [(Resolution, BucketFlags)] = [
      (.fiveMinutes, .acrossFiveMinutes), (.hour, .acrossHour), (.day, .acrossDay), (.month, .acrossMonth),
    ]
    for (resolution, flag) in boundaries
    where calendar.start(resolution, from) != calendar.start(resolution, to) { flags.insert(flag) }
    return flags
  }

  /// The shares of an amount, slice by slice: rounded down cumulatively, so that they sum to the amount.
  func shares(of amounts: Amounts) -> [Amounts] {
    let whole = slices.reduce(0) { $0 + $1.weight }
    var passed: Int64 = 0
    var given = Amounts.zero
    return slices.map { slice in
      passed += slice.weight
      let due = Amounts(
        rxBytes: portion(amounts.rxBytes, passed, whole), txBytes: portion(amounts.txBytes, passed, whole),
        rxPackets: portion(amounts.rxPackets, passed, whole), txPackets: portion(amounts.txPackets, passed, whole))
      let share = Amounts(
        rxBytes: due.rxBytes - given.rxBytes, txBytes: due.txBytes - given.txBytes,
        rxPackets: due.rxPackets - given.rxPackets, txPackets: due.txPackets - given.txPackets)
      given = due
      return share
    }
  }
}

/// amount * part / whole in 128 bits, rounded down; 0 <= part <= whole, whole > 0.
private func portion(_ amount: UInt64, _ part: Int64, _ whole: Int64) -> UInt64 {
  let product = amount.multipliedFullWidth(by: UInt64(part))
  return UInt64(whole).dividingFullWidth(product).quotient
}
