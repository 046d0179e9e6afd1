// The clients of /v1/stream: what happens is kept in the ring, and each is woken for what it wants to hear of.
import LinkSource
import LocalHTTP
import TallyCore
import TallyWire

/// Belongs to the loop's thread.
final class Streams {
  /// Of the 64 connections most are to stay free for questions.
  static let most = 8
  /// Between keepalives, one of which goes with the minute's tick.
  static let beatNanoseconds: Int64 = 30 * Moment.second

  /// Has `tellRates` called after so many nanoseconds, in place of an earlier call.
  var ratesAfter: (Int64) -> Void = { _ in }
  /// The same for `beat`.
  var beatAfter: (Int64) -> Void = { _ in }
  /// Called each time rates are due: somebody watches.
  var asked: () -> Void = {}

  private let sampler: Sampler
  private var ring: StreamRing
  /// Problems that stand, by code, as they were raised.
  private var raised: [String: StreamEvent] = [:]
  private var clients: [Client] = []
  private var isBeatDue = false

  private final class Client {
    let exchange: HTTPExchange
    var reader: StreamReader
    /// Nanoseconds between rates; nil: none.
    let interval: Int64?
    /// Boot-clock instant of the next rates.
    var due: Int64
    var wantsRates = false
    var wantsBeat = false
    var wantsGreeting = true

    init(_ exchange: HTTPExchange, _ reader: StreamReader, interval: Int64?, due: Int64) {
      self.exchange = exchange
      self.reader = reader
      self.interval = interval
      self.due = due
    }
  }

  init(_ sampler: Sampler) {
    self.sampler = sampler
    ring = StreamRing(startedAt: sampler.now().utc)
  }

  /// Streams that are open.
  var count: Int { clients.count }

  // MARK: Clients

  /// Begins a stream that goes on after the event `lastID`; `seconds` between rates, nil without any.
  func open(
    _ exchange: HTTPExchange, _ filter: StreamFilter, seconds: Int64?, lastID: UInt64?
  ) throws(RequestError) {
    // Those whose programs have ended are noticed by the next keepalive only.
    clients.removeAll { $0.exchange.isDeserted }
    guard clients.count < Streams.most else { throw .tooManyStreams }
    let now = sampler.now()
    let reader = StreamReader(filter, after: lastID, in: ring, standing: standing, at: rfc3339(now.utc, fraction: 3))
    let client = Client(exchange, reader, interval: seconds.map { $0 &* Moment.second }, due: now.boot)
    clients.append(client)
    exchange.ended = { [weak self, weak client] in self?.clients.removeAll { $0 === client } }
    exchange.stream(
      HTTPResponse(status: 200, contentType: EventStream.mediaType, headers: commonHeaders, body: []),
      next: { [weak self, weak client] in
        guard let self, let client else { return nil }
        return next(client)
      })
    if client.interval != nil { ratesAfter(0) }
    if !isBeatDue { beatAfter(Streams.beatNanoseconds) }
    isBeatDue = true
  }

  private var standing: [StreamEvent] { raised.values.sorted { $0.id < $1.id } }

  /// What a client that can take more gets: events, then the newest rates, then a sign of life.
  private func next(_ client: Client) -> [UInt8] {
    if client.wantsGreeting {
      client.wantsGreeting = false
      return EventStream.greeting(id: client.reader.position)
    }
    let time = rfc3339(sampler.now().utc, fraction: 3)
    while let event = client.reader.next(in: ring, standing: standing, at: time) {
      if let text = try? EventStream.text(event) { return text }
    }
    if client.wantsRates {
      client.wantsRates = false
      client.wantsBeat = false
      if let text = try? EventStream.text(rates(for: client.reader.filter)) { return text }
    }
    defer { client.wantsBeat = false }
    return client.wantsBeat ? EventStream.keepalive : []
  }

  private func rates(for filter: StreamFilter) -> StreamEvent {
    let ledger = sampler.ledger
    var event = StreamEvent(
      event: StreamEvent.Kind.rates, id: ring.nextID(),
      at: rfc3339((ledger.lastSample ?? sampler.now()).utc, fraction: 3)
    )
    event.interfaces = ledger.shownSlots.compactMap { slot in
      let interface = Streams.interface(ledger.records[slot])
      guard filter.selects(interface), ledger.isPresent(slot) else { return nil }
      let rate = ledger.rate(slot: slot).map {
        Rate(rxBytesPerSecond: $0.rx, txBytesPerSecond: $0.tx, overSeconds: $0.seconds)
      }
      return StreamEvent.Speed(interface: interface, rate: rate)
    }
    return event
  }

  private static func interface(_ record: LinkRecord) -> StreamEvent.Interface {
    StreamEvent.Interface(id: "id:\(record.id)", name: record.name.escaped, kind: record.kind.rawValue)
  }

  // MARK: What happens

  /// Passes on what the ledger has to tell. Call whenever something was observed.
  func collect() {
    let (news, lost) = sampler.ledger.takeNews()
    if lost > 0 { ring.noteLoss() }
    for item in news { publish(StreamEvent(item)) }
  }

  /// Tells which problems are new and which are gone.
  func note(_ problems: [StatusReply.Warning]) {
    let time = rfc3339(sampler.now().utc, fraction: 3)
    func event(_ state: String, _ code: String, _ message: String?, _ remedy: String?) -> StreamEvent {
      var event = StreamEvent(event: StreamEvent.Kind.problem, id: 0, at: time)
      (event.state, event.code, event.message, event.remedy) = (state, code, message, remedy)
      return event
    }
    for problem in standing where !problems.contains(where: { $0.code == problem.code }) {
      guard let code = problem.code else { continue }
      raised[code] = nil
      publish(event(StreamEvent.State.cleared, code, problem.message, problem.remedy))
    }
    for problem in problems where raised[problem.code] == nil {
      raised[problem.code] = publish(
        event(StreamEvent.State.raised, problem.code, problem.message, problem.remedy))
    }
  }

  @discardableResult
  private func publish(_ event: StreamEvent) -> StreamEvent {
    let before = ring.newest
    let event = ring.add(event)
    for client in clients where client.reader.isConcerned(by: event, after: before) { client.exchange.wake() }
    return event
  }

  // MARK: Time

  /// Rates for those whose time has come, of a sample of now.
  func tellRates() {
    let now = sampler.now().boot
    let due = clients.filter { $0.interval != nil && $0.due <= now }
    if !due.isEmpty {
      asked()
      sampler.sampleForQuery()
    }
    for client in due {
      guard let interval = client.interval else { continue }
      client.due += ((now - client.due) / interval + 1) * interval
      client.wantsRates = true
      client.exchange.wake()
    }
    if let next = clients.filter({ $0.interval != nil }).map(\.due).min() {
      ratesAfter(max(0, next - sampler.now().boot))
    }
  }

  /// A sign of life to everybody, so that those who have gone are noticed. `isTick`: with the minute; one more comes
  /// between it and the next.
  func beat(isTick: Bool) {
    for client in clients {
      client.wantsBeat = true
      client.exchange.wake()
    }
    if isTick, !clients.isEmpty { beatAfter(Streams.beatNanoseconds) }
    isBeatDue = isTick && !clients.isEmpty
  }
}

extension StreamEvent {
  /// Without an id.
  fileprivate init(_ news: LinkNews) {
    let interface = news.subject.map {
      Interface(id: "id:\($0.id)", name: $0.name.escaped, kind: $0.kind.rawValue)
    }
    self.init(event: Kind.link, id: 0, at: rfc3339(news.at.utc, fraction: 3), interface: interface)
    switch news.what {
    case .came(let birth, let number):
      (change, cause, incarnation) = (Change.came, birth.rawValue, Int(number))
    case .went(let death): (change, cause) = (Change.went, death.rawValue)
    case .renamed(let former): (change, formerName) = (Change.renamed, former.escaped)
    case .reset(let gap): take(gap, as: Kind.reset)
    case .gap(let gap):
      take(gap, as: Kind.gap)
      reason = gap.reason.rawValue
    }
  }

  private mutating func take(_ gap: Gap, as kind: String) {
    event = kind
    (from, to, lossy) = (rfc3339(seconds: gap.from), rfc3339(seconds: gap.to), gap.lossy)
  }
}
