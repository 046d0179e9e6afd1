// One incarnation under observation: plain values only, since a sample walks thousands of them.

/// The four counters, for masks that say which of them are in an odd state.
struct CounterMask: OptionSet {
  let rawValue: UInt8
  static let rxBytes = CounterMask(rawValue: 1)
  static let txBytes = CounterMask(rawValue: 2)
  static let rxPackets = CounterMask(rawValue: 4)
  static let txPackets = CounterMask(rawValue: 8)
}

/// The bucket that a link's amounts are being added to.
struct OpenBucket {
  /// UTC seconds; meaningless while the amounts are zero and no flag is set.
  var start: Int64 = 0
  var amounts = Amounts.zero
  var flags: BucketFlags = []

  var isEmpty: Bool { amounts.isZero && flags.isEmpty }
}

/// What the ledger holds of one present link.
struct Life {
  var ifindex: UInt32
  /// Position of its record and tally.
  var slot: Int
  /// Slot of the record that its bytes are booked to: its own or a group's; nil: it is ignored.
  var account: Int?
  /// It is ignored no longer, as soon as a reading tells from where on it counts.
  var awaitsBase = false
  var inode: UInt64
  /// High-water marks; 64 bits also for a narrow source, which is extended.
  var counters: LinkCounters
  /// Boot-clock nanoseconds: what is not booked yet passed after this, if `lags`; else after the last sample.
  var since: Int64
  /// The last sample did not settle it: it has had no reading yet, or an odd one.
  var lags = true
  /// Its counters stem from readings of 32 bits; what events tell has 64.
  var isNarrow = false
  /// An event raised its counters after the last reading; the next one may be older than that event.
  var isRaised = false
  /// Mbit/s of hardware, 0 when unknown or virtual.
  var speedMbit: UInt32
  var isVeth = false
  /// Index of the other veth end when it lives in this namespace, 0 when none or unknown.
  var peer: UInt32 = 0
  /// The other veth end when it lives in another namespace and that is known.
  var farEnd: FarEnd?
  var held: CounterMask = []
  var heldCounters = LinkCounters.zero
  var open = OpenBucket()
  /// Its baseline differs from the committed one.
  var isDirty = true
  var birth: BirthCause
  /// UTC seconds.
  var opened: Int64
  /// What was last told of its bytes: `from` and `until` bound those of before this process.
  var booked: Booked?
  /// UTC seconds: the first and last minute that this process put anything of it into.
  var firstMinute = Int64.max
  var lastMinute = Int64.min

  // Rates: bytes of the epoch that is running, and of the one before it.
  var rateEpoch: UInt64 = 0
  var epochRx: UInt64 = 0
  var epochTx: UInt64 = 0
  var lastEpochRx: UInt64 = 0
  var lastEpochTx: UInt64 = 0

  /// The most that it can have moved in a time, by readings of this width.
  func ceiling(nanoseconds: Int64, width: CounterWidth, trustsSpeed: Bool = true) -> Ceiling {
    let speed = trustsSpeed && speedMbit != 0 ? speedMbit : nil
    return Ceiling.over(nanoseconds: nanoseconds, speedMbit: speed, width: width)
  }

  /// Nothing is odd about it: a reading says what passed since the last sample.
  var isPlain: Bool { held.isEmpty && !lags && !isRaised && !isNarrow && account != nil }

  /// Bytes were put into minutes that a later process could not tell from what was told and the next baseline.
  func reachesFurther(thanTold now: Moment) -> Bool {
    guard let booked else { return false }
    return firstMinute < booked.from || lastMinute > max(booked.until, now.utcSeconds)
  }

  mutating func addToRate(rx: UInt64, tx: UInt64, epoch: UInt64) {
    if rateEpoch != epoch {
      let follows = rateEpoch &+ 1 == epoch
      lastEpochRx = follows ? epochRx : 0
      lastEpochTx = follows ? epochTx : 0
      epochRx = 0
      epochTx = 0
      rateEpoch = epoch
    }
    epochRx = saturatingSum(epochRx, rx)
    epochTx = saturatingSum(epochTx, tx)
  }

  /// Bytes of the epoch that closed last, when `epoch` is the running one.
  func rateBytes(epoch: UInt64) -> (rx: UInt64, tx: UInt64) {
    if rateEpoch == epoch { return (lastEpochRx, lastEpochTx) }
    if rateEpoch &+ 1 == epoch { return (epochRx, epochTx) }
    return (0, 0)
  }
}

/// Running sums of one link, present or not.
struct Tally {
  var total = Amounts.zero
  /// Of the running local day.
  var today = Amounts.zero
  var todayFlags: BucketFlags = []
  /// Slot of the group that its record is a member of.
  var group: Int?
  /// Of a group: links that are there now.
  var members = 0
  /// A commit has its record.
  var isTaken = false
  /// The life that began last, of this process.
  var lastLife: (ifindex: UInt32, opened: Int64)?
}
