// /v1/stream: what was asked, and the beginning of the stream.
import LocalHTTP
import TallyCore
import TallyWire

extension Api {
  static let streamParameters = ["interval", "interface", "kind", "events"]
  private static let defaultInterval: Int64 = 10
  private static let longestInterval: Int64 = 3600

  /// Events from now on, or from where `Last-Event-ID` says.
  func stream(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    guard ledger.lastSample != nil, sampler.sampleCount > 0, history.isFounded else { throw .loading }
    let (filter, seconds) = try streamQuestion(request.target.query)
    guard request.method == "GET" else {
      return .now(HTTPResponse(status: 200, contentType: EventStream.mediaType, headers: commonHeaders, body: []))
    }
    // What is no id of ours is one of somebody else's: what lies between is not known.
    let last = request.headers.lastEventID.flatMap { $0.isEmpty ? nil : UInt64($0) ?? 0 }
    try streams.open(exchange, filter, seconds: seconds, lastID: last)
    return .later
  }

  private func streamQuestion(
    _ query: [HTTPTarget.QueryItem]
  ) throws(RequestError) -> (filter: StreamFilter, seconds: Int64?) {
    var filter = StreamFilter()
    let devices = ledger.devices
    var wanted: Set<String>?
    var interval: Int64?
    for item in query {
      let value = String(decoding: item.value, as: UTF8.self)
      switch String(decoding: item.name, as: UTF8.self) {
      case "interface":
        for name in try interfaceNames(item.value, devices) {
          try take(name, into: &filter, devices)
        }
      case "kind":
        for word in value.split(separator: "+") {
          guard let kind = Kind(rawValue: String(word)) else { throw .unknownKind(word) }
          filter.kinds.insert(kind.rawValue)
        }
      case "events":
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
          guard StreamEvent.Kind.all.contains(String(word)) else {
            throw .badParameter(
              "events", "there are no events '\(word)'",
              remedy: "some of " + StreamEvent.Kind.all.joined(separator: ",") + ", joined with commas")
          }
          wanted = (wanted ?? []).union([String(word)])
        }
      default:
        guard interval == nil else { throw .badParameter("interval", "it is given twice", remedy: "give it once") }
        guard let number = Int64(value), (0...Api.longestInterval).contains(number) else {
          throw .badParameter(
            "interval", "'\(value)' is no number of seconds from 1 to \(Api.longestInterval)",
            remedy: "for example interval=10; interval=0 is for no rates")
        }
        interval = number
      }
    }
    filter.events = wanted ?? filter.events
    if interval == 0 { filter.events.remove(StreamEvent.Kind.rates) }
    let hasRates = filter.events.contains(StreamEvent.Kind.rates)
    return (filter, hasRates ? interval ?? Api.defaultInterval : nil)
  }

  /// Adds one interface by id, name or title. Of one that is known also what else its events may bear: the ids of a
  /// device's records or of the group that a link is counted in, and the name of what was chosen by its title. A name
  /// stays one: who bears it may change, and need not be there yet.
  private func take(
    _ bytes: [UInt8], into filter: inout StreamFilter, _ devices: [Int: [Int]]
  ) throws(RequestError) {
    let text = LinkName(bytes: bytes).escaped
    if text.hasPrefix("id:"), let id = LinkID(text.dropFirst(3)) {
      filter.ids.insert("id:\(id)")
      return
    }
    filter.names.formUnion(names(bytes))
    let isKnown = names(bytes).contains { ledger.slot(name: $0) != nil }
    guard isKnown || !slots(titled: bytes).isEmpty else { return }
    let records = try choice(named: bytes, devices).records
    filter.ids.formUnion(records.map { "id:\($0)" })
    if !isKnown, let slot = records.first.flatMap(ledger.slot(id:)) { filter.names.insert(ledger.records[slot].name) }
  }
}
