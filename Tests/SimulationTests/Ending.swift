// The end of a history: the disk recovers, everything settles, and all that was counted is there, with its labels.
import TallyCore
import Toys

@testable import TallyStore
@testable import iftallyd

extension Playing {
  func end() {
    machine.tell("all trouble ends")
    machine.weather = Weather()
    machine.kernel.failures = 0
    machine.kernel.meanwhile = nil
    machine.kernel.omitted = []
    if !machine.hasOddTime { machine.setRight() }
    start()
    guard let process = machine.process else { return }
    for _ in 0..<4 {
      machine.pass(Moment.second)
      process.counting.sampler.attemptSample()
    }
    // A store that is gone is found to be so by a heartbeat, and one that could not be opened is tried again with the
    // first commit after five minutes.
    machine.pass((!hasVanished && process.isStoring ? 190 : 800) * Moment.second)
    // The answers are compared with the ledger as it is when all have come.
    process.counting.history.keepsGone = nil
    answers = [:]
    for tier in Tier.allCases { ask(tier) }
    machine.pass(30 * Moment.second)
    broken = broken ?? settled(process)
    if broken == nil { leave(process) }
  }

  private func settled(_ process: SimulatedProcess) -> String? {
    // With every minute one more may just be on its way.
    for _ in 0..<3 where process.counting.history.pendingRows > 0 {
      machine.pass(10 * Moment.second)
      process.counting.history.collect()
    }
    if process.counting.history.pendingRows > 0 { return "rows still wait although the disk is well" }
    guard let day = answers[.day] else { return "a question was not answered" }
    if let broken = law(process) ?? losses(process, day.gaps) { return broken }
    guard world.hasPeriods, !machine.hasOddTime, !process.origin.isFractured else { return nil }
    for tier in Tier.allCases where isWhole(tier) {
      guard let rows = answers[tier] else { return "a question was not answered" }
      // A span of more than two hours is placed in five minutes, and the minutes between show nothing.
      if tier == .minute, machine.slept > 6600 * Moment.second { continue }
      if let broken = periods(process, rows, tier) { return broken }
    }
    return nil
  }

  /// A difference is never without a label, and where nothing was unobservable there is neither.
  private func losses(_ process: SimulatedProcess, _ gaps: [Gap]) -> String? {
    let ledger = process.ledger
    for key in world.byIdentity ? Set(machine.kernel.toy.keys).sorted() : [""] {
      let (truth, counted) = sides(process, key)
      let known = ledger.records.filter { world.byIdentity && $0.key == key }
      let isShared = gaps.contains { excuses($0, known) }
      var isLabelled = isShared || process.origin.isFractured
      for record in ledger.records where key.isEmpty || record.key == key {
        let isOwnLoss = record.totalIsAtLeast || gaps.contains { $0.link == record.id && $0.lossy }
        if world.isUnlabelled, isOwnLoss { return "\(key): labelled without a loss" }
        isLabelled = isLabelled || isOwnLoss
      }
      if world.isComplete || !isLabelled, counted.rxBytes != truth.rxBytes || counted.txBytes != truth.txBytes {
        return "\(key): lost, counted \(counted) of \(truth)"
      }
    }
    return nil
  }

  /// A period that claims to be complete shows what passed in it, up to what a tick that is late cannot tell apart.
  private func periods(_ process: SimulatedProcess, _ rows: UsageRows, _ tier: Tier) -> String? {
    let calendar = machine.zone.calendar
    let toy = machine.kernel.toy
    for key in world.byIdentity ? Set(toy.keys).sorted() : [""] {
      let records = process.ledger.records.filter { key.isEmpty || $0.key == key }
      var least: [Int64: Amounts] = [:]
      var most: [Int64: Amounts] = [:]
      for passage in toy.passages.dropFirst(process.origin.passages)
      where key.isEmpty || toy.keys[passage.history] == key {
        let second = floorDivide(passage.utc, Moment.second)
        let starts = [second - 1, second, second + 1].map { calendar.start(tier.resolution, $0) }
        if starts[0] == starts[2] { least[starts[1], default: .zero] += passage.amounts }
        for start in Set(starts) { most[start, default: .zero] += passage.amounts }
      }
      var shown: [Int64: Amounts] = [:]
      var flags: [Int64: [LinkID: BucketFlags]] = [:]
      let ids = Set(records.map(\.id))
      for row in rows.rows where ids.contains(row.link) {
        let start = calendar.start(tier.resolution, row.start)
        shown[start, default: .zero] += row.amounts
        flags[start, default: [:]][row.link, default: []].formUnion(row.flags)
      }
      for start in Set(most.keys).union(shown.keys).sorted() {
        let amounts = shown[start] ?? .zero
        guard isComplete(process, records, rows, tier, start, flags[start] ?? [:]) else { continue }
        if (least[start] ?? .zero).isAtMost(amounts), amounts.isAtMost(most[start] ?? .zero) { continue }
        return "\(key): the \(tier) from \(start) claims to be complete with \(amounts), "
          + "\(least[start] ?? .zero) to \(most[start] ?? .zero) passed"
      }
    }
    return nil
  }

  /// A gap of all links excuses what nobody knew of before it: there is no record to bear a label of its own.
  private func excuses(_ gap: Gap, _ records: [LinkRecord]) -> Bool {
    gap.link == nil && gap.lossy && records.allSatisfy { $0.firstSeen >= gap.from }
  }

  private func isComplete(
    _ process: SimulatedProcess, _ records: [LinkRecord], _ rows: UsageRows, _ tier: Tier, _ start: Int64,
    _ flags: [LinkID: BucketFlags]
  ) -> Bool {
    let end = machine.zone.calendar.next(tier.resolution, start)
    let isExcused = rows.gaps.contains {
      $0.from < end && $0.to > start && excuses($0, world.byIdentity ? records : [])
    }
    if isExcused { return false }
    return records.allSatisfy { record in
      let quality = Quality(
        flags: flags[record.id] ?? [], placedBy: tier.resolution.placedBy, link: record.id,
        firstSeen: record.firstSeen, watchedSince: process.ledger.watchedSince, from: start,
        to: max(start + 1, min(end, machine.now.utcSeconds + 1)), gaps: rows.gaps, incarnations: rows.incarnations)
      return quality.completeness == .complete
    }
  }

  /// After an end in order the disk has everything.
  private func leave(_ process: SimulatedProcess) {
    if !machine.hasOddZone { broken = machine.disk.contradiction() }
    guard broken == nil else { return }
    let isFractured = process.origin.isFractured
    guard machine.stop() else {
      broken = "the last commit failed on a disk that is well"
      return
    }
    let ledger = process.ledger
    guard let opening = try? machine.disk.open(at: machine.now.utcSeconds) else {
      broken = "the store is gone"
      return
    }
    let stored = opening.state.links.reduce(into: [:]) { $0[$1.id] = $1.total }
    for slot in ledger.shownSlots {
      let record = ledger.record(slot: slot)
      if stored[record.id] != record.total {
        broken = "\(record.name): \(stored[record.id] ?? .zero) stored of a total of \(record.total)"
      }
      for tier in Tier.allCases where !isFractured && tier == .day && broken == nil {
        let sum = machine.disk.model?.sums(tier, from: -farAway, to: farAway)[record.id] ?? .zero
        if sum != record.total { broken = "\(record.name): the stored \(tier)s add up to \(sum) of \(record.total)" }
      }
    }
    machine.disk.close()
  }
}
