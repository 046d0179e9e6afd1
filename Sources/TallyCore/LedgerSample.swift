// Applying a counter dump: the path that every sample walks for every link.

extension Ledger {
  /// Applies a dump that was taken, and its queue of events drained, before `now`.
  ///
  /// Lines of links whose creation or deletion was among those events must have been left out by the source:
  /// they may belong to the other incarnation. Nothing is lost by it, since counters are cumulative.
  package mutating func apply(_ readings: UnsafeBufferPointer<Reading>, width: CounterWidth, at now: Moment) {
    advance(to: now)
    let sampledFrom = watchedFrom(at: now)
    let placement = placement(fromBoot: sampledFrom, to: now)
    let ceiling = Ceiling.over(nanoseconds: now.boot - sampledFrom, speedMbit: nil, width: .bits64).bytes
    if hints.count < readings.count { hints += Array(repeating: 0, count: readings.count - hints.count) }
    for line in readings.indices {
      let ifindex = readings[line].ifindex
      var position = hints[line]
      if position >= lives.count || lives[position].ifindex != ifindex {
        guard let found = positions[ifindex] else {
          strangers += 1
          continue
        }
        position = found
        hints[line] = found
      }
      let raw = readings[line].counters
      let last = lives[position].counters
      if width == .bits64, lives[position].isPlain {
        if raw == last { continue }
        if lives[position].speedMbit == 0, raw.rxBytes >= last.rxBytes, raw.txBytes >= last.txBytes,
          raw.rxPackets >= last.rxPackets, raw.txPackets >= last.txPackets,
          raw.rxBytes - last.rxBytes <= ceiling, raw.txBytes - last.txBytes <= ceiling
        {
          lives[position].counters = raw
          book(difference(raw, last), flags: [], at: position, placement)
          continue
        }
      }
      if lives[position].account == nil {
        passBy(raw, width: width, at: position, now)
        continue
      }
      let from = lives[position].lags ? lives[position].since : sampledFrom
      let span = from == sampledFrom ? placement : self.placement(fromBoot: from, to: now)
      // An event may have told more than a dump that was read before it; then the next reading tells.
      let isOlder = lives[position].isRaised && liesBehind(raw, last, width)
      lives[position].isRaised = false
      if width == .bits32 { lives[position].isNarrow = true }
      lives[position].since = from
      lives[position].lags = isOlder || judgeReading(raw, width: width, at: position, span, from: from, now)
      if width == .bits64, !lives[position].lags { lives[position].isNarrow = false }
    }
    looked(at: now)
    lastSample = now
    closeEpoch(at: now)
    expireHalves(at: now)
  }

  /// Judges each counter of a reading alone and books what is certain; true when one has to wait for the next reading.
  ///
  /// After the last reading there is no other: what is only too much for the link's speed is then believed at once.
  mutating func judgeReading(
    _ raw: LinkCounters, width: CounterWidth, at position: Int, _ placement: Placement, from: Int64,
    isLast: Bool = false, _ now: Moment
  ) -> Bool {
    let elapsed = now.boot - from
    let ceiling = lives[position].ceiling(nanoseconds: elapsed, width: width)
    let packets = Ceiling(bytes: .max, isKnown: false)
    let believed =
      isLast ? lives[position].ceiling(nanoseconds: elapsed, width: width, trustsSpeed: false).bytes : 0
    let before = lives[position].counters
    let joinsNarrow = width == .bits64 && lives[position].isNarrow
    var amounts = Amounts.zero
    var flags: BucketFlags = []
    var wasReset = false
    var waits = false

    func weigh(
      _ counter: WritableKeyPath<LinkCounters, UInt64>, _ amount: WritableKeyPath<Amounts, UInt64>,
      _ mask: CounterMask, _ ceiling: Ceiling, _ witness: Witness, life: inout Life, heldCount: inout UInt64
    ) {
      let last = before[keyPath: counter]
      let value = raw[keyPath: counter]
      let held = life.held.contains(mask) ? life.heldCounters[keyPath: counter] : nil
      let verdict =
        width == .bits64
        ? judge(last: last, raw: value, held: held, ceiling: ceiling.bytes)
        : judge32(
          last: last, raw: UInt32(truncatingIfNeeded: value), held: held, ceiling: ceiling, witness: witness)
      life.held.remove(mask)
      switch verdict {
      case .counted(let bytes):
        amounts[keyPath: amount] = bytes
        life.counters[keyPath: counter] = last &+ bytes
      case .ambiguous(let bytes):
        amounts[keyPath: amount] = bytes
        life.counters[keyPath: counter] = last &+ bytes
        if mask == .rxBytes || mask == .txBytes { flags.insert(.atLeast) }
      case .held where value > last && value - last <= believed:
        amounts[keyPath: amount] = value - last
        life.counters[keyPath: counter] = value
        flags.insert(.implausible)
      case .implausible(let bytes):
        amounts[keyPath: amount] = bytes
        life.counters[keyPath: counter] = last &+ bytes
        flags.formUnion(width == .bits64 ? .implausible : [.implausible, .atLeast])
      case .held:
        life.held.insert(mask)
        life.heldCounters[keyPath: counter] = value
        heldCount &+= 1
        waits = true
        // Two odd readings that do not agree: whatever it does next, something was not seen.
        if held != nil { flags.insert(.atLeast) }
      case .steppedBack:
        life.held.insert(mask)
        life.heldCounters[keyPath: counter] = value
        flags.insert(.atLeast)
      case .reset(let bytes):
        let (bytes, mark) =
          joinsNarrow ? joinNarrow(last: last, raw: value, sinceReset: bytes) : (bytes: bytes, mark: value)
        amounts[keyPath: amount] = bytes
        // A narrow one may have wrapped after all; an event that has all the bits must not show those bytes again.
        life.counters[keyPath: counter] =
          width == .bits64 ? mark : last &+ UInt64(UInt32(truncatingIfNeeded: value &- last))
        flags.insert(.atLeast)
        wasReset = true
      }
    }

    let rxPackets = witness(raw.rxPackets, before.rxPackets, bytesEach: Ledger.largestPacket)
    let txPackets = witness(raw.txPackets, before.txPackets, bytesEach: Ledger.largestPacket)
    let rxBytes = witness(raw.rxBytes, before.rxBytes, bytesEach: 1)
    let txBytes = witness(raw.txBytes, before.txBytes, bytesEach: 1)
    weigh(\.rxBytes, \.rxBytes, .rxBytes, ceiling, rxPackets, life: &lives[position], heldCount: &heldReadings)
    weigh(\.txBytes, \.txBytes, .txBytes, ceiling, txPackets, life: &lives[position], heldCount: &heldReadings)
    weigh(\.rxPackets, \.rxPackets, .rxPackets, packets, rxBytes, life: &lives[position], heldCount: &heldReadings)
    weigh(\.txPackets, \.txPackets, .txPackets, packets, txBytes, life: &lives[position], heldCount: &heldReadings)
    book(amounts, flags: flags, at: position, placement)
    if wasReset {
      let slot = lives[position].account
      if let slot { records[slot].resets &+= 1 }
      recordLoss(slot: slot, from: utcSeconds(ofBoot: from, at: now), to: now, reason: .counterReset)
    }
    return waits
  }

  /// Notes whether the machine has slept, also at a moment when the counters cannot be read.
  package mutating func looked(at now: Moment) {
    if let sleep = sleep(until: now) { sleeps = Array((sleeps + [sleep]).suffix(Ledger.keptSleeps)) }
    lastLook = now
  }

  /// How the machine slept since the last look, on the boot clock; nil when it did not.
  func sleep(until now: Moment) -> Sleep? {
    guard let last = lastLook, case let length = now.slept(since: last), length > 0 else { return nil }
    return Sleep(after: last.boot, until: now.boot, length: length)
  }

  private mutating func closeEpoch(at now: Moment) {
    // Time asleep is no time in which anything could pass.
    let awake = now.boot - (now.asleep ?? 0)
    let length = awake - epochStart
    guard epochStart == 0 || length >= Ledger.epochLength else { return }
    lastEpochNanoseconds = epochStart == 0 ? 0 : length
    epoch &+= 1
    epochStart = awake
  }

  /// Bytes a second over the last closed epoch, and its length in seconds; nil before the second sample.
  package func rate(slot: Int) -> (rx: Double, tx: Double, seconds: Double)? {
    guard lastEpochNanoseconds > 0, isPresent(slot) else { return nil }
    let seconds = Double(lastEpochNanoseconds) / 1e9
    let own = position(ofSlot: slot).map { lives[$0].rateBytes(epoch: epoch) }
    let bytes =
      own
      ?? lives.lazy.filter { $0.account == slot }.reduce((0, 0)) { sum, life in
        let more = life.rateBytes(epoch: epoch)
        return (saturatingSum(sum.0, more.rx), saturatingSum(sum.1, more.tx))
      }
    return (Double(bytes.rx) / seconds, Double(bytes.tx) / seconds, seconds)
  }
}

@inline(__always)
func difference(_ new: LinkCounters, _ old: LinkCounters) -> Amounts {
  Amounts(
    rxBytes: new.rxBytes &- old.rxBytes, txBytes: new.txBytes &- old.txBytes,
    rxPackets: new.rxPackets &- old.rxPackets, txPackets: new.txPackets &- old.txPackets)
}

/// The part of `new` that lies above `old`, each counter alone: what an event may be trusted with.
func increase(_ new: LinkCounters, _ old: LinkCounters) -> Amounts {
  func above(_ a: UInt64, _ b: UInt64) -> UInt64 { a > b ? a - b : 0 }
  return Amounts(
    rxBytes: above(new.rxBytes, old.rxBytes), txBytes: above(new.txBytes, old.txBytes),
    rxPackets: above(new.rxPackets, old.rxPackets), txPackets: above(new.txPackets, old.txPackets))
}

/// What the low half of a counter, whose unit stands for so many bytes, tells of the other one.
private func witness(_ new: UInt64, _ old: UInt64, bytesEach: UInt64) -> Witness {
  let (low, high) = (UInt32(truncatingIfNeeded: old), UInt32(truncatingIfNeeded: new))
  if high > low { return Witness(explained: UInt64(high - low) * bytesEach) }
  return Witness(explained: 0, fell: UInt64(low - high) > old / 8)
}

/// A counter is lower than it was; of narrow ones, which may have wrapped, by less than half their range.
private func liesBehind(_ raw: LinkCounters, _ last: LinkCounters, _ width: CounterWidth) -> Bool {
  func isBehind(_ new: UInt64, _ old: UInt64) -> Bool {
    width == .bits64 ? new < old : UInt32(truncatingIfNeeded: new &- old) >= 1 << 31
  }
  return isBehind(raw.rxBytes, last.rxBytes) || isBehind(raw.txBytes, last.txBytes)
    || isBehind(raw.rxPackets, last.rxPackets) || isBehind(raw.txPackets, last.txPackets)
}

/// The higher of each counter.
func highWater(_ a: LinkCounters, _ b: LinkCounters) -> LinkCounters {
  LinkCounters(
    rxBytes: max(a.rxBytes, b.rxBytes), txBytes: max(a.txBytes, b.txBytes),
    rxPackets: max(a.rxPackets, b.rxPackets), txPackets: max(a.txPackets, b.txPackets))
}
