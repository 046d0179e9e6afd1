// /v1/usage: what was asked, and the series made of the store's rows and of what it has not got yet.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// A parsed question about the past.
struct UsageRequest {
  static let parameters = Selection.parameters + ["from", "to", "resolution", "limit"]

  var selection: Selection
  /// UTC seconds, whole periods.
  var from: Int64
  var to: Int64
  var resolution: Resolution
  /// The newest so many points of each series.
  var limit: Int?

  /// All of it, whatever its times are.
  var isAll: Bool { to == UsageRequest.endOfTime }

  /// 9999-01-01, later than any clock; still a date.
  static let endOfTime: Int64 = 253_370_764_800
}

extension Api {
  /// About 8 MB of JSON and half a second of the loop: no question may hold up the others for longer.
  private static let mostPoints = 50_000

  func usage(_ asking: [HTTPTarget.QueryItem], _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    let now = try present()
    let asked = try parse(asking, at: now)
    return ask(query(asked), exchange) { [self] rows throws(RequestError) in
      try Api.json(try reply(asked, rows, at: ledger.lastSample ?? now))
    }
  }

  /// What the store is asked for a request.
  func query(_ asked: UsageRequest) -> UsageQuery {
    let (ledger, devices) = (ledger, ledger.devices)
    let slots = asked.selection.choices.map { _ in selected(asked.selection).flatMap(\.slots) }
    // That its device was there as another record tells that nothing of one was missed.
    let all = slots.map { Set($0.flatMap { devices[$0] ?? [$0] }.flatMap(ledger.parts(of:))).sorted() }
    return UsageQuery(
      links: all?.map { ledger.records[$0].id }, tier: asked.resolution.tier, from: asked.from, to: asked.to)
  }

  /// Answers from what the store has of the query's span and what came after it.
  func ask(
    _ query: UsageQuery, _ exchange: HTTPExchange,
    reply: @escaping (_ rows: UsageRows) throws(RequestError) -> HTTPReply
  ) -> HTTPReply {
    history.ask(query) { [self] answer in
      // The disk may have taken a while: what is newer than the store's answer is of this moment.
      sampler.sampleForQuery()
      switch answer {
      case .failure(let error) where error.kind == .tooManyRows:
        exchange.respond(RequestError.tooMuch("it would be made of more than \(query.maximumRows) rows").response)
      case .failure(let error): exchange.respond(RequestError.storeUnavailable(error).response)
      case .success(let stored):
        do throws(RequestError) {
          let rows = history.complete(stored, ledger: ledger, from: query.from, to: query.to)
          if case .now(let response) = try reply(rows) { exchange.respond(response) }
        } catch {
          exchange.respond(error.response)
        }
      }
    }
    return .later
  }

  // MARK: The question

  func parse(_ query: [HTTPTarget.QueryItem], at now: Moment) throws(RequestError) -> UsageRequest {
    var selection = Selection()
    var single: [String: String] = [:]
    let devices = ledger.devices
    for item in query where try !take(item, into: &selection, devices) {
      let name = String(decoding: item.name, as: UTF8.self)
      guard single.updateValue(String(decoding: item.value, as: UTF8.self), forKey: name) == nil else {
        throw .badParameter(name, "it is given twice", remedy: "give it once")
      }
    }
    let (from, to, resolution) = try span(single, at: now)
    var limit: Int?
    if let text = single["limit"] {
      guard let number = Int(text), number > 0 else {
        throw .badParameter("limit", "'\(text)' is no number above zero", remedy: "for example limit=30")
      }
      limit = number
    }
    return UsageRequest(selection: selection, from: from, to: to, resolution: resolution, limit: limit)
  }

  private func span(
    _ single: [String: String], at now: Moment
  ) throws(RequestError) -> (from: Int64, to: Int64, resolution: Resolution) {
    let calendar = ledger.calendar
    var (from, to) = (Int64(0), Int64(0))
    do throws(PeriodError) {
      let nothingAsked = single["from"] == nil && single["to"] == nil
      let period = try parsePeriod(
        from: nothingAsked ? "today" : single["from"], to: single["to"], now: now.utcSeconds)
      // Without a beginning the span begins where counting did.
      from = single["from"] == nil && !nothingAsked ? min(ledger.watchedSince, period.to - 1) : period.from
      to = max(period.to, from + 1)
      guard period.from < period.to || single["from"] == single["to"] else {
        throw PeriodError.endsBeforeItStarts(from: period.from, to: period.to)
      }
    } catch {
      throw .badParameter(single["to"] == nil ? "from" : "from or to", error.description)
    }
    let resolution: Resolution
    if let text = single["resolution"] {
      guard let known = Resolution(rawValue: text) else {
        throw .badParameter(
          "resolution", "there is no resolution '\(text)'",
          remedy: "one of " + Resolution.allCases.map(\.rawValue).joined(separator: ", "))
      }
      resolution = known
    } else {
      // What reaches until now ends after this second.
      let length = to - from - 1
      resolution = length <= 2 * 86400 ? .hour : length <= 93 * 86400 ? .day : .month
    }
    // All of it is also what a clock that was wrong put before the beginning or after the present.
    if single["from"] == "all", single["to"] == nil { return (0, UsageRequest.endOfTime, resolution) }
    let start = calendar.start(resolution, from)
    var end = calendar.start(resolution, to)
    if end < to { end = calendar.next(resolution, to - 1) }
    return (start, end, resolution)
  }

  // MARK: The answer

  private func reply(
    _ asked: UsageRequest, _ rows: UsageRows, at now: Moment
  ) throws(RequestError) -> UsageReply {
    let bySlot = points(rows.rows, asked.resolution)
    let count = bySlot.values.reduce(0) { $0 + min($1.count, asked.limit ?? .max) }
    guard count <= Api.mostPoints else {
      throw .tooMuch("the answer would have \(count) points, more than \(Api.mostPoints)")
    }
    let (asked, series) = series(asked, bySlot, rows, now)
    return UsageReply(
      asOf: rfc3339(now.utc, fraction: 3), from: rfc3339(seconds: asked.from),
      to: rfc3339(seconds: asked.to), resolution: asked.resolution.rawValue, timezone: timeZoneName(),
      series: series.map(\.series))
  }

  /// The sum of each interface that is present or had traffic, over the span, which comes back with both its ends.
  func sums(
    _ asked: UsageRequest, _ rows: UsageRows, at now: Moment
  ) -> (asked: UsageRequest, sums: [(slot: Int, series: UsageSeries)]) {
    let (asked, series) = series(asked, points(rows.rows, asked.resolution), rows, now)
    return (asked, series.map { ($0.entry.slots[0], $0.series) })
  }

  private func series(
    _ asked: UsageRequest, _ bySlot: [Int: [Int64: Point]], _ rows: UsageRows, _ now: Moment
  ) -> (UsageRequest, [(entry: Selected, series: UsageSeries)]) {
    let (ledger, owners, devices) = (ledger, ledger.owners, ledger.devices)
    let titles = ledger.titles(devices)
    var asked = asked
    if asked.isAll {
      let starts = bySlot.values.flatMap(\.keys)
      let first = min(starts.min() ?? now.utcSeconds, ledger.watchedSince)
      asked.from = ledger.calendar.start(asked.resolution, first)
      asked.to = ledger.calendar.next(asked.resolution, max(starts.max() ?? now.utcSeconds, now.utcSeconds))
    }
    var gapsOf: [Int?: [Gap]] = [:]
    for gap in rows.gaps {
      let owner = gap.link.flatMap { owners[$0] }
      if gap.link == nil || owner != nil { gapsOf[owner, default: []].append(gap) }
    }
    let livesOf = Dictionary(grouping: rows.incarnations) { owners[$0.link] }
    var series: [(entry: Selected, series: UsageSeries)] = []
    for entry in selected(asked.selection) {
      let points = together(entry.slots, bySlot)
      // What was not named and did nothing in the span is no part of the answer.
      if asked.selection.choices == nil, points.isEmpty, ledger.present(of: ledger.parts(of: entry.slots[0])) == nil {
        continue
      }
      let kin = kin(of: entry.slots, devices)
      let gaps = (gapsOf[nil] ?? []) + entry.slots.flatMap { gapsOf[$0] ?? [] }
      let lives = kin.flatMap { livesOf[$0] ?? [] }
      series.append((entry, one(entry, kin, titles, asked, points, gaps: gaps, lives: lives, now)))
    }
    return (asked, series)
  }

  /// These and the others of their devices.
  func kin(of slots: [Int], _ devices: [Int: [Int]]) -> [Int] {
    var kin = slots
    for slot in slots.flatMap({ devices[$0] ?? [] }) where !kin.contains(slot) { kin.append(slot) }
    return kin
  }

  private func together(_ slots: [Int], _ bySlot: [Int: [Int64: Point]]) -> [Int64: Point] {
    var sums = bySlot[slots[0]] ?? [:]
    for slot in slots.dropFirst() { sums.merge(bySlot[slot] ?? [:]) { $0.with($1) } }
    return sums
  }

  /// Rows added up by shown interface and local period.
  private func points(_ rows: [BucketRow], _ resolution: Resolution) -> [Int: [Int64: Point]] {
    let owners = ledger.owners
    var sums: [Int: [Int64: Point]] = [:]
    // Rows come nearly in order of time, so the period of one is mostly that of the next.
    var (start, end) = (Int64(0), Int64(0))
    for row in rows {
      if row.start < start || row.start >= end {
        start = ledger.calendar.start(resolution, row.start)
        end = ledger.calendar.next(resolution, row.start)
      }
      if let owner = owners[row.link] { sums[owner, default: [:]][start, default: Point()].add(row) }
    }
    return sums
  }

  /// One interface's answer.
  func series(
    _ entry: Selected, _ kin: [Int], _ titles: [Int: String], _ asked: UsageRequest, _ rows: UsageRows, _ now: Moment
  ) -> UsageSeries {
    let points = together(entry.slots, points(rows.rows, asked.resolution))
    return one(entry, kin, titles, asked, points, gaps: rows.gaps, lives: rows.incarnations, now)
  }

  private func one(
    _ entry: Selected, _ kin: [Int], _ titles: [Int: String], _ asked: UsageRequest, _ points: [Int64: Point],
    gaps: [Gap], lives: [Incarnation], _ now: Moment
  ) -> UsageSeries {
    let parts = entry.slots.flatMap(ledger.parts(of:))
    let record = ledger.sum(parts)
    let sightings = ledger.sightings(parts, kin: kin)
    let since = ledger.watchedSince
    func quality(_ flags: BucketFlags, _ placedBy: BucketFlags, _ from: Int64, _ to: Int64) -> TallyCore.Quality {
      Quality(
        flags: flags, placedBy: placedBy, of: sightings, watchedSince: since, from: from,
        to: max(from + 1, min(to, now.utcSeconds + 1)), gaps: gaps, incarnations: lives)
    }
    var sum = Point()
    var shown: [UsagePoint] = []
    for (start, point) in points.sorted(by: { $0.key < $1.key }) {
      let end = ledger.calendar.next(asked.resolution, start)
      let label = quality(point.flags, asked.resolution.placedBy, start, end)
      sum.amounts += point.amounts
      sum.flags.formUnion(point.flags)
      shown.append(
        UsagePoint(
          start: rfc3339(seconds: start), end: rfc3339(seconds: end), rxBytes: point.amounts.rxBytes,
          txBytes: point.amounts.txBytes, rxPackets: point.amounts.rxPackets, txPackets: point.amounts.txPackets,
          completeness: label.completeness.rawValue, coverage: rounded(label.coverage)))
    }
    if let limit = asked.limit, shown.count > limit { shown.removeFirst(shown.count - limit) }
    // Fine periods are dropped by age: a sum over them must not pass for all that the counter showed.
    if let kept = history.retention.kept(asked.resolution.tier, at: now.utcSeconds),
      max(asked.from, record.firstSeen) < kept
    {
      sum.flags.insert(.atLeast)
    }
    let label = quality(sum.flags, asked.resolution.placedBy, asked.from, asked.to)
    return UsageSeries(
      interface: SeriesInterface(
        id: "id:\(record.id)", name: record.name.escaped, title: titles[entry.slots[0]],
        kind: record.kind.rawValue, type: record.type, label: entry.slots.count == 1 ? record.label : nil,
        records: records(entry), askedMembers: entry.members.isEmpty ? nil : entry.members,
        present: ledger.present(of: parts) != nil),
      points: shown,
      sum: figure(sum.amounts, label, since: max(asked.from, since), resets: label.resets, now))
  }
}

/// What a period adds up to.
private struct Point {
  var amounts = Amounts.zero
  var flags: BucketFlags = []

  mutating func add(_ row: BucketRow) {
    amounts += row.amounts
    flags.formUnion(row.flags)
  }

  func with(_ other: Point) -> Point {
    var sum = self
    sum.amounts += other.amounts
    sum.flags.formUnion(other.flags)
    return sum
  }
}
