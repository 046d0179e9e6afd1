// Link events: births, changes, and deaths with final counters.

extension Ledger {
  /// Applies link events in the order in which the kernel queued them.
  package mutating func apply(_ events: [LinkEvent], at now: Moment) {
    guard !events.isEmpty else { return }
    advance(to: now)
    for event in events {
      switch event {
      case .appeared(let link): appeared(link, at: now)
      case .changed(let link): changed(link, at: now)
      case .departed(let ifindex, _, let final, let movedOut):
        departed(ifindex: ifindex, final: final, movedOut: movedOut, at: now)
      case .farEndDeparted(let end, let final, let movedOut):
        farEndDeparted(end, final: final, movedOut: movedOut, at: now)
      case .namespaceEnded(let namespace): namespaceEnded(namespace, at: now)
      }
    }
  }

  private mutating func appeared(_ link: ListedLink, at now: Moment) {
    if let old = positions[link.facts.ifindex] {
      // The kernel gives an index away only after its old owner died; that death was not reported.
      close(at: old, death: .vanished, now)
    }
    // A link made here starts at zero; one that moved in kept its counters, and what passed elsewhere is not
    // ours. Both count from what the event shows.
    let base = link.counters ?? .zero
    let birth: BirthCause = base == .zero ? .born : .movedIn
    open(link.facts, base: base, since: watchedFrom(at: now), birth: birth, at: now)
  }

  private mutating func changed(_ link: ListedLink, at now: Moment) {
    guard let position = positions[link.facts.ifindex] else { return }
    // The birth of another incarnation on this index was lost, or is still in the queue: what is told is not of this one.
    guard isSame(lives[position], as: link.facts) else { return }
    update(link.facts, at: position, told: link.counters, now)
    if let counters = link.counters { bookTold(counters, at: position, now) }
  }

  /// Books what an event, or a list, tells of a link that lives on.
  ///
  /// It may be older than a dump, so a lower value in it means nothing; an odd one waits for the dump.
  mutating func bookTold(_ counters: LinkCounters, at position: Int, _ now: Moment) {
    let life = lives[position]
    if life.account == nil {
      // What it shows now is where it would count from.
      lives[position].counters = counters
      return
    }
    let more = increase(counters, life.counters)
    let from = bookedFrom(life, now)
    let ceiling = life.ceiling(nanoseconds: now.boot - from, width: .bits64)
    guard !more.isZero, life.held.isEmpty, more.rxBytes <= ceiling.bytes, more.txBytes <= ceiling.bytes else { return }
    lives[position].counters = highWater(life.counters, counters)
    lives[position].isRaised = true
    book(more, flags: [], at: position, placement(fromBoot: from, to: now))
  }

  private mutating func departed(ifindex: UInt32, final: LinkCounters?, movedOut: Bool, at now: Moment) {
    guard let position = positions[ifindex] else { return }
    let life = lives[position]
    let from = bookedFrom(life, now)
    var isLost = final == nil
    if life.account == nil {
      if let final { lives[position].counters = highWater(life.counters, final) }
      isLost = false
    } else if var final {
      if life.isVeth, !movedOut {
        // What it received reads 0 by now, or lower than it was.
        final.rxBytes = max(final.rxBytes, life.counters.rxBytes)
        final.rxPackets = max(final.rxPackets, life.counters.rxPackets)
        lives[position].held.subtract([.rxBytes, .rxPackets])
      }
      // What is odd in the last reading was a reset, or bytes that may not be believed.
      let span = placement(fromBoot: from, to: now)
      isLost = judgeReading(
        final, width: life.isNarrow ? .bits32 : .bits64, at: position, span, from: from, isLast: true, now)
      if life.isNarrow, !isLost {
        // The wraps that could not be seen; whenever they were, it was since the boot.
        let rest = increase(final, lives[position].counters)
        let ceiling = life.ceiling(nanoseconds: now.boot, width: .bits64, trustsSpeed: false)
        isLost = max(rest.rxBytes, rest.txBytes) > ceiling.bytes
        if !isLost { book(rest, flags: [], at: position, span) }
      }
    }
    if isLost {
      recordLoss(
        slot: life.account, from: utcSeconds(ofBoot: from, at: now), to: now,
        reason: final == nil ? .vanished : .counterReset)
    }
    if movedOut {
      // The pair no longer dies together, so neither end may speak for the other.
      if life.peer != 0, let other = positions[life.peer] { lives[other].peer = 0 }
    } else {
      settleVeth(at: position, from: from, now)
    }
    close(at: position, death: movedOut ? .movedOut : .deleted, now)
  }

  /// Boot-clock instant after which a life's unbooked bytes passed.
  func bookedFrom(_ life: Life, _ now: Moment) -> Int64 { life.lags ? life.since : watchedFrom(at: now) }

  /// Boot-clock instant of the last sample; the instant of boot when that was in an earlier one.
  func watchedFrom(at now: Moment) -> Int64 {
    guard let lastSample else { return now.boot }
    return now.elapsed(since: lastSample) == nil ? 0 : lastSample.boot
  }
}
