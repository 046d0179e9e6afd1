// A store that opens late: what it knows of the past is joined with what was counted without it, each byte once.

/// How a ledger and a store that was opened after counting had begun came together.
package enum Takeover: Sendable {
  /// The store is new: everything known here is to be written to it.
  case begunAnew
  /// The store holds an earlier state of this ledger and nothing else.
  case continued
  /// The store knew a past that this ledger did not; now it does.
  case joined
  /// The store has counted the same bytes, or others under the same numbers: the ledger begins again from the store.
  case restarted
}

/// The list that counting began with where no store told of the past: what the start would have been with one.
struct Beginning: Sendable {
  var links: [ListedLink]
  var events: [LinkEvent]
  /// No link came or went while they were listed.
  var isWhole: Bool
  var at: Moment
  /// The records of the links that were there then, by ifindex.
  var slots: [UInt32: Int]

  /// What is not counted here: lives up to the list, and those that had ended by then with what events tell of them. nil
  /// where it is not clear which of two lives the list shows.
  var past: (links: [ListedLink], events: [LinkEvent])? {
    let listed = Set(links.map(\.facts.ifindex))
    var births: [UInt32: [LinkFacts]] = [:]
    var ended: Set<UInt32> = []
    var earlier: [LinkEvent] = []
    for event in events {
      switch event {
      case .appeared(let link): births[link.facts.ifindex, default: []].append(link.facts)
      case .changed(let link):
        let ifindex = link.facts.ifindex
        if !listed.contains(ifindex), births[ifindex] == nil { earlier.append(event) }
      case .departed(let ifindex, _, _, _):
        guard births[ifindex] == nil else { continue }
        if listed.contains(ifindex) { ended.insert(ifindex) } else { earlier.append(event) }
      case .farEndDeparted, .namespaceEnded: break
      }
    }
    var before: [ListedLink] = []
    for link in links {
      let ifindex = link.facts.ifindex
      if let births = births[ifindex] {
        // Born before it was listed: all of it is counted here.
        guard ended.contains(ifindex) else { continue }
        for birth in births where birth.inode == 0 || birth.inode == link.facts.inode { return nil }
      }
      before.append(link)
    }
    return (before, earlier)
  }
}

extension Ledger {
  /// Takes over a store that was opened while counting went on.
  ///
  /// - Parameters:
  ///   - waiting: what was taken from this ledger and is in no store.
  ///   - committed: the last moment that a store of this ledger holds; nil when there was none.
  /// - Returns: what came of it, and what waits now, in the store's own numbers. After `.restarted` the links have to be
  ///   listed with the cause `start`; nothing waits then.
  package mutating func takeOver(
    _ stored: StoredState, waiting: Commit?, committed: Moment?
  ) -> (outcome: Takeover, waiting: Commit?) {
    guard let storedAt = stored.lastMoment else {
      markAllChanged()
      (isStored, beginning) = (true, nil)
      recordHistoryLoss(from: watchedSince, committed)
      return (.begunAnew, waiting)
    }
    if !isStored, let beginning {
      if let joined = join(stored, beginning, waiting) { return (.joined, joined) }
    } else if !isStored, lastSample == nil {
      restore(stored)
      return (.joined, nil)
    } else if let committed, isEarlierState(stored, storedAt, committed) {
      markAllChanged()
      let ours = Set(records.map(\.id))
      for link in stored.links.map(\.id) where !ours.contains(link) {
        if let group = expired[link] {
          pending.expiries.append(Expiry(link: link, into: group.into))
        } else {
          pending.removed.append(link)
        }
      }
      if committed.elapsed(since: storedAt) != 0 { recordHistoryLoss(from: storedAt.utcSeconds, committed) }
      // Whoever asks next has to be told under which records the store has what.
      guard !pending.expiries.isEmpty, var unwritten = takeCommit(sequence: 0) else { return (.continued, waiting) }
      if let waiting { unwritten.absorb(waiting) }
      return (.continued, unwritten)
    }
    var again = Ledger(calendar: calendar, rules: rules)
    again.mostInterfaces = mostInterfaces
    again.hearsFarEnds = hearsFarEnds
    (again.news, again.lostNews) = (news, lostNews)
    again.restore(stored)
    self = again
    return (.restarted, nil)
  }

  /// Totals survive here; which minute their bytes belong to was in the other file alone.
  private mutating func recordHistoryLoss(from: Int64, _ committed: Moment?) {
    guard let committed else { return }
    let end = committed.utcSeconds + 1
    let gap = Gap(link: nil, from: min(from, end - 1), to: end, reason: .historyLost, lossy: true)
    recordGap(gap, at: lastMoment ?? committed)
  }

  /// Every link of the store is one of ours under the same number, or expired here, and was never further than it is
  /// here; members of groups, ignored links and what moved to a group at once, which hold no bytes, may have gone
  /// meanwhile. The numbers of commits do not decide: they begin anew with a new file, and the old one may be put back.
  private func isEarlierState(_ stored: StoredState, _ at: Moment, _ committed: Moment) -> Bool {
    if at.bootID == committed.bootID, committed.elapsed(since: at) == nil { return false }
    let ours = Dictionary(records.indices.map { (records[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
    var held: [Int: Amounts] = [:]
    for link in stored.links {
      guard let slot = ours[expired[link.id]?.into ?? link.id] else {
        if link.isShown, !link.total.isZero { return false }
        continue
      }
      let firstSeen = expired[link.id]?.firstSeen ?? records[slot].firstSeen
      // A group of expired ones comes to know of earlier ones.
      guard firstSeen == link.firstSeen || link.isExpiredGroup && records[slot].isExpiredGroup else { return false }
      held[slot, default: .zero] += link.total
    }
    return held.allSatisfy { tallies[$0].total.without($1) != nil }
  }

  /// Plays the start that would have been with the store, and puts on it what was counted since.
  ///
  /// A link that goes on from its stored baseline is counted up to the list by that start and from the list on by what
  /// was counted here: each byte once. nil: the store was written after this ledger had begun, so both hold the same bytes;
  /// or there are groups or ignored links, whose lives are not told apart.
  private mutating func join(_ stored: StoredState, _ beginning: Beginning, _ waiting: Commit?) -> Commit? {
    guard let storedAt = stored.lastMoment, beginning.isWhole,
      (records + stored.links).allSatisfy({ $0.isShown && !$0.isGroup }), let before = beginning.past,
      before.links.allSatisfy({ $0.counters != nil }),
      storedAt.bootID != beginning.at.bootID || beginning.at.elapsed(since: storedAt) != nil,
      var since = takeCommit(sequence: 0)
    else { return nil }
    if let waiting { since.absorb(waiting) }

    var past = Ledger(calendar: calendar, rules: rules)
    past.mostInterfaces = mostInterfaces
    past.restore(stored)
    past.apply(before.links, events: before.events, cause: .start, at: beginning.at)
    let readings = before.links.compactMap { link in
      link.counters.map { Reading(ifindex: link.facts.ifindex, counters: $0) }
    }
    // Twice: what is odd beside the stored baseline has stayed so, or nothing would have been counted from it here.
    for _ in 0..<2 { readings.withUnsafeBufferPointer { past.apply($0, width: .bits64, at: beginning.at) } }
    guard var joined = past.takeCommit(sequence: 0) else { return nil }
    let places = places(in: &past, beginning)
    var placeOf: [LinkID: Int] = [:]
    for slot in records.indices { placeOf[records[slot].id] = places[slot] }
    func id(_ link: LinkID) -> LinkID { placeOf[link].map { past.records[$0].id } ?? link }

    joined.at = since.at
    joined.links = []
    joined.rows += since.rows.map { row in
      var row = row
      row.link = id(row.link)
      return row
    }
    joined.gaps += since.gaps.map { gap in
      var gap = gap
      gap.link = gap.link.map(id)
      return gap
    }
    joined.incarnations += since.incarnations.compactMap { incarnation in
      placeOf[incarnation.link].map { past.known(incarnation, at: $0) }
    }
    joined.clockSteps += since.clockSteps
    joined.compact()
    adopt(past, places, at: since.at)
    return joined
  }

  /// The slot in `past` of every own record: by its life where the list showed one, else by its identity, else a new one.
  private func places(in past: inout Ledger, _ beginning: Beginning) -> [Int] {
    var places: [Int?] = Array(repeating: nil, count: records.count)
    for (ifindex, slot) in beginning.slots.sorted(by: { $0.key < $1.key }) {
      places[slot] = past.slot(ifindex: ifindex) ?? places[slot]
    }
    var taken = Set(places.compactMap { $0 })
    return records.indices.map { slot in
      if let place = places[slot] { return place }
      let own = records[slot]
      if let place = past.slots[own.identity], taken.insert(place).inserted {
        past.records[place].resets &+= 1
        return place
      }
      var record = own
      record.id = past.nextID
      (record.total, record.totalIsAtLeast, record.resets) = (.zero, false, 0)
      let place = past.add(record)
      taken.insert(place)
      return place
    }
  }

  /// An incarnation that was recorded without the store, as one of the record at this place of this past. What began with
  /// the first list may have begun before it.
  private func known(_ incarnation: Incarnation, at place: Int) -> Incarnation {
    var known = incarnation
    known.link = records[place].id
    let carried = tallies[place].total
    known.booked?.before += carried
    guard incarnation.birth == .firstSight, let life = positions[incarnation.ifindex].map({ lives[$0] }) else {
      return known
    }
    (known.opened, known.birth, known.booked) = (life.opened, life.birth, life.booked)
    known.booked?.reach(from: life.firstMinute, until: life.lastMinute)
    guard let own = incarnation.booked, let before = known.booked?.before else { return known }
    known.booked?.reach(from: own.from, until: own.until)
    known.booked?.amounts = own.amounts
    known.booked?.amounts? += carried.without(before) ?? .zero
    return known
  }

  /// Takes the records of `past`, with what was counted here put on them.
  private mutating func adopt(_ past: Ledger, _ places: [Int], at now: Moment) {
    var merged = past
    // Nothing is present but what is so here.
    for slot in merged.records.indices { merged.records[slot].baseline = nil }
    for slot in records.indices {
      let place = places[slot]
      let own = records[slot]
      merged.records[place].key = own.key
      merged.records[place].label = own.label
      merged.records[place].rule = own.rule
      merged.records[place].name = own.name
      merged.records[place].kind = own.kind
      merged.records[place].type = own.type
      merged.records[place].lastSeen = own.lastSeen
      merged.records[place].baseline = own.baseline
      merged.records[place].totalIsAtLeast = merged.records[place].totalIsAtLeast || own.totalIsAtLeast
      merged.records[place].resets &+= own.resets
      merged.facts[place] = facts[slot]
      merged.designations[place] = designations[slot]
      merged.tallies[place].total += tallies[slot].total
      merged.tallies[place].todayFlags.formUnion(tallies[slot].todayFlags)
      merged.tallies[place].lastLife = tallies[slot].lastLife ?? merged.tallies[place].lastLife
    }
    for position in lives.indices {
      let life = lives[position]
      let known = past.known(incarnation(life, closed: nil, death: nil, at: now), at: places[life.slot])
      (lives[position].opened, lives[position].birth) = (known.opened, known.birth)
      lives[position].booked = known.booked
      lives[position].slot = places[life.slot]
      lives[position].account = life.account.map { places[$0] }
      lives[position].isDirty = true
    }
    func moved(_ half: VethHalf) -> VethHalf {
      var moved = half
      guard let slot = half.slot else { return half }
      moved.slot = places[slot]
      moved.ended = half.ended.map { past.known($0, at: places[slot]) }
      return moved
    }
    halves = halves.mapValues(moved)
    farHalves = farHalves.mapValues(moved)
    (records, facts, tallies) = (merged.records, merged.facts, merged.tallies)
    (designations, changed) = (merged.designations, merged.changed)
    (firstRecordSeen, nextID) = (merged.firstRecordSeen, merged.nextID)
    slots = [:]
    for slot in shownSlots where !isHidden(slot) {
      let identity = records[slot].identity
      if isPresent(slot) || slots[identity].map({ !isPresent($0) }) ?? true { slots[identity] = slot }
    }
    dirtySlots = Set(records.indices)
    (isStored, beginning) = (true, nil)
    for position in lives.indices { tellBooked(at: position) }
    // The store has to tell what it holds of the running day, and ahead of the clock.
    todayIsKnown = false
    bookedUntil = .max
  }
}
