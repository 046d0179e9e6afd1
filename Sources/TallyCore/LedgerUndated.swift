// A boot that began with a clock that cannot be right: what was counted under it gets its date when the clock is set.

/// What tells the times of a clock that cannot be right from those of the store.
struct Undated: Sendable {
  /// The wall clock is behind while it shows less than this: the last moment of the store, nanoseconds since 1970.
  var behind: Int64
  /// Boot-clock instant at which this process first looked.
  var since: Int64
  /// Records from this one on were made under it.
  var firstID: LinkID
}

extension Ledger {
  /// 2020-01-01: no clock that shows less is right.
  private static let earliest: Int64 = 1_577_836_800 * Moment.second

  /// The wall clock has not been set since the boot (a board without a clock of its own starts in 1970, or where it
  /// stood when it was switched off), and nothing of this boot is committed: it can still be dated.
  package var isUndated: Bool { undated != nil }

  /// It still shows what cannot be right; when it does not, the next observation dates what was counted under it.
  package func isUndated(at now: Moment) -> Bool { undated.map { now.utc < $0.behind } ?? false }

  /// Rows, incarnations and gaps that wait for a commit.
  package var uncommittedCount: Int { pending.rows.count + pending.incarnations.count + pending.gaps.count }

  /// Looks at the first moment of a boot.
  mutating func noteClock(_ now: Moment, after last: Moment?) {
    guard last.map({ now.elapsed(since: $0) == nil }) ?? true else { return }
    let behind = max(last?.utc ?? .min, Ledger.earliest)
    undated = now.utc < behind ? Undated(behind: behind, since: now.boot, firstID: nextID) : nil
  }

  /// Moves all that is dated by the clock as it was at `before` by a step of it, nanoseconds. Nothing of it is committed.
  ///
  /// Every time up to `before` is of that clock, since what the store knows of is later.
  mutating func redate(from before: Moment, by step: Int64) {
    guard let undated else { return }
    let seconds = floorDivide(step, Moment.second)
    let last = before.utcSeconds + 1
    func moved(_ second: Int64) -> Int64 { second <= last ? second &+ seconds : second }

    for position in lives.indices { flushOpen(at: position) }
    pending.rows = pending.rows.flatMap { row -> [BucketRow] in
      row.start <= last ? row.moved(by: step, calendar: calendar) : [row]
    }
    pending.incarnations = pending.incarnations.map { $0.moved(moved) }
    let began = moved(utcSeconds(ofBoot: undated.since, at: before))
    for place in pending.gaps.indices {
      let gap = pending.gaps[place]
      pending.gaps[place].from = moved(gap.from)
      // The time off, which began in the store's time, ends where this process began.
      pending.gaps[place].to = gap.to > last && gap.reason == .reboot ? max(gap.to, began) : moved(gap.to)
    }
    for position in lives.indices { lives[position].move(moved) }
    for slot in records.indices {
      if records[slot].id >= undated.firstID { records[slot].firstSeen = moved(records[slot].firstSeen) }
      if dirtySlots.contains(slot) { records[slot].lastSeen = moved(records[slot].lastSeen) }
      if let last = tallies[slot].lastLife { tallies[slot].lastLife = (last.ifindex, moved(last.opened)) }
    }
    halves = halves.mapValues { $0.moved(moved) }
    farHalves = farHalves.mapValues { $0.moved(moved) }
    beginning?.at.utc &+= step
    firstRecordSeen = shownSlots.map { records[$0].firstSeen }.min()
    // What of it is in the running day now has to be summed up anew.
    bookedUntil = .max
    day = (0, 0)
  }
}

extension BucketRow {
  /// The row of a minute of a clock that was wrong by `step` nanoseconds, in the minutes that this one was.
  fileprivate func moved(by step: Int64, calendar: LocalCalendar) -> [BucketRow] {
    let from = start * Moment.second &+ step
    let placement = Placement(from: from, to: from &+ Moment.minute, calendar: calendar)
    return zip(placement.slices, placement.shares(of: amounts)).map { slice, share in
      var row = self
      row.start = slice.start
      row.amounts = share
      row.flags.formUnion(placement.flags)
      row.placedRx = row.flags.contains(.acrossMinute) ? share.rxBytes : 0
      row.placedTx = row.flags.contains(.acrossMinute) ? share.txBytes : 0
      return row
    }
  }
}

extension Booked {
  /// Both bounds may reach into one more minute, as the rows do that they hold.
  fileprivate func moved(_ moved: (Int64) -> Int64) -> Booked {
    var booked = self
    booked.from = floorDivide(moved(from), 60) * 60
    booked.until = moved(until) &+ 59
    return booked
  }
}

extension Incarnation {
  fileprivate func moved(_ moved: (Int64) -> Int64) -> Incarnation {
    var incarnation = self
    incarnation.opened = moved(opened)
    incarnation.closed = closed.map(moved)
    incarnation.booked = booked?.moved(moved)
    return incarnation
  }
}

extension VethHalf {
  fileprivate func moved(_ moved: (Int64) -> Int64) -> VethHalf {
    var half = self
    half.ended = ended?.moved(moved)
    return half
  }
}

extension Life {
  fileprivate mutating func move(_ moved: (Int64) -> Int64) {
    opened = moved(opened)
    booked = booked?.moved(moved)
    guard firstMinute <= lastMinute else { return }
    firstMinute = floorDivide(moved(firstMinute), 60) * 60
    lastMinute = moved(lastMinute) &+ 59
  }
}
