// Which record a link's bytes are booked to: its own under its label, a group's, or none; and what happens when the rules
// change their mind.

/// What an identity's history is kept under.
struct Identity: Hashable, Sendable {
  var key: String
  var label: String?
}

extension LinkRecord {
  var identity: Identity { Identity(key: key, label: label) }

  /// Neither a member of a group, nor ignored, nor a vacant place.
  package var isShown: Bool { id != 0 && group == nil && !isIgnored }

  /// Members' bytes are booked to it.
  package var isGroup: Bool { key.hasPrefix(LinkRecord.groupPrefix) }

  static let groupPrefix = "group:"

  static func key(ofGroup name: String) -> String { asciiKey(groupPrefix + name) }

  /// What stands in the place of a record that is gone.
  static let vacant = LinkRecord(
    id: 0, key: "", name: LinkName(bytes: []), kind: .other, type: "", firstSeen: 0, lastSeen: 0)
}

extension Ledger {
  // MARK: Rules

  /// Puts other rules in force. Call with the moment of the sample that was just taken, so that all until then was counted under the old ones:
  /// what is booked elsewhere from now on goes on from the readings of that sample.
  package mutating func apply(_ rules: [LinkRule], at now: Moment) {
    self.rules = rules
    linkChanges &+= 1
    for position in lives.indices {
      // A reading was left out where the link came or went meanwhile: what is ignored no longer waits for one.
      let isRead = lives[position].account != nil || !lives[position].lags && lives[position].since == now.boot
      settle(at: position, told: isRead ? lives[position].counters : nil, now)
    }
  }

  func designate(_ facts: LinkFacts) -> Designation {
    let master = facts.master == 0 ? nil : positions[facts.master].flatMap { self.facts[lives[$0].slot]?.name }
    return TallyCore.designate(facts, rules: rules, master: master)
  }

  /// Asks the rules about a present link; where they book it elsewhere, it moves there.
  ///
  /// - Parameters:
  ///   - told: its counters of this moment; what they show more than the last reading is booked to where it was.
  ///   - before: what the kernel said of it before; nil: the same.
  mutating func settle(
    at position: Int, told: LinkCounters?, before: LinkFacts? = nil, keepsKind: Bool = false, _ now: Moment
  ) {
    let slot = lives[position].slot
    guard let facts = facts[slot] else { return }
    let found = designate(facts)
    if designations[slot] != found {
      designations[slot] = found
      linkChanges &+= 1
    }
    if isBooked(slot, as: found, facts) {
      lives[position].awaitsBase = false
      return follow(facts, at: position, found, keepsKind: keepsKind, now)
    }
    if lives[position].account == nil, told == nil {
      lives[position].awaitsBase = true
      return
    }
    if let told { bookTold(told, at: position, now) }
    if let before, records[slot].isShown { self.facts[slot] = before }
    move(at: position, facts, found, now)
  }

  /// Asks again about the ports of a link, or of all: rules may name the link above.
  mutating func settlePorts(of master: UInt32? = nil, at now: Moment) {
    if master != nil, !rules.contains(where: { $0.match[.master] != nil }) { return }
    for position in lives.indices {
      let slot = lives[position].slot
      guard let above = facts[slot]?.master, above != 0, master ?? above == above, designations[slot] != nil else {
        continue
      }
      settle(at: position, told: nil, now)
    }
  }

  /// The record is where the rules want the link to be booked.
  private func isBooked(_ slot: Int, as found: Designation, _ facts: LinkFacts) -> Bool {
    let record = records[slot]
    if found.isIgnored { return record.isIgnored }
    if let name = found.group {
      guard !record.isIgnored, let group = tallies[slot].group else { return false }
      return records[group].key == LinkRecord.key(ofGroup: name) && records[group].label == found.set.label
    }
    // One that came when there were too many stays there for its life.
    if isOverflow(slot) { return !isHardware(facts, found) }
    return record.isShown && record.label == found.set.label
  }

  // MARK: Moving

  /// A life goes on under another record, its counters unchanged: no byte is lost, and none is booked twice.
  private mutating func move(at position: Int, _ facts: LinkFacts, _ found: Designation, _ now: Moment) {
    flushOpen(at: position)
    let old = lives[position].slot
    let wasIgnored = lives[position].account == nil
    if let account = lives[position].account {
      records[account].lastSeen = now.utcSeconds
      dirtySlots.insert(account)
    }
    if records[old].isShown {
      recordIncarnation(
        lives[position], closed: now.utcSeconds, death: found.isIgnored ? .ignored : .relabelled, at: now)
      records[old].baseline = nil
    }
    let (slot, isNew) = slot(for: facts, found, at: now)
    if !isNew { records[slot].resets &+= 1 }
    if wasIgnored {
      lives[position].since = now.boot
      lives[position].lags = true
    }
    if wasIgnored || found.isIgnored {
      lives[position].held = []
      // A dump may have been read before the event that it counts from.
      lives[position].isRaised = wasIgnored
    }
    let since = bookedFrom(lives[position], now)
    lives[position].awaitsBase = false
    lives[position].birth = wasIgnored ? .ignoredBefore : .relabelled
    lives[position].opened = opening(of: lives[position].ifindex, slot: slot, at: now)
    lives[position].firstMinute = .max
    lives[position].lastMinute = .min
    lives[position].isDirty = true
    seat(at: position, in: slot, since: since, now)
    self.facts[slot] = facts
    designations[slot] = found
    follow(facts, at: position, found, keepsKind: false, now)
    recordIncarnation(lives[position], closed: nil, death: nil, at: now)
    linkChanges &+= 1
    moves &+= 1
    // A container's end is made before it is sent where it belongs; the record of that moment has nothing to tell.
    if !records[old].isShown || !records[slot].isShown && isEmpty(old) { remove(old) }
  }

  private func isEmpty(_ slot: Int) -> Bool {
    let record = records[slot]
    return tallies[slot].total.isZero && record.resets == 0 && !record.totalIsAtLeast && record.title.isEmpty
      && record.mergedInto == nil && record.forgotten == nil && !changed.merges.values.contains(record.id)
  }

  /// A reading of an ignored link: what passed is nobody's, and one that is ignored no longer counts from it.
  mutating func passBy(_ raw: LinkCounters, width: CounterWidth, at position: Int, _ now: Moment) {
    lives[position].counters = raw
    lives[position].since = now.boot
    lives[position].lags = false
    lives[position].isNarrow = width == .bits32
    if lives[position].awaitsBase { settle(at: position, told: raw, now) }
  }

  // MARK: Records

  /// The record for a link as the rules want it booked, or a new one.
  mutating func slot(for facts: LinkFacts, _ found: Designation, at now: Moment) -> (slot: Int, isNew: Bool) {
    if found.isIgnored { return (addHidden(facts, found, in: nil, at: now), true) }
    if let name = found.group {
      return (addHidden(facts, found, in: group(name, found, facts, at: now), at: now), true)
    }
    if let own = ownSlot(for: facts, found, at: now) { return own }
    var folded = found
    folded.set.label = nil
    folded.decidedBy = Ledger.overflowRule
    return (addHidden(facts, folded, in: group(Ledger.overflowGroup, folded, facts, at: now), at: now), true)
  }

  /// The record of a link that is not shown: its baseline, for as long as it lives.
  private mutating func addHidden(_ facts: LinkFacts, _ found: Designation, in group: Int?, at now: Moment) -> Int {
    var record = LinkRecord(
      id: nextID, key: identityKey(facts, found.set.basis), name: facts.name, kind: found.classification.kind,
      type: found.classification.type, firstSeen: now.utcSeconds, lastSeen: now.utcSeconds)
    record.group = group.map { records[$0].id }
    record.isIgnored = group == nil
    record.rule = found.decidedBy
    let slot = add(record)
    if let group { join(slot, to: group) }
    return slot
  }

  private mutating func join(_ slot: Int, to group: Int) {
    tallies[slot].group = group
    tallies[group].members += 1
  }

  /// The record of a group, with one more life.
  private mutating func group(_ name: String, _ found: Designation, _ facts: LinkFacts, at now: Moment) -> Int {
    let identity = Identity(key: LinkRecord.key(ofGroup: name), label: found.set.label)
    let kind = found.classification.kind
    let slot: Int
    if let known = slots[identity] {
      slot = known
      if records[slot].kind != kind { records[slot].kind = .virtual }
    } else {
      var record = LinkRecord(
        id: nextID, key: identity.key, name: LinkName(bytes: Array(name.utf8)), kind: kind, type: "group",
        firstSeen: now.utcSeconds, lastSeen: now.utcSeconds)
      record.label = found.set.label
      record.isAdded = found.classification.touchesMedium
      slot = add(record)
    }
    records[slot].memberLives &+= 1
    records[slot].rule = found.decidedBy
    records[slot].lastSeen = now.utcSeconds
    dirtySlots.insert(slot)
    return slot
  }

  /// Where the bytes of a slot's link are booked; nil: nowhere.
  func account(ofSlot slot: Int) -> Int? {
    records[slot].isShown ? slot : records[slot].isIgnored ? nil : tallies[slot].group
  }

  /// Finds the groups of restored members. One without its group, which no commit leaves behind, is not counted.
  mutating func joinGroups() {
    let groups = Dictionary(
      records.indices.filter { records[$0].isGroup && records[$0].isShown }.map { (records[$0].id, $0) },
      uniquingKeysWith: { first, _ in first })
    for slot in records.indices {
      guard let id = records[slot].group else { continue }
      if let group = groups[id] {
        join(slot, to: group)
      } else {
        records[slot].group = nil
        records[slot].isIgnored = true
      }
    }
  }

  /// Takes a record away, here and from the store; its slot is given to another. Whoever waits for an answer holds ids.
  mutating func remove(_ slot: Int) {
    let record = records[slot]
    if tallies[slot].isTaken { pending.removed.append(record.id) }
    if record.isShown { pending.incarnations.removeAll { $0.link == record.id } }
    vacate(slot)
  }

  /// Gives the slot of a record that is gone to another.
  mutating func vacate(_ slot: Int) {
    let record = records[slot]
    if let group = tallies[slot].group { tallies[group].members -= 1 }
    if !record.isShown { hiddenCount -= 1 }
    records[slot] = .vacant
    facts[slot] = nil
    designations[slot] = nil
    tallies[slot] = Tally()
    dirtySlots.remove(slot)
    vacantSlots.append(slot)
    if slots[record.identity] == slot { slots[record.identity] = bearer(of: record.identity) }
  }

  // MARK: Too many

  static let overflowGroup = "others"
  package static let overflowRule = "built-in: others"

  /// A member of the group of those that came when there were too many.
  func isOverflow(_ slot: Int) -> Bool { tallies[slot].group != nil && records[slot].rule == Ledger.overflowRule }

  func isHardware(_ facts: LinkFacts, _ found: Designation) -> Bool {
    found.classification.touchesMedium || facts.infoKind.isEmpty && facts.tunType == 0
  }

  // MARK: What is told of them

  /// Links of a group that are there now, and all lives that it is made of; nil of a single interface.
  package func members(slot: Int) -> (present: Int, lives: Int)? {
    records[slot].isGroup ? (tallies[slot].members, Int(records[slot].memberLives)) : nil
  }

  /// The rule of each present link, and whether it is ignored.
  package var decisions: [(rule: String, isIgnored: Bool)] {
    lives.map { (records[$0.slot].rule ?? "", $0.account == nil) }
  }
}
