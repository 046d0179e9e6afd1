// The ledger: observations in, certain amounts and their baselines out. It never invents a byte.

/// Turns readings and events of links into amounts that are kept together with the baselines that explain them.
///
/// Pure: it asks no clock, kernel or disk; every observation carries its moment. The law: what is counted is
/// never more than the truth; it is equal to it when nothing was unobservable; anything else is labelled.
package struct Ledger: Sendable {
  /// Local days, for the running day and for the labels of amounts that were placed across one.
  package var calendar: LocalCalendar
  /// Every link ever seen, by slot.
  package internal(set) var records: [LinkRecord] = []
  /// What the kernel last said of each; the last facts of absent ones.
  package internal(set) var facts: [LinkFacts?] = []
  /// What the rules last made of each; nil until they had all its facts.
  var designations: [Designation?] = []
  /// What whoever runs the machine says of links; changed by `apply`.
  package internal(set) var rules: [LinkRule] = []
  /// Interfaces that get a record of their own, besides hardware, which always does.
  package var mostInterfaces = 2000
  /// Slots of records that are gone.
  var vacantSlots: [Int] = []
  /// Records of group members and ignored links.
  var hiddenCount = 0
  var tallies: [Tally] = []
  var lives: [Life] = []
  /// ifindex -> position in `lives`.
  var positions: [UInt32: Int] = [:]
  /// Identity -> slot of the record that bears it now.
  var slots: [Identity: Int] = [:]
  /// Position in `lives` of the n-th line of the last dump: the kernel's order hardly changes between dumps.
  var hints: [Int] = []
  /// Veth ends whose own counters could not say what they received, by the ifindex of the other end.
  var halves: [UInt32: VethHalf] = [:]
  /// The same, by the other end, where that is in another namespace.
  var farHalves: [FarEnd: VethHalf] = [:]
  /// Veth ends here by their other end in another namespace.
  var farEnds: [FarEnd: NearEnd] = [:]
  /// Counts links that came, went or changed: what was made of the facts before may be old.
  package internal(set) var linkChanges: UInt64 = 0
  /// Counts lives that went on under another record: until a commit has that a crash would take it back.
  package internal(set) var moves: UInt64 = 0
  /// The source tells of far ends that depart; else nothing waits for that.
  package var hearsFarEnds = false

  /// The earliest `firstSeen` of all records; replies ask for it once a link.
  var firstRecordSeen: Int64?

  /// A store told what it knows, or that it is new. Until then `beginning` holds what the start is played again from.
  var isStored = false
  var beginning: Beginning?

  var changed = ChangedRecords()
  /// Records that expired, and the groups that have their figures: an older file of the store may still hold them.
  var expired: [LinkID: (into: LinkID, firstSeen: Int64)] = [:]
  var dirtySlots: Set<Int> = []
  var pending = Pending()
  var nextID: LinkID = 1

  /// What `takeNews` will take, and how much older news had to make room.
  var news: [LinkNews] = []
  var lostNews = 0

  /// The last moment at which something was observed.
  package internal(set) var lastMoment: Moment?
  /// The last moment at which every present link was observed (a dump was applied).
  package internal(set) var lastSample: Moment?
  /// The last sleeps of the machine, on the boot clock: what a sample did not settle reaches back over them.
  var sleeps: [Sleep] = []
  /// The last moment at which the counters were read, or could not be.
  var lastLook: Moment?
  /// False until a list had every link that was present when counting first began.
  var isFounded = false
  /// The running local day, UTC seconds.
  package internal(set) var day: (start: Int64, end: Int64) = (0, 0)
  /// False while the running day's earlier amounts, which the store has, are not loaded.
  package internal(set) var todayIsKnown = false
  /// UTC seconds: no amount was ever put at or after this. Ahead of the clock after that was set back.
  var bookedUntil = Int64.min

  /// Set while the clock cannot be right and nothing of this boot is committed.
  var undated: Undated?
  /// The clock steps seen by this process, newest last, at most `keptSteps`.
  package internal(set) var clockSteps: [ClockStep] = []
  package internal(set) var clockStepCount: UInt64 = 0
  /// Readings that no known link explains; the source should list the links again.
  package internal(set) var strangers: UInt64 = 0
  /// Readings that were held because they were odd.
  package internal(set) var heldReadings: UInt64 = 0

  // Rates are bytes over the last closed epoch: from one sample to another at least `epochLength` later.
  var epoch: UInt64 = 1
  var epochStart: Int64 = 0
  var lastEpochNanoseconds: Int64 = 0

  static let epochLength: Int64 = 900_000_000
  /// Bytes of the largest packet that offloads make (BIG TCP's limit).
  static let largestPacket: UInt64 = 512 << 10
  static let keptSteps = 32
  static let keptSleeps = 8

  package init(calendar: LocalCalendar, rules: [LinkRule] = []) {
    self.calendar = calendar
    self.rules = rules
  }
}

/// What a commit will write besides links.
struct Pending: Sendable {
  var rows: [BucketRow] = []
  var incarnations: [Incarnation] = []
  var removed: [LinkID] = []
  var expiries: [Expiry] = []
  var gaps: [Gap] = []
  var steps: [ClockStep] = []
}

/// One dead end of a veth pair that waits for the other's final counters.
struct VethHalf: Sendable {
  /// What its bytes are booked to; nil: it was ignored.
  var slot: Int?
  var counters: LinkCounters
  /// The life that ended; nil of a group's member, whose lives are not kept.
  var ended: Incarnation?
  /// Where its missing receive side would be placed.
  var fromBoot: Int64
  /// Samples it has waited for.
  var age = 0
}

/// A present veth end whose other end is in another namespace.
struct NearEnd: Sendable {
  var ifindex: UInt32
  /// The other end's last counters, when it departed first.
  var farFinal: LinkCounters?
}

extension Ledger {
  /// Takes the time of an observation: finds steps of the clock, opens the day.
  mutating func advance(to now: Moment) {
    noteClock(now, after: lastMoment)
    if let last = lastMoment, let elapsed = now.elapsed(since: last) {
      let step = now.utc &- last.utc &- elapsed
      if step.magnitude >= Moment.second {
        redate(from: last, by: step)
        let record = ClockStep(at: now.utcSeconds, by: step)
        clockStepCount += 1
        clockSteps.append(record)
        if clockSteps.count > Ledger.keptSteps { clockSteps.removeFirst() }
        if pending.steps.count < Ledger.keptSteps { pending.steps.append(record) }
      }
    }
    if let behind = undated?.behind, now.utc >= behind { undated = nil }
    lastMoment = now
    let second = now.utcSeconds
    if second < day.start || second >= day.end { openDay(holding: second) }
  }

  private mutating func openDay(holding second: Int64) {
    day = (calendar.start(.day, second), calendar.next(.day, second))
    for slot in tallies.indices {
      tallies[slot].today = .zero
      tallies[slot].todayFlags = []
    }
    // A day that nothing was put in is empty; what is in any other the store has to tell.
    todayIsKnown = day.start >= bookedUntil
  }

  /// Sets the running day's sums and marks from all of its rows, gaps and incarnations, of whatever tier: the stored
  /// and the uncommitted ones. Marks that this process has made itself stay.
  package mutating func setToday(from known: UsageRows) {
    var slotOf: [LinkID: Int] = [:]
    for slot in records.indices {
      slotOf[records[slot].id] = slot
      tallies[slot].today = .zero
    }
    for row in known.rows where row.start >= day.start && row.start < day.end {
      guard let slot = slotOf[row.link] else { continue }
      tallies[slot].today += row.amounts
      tallies[slot].todayFlags.formUnion(row.flags)
    }
    todayIsKnown = true
    guard let now = lastMoment, known.gaps.contains(where: \.lossy) else { return }
    let lives = Dictionary(grouping: known.incarnations, by: \.link)
    let (watchedSince, devices) = (watchedSince, devices)
    for slot in shownSlots {
      let sightings = sightings([slot], kin: devices[root(of: slot)] ?? [])
      let quality = Quality(
        flags: [], placedBy: [], of: sightings, watchedSince: watchedSince,
        from: max(day.start, watchedSince), to: now.utcSeconds + 1, gaps: known.gaps,
        incarnations: sightings.flatMap { $0.kin.union([$0.link]) }.flatMap { lives[$0] ?? [] })
      if quality.completeness == .atLeast { tallies[slot].todayFlags.insert(.atLeast) }
    }
  }

  /// Forgets the running day's bounds, for when the zone changed: the store has to tell again.
  package mutating func zoneChanged(_ calendar: LocalCalendar) {
    self.calendar = calendar
    day = (0, 0)
    if let now = lastMoment { openDay(holding: now.utcSeconds) }
  }

  /// The span from an instant of the boot clock until `now`, on the wall clock as it stands now.
  func placement(fromBoot: Int64, to now: Moment) -> Placement {
    let length = max(0, now.boot - fromBoot)
    let boot = now.utc - now.boot
    let within = (sleeps + [sleep(until: now)].compactMap { $0 }).filter { $0.until > fromBoot }
    return Placement(
      from: now.utc - length, to: now.utc,
      sleeps: within.map { sleep in
        let after = max(sleep.after, fromBoot)
        return Sleep(
          after: boot + after, until: boot + sleep.until, length: min(sleep.length, sleep.until - after))
      }, calendar: calendar)
  }

  /// When counting began here: the first link ever seen, UTC seconds.
  package var watchedSince: Int64 { firstRecordSeen ?? lastMoment?.utcSeconds ?? 0 }

  // MARK: Booking

  /// Books amounts of a life.
  mutating func book(_ amounts: Amounts, flags: BucketFlags, at position: Int, _ placement: Placement) {
    guard !amounts.isZero || !flags.isEmpty else { return }
    guard let slot = lives[position].account else { return }
    lives[position].isDirty = true
    lives[position].addToRate(rx: amounts.rxBytes, tx: amounts.txBytes, epoch: epoch)
    let first = placement.slices[0].start
    let last = placement.slices.count == 1 ? first : placement.slices[placement.slices.count - 1].start
    lives[position].firstMinute = min(lives[position].firstMinute, first)
    lives[position].lastMinute = max(lives[position].lastMinute, last)
    guard placement.slices.count == 1, placement.flags.isEmpty else {
      flushOpen(at: position)
      return place(amounts, flags: flags, slot: slot, placement)
    }
    if !lives[position].open.isEmpty, lives[position].open.start != first { flushOpen(at: position) }
    lives[position].open.start = first
    lives[position].open.amounts += amounts
    lives[position].open.flags.formUnion(flags)
    addToTally(amounts, flags: flags, slot: slot, start: first)
  }

  /// Books amounts of a link that need not be present any more.
  mutating func place(_ amounts: Amounts, flags: BucketFlags, slot: Int, _ placement: Placement) {
    guard !amounts.isZero || !flags.isEmpty else { return }
    let flags = flags.union(placement.flags)
    for (slice, share) in zip(placement.slices, placement.shares(of: amounts)) {
      let isPlaced = !placement.flags.isEmpty
      pending.rows.append(
        BucketRow(
          tier: .minute, start: slice.start, link: records[slot].id, amounts: share,
          placedRx: isPlaced ? share.rxBytes : 0, placedTx: isPlaced ? share.txBytes : 0, flags: flags))
      addToTally(share, flags: flags, slot: slot, start: slice.start)
    }
  }

  private mutating func addToTally(_ amounts: Amounts, flags: BucketFlags, slot: Int, start: Int64) {
    tallies[slot].total += amounts
    bookedUntil = max(bookedUntil, start &+ 60)
    if start >= day.start, start < day.end {
      tallies[slot].today += amounts
      tallies[slot].todayFlags.formUnion(flags)
    }
    if flags.contains(.atLeast), !records[slot].totalIsAtLeast {
      records[slot].totalIsAtLeast = true
      dirtySlots.insert(slot)
    }
  }

  mutating func flushOpen(at position: Int) {
    let open = lives[position].open
    guard !open.isEmpty else { return }
    pending.rows.append(
      BucketRow(
        tier: .minute, start: open.start, link: records[lives[position].account ?? lives[position].slot].id,
        amounts: open.amounts, flags: open.flags))
    lives[position].open = OpenBucket()
  }

  /// Records that bytes of a link may have passed unseen; of one that is ignored nobody cares.
  mutating func recordLoss(slot: Int?, from: Int64, to now: Moment, reason: GapReason) {
    guard let slot else { return }
    let end = now.utcSeconds + 1
    let gap = Gap(link: records[slot].id, from: min(from, end - 1), to: end, reason: reason, lossy: true)
    pending.gaps.append(gap)
    tell(reason == .counterReset ? .reset(gap) : .gap(gap), slot: slot, at: now)
    records[slot].totalIsAtLeast = true
    if end > day.start { tallies[slot].todayFlags.insert(.atLeast) }
    dirtySlots.insert(slot)
  }

  /// UTC seconds, on the present clock, of an instant of the boot clock.
  func utcSeconds(ofBoot boot: Int64, at now: Moment) -> Int64 {
    floorDivide(now.utc - max(0, now.boot - boot), Moment.second)
  }
}
