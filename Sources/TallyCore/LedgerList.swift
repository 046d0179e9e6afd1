// A full list of links: how the ledger starts, resumes after an absence, and recovers from lost events.

extension Ledger {
  /// Takes over what a store knows, before the first list. Call once, on a new ledger.
  package mutating func restore(_ stored: StoredState) {
    // Of two records with one key the one that was present, then the newest, bears the name.
    let order = stored.links.sorted {
      ($0.baseline != nil ? 1 : 0, $0.id) < ($1.baseline != nil ? 1 : 0, $1.id)
    }
    for record in order {
      if record.isShown { slots.removeValue(forKey: record.identity) }
      let slot = add(record)
      tallies[slot].isTaken = true
    }
    joinGroups()
    dirtySlots.removeAll()
    isStored = true
    lastMoment = stored.lastMoment
    lastSample = stored.lastMoment
    isFounded = lastSample != nil
    // What the store holds ahead of the clock, from a time when that was wrong, only the store can tell.
    bookedUntil = .max
    restoreChanges(stored)
  }

  /// Takes a full list of links, with counters where the list has them.
  ///
  /// At the first start with no store, what is present is a baseline. With a store, a link that is the same
  /// incarnation as before (boot, index and inode agree) goes on from its baseline, and any other was born
  /// while nobody watched: it counts from zero, placed over the time since.
  ///
  /// `events` are those that were drained after the list was read. They are applied first and in order, and
  /// what they created or deleted is left out of the list, which may show either incarnation. `kept`, at a start, are
  /// those of the absence, drained before the list was read: they are applied to the stored lives, and what they tell
  /// is placed over the absence.
  ///
  /// `isWhole` false: links came or went while they were listed, and one that is not listed need not be gone. Without a
  /// store the next list then brings baselines, too.
  package mutating func apply(
    _ links: [ListedLink], kept: KeptEvents? = nil, events: [LinkEvent], cause: ListCause, isWhole: Bool = true,
    at now: Moment
  ) {
    let before = isFounded ? lastSample : nil
    let listing = links
    advance(to: now)
    let watchedUntil = watchedFrom(at: now)
    if cause == .start {
      resumeLives(before, isWatched: kept?.isWhole ?? false, listed: links.map(\.facts), at: now)
      if let kept, before != nil {
        recall(kept.vethEnds)
        apply(kept.events, at: now)
      }
    }
    var touched = Set(events.compactMap(\.bornOrDead))
    let listed = touched.union(links.map(\.facts.ifindex))
    // What is gone frees its name before anything takes it.
    for life in lives where isWhole && !listed.contains(life.ifindex) {
      if let position = positions[life.ifindex] { close(at: position, death: .vanished, now) }
    }
    // One that was listed and died before its birth was seen: its final counters are in the events.
    let fates = Dictionary(
      events.compactMap { event in event.bornOrDead.map { ($0, event) } }, uniquingKeysWith: { a, _ in a })
    for link in links {
      let ifindex = link.facts.ifindex
      guard case .departed? = fates[ifindex] else { continue }
      if let position = positions[ifindex], !isSame(lives[position], as: link.facts) {
        close(at: position, death: .vanished, now)
      }
      if positions[ifindex] == nil { open(link, since: watchedUntil, isFirst: before == nil, at: now) }
    }
    let opened = positions.mapValues { lives[$0].slot }
    apply(events, at: now)
    let told = Dictionary(events.compactMap(\.link).map { ($0.facts.ifindex, $0.facts) }, uniquingKeysWith: { $1 })
    var links = links.filter { touched.insert($0.facts.ifindex).inserted }
    // Rules may name the link above, which so comes before its ports.
    links = links.filter { $0.facts.master == 0 } + links.filter { $0.facts.master != 0 }
    for place in links.indices {
      // The last event tells of the time of the list, or of a later one.
      guard var facts = told[links[place].facts.ifindex] else { continue }
      if facts.inode == 0 { facts.keepSysfs(of: links[place].facts) }
      links[place].facts = facts
    }
    for link in links {
      guard let position = positions[link.facts.ifindex] else { continue }
      if isSame(lives[position], as: link.facts) {
        noteDoubt(at: position, link.facts, from: watchedUntil, cause, now)
        update(link.facts, at: position, told: link.counters, now)
      } else {
        close(at: position, death: .vanished, now)
      }
    }
    let lastSeen = records.map(\.lastSeen)
    for link in links where positions[link.facts.ifindex] == nil {
      open(link, since: watchedUntil, isFirst: before == nil, at: now)
    }
    settlePorts(at: now)
    if cause == .polled { notePolledBirths(lastSeen, from: watchedUntil, at: now) }
    forgetFarEnds(departedIn: events)
    if cause == .overrun, let before { recordOverrun(since: before, at: now) }
    if before == nil {
      lastSample = now
      isFounded = isWhole
    }
    if cause == .start, !isStored {
      beginning = Beginning(
        links: listing, events: events, isWhole: isWhole, at: now,
        slots: opened.merging(positions.mapValues { lives[$0].slot }) { first, _ in first })
    }
  }

  /// Links that were born and died while events were lost left no trace at all, whatever is known by their names.
  private mutating func recordOverrun(since before: Moment, at now: Moment) {
    let from = utcSeconds(ofBoot: before.boot, at: now)
    recordGap(Gap(link: nil, from: from, to: now.utcSeconds + 1, reason: .eventOverrun, lossy: true), at: now)
    let through = lives.filter { $0.opened < from }
    let (survivors, keys) = (Set(through.map(\.slot)), keys(of: through))
    for slot in shownSlots where !survivors.contains(slot) && !keys.contains(records[slot].key) {
      if records[slot].firstSeen >= from {
        // The gap of all links is older than this record, and so does not speak of it.
        recordLoss(slot: slot, from: from, to: now, reason: .eventOverrun)
        continue
      }
      tallies[slot].todayFlags.insert(.atLeast)
      guard !records[slot].totalIsAtLeast else { continue }
      records[slot].totalIsAtLeast = true
      dirtySlots.insert(slot)
    }
  }

  /// Opens the life of a link whose birth nobody saw; of the first list of all it is the baseline.
  private mutating func open(_ link: ListedLink, since: Int64, isFirst: Bool, at now: Moment) {
    if isFirst {
      open(link.facts, base: link.counters ?? .zero, since: now.boot, birth: .firstSight, at: now)
    } else {
      open(link.facts, base: .zero, since: since, birth: .bornUnseen, at: now)
    }
  }

  /// Brings back the lives of this boot and closes those of an earlier one. `isWatched`: a queue tells of all that
  /// happened in between.
  private mutating func resumeLives(_ before: Moment?, isWatched: Bool, listed: [LinkFacts], at now: Moment) {
    guard let before else { return }
    let sameBoot = now.elapsed(since: before) != nil
    // Without a boot id a boot clock that is further on may still be that of another boot, unless it began then too.
    let isDoubtful =
      now.bootID.isUnknown && (now.bootInstant &- before.bootInstant).magnitude >= Moment.second.magnitude
    let gapStart = before.utcSeconds
    // At least a second long, also where the clock was set back meanwhile: an absence is never without a gap.
    let gapEnd = max(
      sameBoot ? now.utcSeconds : floorDivide(now.bootInstant, Moment.second), gapStart &+ 1)
    recordGap(
      Gap(link: nil, from: gapStart, to: gapEnd, reason: sameBoot ? .notRunning : .reboot, lossy: !isWatched), at: now)
    if !sameBoot, now.utcSeconds > gapEnd {
      recordGap(Gap(link: nil, from: gapEnd, to: now.utcSeconds, reason: .notRunning, lossy: true), at: now)
    }
    var survivors: Set<Int> = []
    var endedGroups: Set<Int> = []
    for slot in records.indices {
      guard let baseline = records[slot].baseline else { continue }
      if now.elapsed(since: baseline.at) != nil {
        var life = Life(
          ifindex: baseline.ifindex, slot: slot, inode: baseline.inode, counters: baseline.counters,
          since: before.boot, speedMbit: 0, birth: baseline.birth, opened: baseline.opened,
          booked: baseline.booked, lastMinute: lastMinute(of: baseline))
        life.account = account(ofSlot: slot)
        life.isDirty = false
        life.lags = false
        life.isNarrow = baseline.width == .bits32
        // Facts stand in until the list brings the present ones: an event may close this life before.
        var stand = LinkFacts()
        stand.ifindex = baseline.ifindex
        stand.inode = baseline.inode
        stand.name = records[slot].name
        facts[slot] = stand
        positions[baseline.ifindex] = lives.count
        lives.append(life)
        survivors.insert(slot)
        if isDoubtful { recordLoss(slot: life.account, from: gapStart, to: now, reason: .reboot) }
      } else if !records[slot].isShown {
        if let group = account(ofSlot: slot), endedGroups.insert(group).inserted {
          pending.gaps.append(Gap(link: records[group].id, from: gapStart, to: gapEnd, reason: .reboot, lossy: true))
        }
        remove(slot)
      } else {
        records[slot].baseline = nil
        dirtySlots.insert(slot)
        pending.incarnations.append(
          Incarnation(
            link: records[slot].id, bootID: baseline.at.bootID, ifindex: baseline.ifindex, inode: baseline.inode,
            opened: baseline.opened, birth: baseline.birth, closed: max(gapStart, baseline.opened), death: .reboot,
            booked: ended(baseline, slot: slot)))
        pending.gaps.append(Gap(link: records[slot].id, from: gapStart, to: gapEnd, reason: .reboot, lossy: true))
      }
    }
    // What does not go on from its baseline may have come and gone unseen.
    if isWatched { return }
    let known = Dictionary(listed.map { ($0.ifindex, $0) }, uniquingKeysWith: { first, _ in first })
    let through = lives.filter { life in !isDoubtful && known[life.ifindex].map { isSame(life, as: $0) } ?? false }
    let keys = keys(of: through)
    for slot in shownSlots
    where !survivors.contains(slot) && !records[slot].totalIsAtLeast && !keys.contains(records[slot].key) {
      records[slot].totalIsAtLeast = true
      dirtySlots.insert(slot)
    }
  }

  /// The devices of these lives: under no other label can one of them have been elsewhere.
  private func keys(of lives: [Life]) -> Set<String> {
    Set(lives.lazy.map { records[$0.slot] }.filter(\.isShown).map(\.key))
  }

  /// The same incarnation: by the inode, or where it is not known by the index, which the kernel gives away anew only
  /// if it is asked to. Then the name may have changed, and what is counted is certain for either incarnation.
  func isSame(_ life: Life, as facts: LinkFacts) -> Bool {
    life.inode == 0 || facts.inode == 0 || life.inode == facts.inode
  }

  /// Labels links that are here since the last sample: others of their name may have come and gone since, and between any
  /// two samples while it was away. `lastSeen` is from before the list, by slot; `from` is the last sample.
  private mutating func notePolledBirths(_ lastSeen: [Int64], from: Int64, at now: Moment) {
    let sampled = utcSeconds(ofBoot: from, at: now)
    for life in lives where life.opened == now.utcSeconds && life.birth == .bornUnseen {
      let since = life.slot < lastSeen.count ? min(lastSeen[life.slot], sampled) : sampled
      recordLoss(slot: life.account, from: since, to: now, reason: .vanished)
    }
  }

  /// Labels a link of another name that only its index says to be the same.
  private mutating func noteDoubt(
    at position: Int, _ facts: LinkFacts, from: Int64, _ cause: ListCause, _ now: Moment
  ) {
    let life = lives[position]
    guard life.inode == 0 || facts.inode == 0, records[life.slot].name != facts.name else { return }
    recordLoss(
      slot: life.account, from: utcSeconds(ofBoot: from, at: now), to: now,
      reason: cause == .start ? .notRunning : cause == .overrun ? .eventOverrun : .vanished)
  }
}
