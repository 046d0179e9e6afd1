// /v1/explain: one figure, the lives and placements that add up to it, and what it could not see.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

extension Api {
  static let explainParameters = Selection.parameters + ["from", "to", "resolution"]

  /// Newest ones of each list that are shown; the rest is put together or counted.
  private static let mostShown = 100

  func explain(_ asking: [HTTPTarget.QueryItem], _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    let now = try present()
    var asking = asking
    // What is asked without a span is the total.
    if !asking.contains(where: { ["from", "to"].contains(String(decoding: $0.name, as: UTF8.self)) }) {
      asking.append(HTTPTarget.QueryItem(name: Array("from".utf8), value: Array("all".utf8)))
    }
    let asked = try parse(asking, at: now)
    guard asked.selection.choices?.count == 1 else {
      throw .badParameter("interface", "it takes one", remedy: "name one interface, as /v1/interfaces lists it")
    }
    let entry = try explained(asked)
    let record = ledger.sum(entry.slots.flatMap(ledger.parts(of:)))
    var query = query(asked)
    query.detail = detail(from: max(asked.from, record.firstSeen), at: now.utcSeconds)
    return ask(query, exchange) { [self] rows throws(RequestError) in
      try Api.json(explanation(try explained(asked), asked, rows, at: ledger.lastSample ?? now))
    }
  }

  private func explained(_ asked: UsageRequest) throws(RequestError) -> Selected {
    guard let entry = selected(asked.selection).first else {
      throw .badParameter(
        "kind or label", "nothing of the interface is called so", remedy: "/v1/interfaces lists what there is")
    }
    return entry
  }

  /// The finest tier that is still kept from there on; lives are told apart best by it.
  private func detail(from: Int64, at second: Int64) -> Tier {
    Tier.allCases.first { tier in history.retention.kept(tier, at: second).map { $0 <= from } ?? true } ?? .day
  }

  private func explanation(
    _ entry: Selected, _ asked: UsageRequest, _ all: UsageRows, at now: Moment
  ) -> ExplainReply {
    let (isTotal, devices) = (asked.isAll, ledger.devices)
    let known = interface(entry, now)
    let parts = entry.slots.flatMap(ledger.parts(of:))
    let kin = kin(of: entry.slots, devices)
    let (record, sightings) = (ledger.sum(parts), ledger.sightings(parts, kin: kin))
    var rows = all
    rows.keepOnly(parts.map { ledger.records[$0].id })
    let lives = livesWithOpenOnes(rows.incarnations, parts)
    // Of the others of its device it matters when they lived.
    let kinIDs = sightings.reduce(into: Set(sightings.map(\.link))) { $0.formUnion($1.kin) }
    let lived = all.incarnations.filter { kinIDs.contains($0.link) }
    rows.incarnations = lived
    let series = series(entry, kin, ledger.titles(devices), asked, rows, now)
    let figure = isTotal ? known.total : series.sum
    let explanation = Explanation(
      figure: Amounts(
        rxBytes: figure.rxBytes, txBytes: figure.txBytes, rxPackets: figure.rxPackets, txPackets: figure.txPackets),
      rows: rows.rows, detail: rows.detail, tier: asked.resolution.tier,
      crossing: isTotal ? [] : asked.resolution.placedBy, from: asked.from, to: asked.to, incarnations: lives,
      gaps: rows.gaps, calendar: ledger.calendar, mostLives: Api.mostShown)
    let gaps = rows.gaps.map { ($0, $0.mayHideBytes(of: sightings, lives: lived)) }
    let resets = gaps.filter { $0.0.reason == .counterReset }
    let others = gaps.filter { $0.0.reason != .counterReset }
    let words = ExplainWords(record: record, isMerged: parts.count > 1, watchedSince: ledger.watchedSince)
    var flags: BucketFlags = []
    for row in rows.rows { flags.formUnion(row.flags) }
    return ExplainReply(
      asOf: rfc3339(now.utc, fraction: 3), from: rfc3339(seconds: isTotal ? record.firstSeen : asked.from),
      to: isTotal ? known.lastSeen : rfc3339(seconds: asked.to),
      resolution: isTotal ? nil : asked.resolution.rawValue, timezone: timeZoneName(), interface: series.interface,
      figure: figure,
      verdict: words.verdict(
        figure.quality.completeness, isTotal: isTotal, asked, flags, gaps, explanation.placements,
        kept: isTotal ? nil : history.retention.kept(asked.resolution.tier, at: now.utcSeconds)),
      parts: explanation.parts.map { words.part($0, numbersFrom: explanation.earlierLives + 1) },
      incarnations: explanation.lives.enumerated().map { position, life in
        words.incarnation(life, number: explanation.earlierLives + 1 + position, asked)
      },
      resets: resets.suffix(Api.mostShown).map { words.gap($0, hidesBytes: $1) },
      gaps: others.suffix(Api.mostShown).map { words.gap($0, hidesBytes: $1) },
      placements: explanation.placements.suffix(Api.mostShown).map(words.placement),
      clockSteps: rows.clockSteps.suffix(Api.mostShown).map {
        StatusReply.Clock.Step(at: rfc3339(seconds: $0.at), bySeconds: Double($0.by) / 1e9)
      },
      omitted: ExplainReply.Omitted(
        incarnations: explanation.earlierLives, resets: max(0, resets.count - Api.mostShown),
        gaps: max(0, others.count - Api.mostShown),
        placements: max(0, explanation.placements.count - Api.mostShown),
        clockSteps: max(0, rows.clockSteps.count - Api.mostShown)),
      why: known.why, counts: known.counts, carrier: known.carrier, carrierNote: words.carrierNote(known))
  }

  /// What is on record, and of the present lives what they counted until now.
  private func livesWithOpenOnes(_ stored: [Incarnation], _ parts: [Int]) -> [Incarnation] {
    var lives = stored
    for open in parts.compactMap(ledger.openIncarnation(slot:)) {
      lives.removeAll {
        $0.link == open.link && ($0.bootID, $0.ifindex, $0.opened) == (open.bootID, open.ifindex, open.opened)
      }
      lives.append(open)
    }
    return lives
  }
}

extension UsageRows {
  /// Leaves out what is of other links.
  fileprivate mutating func keepOnly(_ links: [LinkID]) {
    rows.removeAll { !links.contains($0.link) }
    detail.removeAll { !links.contains($0.link) }
    incarnations.removeAll { !links.contains($0.link) }
    gaps.removeAll { gap in !(gap.link.map(links.contains) ?? true) }
  }
}
