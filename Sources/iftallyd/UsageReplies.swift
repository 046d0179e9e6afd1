// /v1/usage: what was asked, and the series made of the store's rows and of what it has not got yet.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// A parsed question about the past.
struct UsageRequest {
  static let parameters = ["interface", "kind", "from", "to", "resolution", "limit"]

  /// nil: all.
  var slots: [Int]?
  var kinds: Set<Kind>
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
    let query = UsageQuery(
      links: asked.slots.map { $0.map { ledger.records[$0].id } }, tier: asked.resolution.tier, from: asked.from,
      to: asked.to)
    return ask(query, exchange) { [self] rows throws(RequestError) in
      try Api.json(try reply(asked, rows, at: ledger.lastSample ?? now))
    }
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
    var names: [[UInt8]] = []
    var kinds: Set<Kind> = []
    var single: [String: String] = [:]
    for item in query {
      let name = String(decoding: item.name, as: UTF8.self)
      switch name {
      case "interface": names += try interfaceNames(item.value)
      case "kind":
        for word in String(decoding: item.value, as: UTF8.self).split(separator: "+") {
          guard let kind = Kind(rawValue: String(word)) else { throw .unknownKind(word) }
          kinds.insert(kind)
        }
      default:
        guard single.updateValue(String(decoding: item.value, as: UTF8.self), forKey: name) == nil else {
          throw .badParameter(name, "it is given twice", remedy: "give it once")
        }
      }
    }
    var slots: [Int]?
    var seen: Set<Int> = []
    for name in names {
      let slot = try slot(named: name)
      // Thousands of times the same name fit into one request, and must not make an answer of thousands of series.
      if seen.insert(slot).inserted { slots = (slots ?? []) + [slot] }
    }
    let (from, to, resolution) = try span(single, at: now)
    var limit: Int?
    if let text = single["limit"] {
      guard let number = Int(text), number > 0 else {
        throw .badParameter("limit", "'\(text)' is no number above zero", remedy: "for example limit=30")
      }
      limit = number
    }
    return UsageRequest(slots: slots, kinds: kinds, from: from, to: to, resolution: resolution, limit: limit)
  }

  /// The names that are joined in one value; a link whose own name holds the joint comes first.
  func interfaceNames(_ value: [UInt8]) throws(RequestError) -> [[UInt8]] {
    if (try? slot(named: value)) != nil { return [value] }
    let names = value.split(separator: UInt8(ascii: "+"), omittingEmptySubsequences: false).map(Array.init)
    // A script's empty variable asks for nothing, and must not be answered with everything.
    guard names.allSatisfy({ !$0.isEmpty }) else {
      throw .badParameter("interface", "a name is empty", remedy: "leave the parameter out to ask for all interfaces")
    }
    return names
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
      resolution = to - from <= 2 * 86400 ? .hour : to - from <= 93 * 86400 ? .day : .month
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
    let byLink = points(rows.rows, asked.resolution)
    let count = byLink.values.reduce(0) { $0 + min($1.count, asked.limit ?? .max) }
    guard count <= Api.mostPoints else {
      throw .tooMuch("the answer would have \(count) points, more than \(Api.mostPoints)")
    }
    var asked = asked
    if asked.isAll {
      let starts = byLink.values.flatMap(\.keys)
      let first = min(starts.min() ?? now.utcSeconds, ledger.watchedSince)
      asked.from = ledger.calendar.start(asked.resolution, first)
      asked.to = ledger.calendar.next(asked.resolution, max(starts.max() ?? now.utcSeconds, now.utcSeconds))
    }
    var gapsOf: [LinkID?: [Gap]] = [:]
    for gap in rows.gaps { gapsOf[gap.link, default: []].append(gap) }
    let livesOf = Dictionary(grouping: rows.incarnations, by: \.link)
    let slots = asked.slots ?? Array(ledger.records.indices)
    var series: [UsageSeries] = []
    for slot in slots where asked.kinds.isEmpty || asked.kinds.contains(ledger.records[slot].kind) {
      let id = ledger.records[slot].id
      let points = byLink[id] ?? [:]
      // What was not named and did nothing in the span is no part of the answer.
      if asked.slots == nil, points.isEmpty, !ledger.isPresent(slot) { continue }
      series.append(
        one(slot, asked, points, gaps: (gapsOf[nil] ?? []) + (gapsOf[id] ?? []), lives: livesOf[id] ?? [], now)
      )
    }
    return UsageReply(
      asOf: rfc3339(now.utc, fraction: 3), from: rfc3339(seconds: asked.from),
      to: rfc3339(seconds: asked.to), resolution: asked.resolution.rawValue, timezone: timeZoneName(),
      series: series)
  }

  /// Rows added up by link and local period.
  private func points(_ rows: [BucketRow], _ resolution: Resolution) -> [LinkID: [Int64: Point]] {
    var sums: [LinkID: [Int64: Point]] = [:]
    // Rows come nearly in order of time, so the period of one is mostly that of the next.
    var (start, end) = (Int64(0), Int64(0))
    for row in rows {
      if row.start < start || row.start >= end {
        start = ledger.calendar.start(resolution, row.start)
        end = ledger.calendar.next(resolution, row.start)
      }
      sums[row.link, default: [:]][start, default: Point()].add(row)
    }
    return sums
  }

  /// One interface's answer.
  func series(_ slot: Int, _ asked: UsageRequest, _ rows: UsageRows, _ now: Moment) -> UsageSeries {
    let points = points(rows.rows, asked.resolution)[ledger.records[slot].id] ?? [:]
    return one(slot, asked, points, gaps: rows.gaps, lives: rows.incarnations, now)
  }

  private func one(
    _ slot: Int, _ asked: UsageRequest, _ points: [Int64: Point], gaps: [Gap], lives: [Incarnation], _ now: Moment
  ) -> UsageSeries {
    let record = ledger.records[slot]
    let since = ledger.watchedSince
    func quality(_ flags: BucketFlags, _ placedBy: BucketFlags, _ from: Int64, _ to: Int64) -> TallyCore.Quality {
      Quality(
        flags: flags, placedBy: placedBy, link: record.id, firstSeen: record.firstSeen, watchedSince: since,
        from: from, to: max(from + 1, min(to, now.utcSeconds + 1)), gaps: gaps, incarnations: lives)
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
        id: "id:\(record.id)", name: record.name.escaped, kind: record.kind.rawValue, type: record.type,
        present: ledger.isPresent(slot)),
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
}
