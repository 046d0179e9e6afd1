// What a commit takes from the ledger, and what has not been taken yet.

extension Ledger {
  /// True when there is something that a commit would write besides the moment.
  package var hasUncommitted: Bool {
    !pending.rows.isEmpty || !pending.gaps.isEmpty || !pending.incarnations.isEmpty || !pending.steps.isEmpty
      || !pending.removed.isEmpty || !pending.expiries.isEmpty || !dirtySlots.isEmpty || !changed.deletions.isEmpty
      || lives.contains { $0.isDirty }
  }

  /// A link that was born with the last sample has not been read yet.
  package var hasUnread: Bool {
    guard let now = lastMoment else { return false }
    return lives.contains { $0.lags && $0.held.isEmpty && $0.opened >= now.utcSeconds }
  }

  /// Takes everything that changed since the last commit, amounts and baselines together.
  package mutating func takeCommit(sequence: UInt64) -> Commit? {
    guard let now = lastMoment else { return nil }
    var commit = Commit(sequence: sequence, at: now)
    for position in lives.indices where lives[position].isDirty {
      flushOpen(at: position)
      if lives[position].reachesFurther(thanTold: now) { tellBooked(at: position) }
      lives[position].isDirty = false
      let slot = lives[position].slot
      records[slot].baseline = baseline(of: lives[position], at: now)
      records[slot].lastSeen = now.utcSeconds
      dirtySlots.insert(slot)
      if let account = lives[position].account, account != slot {
        records[account].lastSeen = now.utcSeconds
        dirtySlots.insert(account)
      }
    }
    commit.links = dirtySlots.sorted().filter { !isDeleted($0) }.map(record(slot:))
    for slot in dirtySlots { tallies[slot].isTaken = true }
    commit.removed = pending.removed
    commit.expiries = pending.expiries
    commit.changes = changed.untold
    commit.deletions = changed.deletions
    commit.rows = pending.rows
    commit.incarnations = pending.incarnations
    commit.gaps = pending.gaps
    commit.clockSteps = pending.steps
    // What is stored keeps its date.
    undated = nil
    dirtySlots.removeAll(keepingCapacity: true)
    changed.untold = []
    changed.deletions = []
    pending = Pending()
    return commit
  }

  /// Marks every link as changed: for a store that lost what it had.
  package mutating func markAllChanged() {
    dirtySlots.formUnion(records.indices.filter { records[$0].id != 0 })
    changed.untold = changed.log
    for position in lives.indices {
      lives[position].isDirty = true
      tellBooked(at: position)
    }
  }

  /// A record with its running total.
  package func record(slot: Int) -> LinkRecord {
    var record = records[slot]
    record.total = tallies[slot].total
    return record
  }

  /// Sums of the running local day and its flags.
  package func today(slot: Int) -> (amounts: Amounts, flags: BucketFlags) {
    (tallies[slot].today, tallies[slot].todayFlags)
  }

  /// Rows that no commit has taken yet, the open buckets included.
  package var uncommittedRows: [BucketRow] {
    pending.rows
      + lives.compactMap { life in
        life.open.isEmpty
          ? nil
          : BucketRow(
            tier: .minute, start: life.open.start, link: records[life.account ?? life.slot].id,
            amounts: life.open.amounts,
            flags: life.open.flags)
      }
  }

  /// Gaps that no commit has taken yet.
  package var uncommittedGaps: [Gap] { pending.gaps }

  /// Incarnations opened or closed that no commit has taken yet.
  package var uncommittedIncarnations: [Incarnation] { pending.incarnations }

  /// Steps of the clock that no commit has taken yet.
  package var uncommittedSteps: [ClockStep] { pending.steps }

  /// How many links are present.
  package var presentCount: Int { lives.count }

  /// The indices of those links.
  package var presentIndices: Set<UInt32> { Set(positions.keys) }

  /// The slots of what is shown: neither members of groups nor ignored links.
  package var shownSlots: [Int] { records.indices.filter { records[$0].isShown } }

  /// How many those are.
  package var shownCount: Int { records.count - vacantSlots.count - hiddenCount }

  /// The slot of an interface or group by its id.
  package func slot(id: LinkID) -> Int? { records.firstIndex { $0.id == id && $0.isShown } }

  /// The slot that a present link's bytes are booked to, by its index.
  package func slot(ifindex: UInt32) -> Int? { positions[ifindex].flatMap { lives[$0].account } }

  /// The slot of an interface by its name: the present bearer, else the newest; the group of a present member. Forgotten
  /// ones are none.
  package func slot(name: LinkName) -> Int? {
    let bearers = records.indices.filter { records[$0].name == name && !isHidden($0) }
    let shown = bearers.filter { records[$0].isShown }
    let present = shown.filter(isPresent)
    // A link comes before a group of its name.
    if let own = present.first(where: { position(ofSlot: $0) != nil }) ?? present.first { return own }
    if let member = bearers.lazy.compactMap(position(ofSlot:)).first, let account = lives[member].account {
      return account
    }
    return shown.max { records[$0].id < records[$1].id }
  }
}
