// A full list of links: how the ledger starts, resumes after an absence, and recovers from lost events.

extension Ledger {
  /// Takes over what a store knows, before the first list. Call once, on a new ledger.
  package mutating func restore(_ stored: StoredState) {
    // Of two records with one key the one that was present, then the newest, bears the name.
    let order = stored.links.sorted {
      ($0.baseline != nil ? 1 : 0, $0.id) < ($1.baseline != nil ? 1 : 0, $1.id)
    }
    for record in order {
      slots.removeValue(forKey: record.key)
      add(record)
    }
    dirtySlots.removeAll()
    lastMoment = stored.lastMoment
    lastSample = stored.lastMoment
    // What the store holds ahead of the clock, from a time when that was wrong, only the store can tell.
    bookedUntil = .max
  }

  /// Takes a full list of links, with counters where the list has them.
  ///
  /// At the first start with no store, what is present is a baseline. With a store, a link that is the same
  /// incarnation as before (boot, index and inode agree) goes on from its baseline, and any other was born
  /// while nobody watched: it counts from zero, placed over the time since.
  ///
  /// `events` are those that were drained after the list was read. They are applied first and in order, and
  /// what they created or deleted is left out of the list, which may show either incarnation.
  package mutating func apply(_ links: [ListedLink], events: [LinkEvent], cause: ListCause, at now: Moment) {
    let before = lastSample
    advance(to: now)
    let watchedUntil = watchedFrom(at: now)
    if cause == .start { resumeLives(before, at: now) }
    apply(events, at: now)
    let told = Set(events.compactMap(\.bornOrDead))
    let links = links.filter { !told.contains($0.facts.ifindex) }
    // The dead first: a name that was given anew is free only when its last bearer is closed.
    let listed = told.union(links.map(\.facts.ifindex))
    for life in lives where !listed.contains(life.ifindex) {
      if let position = positions[life.ifindex] { close(at: position, death: .vanished, now) }
    }
    var unknown: [ListedLink] = []
    for link in links {
      if let position = positions[link.facts.ifindex] {
        if isSame(lives[position], as: link.facts) {
          update(link.facts, at: position, now)
          continue
        }
        close(at: position, death: .vanished, now)
      }
      unknown.append(link)
    }
    for link in unknown {
      if before == nil {
        open(link.facts, base: link.counters ?? .zero, since: now.boot, birth: .firstSight, at: now)
      } else {
        open(link.facts, base: .zero, since: watchedUntil, birth: .bornUnseen, at: now)
      }
    }
    if cause == .overrun, let before {
      // Links that were born and died in between left no trace at all.
      pending.gaps.append(
        Gap(
          link: nil, from: utcSeconds(ofBoot: before.boot, at: now), to: now.utcSeconds + 1, reason: .eventOverrun,
          lossy: true))
    }
    if before == nil { lastSample = now }
  }

  /// Brings back the lives of this boot and closes those of an earlier one.
  private mutating func resumeLives(_ before: Moment?, at now: Moment) {
    guard let before else { return }
    let sameBoot = now.elapsed(since: before) != nil
    let gapStart = before.utcSeconds
    let gapEnd = sameBoot ? now.utcSeconds : max(gapStart, floorDivide(now.bootInstant, Moment.second))
    // At least a second long, also where the clock was set back meanwhile: an absence is never without a gap.
    pending.gaps.append(
      Gap(
        link: nil, from: gapStart, to: max(gapEnd, gapStart + 1), reason: sameBoot ? .notRunning : .reboot,
        lossy: true))
    var survivors: Set<Int> = []
    for slot in records.indices {
      guard let baseline = records[slot].baseline else { continue }
      var life = Life(
        ifindex: baseline.ifindex, slot: slot, inode: baseline.inode, counters: baseline.counters,
        since: before.boot, speedMbit: 0, birth: baseline.birth, opened: baseline.opened)
      if now.elapsed(since: baseline.at) != nil {
        life.isDirty = false
        // Facts stand in until the list brings the present ones: an event may close this life before.
        var stand = LinkFacts()
        stand.ifindex = baseline.ifindex
        stand.inode = baseline.inode
        stand.name = records[slot].name
        facts[slot] = stand
        positions[baseline.ifindex] = lives.count
        lives.append(life)
        survivors.insert(slot)
      } else {
        records[slot].baseline = nil
        pending.incarnations.append(
          Incarnation(
            link: records[slot].id, bootID: baseline.at.bootID, ifindex: baseline.ifindex, inode: baseline.inode,
            opened: baseline.opened, birth: baseline.birth, closed: gapStart, death: .reboot))
        pending.gaps.append(
          Gap(link: records[slot].id, from: gapStart, to: max(gapEnd, gapStart + 1), reason: .reboot, lossy: true))
      }
    }
    // What does not go on from its baseline may have come and gone unseen.
    for slot in records.indices where !survivors.contains(slot) && !records[slot].totalIsAtLeast {
      records[slot].totalIsAtLeast = true
      dirtySlots.insert(slot)
    }
  }

  /// The same incarnation: by the inode where both are known, else by index and name alone.
  private func isSame(_ life: Life, as facts: LinkFacts) -> Bool {
    if life.inode != 0, facts.inode != 0 { return life.inode == facts.inode }
    return records[life.slot].name == facts.name
  }
}
