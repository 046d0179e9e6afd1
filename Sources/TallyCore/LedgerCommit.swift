// What a commit takes from the ledger, and what has not been taken yet.

extension Ledger {
  /// True when there is something that a commit would write besides the moment.
  package var hasUncommitted: Bool {
    !pending.rows.isEmpty || !pending.gaps.isEmpty || !pending.incarnations.isEmpty || !pending.steps.isEmpty
      || !dirtySlots.isEmpty || !changed.deletions.isEmpty || lives.contains { $0.isDirty }
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
    }
    commit.links = dirtySlots.sorted().filter { !isDeleted($0) }.map(record(slot:))
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
    dirtySlots.formUnion(records.indices)
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
            tier: .minute, start: life.open.start, link: records[life.slot].id, amounts: life.open.amounts,
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

  /// The slot of an interface by its id.
  package func slot(id: LinkID) -> Int? { records.firstIndex { $0.id == id } }

  /// The slot of a present link by its index.
  package func slot(ifindex: UInt32) -> Int? { positions[ifindex].map { lives[$0].slot } }

  /// The slot of a record by its name: the present bearer, else the newest; hidden ones are none.
  package func slot(name: LinkName) -> Int? {
    let bearers = records.indices.filter { records[$0].name == name && !isHidden($0) }
    return bearers.first(where: isPresent) ?? bearers.max { records[$0].id < records[$1].id }
  }
}
