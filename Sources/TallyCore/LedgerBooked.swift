// What each life counted and which minutes hold it: told with its incarnation, at no cost while it goes on.

extension Ledger {
  /// When a life is said to begin: the second of its birth or a later one that no other of its link and index bears,
  /// since that tells them apart in the store. A link that comes back keeps its index, perhaps within a second.
  mutating func opening(of ifindex: UInt32, slot: Int, at now: Moment) -> Int64 {
    var opened = now.utcSeconds
    if let last = tallies[slot].lastLife, last.ifindex == ifindex, (0..<60).contains(last.opened - opened) {
      opened = last.opened + 1
    }
    tallies[slot].lastLife = (ifindex, opened)
    return opened
  }

  /// Of a life that begins: nothing is put before the moment after which its bytes passed.
  func firstBooked(slot: Int, since: Int64, at now: Moment) -> Booked {
    let from = floorDivide(utcSeconds(ofBoot: since, at: now), 60) * 60
    return Booked(before: tallies[slot].total, from: from, until: from - 1)
  }

  /// Of a life that goes on from a store: unless it was told otherwise, nothing is later than its last commit.
  func lastMinute(of baseline: Baseline) -> Int64 {
    max(baseline.booked?.until ?? .min, floorDivide(baseline.at.utcSeconds, 60) * 60)
  }

  /// Of a life that ended in an earlier boot.
  func ended(_ baseline: Baseline, slot: Int) -> Booked? {
    baseline.booked.map { booked in
      var booked = booked
      booked.until = lastMinute(of: baseline)
      return ended(booked, slot: slot)
    }
  }

  private func ended(_ booked: Booked, slot: Int) -> Booked {
    var booked = booked
    booked.amounts = tallies[slot].total.without(booked.before)
    return booked
  }

  /// One life as it is told: what it counted when it has ended.
  func incarnation(_ life: Life, closed: Int64?, death: DeathCause?, at now: Moment) -> Incarnation {
    var booked = life.booked
    booked?.reach(from: life.firstMinute, until: life.lastMinute)
    if closed != nil { booked = booked.map { ended($0, slot: life.slot) } }
    return Incarnation(
      link: records[life.slot].id, bootID: now.bootID, ifindex: life.ifindex, inode: life.inode, opened: life.opened,
      birth: life.birth, closed: closed, death: death, booked: booked)
  }

  /// Tells anew what bounds the minutes of a life.
  mutating func tellBooked(at position: Int) {
    guard let now = lastMoment, records[lives[position].slot].isShown else { return }
    let told = incarnation(lives[position], closed: nil, death: nil, at: now)
    lives[position].booked = told.booked
    pending.incarnations.append(told)
  }

  /// Gives bytes that came to light when a life ended, or later, to that life and not to the one that bears its name now.
  mutating func amend(_ old: Incarnation?, slot: Int, by late: Amounts, _ placement: Placement) {
    guard let old, !late.isZero else { return }
    let (first, last) = (placement.slices[0].start, placement.slices[placement.slices.count - 1].start)
    let position = position(ofSlot: slot)
    if let position, (lives[position].ifindex, lives[position].opened) == (old.ifindex, old.opened) {
      lives[position].firstMinute = min(lives[position].firstMinute, first)
      lives[position].lastMinute = max(lives[position].lastMinute, last)
      return
    }
    var ended = old
    ended.booked?.amounts? += late
    ended.booked?.reach(from: first, until: last)
    pending.incarnations.append(ended)
    if let position {
      lives[position].booked?.before += late
      tellBooked(at: position)
    }
  }

  /// The present life of a link with all that it counted until now; nil when the link is absent.
  package func openIncarnation(slot: Int) -> Incarnation? {
    guard let now = lastMoment, let position = position(ofSlot: slot) else { return nil }
    var open = incarnation(lives[position], closed: nil, death: nil, at: now)
    open.booked = open.booked.map { ended($0, slot: slot) }
    return open
  }
}
