// Lives and records: how a link that appears finds its history, and how a life is opened and closed.

extension Ledger {
  /// Opens a life, with the record that the rules give it or a new one.
  mutating func open(_ facts: LinkFacts, base: LinkCounters, since: Int64, birth: BirthCause, at now: Moment) {
    let designation = designate(facts)
    let (slot, isNew) = slot(for: facts, designation, at: now)
    let position = lives.count
    lives.append(
      Life(
        ifindex: facts.ifindex, slot: slot, inode: facts.inode, counters: base, since: since,
        speedMbit: trustedSpeed(facts), birth: birth, opened: opening(of: facts.ifindex, slot: slot, at: now)))
    positions[facts.ifindex] = position
    if !isNew { records[slot].resets &+= 1 }
    seat(at: position, in: slot, since: since, now)
    update(facts, at: position, isOpening: true, now)
    recordIncarnation(lives[position], closed: nil, death: nil, at: now)
    // What was there before anybody looked did not come.
    let placed = lives[position].slot
    if birth != .firstSight { tell(.came(birth, incarnation: records[placed].resets &+ 1), slot: placed, at: now) }
  }

  /// Books what a life counts from now on to where its record says.
  mutating func seat(at position: Int, in slot: Int, since: Int64, _ now: Moment) {
    lives[position].slot = slot
    lives[position].account = account(ofSlot: slot)
    lives[position].booked = records[slot].isShown ? firstBooked(slot: slot, since: since, at: now) : nil
    records[slot].baseline = baseline(of: lives[position], at: now)
    dirtySlots.insert(slot)
  }

  /// Ends a life. What it counted stays; its record has no baseline any more.
  mutating func close(at position: Int, death: DeathCause, _ now: Moment) {
    flushOpen(at: position)
    let life = lives[position]
    recordIncarnation(life, closed: now.utcSeconds, death: death, at: now)
    if death == .vanished {
      recordLoss(
        slot: life.account, from: utcSeconds(ofBoot: bookedFrom(life, now), at: now), to: now, reason: .vanished)
    }
    noteFarEnd(nil, at: position)
    linkChanges &+= 1
    for slot in Set([life.slot, life.account ?? life.slot]) {
      records[slot].lastSeen = now.utcSeconds
      dirtySlots.insert(slot)
    }
    tell(.went(death), slot: life.slot, at: now)
    records[life.slot].baseline = nil
    positions.removeValue(forKey: life.ifindex)
    lives.swapAt(position, lives.count - 1)
    lives.removeLast()
    if position < lives.count { positions[lives[position].ifindex] = position }
    if !records[life.slot].isShown { remove(life.slot) }
  }

  /// Takes over what the kernel says of a present link now: a live rename is followed, and the rules are asked again.
  ///
  /// `told`: its counters of the same moment, for when the rules book it elsewhere from then on.
  mutating func update(
    _ new: LinkFacts, at position: Int, told: LinkCounters? = nil, isOpening: Bool = false, _ now: Moment
  ) {
    let slot = lives[position].slot
    let known = records[slot].name
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
    let old = facts[slot]
    if old != new { linkChanges &+= 1 }
    facts[slot] = new
    // What was known of a link is better than what rules make of half its facts.
    let isHalf = isWithoutSysfs && designations[slot] == nil && lives[position].inode != 0
    if isHalf {
      follow(new, at: position, nil, keepsKind: true, now)
    } else {
      settle(at: position, told: told, before: old, keepsKind: isWithoutSysfs, now)
    }
    if known != new.name, !isOpening { tell(.renamed(from: known), slot: lives[position].slot, at: now) }
    if let old, old.name != new.name { settlePorts(of: new.ifindex, at: now) }
  }

  /// Takes over name, key and kind of a present link whose record stays.
  mutating func follow(
    _ new: LinkFacts, at position: Int, _ found: Designation?, keepsKind: Bool, _ now: Moment
  ) {
    let slot = lives[position].slot
    let record = records[slot]
    var key = identityKey(new, found?.set.basis)
    if record.isShown {
      let owner = slots[Identity(key: key, label: record.label)]
      let isOthers = owner.map { $0 != slot && (isPresent($0) || record.key == nameKey(new)) } ?? false
      if isOthers || isAnothers(key, new, isOwn: owner == slot) { key = nameKey(new) }
    }
    let isKept = keepsKind || found == nil
    let (kind, type) =
      isKept ? (record.kind, record.type) : (found?.classification.kind ?? .other, found?.classification.type ?? "")
    let rule = isOverflow(slot) ? record.rule : found?.decidedBy ?? record.rule
    guard
      record.name != new.name || record.key != key || record.kind != kind || record.type != type || record.rule != rule
    else { return }
    let others = record.isShown && record.key != key && !record.isGroup ? otherLabels(of: record.identity) : []
    rekey(slot, key)
    records[slot].name = new.name
    for other in others {
      rekey(other, key)
      records[other].name = new.name
      dirtySlots.insert(other)
    }
    records[slot].kind = kind
    records[slot].type = type
    records[slot].rule = rule
    records[slot].lastSeen = now.utcSeconds
    dirtySlots.insert(slot)
  }

  private mutating func rekey(_ slot: Int, _ key: String) {
    let before = records[slot].identity
    records[slot].key = key
    guard records[slot].isShown else { return }
    if slots[before] == slot { slots[before] = bearer(of: before) }
    // The present bearer of a name owns it, else the newest, as after a restart; others keep their history under their id.
    let identity = records[slot].identity
    if slots[identity].map({ !isPresent($0) }) ?? true { slots[identity] = bearer(of: identity) }
  }

  /// What the device of a record counted under other labels, which goes with it when it is called or known otherwise.
  private func otherLabels(of identity: Identity) -> [Int] {
    slots.filter { $0.key.key == identity.key && $0.key.label != identity.label && !isPresent($0.value) }.map(\.value)
      .sorted()
  }

  /// The address, or the place, is that of another present link, under whatever label; or it was another's while this link
  /// went by its name, unless `isOwn`: under its present label it is known by it.
  private func isAnothers(_ key: String, _ facts: LinkFacts, isOwn: Bool) -> Bool {
    let named = nameKey(facts)
    guard key != named else { return false }
    let isBorne = lives.contains {
      $0.ifindex != facts.ifindex && records[$0.slot].key == key && records[$0.slot].isShown
    }
    return isBorne || !isOwn && slots.keys.contains { $0.key == named } && slots.keys.contains { $0.key == key }
  }

  /// The record for a link with this label: hardware by its permanent address, or by what its rule says, unless another
  /// present link has the same; everything else by kind and name.
  mutating func ownSlot(for facts: LinkFacts, _ found: Designation, at now: Moment) -> (slot: Int, isNew: Bool)? {
    func bearer(_ key: String) -> Int? { slots[Identity(key: key, label: found.set.label)] }
    let identity = identityKey(facts, found.set.basis)
    let key = isAnothers(identity, facts, isOwn: bearer(identity) != nil) ? nameKey(facts) : identity
    if let owner = bearer(key) {
      // One that had to go by its name because another had its address goes by it again, whoever comes first.
      let named = bearer(nameKey(facts))
      let candidates = records[owner].name == facts.name ? [owner, named] : [named, owner]
      for case let slot? in candidates where !isPresent(slot) { return (slot, false) }
    }
    if shownCount >= mostInterfaces, !isHardware(facts, found) { return nil }
    let isTaken = bearer(key).map(isPresent) ?? false
    var record = LinkRecord(
      id: nextID, key: isTaken ? nameKey(facts) : key, name: facts.name, kind: found.classification.kind,
      type: found.classification.type, firstSeen: now.utcSeconds, lastSeen: now.utcSeconds)
    record.label = found.set.label
    record.rule = found.decidedBy
    return (add(record), true)
  }

  /// The record that owns an identity which its owner gave up: the present bearer (two links that swap names pass
  /// through a moment in which both bear one), else the newest. Times do not decide: clocks step.
  func bearer(of identity: Identity) -> Int? {
    let bearers = records.indices.filter {
      records[$0].isShown && records[$0].identity == identity && !isHidden($0)
    }
    return bearers.first(where: isPresent) ?? bearers.max { records[$0].id < records[$1].id }
  }

  /// Adds a record with its tally; a present bearer of the identity keeps it.
  @discardableResult
  mutating func add(_ record: LinkRecord) -> Int {
    let slot = vacantSlots.popLast() ?? records.count
    if slot == records.count {
      records.append(record)
      facts.append(nil)
      designations.append(nil)
      tallies.append(Tally())
    } else {
      records[slot] = record
    }
    tallies[slot].total = record.total
    if record.isShown {
      firstRecordSeen = min(firstRecordSeen ?? .max, record.firstSeen)
      if slots[record.identity].map({ !isPresent($0) }) ?? true { slots[record.identity] = slot }
    } else {
      hiddenCount += 1
    }
    nextID = max(nextID, record.id &+ 1)
    dirtySlots.insert(slot)
    return slot
  }

  /// True when the link of this slot is there now, or a member of the group.
  package func isPresent(_ slot: Int) -> Bool { tallies[slot].members > 0 || position(ofSlot: slot) != nil }

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

  /// Tells how a life begins or ends; those of members and ignored links are not kept.
  mutating func recordIncarnation(_ life: Life, closed: Int64?, death: DeathCause?, at now: Moment) {
    guard records[life.slot].isShown else { return }
    pending.incarnations.append(incarnation(life, closed: closed, death: death, at: now))
  }

  private func trustedSpeed(_ facts: LinkFacts) -> UInt32 {
    facts.hasDevice && !facts.isVirtual && facts.infoKind.isEmpty ? facts.speedMbit ?? 0 : 0
  }
}
