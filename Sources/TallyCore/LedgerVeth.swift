// The two ends of a veth pair, wherever they are: what one sent last is what the other received.

extension Ledger {
  /// Remembers the other end while both are up: a dying one already shows none.
  ///
  /// Where an end has moved the next event of the one that stays shows, at the latest when its carrier comes back; until
  /// then neither speaks for the other.
  mutating func notePeer(_ facts: LinkFacts, at position: Int) {
    lives[position].isVeth = facts.isVeth
    guard facts.isVeth, facts.lower != 0 else { return }
    noteFarEnd(facts.farEnd, at: position)
    if facts.lowerIsElsewhere {
      lives[position].peer = 0
    } else if let other = positions[facts.lower] {
      lives[position].peer = facts.lower
      lives[other].peer = facts.ifindex
      noteFarEnd(nil, at: other)
    }
  }

  mutating func noteFarEnd(_ end: FarEnd?, at position: Int) {
    let life = lives[position]
    guard life.farEnd != end else { return }
    if let old = life.farEnd, farEnds[old]?.ifindex == life.ifindex { farEnds.removeValue(forKey: old) }
    if let end { farEnds[end] = NearEnd(ifindex: life.ifindex) }
    lives[position].farEnd = end
  }

  /// The veth ends here, for a process that goes on from a kept queue of events.
  package var vethEnds: [VethEnd] {
    lives.compactMap { life in
      guard life.isVeth else { return nil }
      return VethEnd(
        ifindex: life.ifindex, peer: life.farEnd?.ifindex ?? life.peer, namespace: life.farEnd?.namespace)
    }
  }

  /// Gives resumed lives back what was known of their other ends.
  mutating func recall(_ ends: [VethEnd]) {
    for end in ends {
      guard let position = positions[end.ifindex] else { continue }
      lives[position].isVeth = true
      if let namespace = end.namespace {
        noteFarEnd(FarEnd(namespace: namespace, ifindex: end.peer), at: position)
      } else {
        lives[position].peer = end.peer
      }
    }
  }

  /// True when the other end of a veth here is in the namespace.
  package func hasFarEnds(in namespace: Int32) -> Bool { farEnds.keys.contains { $0.namespace == namespace } }

  // MARK: Ends that go

  /// A dying veth end shows 0 received, because what it receives is what its peer sends and the peer is gone
  /// first. What it sent is right. So the final tx of one end is the final rx of the other.
  mutating func settleVeth(at position: Int, from: Int64, _ now: Moment) {
    let life = lives[position]
    let counters = life.counters
    guard life.isVeth else { return }
    let ended =
      records[life.slot].isShown ? incarnation(life, closed: now.utcSeconds, death: .deleted, at: now) : nil
    let ours = VethHalf(slot: life.account, counters: counters, ended: ended, fromBoot: from)
    if let half = halves.removeValue(forKey: life.ifindex) {
      complete(half, with: counters, at: now)
      complete(ours, with: half.counters, at: now)
    } else if life.peer != 0, positions[life.peer] != nil {
      halves[life.peer] = ours
    } else if hearsFarEnds, let end = life.farEnd, let near = farEnds[end], near.ifindex == life.ifindex {
      if let final = near.farFinal {
        complete(ours, with: final, at: now)
      } else if let old = farHalves.updateValue(ours, forKey: end) {
        giveUp(old, at: now)
      }
    } else {
      giveUp(ours, at: now)
    }
  }

  /// An end in another namespace goes before or after the one here; or it moves on, and another may take its place.
  mutating func farEndDeparted(_ end: FarEnd, final: LinkCounters?, movedOut: Bool, at now: Moment) {
    if movedOut {
      if let near = farEnds[end], let position = positions[near.ifindex] { noteFarEnd(nil, at: position) }
    } else if let half = farHalves.removeValue(forKey: end) {
      if let final { complete(half, with: final, at: now) } else { giveUp(half, at: now) }
    } else {
      farEnds[end]?.farFinal = final
    }
  }

  /// Nothing more is told of the ends in a namespace that ends, and its id may be another's next.
  mutating func namespaceEnded(_ namespace: Int32, at now: Moment) {
    for (end, near) in farEnds where end.namespace == namespace && near.farFinal == nil {
      if let position = positions[near.ifindex] { noteFarEnd(nil, at: position) }
    }
    for (end, half) in farHalves where end.namespace == namespace {
      farHalves.removeValue(forKey: end)
      giveUp(half, at: now)
    }
  }

  /// Forgets the places of far ends that a list shows, where events after it tell that they have gone.
  mutating func forgetFarEnds(departedIn events: [LinkEvent]) {
    for case let end? in events.lazy.map(\.farEnd) {
      if let near = farEnds[end], let position = positions[near.ifindex] { noteFarEnd(nil, at: position) }
    }
  }

  /// Gives up on halves whose other end did not die within the next sample.
  mutating func expireHalves(at now: Moment) {
    for (peer, half) in halves {
      halves[peer] = aged(half, at: now)
    }
    for (end, half) in farHalves {
      farHalves[end] = aged(half, at: now)
    }
  }

  private mutating func aged(_ half: VethHalf, at now: Moment) -> VethHalf? {
    guard half.age == 0 else {
      giveUp(half, at: now)
      return nil
    }
    var older = half
    older.age += 1
    return older
  }

  /// Books what an end received last, by what the other one sent in all.
  private mutating func complete(_ half: VethHalf, with other: LinkCounters, at now: Moment) {
    guard let slot = half.slot else { return }
    let received = increase(LinkCounters(rxBytes: other.txBytes, rxPackets: other.txPackets), half.counters)
    let ceiling = Ceiling.over(nanoseconds: now.boot - half.fromBoot, speedMbit: nil, width: .bits64)
    guard received.rxBytes <= ceiling.bytes else { return giveUp(half, at: now) }
    let span = placement(fromBoot: half.fromBoot, to: now)
    place(received, flags: [], slot: slot, span)
    amend(half.ended, slot: slot, by: received, span)
    dirtySlots.insert(slot)
  }

  private mutating func giveUp(_ half: VethHalf, at now: Moment) {
    recordLoss(slot: half.slot, from: utcSeconds(ofBoot: half.fromBoot, at: now), to: now, reason: .peerTail)
  }
}
