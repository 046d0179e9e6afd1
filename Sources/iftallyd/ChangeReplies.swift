// What people may change through the socket: who may, which interface is meant, and the answer once it is stored.
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// Who may change things besides root.
struct Authority {
  /// As the configuration names it.
  var group: String
  /// nil: there is no such group on this machine.
  var id: UInt32?

  func admits(_ peer: PeerCredentials) -> Bool { peer.uid == 0 || id.map(peer.belongs(to:)) ?? false }

  /// The user who asks, when that one may; only a Unix socket tells who asks.
  func check(_ request: HTTPRequest) throws(RequestError) -> UInt32 {
    guard let peer = request.peer else {
      throw .forbidden(
        "changes are taken over the Unix socket alone, where the kernel says who asks",
        remedy: "ask over the Unix socket, as root or as a member of the group \(group)")
    }
    if admits(peer) { return peer.uid }
    guard id != nil else {
      throw .forbidden(
        "changes are for root alone: there is no group '\(group)' on this machine, and you are the user \(peer.uid)",
        remedy: "ask as root; or groupadd --system \(group), usermod -aG \(group) USER, systemctl reload iftallyd")
    }
    throw .forbidden(
      "changes are for root and members of the group \(group); you are the user \(peer.uid), and not in it",
      remedy: "ask as root; or usermod -aG \(group) USER, and log in again")
  }
}

extension Api {
  func changes() throws(RequestError) -> HTTPReply {
    let now = try present()
    return try Api.json(
      ChangesReply(asOf: rfc3339(now.utc, fraction: 3), changes: ledger.changes.reversed().map(entry)))
  }

  func rename(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    try change(request, exchange, body: TitleRequest.self) { api, body throws(RequestError) in
      .rename(try api.changedSlots(named: request.target.segments[2])[0], title: body.title)
    }
  }

  func merge(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    try change(request, exchange, body: MergeRequest.self) { api, body throws(RequestError) in
      .merge(
        try api.mergedSlot(named: request.target.segments[2]), into: try api.mergedSlot(named: Array(body.into.utf8)))
    }
  }

  func forget(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    try change(request, exchange, body: NoBody.self) { api, _ throws(RequestError) in
      let slots = try api.changedSlots(named: request.target.segments[2])
      return .forget(slots[0], with: Array(slots.dropFirst()))
    }
  }

  func undo(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    let text = String(decoding: request.target.segments[2], as: UTF8.self)
    return try change(request, exchange, body: NoBody.self) { _, _ throws(RequestError) in
      guard let id = Int64(text) else { throw RequestError.refused(.unknownChange, text) }
      return .undo(id)
    }
  }

  // MARK: The way of a change

  /// Checks who asks and what; then, in turn, plans the change, has it stored, and answers with what it made.
  private func change<Body: Decodable>(
    _ request: HTTPRequest, _ exchange: HTTPExchange, body: Body.Type,
    asked: @escaping (_ api: Api, _ body: Body) throws(RequestError) -> ChangeRequest
  ) throws(RequestError) -> HTTPReply {
    let uid = try authority.check(request)
    let body = try read(body, request)
    history.whenIdle { [self] in
      do throws(RequestError) {
        let now = try present()
        let change = try plan(try asked(self, body), at: now, uid: uid)
        make(change) { [self] error in
          exchange.respond(error.map { RequestError.notStored($0.description).response } ?? answer(change))
        }
      } catch {
        exchange.respond(error.response)
      }
    }
    return .later
  }

  /// A page of another origin can have a browser send text and forms, but not JSON, without being asked.
  private func read<Body: Decodable>(_ body: Body.Type, _ request: HTTPRequest) throws(RequestError) -> Body {
    let type = request.headers.contentType?.prefix { $0 != ";" }.lowercased()
    guard request.body.isEmpty && type == nil || type == "application/json" else { throw .unsupportedMediaType }
    do {
      return try decode(body, from: request.body.isEmpty ? Array("{}".utf8) : request.body)
    } catch {
      throw .badBody(error.description)
    }
  }

  private func plan(
    _ request: ChangeRequest, at now: Moment, uid: UInt32
  ) throws(RequestError) -> Change {
    do throws(ChangeError) {
      return try ledger.plan(request, at: now.utcSeconds, uid: uid)
    } catch {
      throw .refused(error, words(request))
    }
  }

  private func words(_ request: ChangeRequest) -> String {
    switch request {
    case .rename(let slot, _), .forget(let slot, _): name(slot)
    case .merge(let slot, let target): "\(name(slot)) and \(name(target))"
    case .undo(let id): "\(id)"
    }
  }

  private func name(_ slot: Int) -> String {
    let record = ledger.records[slot]
    return "\(record.name.escaped) (id:\(record.id))"
  }

  /// What is shown after the change.
  private func answer(_ change: Change) -> HTTPResponse {
    do throws(RequestError) {
      let now = try present()
      let reply = ChangeReply(
        asOf: rfc3339(now.utc, fraction: 3), change: entry(change),
        interface: shownAfter(change).map { interface(Selected(slots: [$0]), now) })
      guard case .now(let response) = try Api.json(reply) else { return RequestError.internal("no reply").response }
      return response
    } catch {
      return error.response
    }
  }

  /// The interface itself, or what its link goes on as when its history was forgotten.
  private func shownAfter(_ change: Change) -> Int? {
    let ledger = ledger
    guard let slot = ledger.slot(id: change.link) else { return nil }
    if let shown = shownSlot(slot) { return shown }
    return ledger.shown.first {
      let (one, other) = (ledger.records[$0], ledger.records[slot])
      return one.name == other.name && (one.key, one.label) == (other.key, other.label) && ledger.isPresent($0)
    }
  }

  private func entry(_ change: Change) -> ChangeEntry {
    let references = change.links.map { id in
      InterfaceReference(id: "id:\(id)", name: ledger.slot(id: id).map { ledger.records[$0].name.escaped } ?? "")
    }
    return ChangeEntry(
      id: change.id, at: rfc3339(seconds: change.at), uid: change.uid, action: change.action.rawValue,
      interface: references[0], others: references.count == 1 ? nil : Array(references.dropFirst()),
      before: change.action == .rename ? change.before : nil, after: change.action == .forget ? nil : change.after,
      undone: change.undone.map { ChangeEntry.Undoing(at: rfc3339(seconds: $0.at), uid: $0.uid) })
  }

  // MARK: Which interface is meant

  /// The one record of this id, or the one device of this name or title with the records of all its labels; a name that
  /// fits several is no choice of one.
  private func changedSlots(named bytes: [UInt8]) throws(RequestError) -> [Int] {
    let text = LinkName(bytes: bytes).escaped
    if text.hasPrefix("id:"), let id = LinkID(text.dropFirst(3)) {
      guard let slot = ledger.slot(id: id), !ledger.isHidden(slot) else { throw .unknownInterface(text) }
      return [slot]
    }
    let (ledger, devices) = (ledger, ledger.devices)
    let names = names(bytes)
    let titled = slots(titled: bytes)
    let bearers = ledger.shown.filter { names.contains(ledger.records[$0].name) || titled.contains($0) }
    // A merged one that alone bears the name is told of as that.
    let merged = ledger.shownSlots.first { names.contains(ledger.records[$0].name) && !ledger.isHidden($0) }
    guard let slot = bearers.first ?? merged else {
      // What is asked of one link must not happen to the group that it is counted in.
      let group = names.lazy.compactMap { ledger.slot(name: $0) }.first.map { ledger.records[$0].name.escaped }
      throw group.map { .member(text, of: $0) } ?? .unknownInterface(text)
    }
    let device = devices[slot] ?? [slot]
    guard bearers.allSatisfy(device.contains) || bearers.isEmpty else {
      throw .ambiguous(text, bearers.map { "id:\(ledger.records[$0].id)" })
    }
    return device
  }

  /// A merge points from one record to another: of a device with several it has to be said which.
  private func mergedSlot(named bytes: [UInt8]) throws(RequestError) -> Int {
    let slots = try changedSlots(named: bytes)
    guard slots.count == 1 else {
      let records = slots.map { slot in
        let record = ledger.records[slot]
        return "id:\(record.id) (\(record.label.map { "label \($0)" } ?? "without a label"))"
      }
      throw .ambiguous(LinkName(bytes: bytes).escaped, records)
    }
    return slots[0]
  }
}

/// What a request has to say that needs no body.
private struct NoBody: Decodable {}
