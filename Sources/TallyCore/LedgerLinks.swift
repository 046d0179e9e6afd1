// Lives and records: how a link that appears finds its history, and how a life is opened and closed.

extension Ledger {
  /// Opens a life, with the record of its identity or a new one; returns the slot.
  @discardableResult
  mutating func open(_ facts: LinkFacts, base: LinkCounters, since: Int64, birth: BirthCause, at now: Moment) -> Int {
    let (slot, isNew) = slot(for: facts, at: now)
    let position = lives.count
    lives.append(
      Life(
        ifindex: facts.ifindex, slot: slot, inode: facts.inode, counters: base, since: since,
        speedMbit: trustedSpeed(facts), birth: birth, opened: opening(of: facts.ifindex, slot: slot, at: now),
        booked: firstBooked(slot: slot, since: since, at: now)))
    positions[facts.ifindex] = position
    if !isNew { records[slot].resets &+= 1 }
    records[slot].baseline = baseline(of: lives[position], at: now)
    update(facts, at: position, isOpening: true, now)
    recordIncarnation(lives[position], closed: nil, death: nil, at: now)
    // What was there before anybody looked did not come.
    if birth != .firstSight { tell(.came(birth, incarnation: records[slot].resets &+ 1), slot: slot, at: now) }
    return slot
  }

  /// Ends a life. What it counted stays; its record has no baseline any more.
  mutating func close(at position: Int, death: DeathCause, _ now: Moment) {
    flushOpen(at: position)
    let life = lives[position]
    recordIncarnation(life, closed: now.utcSeconds, death: death, at: now)
    if death == .vanished {
      recordLoss(
        slot: life.slot, from: utcSeconds(ofBoot: bookedFrom(life, now), at: now), to: now, reason: .vanished)
    }
    noteFarEnd(nil, at: position)
    tell(.went(death), slot: life.slot, at: now)
    records[life.slot].baseline = nil
    records[life.slot].lastSeen = now.utcSeconds
    dirtySlots.insert(life.slot)
    positions.removeValue(forKey: life.ifindex)
    lives.swapAt(position, lives.count - 1)
    lives.removeLast()
    if position < lives.count { positions[lives[position].ifindex] = position }
  }

  /// Takes over what the kernel says of a present link now: a live rename is followed.
  mutating func update(_ new: LinkFacts, at position: Int, isOpening: Bool = false, _ now: Moment) {
    let slot = lives[position].slot
    var new = new
    let isWithoutSysfs = new.inode == 0
    if isWithoutSysfs {
      if let old = facts[slot] { new.keepSysfs(of: old) }
      new.inode = lives[position].inode
    }
    lives[position].inode = new.inode
    // A link that runs slower now may have run faster since the last sample.
    lives[position].speedMbit = max(lives[position].speedMbit, trustedSpeed(new))
    notePeer(new, at: position)
    facts[slot] = new
    var key = identityKey(new)
    let record = records[slot]
    if let owner = slots[key], owner != slot, isPresent(owner) || record.key == nameKey(new) { key = nameKey(new) }
    // What was known of a link is better than what rules make of half its facts.
    let found = classify(new)
    let (kind, type) = isWithoutSysfs ? (record.kind, record.type) : (found.kind, found.type)
    guard record.name != new.name || record.key != key || record.kind != kind || record.type != type else { return }
    records[slot].key = key
    if slots[record.key] == slot {
      slots[record.key] = bearer(of: record.key)
    }
    // The present bearer of a name owns it; an absent one of the same name keeps its history under its id.
    if slots[key].map({ !isPresent($0) }) ?? true { slots[key] = slot }
    records[slot].name = new.name
    records[slot].kind = kind
    records[slot].type = type
    records[slot].lastSeen = now.utcSeconds
    dirtySlots.insert(slot)
    if record.name != new.name, !isOpening { tell(.renamed(from: record.name), slot: slot, at: now) }
  }

  /// The record that a link belongs to: hardware by its permanent address unless another present link has
  /// the same, everything else by kind and name.
  private mutating func slot(for facts: LinkFacts, at now: Moment) -> (slot: Int, isNew: Bool) {
    if let owner = slots[identityKey(facts)] {
      // One that had to go by its name because another had its address goes by it again, whoever comes first.
      let named = slots[nameKey(facts)]
      let candidates = records[owner].name == facts.name ? [owner, named] : [named, owner]
      for case let slot? in candidates where !isPresent(slot) { return (slot, false) }
    }
    let what = classify(facts)
    let taken = slots[identityKey(facts)].map(isPresent) ?? false
    let key = taken ? nameKey(facts) : identityKey(facts)
    let record = LinkRecord(
      id: nextID, key: key, name: facts.name, kind: what.kind, type: what.type, firstSeen: now.utcSeconds,
      lastSeen: now.utcSeconds)
    return (add(record), true)
  }

  /// The record that owns a key which its owner gave up: the present bearer (two links that swap names pass
  /// through a moment in which both bear one), else the newest. Times do not decide: clocks step.
  private func bearer(of key: String) -> Int? {
    let bearers = records.indices.filter { records[$0].key == key }
    return bearers.first(where: isPresent) ?? bearers.max { records[$0].id < records[$1].id }
  }

  /// Adds a record with its tally; a present bearer of the key keeps it.
  @discardableResult
  mutating func add(_ record: LinkRecord) -> Int {
    let slot = records.count
    records.append(record)
    firstRecordSeen = min(firstRecordSeen ?? .max, record.firstSeen)
    facts.append(nil)
    var tally = Tally()
    tally.total = record.total
    tallies.append(tally)
    if slots[record.key].map({ !isPresent($0) }) ?? true { slots[record.key] = slot }
    nextID = max(nextID, record.id &+ 1)
    dirtySlots.insert(slot)
    return slot
  }

  /// True when the link of this slot is there now.
  package func isPresent(_ slot: Int) -> Bool { position(ofSlot: slot) != nil }

  /// Where in `lives` the present link of this slot is.
  func position(ofSlot slot: Int) -> Int? {
    guard let ifindex = facts[slot]?.ifindex, let position = positions[ifindex], lives[position].slot == slot
    else { return nil }
    return position
  }

  func baseline(of life: Life, at now: Moment) -> Baseline {
    Baseline(
      at: now, ifindex: life.ifindex, inode: life.inode, counters: life.counters,
      width: life.isNarrow ? .bits32 : .bits64, opened: life.opened, birth: life.birth, booked: life.booked)
  }

  private mutating func recordIncarnation(_ life: Life, closed: Int64?, death: DeathCause?, at now: Moment) {
    pending.incarnations.append(incarnation(life, closed: closed, death: death, at: now))
  }

  private func trustedSpeed(_ facts: LinkFacts) -> UInt32 {
    facts.hasDevice && !facts.isVirtual && facts.infoKind.isEmpty ? facts.speedMbit ?? 0 : 0
  }
}
