// /v1/totals: the machine's total, each byte once, with all that was not added and why.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// What a total makes of one interface.
struct Place {
  var share: TotalShare
  var why: String
  var carriers: [CarrierReference] = []
  /// For the parts by label.
  var label: String?
}

extension Api {
  static let totalsParameters = ["from", "to"]

  func totals(_ asking: [HTTPTarget.QueryItem], _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    let now = try present()
    var asked = try parse(asking, at: now)
    // Points are made and not shown: one is enough.
    asked.limit = 1
    let question = asked
    return ask(query(question), exchange) { [self] rows throws(RequestError) in
      try Api.json(totals(question, rows, at: ledger.lastSample ?? now))
    }
  }

  // MARK: Where an interface stands

  /// From the graph for present links, from the record for those that are gone.
  func place(_ slot: Int, _ state: Topology.State) -> Place {
    let record = ledger.records[slot]
    if record.isGroup { return groupPlace(record) }
    guard let part = ledger.present(of: ledger.parts(of: slot)), let ifindex = ledger.facts[part]?.ifindex,
      let standing = state.graph.standings[ifindex]
    else { return absentPlace(ledger.records[slot]) }
    let carriers = standing.carriers.compactMap { edge in
      ledger.slot(ifindex: edge.ifindex).flatMap(shownSlot).map { reference(ledger.records[$0], word(edge.basis)) }
    }
    return Place(
      share: standing.share, why: standing.why, carriers: carriers, label: record.label)
  }

  /// The bytes of a group cannot be told apart: all of them are added or none.
  private func groupPlace(_ record: LinkRecord) -> Place {
    if record.isExpiredGroup {
      return Place(
        share: .leftOut(isUncertain: false), why: "none of these links crossed a medium here by itself",
        label: record.label)
    }
    return switch record.isAdded {
    case true?: Place(share: .added, why: "the bytes of all its links cross a medium here", label: record.label)
    case false?:
      Place(
        share: .leftOut(isUncertain: false), why: "none of its links crosses a medium here by itself",
        label: record.label)
    case nil:
      Place(
        share: .leftOut(isUncertain: true),
        why: "some of its links crossed a medium and some did not, and their bytes cannot be told apart",
        label: record.label)
    }
  }

  private func absentPlace(_ record: LinkRecord) -> Place {
    if record.wasAdded {
      return Place(share: .added, why: "its bytes crossed a medium here; it is gone now", label: record.label)
    }
    guard let carrier = record.carrier.flatMap({ ledger.slot(id: $0) }).flatMap(shownSlot) else {
      return Place(
        share: .leftOut(isUncertain: record.isAdded == nil && record.kind == .other),
        why: "it is gone now; as a link of the kind \(record.kind.rawValue) it crossed no medium by itself")
    }
    return Place(
      share: .carried, why: "\(ledger.records[carrier].name.escaped) carried its bytes when it was last here",
      carriers: [reference(ledger.records[carrier], "earlier")])
  }

  private func reference(_ record: LinkRecord, _ knownBy: String) -> CarrierReference {
    CarrierReference(id: "id:\(record.id)", name: record.name.escaped, knownBy: knownBy)
  }

  private func word(_ basis: CarrierEdge.Basis) -> String {
    switch basis {
    case .rule: "rule"
    case .lower: "lower"
    case .member: "member"
    case .above: "above"
    case .route: "route"
    case .session: "session"
    }
  }

  // MARK: The answer

  private func totals(_ asked: UsageRequest, _ rows: UsageRows, at now: Moment) -> TotalsReply {
    let state = topology.current(ledger, at: now)
    let (asked, sums) = sums(asked, rows, at: now)
    var parts = Parts()
    var figures: [String: Figure] = [:]
    for (slot, sum) in sums {
      let place = place(slot, state)
      figures[sum.interface.id] = sum.sum
      parts.take(
        TotalsInterface(
          interface: sum.interface, share: place.share.word, why: place.why, carriers: place.carriers, figure: sum.sum),
        place)
    }
    var total = together(parts.added.map(\.figure)) ?? nothing(asked, rows, at: now)
    if parts.isUncertain { total.quality.completeness = TallyCore.Completeness.atLeast.rawValue }
    return TotalsReply(
      asOf: rfc3339(now.utc, fraction: 3), from: rfc3339(seconds: asked.from), to: rfc3339(seconds: asked.to),
      timezone: timeZoneName(), total: total,
      byKind: Kind.allCases.compactMap { kind in
        part(kind.rawValue, parts.added.filter { $0.interface.kind == kind.rawValue })
      },
      byLabel: labelParts(parts), added: parts.added,
      tunnels: parts.notAdded.compactMap { tunnel($0, figures) }, notAdded: parts.notAdded)
  }

  private func labelParts(_ parts: Parts) -> [TotalsPart] {
    let names = Set(parts.labels.values)
    guard !names.isEmpty else { return [] }
    return (names.sorted().map { Optional($0) } + [nil]).compactMap { name in
      part(name, parts.added.filter { parts.labels[$0.interface.id] == name })
    }
  }

  private func part(_ name: String?, _ interfaces: [TotalsInterface]) -> TotalsPart? {
    guard let figure = together(interfaces.map(\.figure)) else { return nil }
    return TotalsPart(
      name: name, figure: figure,
      interfaces: interfaces.map { InterfaceReference(id: $0.interface.id, name: $0.interface.name) })
  }

  /// A tunnel beside its carriers; nil for what is no tunnel, or has none that is known.
  private func tunnel(_ entry: TotalsInterface, _ figures: [String: Figure]) -> TunnelShare? {
    guard entry.interface.kind == Kind.tunnel.rawValue,
      let carrying = together(entry.carriers.compactMap { figures[$0.id] })
    else { return nil }
    let (inner, outer) = (bytes(entry.figure), bytes(carrying))
    return TunnelShare(
      interface: entry.interface, figure: entry.figure, carriers: entry.carriers, carrierFigure: carrying,
      carrierRatio: inner > 0 ? (outer / inner * 1e4).rounded() / 1e4 : nil)
  }

  /// A figure of no link at all: what is known of the span itself.
  private func nothing(_ asked: UsageRequest, _ rows: UsageRows, at now: Moment) -> Figure {
    let since = ledger.watchedSince
    let quality = Quality(
      flags: [], placedBy: [], link: 0, firstSeen: now.utcSeconds, watchedSince: since, from: asked.from,
      to: max(asked.from + 1, min(asked.to, now.utcSeconds + 1)), gaps: rows.gaps, incarnations: [])
    return figure(.zero, quality, since: max(asked.from, since), resets: 0, now)
  }
}

/// Interfaces while a total is made of them.
private struct Parts {
  var added: [TotalsInterface] = []
  var notAdded: [TotalsInterface] = []
  /// By interface id, of those that are added.
  var labels: [String: String] = [:]
  /// Bytes were left out that may have crossed a medium.
  var isUncertain = false

  mutating func take(_ entry: TotalsInterface, _ place: Place) {
    guard place.share == .added else {
      notAdded.append(entry)
      if place.share == .leftOut(isUncertain: true), bytes(entry.figure) > 0 { isUncertain = true }
      return
    }
    added.append(entry)
    labels[entry.interface.id] = place.label
  }
}

private func bytes(_ figure: Figure) -> Double { Double(figure.rxBytes) + Double(figure.txBytes) }

/// The sum of figures of one span, no better than the worst of them; nil of none.
private func together(_ figures: [Figure]) -> Figure? {
  guard var sum = figures.first else { return nil }
  for figure in figures.dropFirst() {
    sum.rxBytes = saturatingSum(sum.rxBytes, figure.rxBytes)
    sum.txBytes = saturatingSum(sum.txBytes, figure.txBytes)
    sum.rxPackets = saturatingSum(sum.rxPackets, figure.rxPackets)
    sum.txPackets = saturatingSum(sum.txPackets, figure.txPackets)
    let worse = [sum, figure].compactMap { TallyCore.Completeness(rawValue: $0.quality.completeness) }.max()
    sum.quality.completeness = (worse ?? .atLeast).rawValue
    sum.quality.coverage = min(sum.quality.coverage, figure.quality.coverage)
    sum.quality.resets += figure.quality.resets
    sum.quality.gaps = max(sum.quality.gaps, figure.quality.gaps)
  }
  return sum
}

extension TotalShare {
  var word: String {
    switch self {
    case .added: ShareWord.added
    case .carried: ShareWord.carried
    case .leftOut: ShareWord.leftOut
    }
  }
}
