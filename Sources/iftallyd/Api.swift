// What the socket's handlers work with, and the interface replies.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// The daemon as its clients see it: every handler samples first, so that "now" is now.
final class Api {
  let sampler: Sampler
  let history: History
  let topology: Topology
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
  /// Who may change things.
  var authority = Authority(group: "iftally", id: nil)
  /// Makes a change once it is stored, and says so; call when the history is idle.
  var make: (_ change: Change, _ then: @escaping (StoreError?) -> Void) -> Void = { _, then in
    then(StoreError(.unavailable, "there is no store"))
  }
  /// Called with every question for the present.
  var asked: () -> Void = {}
  /// Questions for the present that came right after a sample; no more than there are connections.
  var waiting: [(route: Route, request: HTTPRequest, exchange: HTTPExchange)] = []

  init(sampler: Sampler, history: History, topology: Topology, upkeep: Upkeep, about: About) {
    self.upkeep = upkeep
    self.sampler = sampler
    streams = Streams(sampler)
    self.history = history
    self.topology = topology
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

  func interfaces(_ query: [HTTPTarget.QueryItem]) throws(RequestError) -> HTTPReply {
    let now = try present()
    var selection = Selection()
    let devices = ledger.devices
    for item in query { _ = try take(item, into: &selection, devices) }
    let beside = Beside(addresses: addressesByName(), gaps: coverageGaps(), titles: ledger.titles(devices))
    let ledger = ledger
    func rank(_ entry: Selected) -> (Int, UInt32, LinkID) {
      let slot = entry.slots[0]
      let present = ledger.present(of: ledger.parts(of: slot))
      return (present == nil ? 1 : 0, ledger.facts[present ?? slot]?.ifindex ?? 0, ledger.records[slot].id)
    }
    let order = selected(selection).map { ($0, rank($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    return try Api.json(
      InterfacesReply(
        asOf: rfc3339(now.utc, fraction: 3), interfaces: order.map { interface($0, now, beside) }))
  }

  func interface(_ name: [UInt8]) throws(RequestError) -> HTTPReply {
    let now = try present()
    let devices = ledger.devices
    let choice = try choice(named: name, devices)
    guard let entry = selected(Selection(choices: [choice])).first else {
      throw .unknownInterface(LinkName(bytes: name).escaped)
    }
    let beside = Beside(addresses: addressesByName(), gaps: coverageGaps(), titles: ledger.titles(devices))
    return try Api.json(
      InterfaceReply(asOf: rfc3339(now.utc, fraction: 3), interface: interface(entry, now, beside)))
  }

  /// One interface without its addresses.
  func interface(_ entry: Selected, _ now: Moment) -> Interface {
    interface(entry, now, Beside(addresses: [:], gaps: coverageGaps(), titles: ledger.titles(ledger.devices)))
  }

  /// What is found out once for all interfaces of a reply.
  private struct Beside {
    var addresses: [LinkName: [String]]
    var gaps: [Gap]
    var titles: [Int: String]
  }

  /// The records that an entry is made of, where there are several.
  func records(_ entry: Selected) -> [LabelledRecord]? {
    guard entry.slots.count > 1 else { return nil }
    return entry.slots.map { slot in
      let record = ledger.records[slot]
      return LabelledRecord(id: "id:\(record.id)", name: record.name.escaped, label: record.label)
    }
  }

  private func interface(_ entry: Selected, _ now: Moment, _ beside: Beside) -> Interface {
    let (slot, addresses, gaps) = (entry.slots[0], beside.addresses, beside.gaps)
    let parts = entry.slots.flatMap(ledger.parts(of:))
    let merged = entry.slots.flatMap { ledger.parts(of: $0).dropFirst() }
    let record = ledger.sum(parts)
    let present = ledger.present(of: parts)
    let isPresent = present != nil
    let facts = facts(present ?? slot)
    let state = topology.current(ledger, at: now)
    let place = place(slot, state)
    let designation = isPresent ? facts.flatMap { state.designations[$0.ifindex] } : nil
    let classification = designation?.classification ?? facts.map(classify)
    let members = members(entry)
    let known =
      classification
      ?? Classification(kind: record.kind, type: record.type, touchesMedium: place.share == .added, why: "")
    return Interface(
      id: "id:\(record.id)", name: record.name.escaped, title: beside.titles[slot], records: records(entry),
      askedMembers: entry.members.isEmpty ? nil : entry.members,
      merged: merged.isEmpty ? nil : merged.map { reference(ledger.records[$0]) },
      kind: record.kind.rawValue, type: record.type, touchesMedium: place.share == .added,
      why: members.map { groupWords(record, present: $0.present, lives: $0.lives) } ?? classification?.why
        ?? "as it was classified when it was last seen",
      label: entry.slots.count == 1 ? record.label : nil, rule: record.rule, metered: designation?.set.isMetered,
      group: members.map {
        Interface.Group(present: $0.present, lives: $0.lives, expired: record.isExpiredGroup ? true : nil)
      }, present: isPresent,
      up: isPresent && facts?.isUp ?? (members != nil), ifindex: isPresent ? facts?.ifindex : nil,
      mac: isPresent ? facts.flatMap { mac($0.address) } : nil, mtu: isPresent ? facts?.mtu : nil,
      speedMbit: isPresent ? facts?.speedMbit : nil,
      driver: facts.flatMap { $0.driver.isEmpty ? nil : $0.driver },
      alias: facts.flatMap { $0.alias.isEmpty ? nil : LinkName(bytes: $0.alias).escaped },
      altnames: facts.flatMap { $0.altnames.isEmpty ? nil : $0.altnames.map(\.escaped) },
      addresses: present.flatMap { addresses[ledger.records[$0].name] } ?? [],
      carrier: isPresent ? carrier(place) : nil, master: isPresent ? facts.flatMap { link($0.master) } : nil,
      counts: counts(known, facts ?? LinkFacts()), counted: CountedReply(counted(known, facts ?? LinkFacts())),
      share: place.share.word, shareWhy: place.why, carriers: place.carriers,
      firstSeen: rfc3339(seconds: record.firstSeen), lastSeen: lastSeen(record, isPresent, now),
      incarnations: members?.lives ?? Int(record.resets) + 1, total: total(record, isPresent, gaps, now),
      today: today(parts, record, gaps, now),
      rate: isPresent ? rate(parts) : nil)
  }

  private func members(_ entry: Selected) -> (present: Int, lives: Int)? {
    entry.slots.compactMap(ledger.members(slot:)).reduce(nil) { sum, more in
      ((sum?.present ?? 0) + more.present, (sum?.lives ?? 0) + more.lives)
    }
  }

  private func reference(_ record: LinkRecord) -> InterfaceReference {
    InterfaceReference(id: "id:\(record.id)", name: record.name.escaped)
  }

  private func facts(_ slot: Int) -> LinkFacts? { ledger.facts[slot] }

  private func lastSeen(_ record: LinkRecord, _ isPresent: Bool, _ now: Moment) -> String {
    rfc3339(seconds: isPresent ? now.utcSeconds : record.lastSeen)
  }

  private func rate(_ parts: [Int]) -> Rate? {
    ledger.rate(parts).map { Rate(rxBytesPerSecond: $0.rx, txBytesPerSecond: $0.tx, overSeconds: $0.seconds) }
  }

  /// What carries it alone; the members of a bond or bridge are told in `carriers`.
  private func carrier(_ place: Place) -> InterfaceReference? {
    place.carriers.first { $0.knownBy != "member" }.map { InterfaceReference(id: $0.id, name: $0.name) }
  }

  private func link(_ ifindex: UInt32) -> InterfaceReference? {
    guard ifindex != 0, let slot = ledger.slot(ifindex: ifindex) else { return nil }
    return reference(ledger.records[ledger.root(of: slot)])
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

  private func today(_ parts: [Int], _ record: LinkRecord, _ gaps: [Gap], _ now: Moment) -> Figure? {
    guard ledger.todayIsKnown else { return nil }
    let (amounts, flags) = ledger.today(parts)
    let since = ledger.watchedSince
    let quality = Quality(
      flags: flags, placedBy: Resolution.day.placedBy, of: ledger.sightings(parts), watchedSince: since,
      from: ledger.day.start, to: now.utcSeconds + 1, gaps: gaps,
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

private func groupWords(_ record: LinkRecord, present: Int, lives: Int) -> String {
  if record.isExpiredGroup {
    return "what \(lives) links counted that were gone for long, and are not kept one by one"
  }
  return "a group: \(present) of its links are here, and it is made of \(lives) lives, which are not kept one by one"
}

/// Six digits: a gap of a minute in a year still shows. Rounded down, since a gap must not round away.
func rounded(_ coverage: Double) -> Double { (coverage * 1e6).rounded(.down) / 1e6 }

private func mac(_ bytes: [UInt8]) -> String? {
  guard bytes.count == 6 else { return nil }
  return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
}

extension CountedReply {
  init(_ counted: Counted) {
    self.init(
      rxLayer: counted.received.rawValue, txLayer: counted.sent.rawValue, inner: counted.isInner,
      overhead: counted.overhead, partial: counted.partial)
  }
}
