// What the socket's handlers work with, and the interface replies.
import LinkSource
import LocalHTTP
import TallyCore
import TallyWire

/// The daemon as its clients see it: every handler samples first, so that "now" is now.
final class Api {
  let sampler: Sampler
  let history: History
  let about: About

  /// What does not change while the daemon runs.
  struct About {
    var started: Moment
    var storePath: String
    var namespaceInode: UInt64
    /// Where link events come from, for `status`.
    var eventSource: String
    /// Netlink was to be asked, and is denied.
    var isNetlinkDenied = false
    /// Who starts the daemon again, for `status`; nil: nobody.
    var manager: String?
    /// The group whose members may have what is not for everybody; nil: there is none.
    var trustedGroup: UInt32?
  }

  /// Conditions that a person should act on besides those of sampling and store, for example a refused reload.
  var notices: [StatusReply.Warning] = []
  /// Where clients are listened for, in words.
  var listeners: [String] = []
  let upkeep: Upkeep
  let streams: Streams
  /// Returns of the loop from its wait, for `/metrics`.
  var wakeUps: () -> UInt64 = { 0 }
  /// Has `answerWaiting` called after so many nanoseconds.
  var wakeAfter: (Int64) -> Void = { _ in }
  /// Called with every question for the present.
  var asked: () -> Void = {}
  /// Questions for the present that came right after a sample; no more than there are connections.
  var waiting: [(route: Route, request: HTTPRequest, exchange: HTTPExchange)] = []

  init(sampler: Sampler, history: History, upkeep: Upkeep, about: About) {
    self.upkeep = upkeep
    self.sampler = sampler
    streams = Streams(sampler)
    self.history = history
    self.about = about
  }

  var ledger: Ledger { sampler.ledger }

  /// Samples, and gives the moment of what is known; before the first sample there is nothing to answer.
  func present() throws(RequestError) -> Moment {
    sampler.sampleForQuery()
    guard let sampled = ledger.lastSample, sampler.sampleCount > 0, history.isFounded else { throw .loading }
    return sampled
  }

  // MARK: Interfaces

  func interfaces() throws(RequestError) -> HTTPReply {
    let now = try present()
    let addresses = addressesByName()
    let gaps = coverageGaps()
    let order = ledger.records.indices.sorted { a, b in
      (ledger.isPresent(a) ? 0 : 1, facts(a)?.ifindex ?? 0, ledger.records[a].id)
        < (ledger.isPresent(b) ? 0 : 1, facts(b)?.ifindex ?? 0, ledger.records[b].id)
    }
    return try Api.json(
      InterfacesReply(
        asOf: rfc3339(now.utc, fraction: 3), interfaces: order.map { interface($0, now, addresses, gaps) }))
  }

  func interface(_ name: [UInt8]) throws(RequestError) -> HTTPReply {
    let now = try present()
    let slot = try slot(named: name)
    return try Api.json(
      InterfaceReply(
        asOf: rfc3339(now.utc, fraction: 3), interface: interface(slot, now, addressesByName(), coverageGaps())))
  }

  /// The slot of an interface by `id:N` or name; the name as bytes or in its escaped form.
  func slot(named bytes: [UInt8]) throws(RequestError) -> Int {
    let text = LinkName(bytes: bytes).escaped
    if text.hasPrefix("id:"), let id = LinkID(text.dropFirst(3)) {
      guard let slot = ledger.slot(id: id) else { throw .unknownInterface(text) }
      return slot
    }
    guard let slot = ledger.slot(name: LinkName(bytes: bytes)) ?? ledger.slot(name: LinkName(escaped: text)) else {
      throw .unknownInterface(text)
    }
    return slot
  }

  /// One interface without its addresses.
  func interface(_ slot: Int, _ now: Moment) -> Interface { interface(slot, now, [:], coverageGaps()) }

  private func interface(
    _ slot: Int, _ now: Moment, _ addresses: [LinkName: [String]], _ gaps: [Gap]
  ) -> Interface {
    let record = ledger.record(slot: slot)
    let isPresent = ledger.isPresent(slot)
    let facts = facts(slot)
    let classification = facts.map(classify)
    return Interface(
      id: "id:\(record.id)", name: record.name.escaped, kind: record.kind.rawValue, type: record.type,
      touchesMedium: classification?.touchesMedium ?? mediumKinds.contains(record.kind),
      why: classification?.why ?? "as it was classified when it was last seen", present: isPresent,
      up: isPresent && facts?.isUp ?? false, ifindex: isPresent ? facts?.ifindex : nil,
      mac: isPresent ? facts.flatMap { mac($0.address) } : nil, mtu: isPresent ? facts?.mtu : nil,
      speedMbit: isPresent ? facts?.speedMbit : nil,
      driver: facts.flatMap { $0.driver.isEmpty ? nil : $0.driver },
      alias: facts.flatMap { $0.alias.isEmpty ? nil : LinkName(bytes: $0.alias).escaped },
      altnames: facts.flatMap { $0.altnames.isEmpty ? nil : $0.altnames.map(\.escaped) },
      addresses: isPresent ? addresses[record.name] ?? [] : [],
      carrier: isPresent ? facts.flatMap(carrier) : nil, master: isPresent ? facts.flatMap { link($0.master) } : nil,
      counts: counts(
        classification
          ?? Classification(
            kind: record.kind, type: record.type, touchesMedium: mediumKinds.contains(record.kind), why: ""),
        facts ?? LinkFacts()),
      firstSeen: rfc3339(seconds: record.firstSeen), lastSeen: lastSeen(record, isPresent, now),
      incarnations: Int(record.resets) + 1, total: total(record, isPresent, gaps, now),
      today: today(slot, record, gaps, now),
      rate: isPresent ? rate(slot) : nil)
  }

  private func facts(_ slot: Int) -> LinkFacts? { ledger.facts[slot] }

  private func lastSeen(_ record: LinkRecord, _ isPresent: Bool, _ now: Moment) -> String {
    rfc3339(seconds: isPresent ? now.utcSeconds : record.lastSeen)
  }

  private func rate(_ slot: Int) -> Rate? {
    ledger.rate(slot: slot).map { Rate(rxBytesPerSecond: $0.rx, txBytesPerSecond: $0.tx, overSeconds: $0.seconds) }
  }

  /// The link below one, where it is here and carries it; a veth's peer carries nothing.
  private func carrier(_ facts: LinkFacts) -> InterfaceReference? {
    facts.lowerIsElsewhere || facts.isVeth || facts.lower == facts.ifindex ? nil : link(facts.lower)
  }

  private func link(_ ifindex: UInt32) -> InterfaceReference? {
    guard ifindex != 0, let slot = ledger.slot(ifindex: ifindex) else { return nil }
    return InterfaceReference(id: "id:\(ledger.records[slot].id)", name: ledger.records[slot].name.escaped)
  }

  private func addressesByName() -> [LinkName: [String]] {
    var texts: [LinkName: [String]] = [:]
    // Addresses are no part of any figure: without them the reply is still right.
    for address in (try? LinkAddress.list()) ?? [] { texts[address.name, default: []].append(address.text) }
    return texts
  }

  // MARK: Figures

  private func total(_ record: LinkRecord, _ isPresent: Bool, _ gaps: [Gap], _ now: Moment) -> Figure {
    // A clock that was set back may stand before all of it.
    let to = max(record.firstSeen, isPresent ? now.utcSeconds : record.lastSeen) + 1
    let quality = Quality(
      flags: record.totalIsAtLeast ? .atLeast : [], placedBy: [], link: record.id, firstSeen: record.firstSeen,
      watchedSince: record.firstSeen, from: record.firstSeen, to: to, gaps: gaps, incarnations: [])
    return figure(record.total, quality, since: record.firstSeen, resets: Int(record.resets), now)
  }

  /// Totals and today carry their own marks of loss; the gaps are there for their coverage. Once a reply. Of what a lost
  /// file held they still know.
  private func coverageGaps() -> [Gap] {
    history.gaps.filter { $0.reason != .historyLost }.map { gap in
      var gap = gap
      gap.lossy = false
      return gap
    }
  }

  private func today(_ slot: Int, _ record: LinkRecord, _ gaps: [Gap], _ now: Moment) -> Figure? {
    guard ledger.todayIsKnown else { return nil }
    let (amounts, flags) = ledger.today(slot: slot)
    let since = ledger.watchedSince
    let quality = Quality(
      flags: flags, placedBy: Resolution.day.placedBy, link: record.id, firstSeen: record.firstSeen,
      watchedSince: since, from: ledger.day.start, to: now.utcSeconds + 1, gaps: gaps,
      incarnations: [])
    return figure(amounts, quality, since: max(ledger.day.start, since), resets: quality.resets, now)
  }

  func figure(
    _ amounts: Amounts, _ quality: TallyCore.Quality, since: Int64, resets: Int, _ now: Moment
  ) -> Figure {
    Figure(
      rxBytes: amounts.rxBytes, txBytes: amounts.txBytes, rxPackets: amounts.rxPackets, txPackets: amounts.txPackets,
      quality: TallyWire.Quality(
        completeness: quality.completeness.rawValue, coverage: rounded(quality.coverage),
        since: rfc3339(seconds: since), asOf: rfc3339(now.utc, fraction: 3), resets: resets,
        gaps: quality.gaps))
  }
}

/// Kinds that cross a medium where nothing finer is known any more.
private let mediumKinds: Set<Kind> = [.wired, .wifi, .cellular]

/// Six digits: a gap of a minute in a year still shows. Rounded down, since a gap must not round away.
func rounded(_ coverage: Double) -> Double { (coverage * 1e6).rounded(.down) / 1e6 }

private func mac(_ bytes: [UInt8]) -> String? {
  guard bytes.count == 6 else { return nil }
  return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
}
