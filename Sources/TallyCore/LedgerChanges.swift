// Changes to what is shown: planned without effect, made when they are stored, undone, and at last deleted.

/// What changes made of the records.
struct ChangedRecords: Sendable {
  var log: [Change] = []
  /// Merged record -> the one that it is shown with. Never a circle.
  var merges: [LinkID: LinkID] = [:]
  /// Records that are hidden with all that is merged into them.
  var forgotten: Set<LinkID> = []
  /// Hidden ones that the store was told to delete.
  var deleted: Set<LinkID> = []
  /// For the next commit.
  var untold: [Change] = []
  var deletions: [LinkID] = []
}

extension Ledger {
  /// The changes that are kept, oldest first.
  package var changes: [Change] { changed.log }

  /// Some forgotten record is not deleted.
  package var hidesRecords: Bool { changed.forgotten.count > changed.deleted.count }

  // MARK: Planning

  /// What would be kept of a change; nothing is changed by it. Make it when it is stored.
  ///
  /// - Parameters:
  ///   - second: UTC seconds.
  ///   - uid: who asks for it.
  package func plan(
    _ request: ChangeRequest, at second: Int64, uid: UInt32
  ) throws(ChangeError) -> Change {
    let id = (changed.log.last?.id ?? 0) &+ 1
    switch request {
    case .rename(let slot, let title):
      try checkShown(slot)
      if let problem = problem(ofTitle: title) { throw .badTitle(problem) }
      // One record bears the title of a device, so that there is one and undoing takes it from all.
      let titled = devices[slot].flatMap(titledSlot(of:)) ?? slot
      return Change(
        id: id, at: second, uid: uid, action: .rename, link: records[titled].id, before: records[titled].title,
        after: title)
    case .merge(let slot, let target):
      guard slot != target else { throw .sameInterface }
      try checkShown(slot)
      try checkShown(target)
      if records[slot].isExpiredGroup || records[target].isExpiredGroup { throw .expiredGroup }
      let (from, into) = (parts(of: slot), parts(of: target))
      if present(of: from) != nil, present(of: into) != nil { throw .bothPresent }
      // The machine's total stays what it is.
      if Set((from + into).map { records[$0].wasAdded }).count > 1 { throw .sharesDiffer }
      return Change(
        id: id, at: second, uid: uid, action: .merge, link: records[slot].id, after: "id:\(records[target].id)")
    case .forget(let slot, let others):
      for slot in [slot] + others { try checkShown(slot) }
      return Change(
        id: id, at: second, uid: uid, action: .forget, link: records[slot].id,
        after: others.map { "id:\(records[$0].id)" }.joined(separator: "+"))
    case .undo(let id):
      return try planUndo(of: id, at: second, uid: uid)
    }
  }

  private func checkShown(_ slot: Int) throws(ChangeError) {
    if !records[slot].isShown || isHidden(slot) { throw .forgotten }
    if let target = changed.merges[records[slot].id] { throw .merged(into: target) }
  }

  private func planUndo(of id: Int64, at second: Int64, uid: UInt32) throws(ChangeError) -> Change {
    guard var change = changed.log.first(where: { $0.id == id }) else { throw .unknownChange }
    guard change.undone == nil else { throw .alreadyUndone }
    guard let slot = slot(id: change.link), !isDeleted(slot) else { throw .deleted }
    if change.action != .forget, isHidden(slot) { throw .forgotten }
    let last = changed.log.last { $0.link == change.link && $0.action == change.action && $0.undone == nil }
    if let last, last.id != id { throw .superseded(by: last.id) }
    change.undone = Change.Undoing(at: second, uid: uid)
    return change
  }

  /// The records that a planned change alters, as they are with it.
  package func records(with change: Change) -> [LinkRecord] {
    change.links.compactMap(slot(id:)).map { slot in
      var record = record(slot: slot)
      record.take(change)
      return record
    }
  }

  // MARK: Making

  /// Makes a planned change. A link that is there and whose history is forgotten goes on as a new record.
  package mutating func make(_ change: Change) {
    if let place = changed.log.firstIndex(where: { $0.id == change.id }) {
      changed.log[place] = change
    } else {
      changed.log.append(change)
      changed.log.removeFirst(max(0, changed.log.count - Change.kept))
    }
    for slot in change.links.compactMap(slot(id:)) {
      records[slot].take(change)
      dirtySlots.insert(slot)
      // Who carries what is told by other records from now on.
      linkChanges &+= 1
      switch change.action {
      case .rename: break
      case .merge: changed.merges[change.link] = records[slot].mergedInto
      case .forget:
        if records[slot].forgotten == nil { remember(slot) } else { forget(slot) }
      }
    }
  }

  private mutating func forget(_ slot: Int) {
    let parts = parts(of: slot)
    changed.forgotten.insert(records[slot].id)
    for part in parts where slots[records[part].identity] == part {
      slots[records[part].identity] = bearer(of: records[part].identity)
    }
    guard let now = lastMoment else { return }
    for part in parts {
      if records[part].isGroup {
        beginAnew(group: part, at: now.utcSeconds)
      } else if let position = position(ofSlot: part) {
        beginAnew(at: position, now)
      }
    }
  }

  private mutating func remember(_ slot: Int) {
    changed.forgotten.remove(records[slot].id)
    for part in parts(of: slot) where slots[records[part].identity] == nil { slots[records[part].identity] = part }
  }

  /// Goes on with a life under a new record. Its counters stay what they are, so that no byte is counted twice or left
  /// out: what was booked is the old record's, what comes is the new one's.
  private mutating func beginAnew(at position: Int, _ now: Moment) {
    flushOpen(at: position)
    let old = lives[position].slot
    recordIncarnation(lives[position], closed: now.utcSeconds, death: .forgotten, at: now)
    records[old].baseline = nil
    records[old].lastSeen = now.utcSeconds
    dirtySlots.insert(old)
    let slot = add(records[old].successor(id: nextID, at: now.utcSeconds))
    facts[slot] = facts[old]
    designations[slot] = designations[old]
    lives[position].beginAnew(opened: opening(of: lives[position].ifindex, slot: slot, at: now))
    seat(at: position, in: slot, since: now.boot, now)
    slots[records[slot].identity] = slot
    recordIncarnation(lives[position], closed: nil, death: nil, at: now)
  }

  /// The same with the members of a group that are there; without any the next one begins a new group.
  private mutating func beginAnew(group old: Int, at second: Int64) {
    guard tallies[old].members > 0 else { return }
    var record = records[old].successor(id: nextID, at: second)
    record.memberLives = UInt32(clamping: tallies[old].members)
    let slot = add(record)
    slots[records[slot].identity] = slot
    for position in lives.indices where lives[position].account == old {
      flushOpen(at: position)
      lives[position].account = slot
    }
    for member in records.indices where tallies[member].group == old {
      tallies[member].group = slot
      records[member].group = records[slot].id
      dirtySlots.insert(member)
    }
    tallies[slot].members = tallies[old].members
    tallies[old].members = 0
    records[old].lastSeen = second
    dirtySlots.insert(old)
  }

  // MARK: Deleting

  /// Has the store delete what was forgotten before this, UTC seconds: it cannot be brought back any more.
  package mutating func deleteForgotten(before second: Int64) {
    guard hidesRecords else { return }
    for id in changed.forgotten.subtracting(changed.deleted) {
      guard let slot = slot(id: id), let since = records[slot].forgotten, since <= second else { continue }
      changed.deleted.insert(id)
      changed.deletions += parts(of: slot).map { records[$0].id }
    }
  }

  /// The store has it no more.
  func isDeleted(_ slot: Int) -> Bool {
    !changed.deleted.isEmpty && changed.deleted.contains(records[root(of: slot)].id)
  }

  // MARK: Resuming

  /// Takes over from a store what changes made of its records. A link that was there when its history was forgotten
  /// goes on from there as a new record.
  mutating func restoreChanges(_ stored: StoredState) {
    changed.log = stored.changes
    nextID = max(nextID, stored.highestLink &+ 1)
    for slot in shownSlots {
      let record = records[slot]
      // Checked, since a damaged store must not make us run in a circle.
      if let target = record.mergedInto, let place = self.slot(id: target), root(of: place) != slot {
        changed.merges[record.id] = target
      }
      if record.forgotten != nil { changed.forgotten.insert(record.id) }
    }
    guard !changed.forgotten.isEmpty else { return }
    slots.removeAll(keepingCapacity: true)
    for slot in shownSlots where !isHidden(slot) { slots[records[slot].identity] = slot }
    for slot in shownSlots where isHidden(slot) {
      if records[slot].isGroup { beginAnew(group: slot, at: lastMoment?.utcSeconds ?? 0) }
      guard let baseline = records[slot].baseline else { continue }
      splitBaseline(baseline, of: slot)
    }
  }

  private mutating func splitBaseline(_ baseline: Baseline, of slot: Int) {
    let second = (lastMoment ?? baseline.at).utcSeconds
    func life(_ link: LinkID, _ opened: Int64, _ birth: BirthCause, _ booked: Booked?) -> Incarnation {
      Incarnation(
        link: link, bootID: baseline.at.bootID, ifindex: baseline.ifindex, inode: baseline.inode, opened: opened,
        birth: birth, booked: booked)
    }
    var ended = life(records[slot].id, baseline.opened, baseline.birth, self.ended(baseline, slot: slot))
    ended.closed = max(second, baseline.opened)
    ended.death = .forgotten
    records[slot].baseline = nil
    dirtySlots.insert(slot)
    let from = floorDivide(second, 60) * 60
    var base = baseline
    base.opened = second
    base.birth = .firstSight
    base.booked = Booked(before: .zero, from: from, until: from - 1)
    var record = records[slot].successor(id: nextID, at: second)
    record.baseline = base
    slots.removeValue(forKey: record.identity)
    add(record)
    pending.incarnations += [ended, life(record.id, second, .firstSight, base.booked)]
  }
}

extension LinkRecord {
  /// Alters what a change is about, there or back.
  fileprivate mutating func take(_ change: Change) {
    let isUndone = change.undone != nil
    switch change.action {
    case .rename: title = isUndone ? change.before : change.after
    case .merge: mergedInto = isUndone ? nil : change.target
    case .forget: forgotten = isUndone ? nil : change.at
    }
  }

  /// A new record of the same identity, with nothing counted.
  fileprivate func successor(id: LinkID, at second: Int64) -> LinkRecord {
    var new = LinkRecord(id: id, key: key, name: name, kind: kind, type: type, firstSeen: second, lastSeen: second)
    new.isAdded = isAdded
    new.carrier = carrier
    new.label = label
    new.rule = rule
    return new
  }
}

extension Life {
  /// As `Ledger.beginAnew` has it; nothing of its rate is of the new record either.
  fileprivate mutating func beginAnew(opened: Int64) {
    self.opened = opened
    birth = .firstSight
    isDirty = true
    (firstMinute, lastMinute) = (.max, .min)
    (epochRx, epochTx, lastEpochRx, lastEpochTx) = (0, 0, 0, 0)
  }
}
