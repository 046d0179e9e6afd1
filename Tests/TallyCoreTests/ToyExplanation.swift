// What explanations owe: at any moment and for any span their parts add up to the figure, and each life gets its own.
import Toys

@testable import TallyCore

extension ToyWorld {
  /// Explains every total, and the two parts of a span cut in two, at a random place.
  func parts(_ dice: inout Seeded) -> String? {
    let resolution = [Resolution.minute, .fiveMinutes, .hour, .day].randomElement(using: &dice)!
    let detail = [Tier.minute, .fiveMinutes, .hour].randomElement(using: &dice)!
    let mostLives = Bool.random(using: &dice) ? 3 : 100
    let calendar = daemon.ledger.calendar
    let devices = Set(daemon.ledger.devices.values).map { $0.flatMap(daemon.ledger.parts(of:)) }
    for slots in daemon.ledger.shownSlots.map({ [$0] }) + devices.sorted(by: { $0[0] < $1[0] }) {
      let record = daemon.ledger.sum(slots)
      let starts = daemon.entries.map(\.start)
      let somewhere = Int64.random(in: (starts.min() ?? 0) - 100...(starts.max() ?? 0) + 100, using: &dice)
      let cut = calendar.start(resolution, somewhere)
      let whole = explain(slots, .min, .max, resolution, detail, mostLives, of: record.total)
      let before = explain(slots, .min, cut, resolution, detail, mostLives)
      let after = explain(slots, cut, .max, resolution, detail, mostLives)
      for (explanation, figure, from, to) in [whole, before, after] {
        var sum = Amounts.zero
        for part in explanation.parts { sum += part.amounts }
        if sum != figure { return "\(record.name): the parts of [\(from), \(to)) are \(sum) and not \(figure)" }
      }
      // The lives of a group are not kept.
      if !slots.contains(where: { daemon.ledger.records[$0].isGroup }),
        let wrong = whole.0.parts.first(where: { $0.method == .unrecorded || $0.method == .earlierStore })
      {
        return "\(record.name): nobody's part \(wrong.amounts) in the total"
      }
      for (position, life) in whole.0.lives.enumerated() {
        guard let counted = life.booked?.amounts else { return "\(record.name): a life without amounts" }
        if let part = whole.0.parts.first(where: { $0.lives == [position] }), part.amounts != counted {
          return "\(record.name): \(part.amounts) are said to be of a life that counted \(counted)"
        }
        // What each side gives to the life alone is never more than it counted, and with what is shared never less.
        var least = Amounts.zero
        var most = Amounts.zero
        for (explanation, _, _, _) in [before, after] {
          for part in explanation.parts where part.lives.contains(where: { explanation.lives[$0] == life }) {
            if part.lives.count == 1, !part.hasEarlier { least += part.amounts }
            most += part.amounts
          }
          if explanation.earlierLives > 0 {
            most = Amounts(rxBytes: .max, txBytes: .max, rxPackets: .max, txPackets: .max)
          }
        }
        if counted.without(least) == nil { return "\(record.name): \(least) given to a life that counted \(counted)" }
        if most.without(counted) == nil { return "\(record.name): only \(most) for a life that counted \(counted)" }
      }
    }
    return nil
  }

  private func explain(
    _ slots: [Int], _ from: Int64, _ to: Int64, _ resolution: Resolution, _ detail: Tier, _ mostLives: Int,
    of total: Amounts? = nil
  ) -> (Explanation, Amounts, Int64, Int64) {
    let ids = slots.map { daemon.ledger.records[$0].id }
    func isHere(_ row: BucketRow) -> Bool { row.start >= from && row.start < to }
    let rows = ids.flatMap { daemon.rows(resolution.tier, link: $0) }.filter(isHere)
    let fine = ids.flatMap { daemon.rows(detail, link: $0) }.filter(isHere)
    var lives = daemon.incarnations.filter { ids.contains($0.link) && $0.closed != nil }
    lives += slots.compactMap(daemon.ledger.openIncarnation(slot:))
    var figure = Amounts.zero
    for row in rows { figure += row.amounts }
    let explanation = Explanation(
      figure: total ?? figure, rows: rows, detail: fine, tier: resolution.tier,
      crossing: resolution.placedBy, from: from, to: to,
      incarnations: lives, gaps: daemon.gaps, calendar: daemon.ledger.calendar, mostLives: mostLives)
    return (explanation, total ?? figure, from, to)
  }
}

extension ToyDaemon {
  /// What a question to the store at this tier gives, with what is not committed yet.
  func rows(_ tier: Tier, link: LinkID) -> [BucketRow] {
    let stored = store.usage(UsageQuery(links: [link], tier: tier, from: .min, to: .max)).rows
    return stored + entries.dropFirst(committed.count).filter { $0.link == link }
  }
}
