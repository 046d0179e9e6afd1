// The kernel joined with the ledger: the one place where samples are taken.
import LinkSource
import TallyCore

/// Takes samples of one network namespace into its ledger.
final class Sampler {
  let kernel: any LinkKernel
  /// The clocks as they stand.
  let now: () -> Moment
  var ledger: Ledger
  /// Called after each sample and each reading of events, when the ledger may have news.
  var observed: () -> Void = {}

  /// Samples taken, and how long the last took from the request to its being booked.
  private(set) var sampleCount: UInt64 = 0
  private(set) var lastDurationNanoseconds: Int64 = 0
  /// Full lists taken because events were lost.
  private(set) var resyncs: UInt64 = 0
  /// Samples that failed, and why the last one did; nil when it did not.
  private(set) var failures: UInt64 = 0
  private(set) var lastError: LinkSourceError?

  private var isListed = false
  /// What was queued before this process, from when it was read until a list joins on to it.
  private var kept: KeptEvents?
  /// Events were lost, and no list has made up for them yet: a list that fails is tried again with every sample.
  private var isBehind = false
  /// Rules that the next sample puts in force.
  private var newRules: [LinkRule]?
  private var missingLines = MissingLines()
  private(set) var crossCheck: (result: CrossCheck, at: Moment)?

  /// Boot-clock instant before which no sample is taken for the sake of a namespace that ends.
  private var nextTailSample: Int64 = 0
  /// However many end, these samples take a twentieth of the time at most.
  private static let tailSampleSpacing: Int64 = 20
  /// Many queries at once share one sample.
  private static let shareNanoseconds: Int64 = 100_000_000
  /// Events may be lost again while the links are listed; a few rounds settle it or the next sample does.
  private static let resyncRounds = 4

  /// `stored`: what a store knows of the past; nil when there is none.
  init(
    kernel: any LinkKernel, now: @escaping () -> Moment, calendar: LocalCalendar, rules: [LinkRule] = [],
    restoring stored: StoredState?
  ) {
    self.kernel = kernel
    self.now = now
    ledger = Ledger(calendar: calendar, rules: rules)
    ledger.hearsFarEnds = kernel.hearsFarEnds
    if let stored { ledger.restore(stored) }
  }

  /// Reads counters and events now and books them; the first time, and until that succeeds, the list of links before.
  func sample() throws(LinkSourceError) {
    let begun = now()
    // Whoever asks first: without the list, what the store knows is not resumed and would be counted anew.
    if !isListed { isBehind = try !list(cause: .start) }
    isListed = true
    let sample = try kernel.sample()
    ledger.apply(sample.events, at: sample.at)
    isBehind = isBehind || sample.overrun
    // Behind, a reading may be of another incarnation than the one known by that index: only the list tells.
    if !isBehind {
      let strangers = ledger.strangers
      ledger.apply(sample.readings, width: sample.width, at: sample.at)
      isBehind = ledger.strangers != strangers || lacksLines(sample)
    }
    if isBehind {
      let isWhole = try list(cause: kernel.source.isPolled ? .polled : .overrun)
      let again = try kernel.sample()
      ledger.apply(again.events, at: again.at)
      // Lost again: the next sample lists anew, and counters are cumulative.
      isBehind = again.overrun || !isWhole
      if !again.overrun { ledger.apply(again.readings, width: again.width, at: again.at) }
    }
    if let rules = newRules, !isBehind, let sampled = ledger.lastSample {
      newRules = nil
      ledger.apply(rules, at: sampled)
    }
    sampleCount &+= 1
    lastDurationNanoseconds = now().boot - begun.boot
    observed()
  }

  /// Puts other rules in force with a sample, so that what passed until then is counted under the old ones; when it fails,
  /// with the next one.
  func take(_ rules: [LinkRule]) {
    // The first reads the events of links that just came, the second what these have counted.
    attemptSample()
    newRules = rules
    attemptSample()
  }

  /// A link is without a line that had none in the sample before either.
  private func lacksLines(_ sample: Sample) -> Bool {
    guard sample.isComplete, !sample.overrun else { return false }
    var missing: Set<UInt32> = []
    if sample.readings.count < ledger.presentCount {
      missing = ledger.presentIndices
      for reading in sample.readings { missing.remove(reading.ifindex) }
      // Its line was left out: it came or went, and may do so with every sample.
      for ifindex in sample.events.compactMap(\.bornOrDead) { missing.remove(ifindex) }
    }
    return missingLines.areConfirmed(by: missing)
  }

  /// Brings the ledger together with a store that was opened after the start; see `Ledger.takeOver`.
  func takeOver(
    _ stored: StoredState, waiting: Commit?, committed: Moment?
  ) -> (outcome: Takeover, waiting: Commit?) {
    let taken = ledger.takeOver(stored, waiting: waiting, committed: committed)
    if taken.outcome == .restarted { isListed = false }
    return taken
  }

  /// Samples unless the last one is fresh enough to be called the present. Never throws: a failure is kept for
  /// `status`, and figures then carry the older moment.
  func sampleForQuery() {
    if nanosecondsUntilSample() == nil { attemptSample() }
  }

  /// How long until a question may sample again; nil: now.
  func nanosecondsUntilSample() -> Int64? {
    guard let last = ledger.lastSample, let age = now().elapsed(since: last), age < Sampler.shareNanoseconds
    else { return nil }
    return Sampler.shareNanoseconds - age
  }

  /// Samples and keeps a failure instead of throwing it; true when it succeeded.
  @discardableResult
  func attemptSample() -> Bool {
    do {
      try sample()
      lastError = nil
      return true
    } catch {
      ledger.looked(at: now())
      failures &+= 1
      lastError = error
      return false
    }
  }

  /// Books the link events that wait; true when a link came or went, or is counted under another record from now on. Counters of the others wait for a sample.
  func drainEvents() -> Bool {
    do {
      if !isListed { try readKept() }
      let drained = try kernel.drainEvents()
      guard isListed else {
        // What happens before the first list is in it, but for what a kept queue has to tell in order.
        kept?.events += drained.events
        if drained.overrun { kept?.isWhole = false }
        return false
      }
      let tailsAreLeaving = drained.events.contains { event in
        if case .namespaceEnded(let namespace) = event { ledger.hasFarEnds(in: namespace) } else { false }
      }
      let moves = ledger.moves
      ledger.apply(drained.events, at: now())
      let hasMoved = ledger.moves != moves
      defer { observed() }
      isBehind = isBehind || drained.overrun
      if isBehind {
        try sample()
      } else if tailsAreLeaving, now().boot >= nextTailSample {
        // The veths that go with a namespace are still there for a moment, with all that they received.
        try sample()
        nextTailSample = now().boot + lastDurationNanoseconds * Sampler.tailSampleSpacing
      }
      return drained.overrun || hasMoved || drained.events.contains { $0.bornOrDead != nil }
    } catch {
      failures &+= 1
      lastError = error
      return false
    }
  }

  /// Reads what was queued before this process, so that no list is older than it. Where nobody knows how it joins on to
  /// the store it is thrown away: the store may have some of it already. Without a store so is what was queued before the
  /// first baseline, however long a list took to succeed: a birth among it would count from zero what passed before.
  private func readKept() throws(LinkSourceError) {
    let last = ledger.lastMoment
    guard kernel.inheritsEvents || last == nil, kept == nil else { return }
    let note = last.flatMap(kernel.queueNote)
    let drained = try kernel.drainEvents()
    // All of it is of this boot.
    let followsBoot = last.map { now().elapsed(since: $0) == nil } ?? false
    guard note != nil || followsBoot else { return }
    kept = KeptEvents(
      events: drained.events, isWhole: !followsBoot && note?.isWhole == true && !drained.overrun,
      vethEnds: note?.vethEnds ?? [])
  }

  /// False when links may be missing still: the next sample lists again.
  private func list(cause: ListCause) throws(LinkSourceError) -> Bool {
    if cause == .start { try readKept() }
    if cause == .overrun { resyncs &+= 1 }
    for round in 1...Sampler.resyncRounds {
      let list = try kernel.list()
      let drained = try kernel.drainEvents()
      if drained.overrun { kept?.isWhole = false }
      if drained.overrun, round < Sampler.resyncRounds {
        if cause == .overrun { ledger.apply(drained.events, at: now()) }
        continue
      }
      defer { kept = nil }
      ledger.apply(
        list.links, kept: kept, events: drained.events, cause: cause, isWhole: list.isWhole, at: now())
      return list.isWhole && !drained.overrun
    }
    return false
  }

  /// Holds netlink's counters against getifaddrs' unless that was done in the last `seconds`.
  func checkCounters(olderThan seconds: Int64) {
    if let last = crossCheck, let age = now().elapsed(since: last.at), age < seconds * Moment.second { return }
    do {
      crossCheck = (try kernel.crossCheck(), now())
    } catch {
      lastError = error
    }
  }
}
