// What must be true whatever happened: the law, sums that agree, and what was shown does not go back.
import TallyCore
import Toys

@testable import TallyStore
@testable import iftallyd

/// What was shown, by tier, link and period.
struct Shown {
  struct Period: Hashable {
    var link: LinkID
    var start: Int64
  }

  /// Links expire, and what they showed is shown of others: of all together it does not go back.
  var isOverAll = false
  private var sums: [Tier: [Period: Amounts]] = [:]

  mutating func forgetAll() { sums = [:] }

  /// After a kill what was told and not committed is placed anew, over the time since the last commit.
  mutating func forgetUncommitted(_ model: ToyStore?) {
    guard let model else { return forgetAll() }
    for tier in sums.keys {
      let rows = model.usage(UsageQuery(links: nil, tier: tier, from: -farAway, to: farAway)).rows
      sums[tier] = added(rows, tier, model.calendar)
    }
  }

  /// Takes what is shown now; returns a period that showed more before.
  mutating func show(_ rows: [BucketRow], _ tier: Tier, _ calendar: LocalCalendar) -> Period? {
    let now = added(rows, tier, calendar)
    for (period, before) in sums[tier] ?? [:] where !before.isAtMost(now[period] ?? .zero) { return period }
    sums[tier] = now
    return nil
  }

  private func added(_ rows: [BucketRow], _ tier: Tier, _ calendar: LocalCalendar) -> [Period: Amounts] {
    rows.reduce(into: [:]) { sums, row in
      sums[Period(link: isOverAll ? 0 : row.link, start: calendar.start(tier.resolution, row.start)), default: .zero] +=
        row.amounts
    }
  }
}

extension Amounts {
  func isAtMost(_ other: Amounts) -> Bool {
    rxBytes <= other.rxBytes && txBytes <= other.txBytes && rxPackets <= other.rxPackets && txPackets <= other.txPackets
  }

  func minus(_ other: Amounts) -> Amounts {
    Amounts(
      rxBytes: rxBytes &- other.rxBytes, txBytes: txBytes &- other.txBytes, rxPackets: rxPackets &- other.rxPackets,
      txPackets: txPackets &- other.txPackets)
  }
}

extension Playing {
  /// Asks for all time at one resolution, as a client does; the answer is checked when it comes.
  func ask(_ tier: Tier) {
    guard let process = machine.process, process.isServing else { return }
    let sampler = process.counting.sampler
    let history = process.counting.history
    sampler.sampleForQuery()
    history.ask(UsageQuery(links: nil, tier: tier, from: -farAway, to: farAway)) { [unowned self, unowned process] in
      sampler.sampleForQuery()
      guard case .success(let stored) = $0 else { return }
      let rows = history.complete(stored, ledger: sampler.ledger, from: -farAway, to: farAway)
      broken = broken ?? law(process) ?? sums(rows.rows, tier, process) ?? past(rows, tier, process)
      answers[tier] = rows
    }
  }

  /// Nothing of this tier is old enough to have been dropped.
  func isWhole(_ tier: Tier) -> Bool {
    let retention = Retention()
    let age = machine.highestSecond - machine.lowestSecond + 3600
    switch tier {
    case .minute: return age < retention.minutes
    case .fiveMinutes: return age < retention.fiveMinutes
    case .hour: return age < retention.hours
    case .day: return true
    }
  }

  /// Rows of each link add up to its total, and those of today to the running day.
  private func sums(_ rows: [BucketRow], _ tier: Tier, _ process: SimulatedProcess) -> String? {
    let ledger = process.ledger
    var all: [LinkID: Amounts] = [:]
    var today: [LinkID: Amounts] = [:]
    for row in rows {
      all[row.link, default: .zero] += row.amounts
      if row.start >= ledger.day.start, row.start < ledger.day.end { today[row.link, default: .zero] += row.amounts }
    }
    let isWhole = isWhole(tier) && !process.origin.isFractured
    for slot in ledger.records.indices {
      let record = ledger.record(slot: slot)
      let sum = all[record.id] ?? .zero
      guard isWhole ? sum == record.total : sum.isAtMost(record.total) else {
        return "\(record.name): \(tier)s add up to \(sum), the total is \(record.total)"
      }
      let (day, _) = ledger.today(slot: slot)
      if isWhole, ledger.todayIsKnown, !machine.hasOddZone, today[record.id] ?? .zero != day {
        return "\(record.name): \(tier)s of today add up to \(today[record.id] ?? .zero), today is \(day)"
      }
    }
    return nil
  }

  private func past(_ rows: UsageRows, _ tier: Tier, _ process: SimulatedProcess) -> String? {
    // What is told under a date that cannot be right is told under another one later.
    let isRegrouped = machine.hasOddZone && rows.sequence < regrouped
    guard isWhole(tier), !process.origin.isFractured, !process.ledger.isUndated, !isRegrouped else {
      shown.forgetAll()
      return nil
    }
    return shown.show(rows.rows, tier, machine.zone.calendar).map {
      "the \(tier) from \($0.start) of link \($0.link) showed more before"
    }
  }

  /// After everything that the daemon does: no byte was invented, and what waits for the disk is bounded.
  func checkTurn(_ process: SimulatedProcess) {
    guard broken == nil else { return }
    if process.counting.history.pendingRows > Commit.rowBound + 1000 { broken = "more rows wait than memory is given" }
    broken = broken ?? invented(process, "")
  }

  /// Counted is never more than the truth: over all links, and for each by itself once all that it tells is known.
  func law(_ process: SimulatedProcess) -> String? {
    let toy = machine.kernel.toy
    let isKnown = toy.queue.isEmpty && !toy.overrun && process.counting.sampler.lastError == nil
    guard world.byIdentity, isKnown else { return invented(process, "") }
    for key in Set(toy.keys) { if let invented = invented(process, key) { return invented } }
    return nil
  }

  /// The truth and what is counted of an identity, or of all.
  func sides(_ process: SimulatedProcess, _ key: String) -> (truth: Amounts, counted: Amounts) {
    let toy = machine.kernel.toy
    let ledger = process.ledger
    var (truth, counted) = (Amounts.zero, Amounts.zero)
    for history in toy.truth.indices where key.isEmpty || toy.keys[history] == key {
      let origin = history < process.origin.truth.count ? process.origin.truth[history] : .zero
      truth += toy.truth[history].minus(origin)
    }
    for slot in ledger.records.indices where key.isEmpty || ledger.records[slot].key == key {
      counted += ledger.record(slot: slot).total
    }
    return (truth, counted)
  }

  private func invented(_ process: SimulatedProcess, _ key: String) -> String? {
    let (truth, counted) = sides(process, key)
    return counted.isAtMost(truth)
      ? nil : "\(key.isEmpty ? "all links" : key): invented, counted \(counted) of \(truth)"
  }
}
