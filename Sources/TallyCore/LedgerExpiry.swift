// Expiry: records of virtual links that are gone for long are added up in groups, so that names which never come back do
// not stay for ever.

/// A record that is no more, and the one that has all its figures since.
package struct Expiry: Hashable, Sendable {
  package var link: LinkID
  package var into: LinkID

  package init(link: LinkID, into: LinkID) {
    self.link = link
    self.into = into
  }
}

extension LinkRecord {
  /// No name of a group holds a colon: a rule's group is never this one.
  private static let expiredPrefix = groupPrefix + "expired:"

  /// It holds what records of one kind and label counted that expired.
  package var isExpiredGroup: Bool { key.hasPrefix(LinkRecord.expiredPrefix) }

  /// Hardware by its identity, or of a kind whose bytes cross a medium.
  fileprivate var isHardware: Bool {
    [.wired, .wifi, .cellular, .loopback].contains(kind) || ["mac:", "path:", "-:"].contains(where: key.hasPrefix)
  }

  /// The group for a record that expires, with nothing in it. By kind and label, so that past figures of these stay.
  fileprivate func expiredGroup(id: LinkID) -> LinkRecord {
    var group = LinkRecord(
      id: id, key: LinkRecord.expiredPrefix + kind.rawValue,
      name: LinkName(bytes: Array("expired-\(kind.rawValue)".utf8)), kind: kind, type: "group", firstSeen: firstSeen,
      lastSeen: lastSeen)
    group.label = label
    group.isAdded = false
    return group
  }
}

extension LinkRule {
  /// It speaks of a link of this name, not just of any that fits a pattern.
  fileprivate func names(_ name: LinkName) -> Bool {
    self.set.carrier == name || match[.name]?.globs.contains { $0.isOneText && $0.matches(name.escaped) } ?? false
  }
}

extension Ledger {
  /// What one commit folds at most.
  private static let mostExpiries = 500

  /// Folds records of virtual links that were last seen before `bound`, UTC seconds: their figures are added to a group's.
  ///
  /// Where there are as many interfaces as there may be, also the oldest of those last seen before `early`, until there is
  /// room for a tenth. Hardware stays, and whatever a machine total adds or may have to add, so that none of the past
  /// changes; and all that a person or a rule speaks of by name.
  package mutating func expire(before bound: Int64, early: Int64) {
    guard isStored, !isUndated else { return }
    let isFull = shownCount >= mostInterfaces
    let latest = isFull ? max(bound, early) : bound
    var old = records.indices.filter { records[$0].lastSeen < latest && mayExpire($0) }
    if old.isEmpty { return }
    let (spoken, devices) = (spokenOf, devices)
    let mayGo = Set(old.filter { !spoken.contains(records[$0].id) })
    // All that a device counted under its labels, or nothing of it: the figure of its name or title must not shrink.
    old.removeAll { slot in !(devices[slot] ?? [slot]).allSatisfy(mayGo.contains) }
    old.sort { (records[$0].lastSeen, records[$0].id) < (records[$1].lastSeen, records[$1].id) }
    let due = old.count { records[$0].lastSeen < bound }
    let chosen = old.prefix(min(max(due, isFull ? mostInterfaces / 10 : 0), Ledger.mostExpiries))
    for slot in Set(chosen.flatMap { devices[$0] ?? [$0] }).sorted() { expire(slot) }
  }

  private func mayExpire(_ slot: Int) -> Bool {
    let record = records[slot]
    return record.isShown && !record.isGroup && record.baseline == nil && !isPresent(slot) && record.title.isEmpty
      && record.mergedInto == nil && record.forgotten == nil && !record.isHardware && !record.wasAdded
      // What a total makes of such a link is not known.
      && !(record.isAdded == nil && record.kind == .other) && !rules.contains { $0.names(record.name) }
  }

  /// Records that changes are about, or that bytes of a veth may still be booked to.
  private var spokenOf: Set<LinkID> {
    var ids = Set(changed.merges.values)
    for change in changed.log {
      ids.formUnion(change.links)
      if let target = change.target { ids.insert(target) }
    }
    for half in Array(halves.values) + farHalves.values {
      if let slot = half.slot { ids.insert(records[slot].id) }
    }
    return ids
  }

  private mutating func expire(_ slot: Int) {
    let record = record(slot: slot)
    let new = record.expiredGroup(id: nextID)
    let group = slots[new.identity] ?? add(new)
    tallies[group].total += record.total
    tallies[group].today += tallies[slot].today
    tallies[group].todayFlags.formUnion(tallies[slot].todayFlags)
    records[group].totalIsAtLeast = records[group].totalIsAtLeast || record.totalIsAtLeast
    records[group].resets &+= record.resets
    records[group].memberLives &+= 1
    records[group].firstSeen = min(records[group].firstSeen, record.firstSeen)
    records[group].lastSeen = max(records[group].lastSeen, record.lastSeen)
    dirtySlots.insert(group)
    expired[record.id] = (records[group].id, record.firstSeen)
    pending.expiries.append(Expiry(link: record.id, into: records[group].id))
    vacate(slot)
    linkChanges &+= 1
  }

  // MARK: What is told of them

  /// How many records expired in all; what was forgotten of them is not counted.
  package var expiredCount: Int {
    shown.reduce(0) { $0 + (records[$1].isExpiredGroup ? Int(records[$1].memberLives) : 0) }
  }
}

extension UsageRows {
  /// Shows the past of expired records as their groups', as a store does that has the commit. What is known of single
  /// lives goes.
  package mutating func move(_ expiries: [Expiry]) {
    guard !expiries.isEmpty else { return }
    let target = Dictionary(expiries.map { ($0.link, $0.into) }, uniquingKeysWith: { $1 })
    func move(_ rows: inout [BucketRow]) {
      for place in rows.indices { rows[place].link = target[rows[place].link] ?? rows[place].link }
    }
    move(&rows)
    move(&detail)
    for place in gaps.indices { gaps[place].link = gaps[place].link.map { target[$0] ?? $0 } }
    incarnations.removeAll { target[$0.link] != nil }
  }
}

extension UsageQuery {
  /// Asks also for records that the store may still have although they expired.
  package func reaching(_ expiries: [Expiry]) -> UsageQuery {
    guard let asked = links.map({ Set($0) }) else { return self }
    var query = self
    query.links? += expiries.filter { asked.contains($0.into) }.map(\.link)
    return query
  }
}
