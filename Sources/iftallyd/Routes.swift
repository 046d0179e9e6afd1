// The route table, and the way from a request to its handler.
import LocalHTTP
import TallyCore
import TallyWire

/// One row of the route table.
struct Route: Sendable {
  typealias Handler = @Sendable (Api, HTTPRequest, HTTPExchange) throws(RequestError) -> HTTPReply

  /// GET stands for HEAD too.
  var method = "GET"
  /// A `*` stands for one segment.
  var path: String
  /// The query parameters it takes; any other is refused.
  var parameters: [String]
  /// Its figures are of a sample taken after the question came; else a sample up to 100 ms old will do.
  var isPresent: Bool
  var handler: Handler

  init(_ path: String, _ parameters: [String] = [], isPresent: Bool = false, _ handler: @escaping Handler) {
    self.path = path
    self.parameters = parameters
    self.isPresent = isPresent
    self.handler = handler
  }

  init(_ path: String, _ page: String, _ type: String) {
    self.init(path) { _, _, _ in .now(Api.page(page, type)) }
  }

  /// A route that changes something: its handler checks who asks.
  init(changing method: String, _ path: String, _ handler: @escaping Handler) {
    self.init(path, [], handler)
    self.method = method
  }
}

/// Everything that is served. GET changes nothing.
extension Api {
  private static let routes = [
    Route("/v1/status", ["check"]) { api, request, exchange throws(RequestError) in
      try api.status(request.target.query, exchange)
    },
    Route("/v1/interfaces", Selection.parameters, isPresent: true) { api, request, _ throws(RequestError) in
      try api.interfaces(request.target.query)
    },
    Route("/v1/interfaces/*", isPresent: true) { api, request, _ throws(RequestError) in
      try api.interface(request.target.segments[2])
    },
    Route("/v1/usage", UsageRequest.parameters) { api, request, exchange throws(RequestError) in
      try api.usage(request.target.query, exchange)
    },
    Route("/v1/explain", Api.explainParameters) { api, request, exchange throws(RequestError) in
      try api.explain(request.target.query, exchange)
    },
    Route("/v1/stream", Api.streamParameters) { api, request, exchange throws(RequestError) in
      try api.stream(request, exchange)
    },
    Route("/v1/backup", isPresent: true) { api, request, exchange throws(RequestError) in
      try api.backup(request, exchange)
    },
    Route("/v1/totals", totalsParameters) { api, request, exchange throws(RequestError) in
      try api.totals(request.target.query, exchange)
    },
    Route("/v1/rules", isPresent: true) { api, _, _ throws(RequestError) in try api.rules() },
    Route("/v1/changes") { api, _, _ throws(RequestError) in try api.changes() },
    Route(changing: "POST", "/v1/interfaces/*/title") { api, request, exchange throws(RequestError) in
      try api.rename(request, exchange)
    },
    Route(changing: "POST", "/v1/interfaces/*/merge") { api, request, exchange throws(RequestError) in
      try api.merge(request, exchange)
    },
    Route(changing: "DELETE", "/v1/interfaces/*") { api, request, exchange throws(RequestError) in
      try api.forget(request, exchange)
    },
    Route(changing: "POST", "/v1/changes/*/undo") { api, request, exchange throws(RequestError) in
      try api.undo(request, exchange)
    },
    Route("/metrics", isPresent: true) { api, _, _ throws(RequestError) in try api.metrics() },
    Route("/", Page.html, "text/html"),
    Route("/page.css", Page.style, "text/css"),
    Route("/page.js", Page.script, "text/javascript"),
  ]

  /// Answers a request; errors become problem+json.
  func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) -> HTTPReply {
    do throws(RequestError) {
      let route = try route(request)
      if route.isPresent { asked() }
      guard route.isPresent, let wait = sampler.nanosecondsUntilSample() else {
        return try route.handler(self, request, exchange)
      }
      // All who ask within 100 ms of a sample share the next one.
      waiting.append((route, request, exchange))
      if waiting.count == 1 { wakeAfter(wait) }
      return .later
    } catch {
      return .now(error.response)
    }
  }

  /// Answers those who waited for a sample. Call when `wakeAfter`'s time has come.
  func answerWaiting() {
    let asked = waiting
    waiting = []
    for (route, request, exchange) in asked where exchange.isOpen {
      do throws(RequestError) {
        if case .now(let response) = try route.handler(self, request, exchange) { exchange.respond(response) }
      } catch {
        exchange.respond(error.response)
      }
    }
  }

  private func route(_ request: HTTPRequest) throws(RequestError) -> Route {
    let routes = Api.routes.filter { Api.matches($0.path, request.target.segments) }
    guard !routes.isEmpty else { throw .notFound }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let route = routes.first(where: { $0.method == method }) else {
      throw .methodNotAllowed(
        request.method, allowed: routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] })
    }
    for item in request.target.query {
      let name = LinkName(bytes: item.name).escaped
      guard route.parameters.contains(name) else { throw .unknownParameter(name, allowed: route.parameters) }
    }
    return route
  }

  /// A `*` stands for one segment of any bytes.
  private static func matches(_ path: String, _ segments: [[UInt8]]) -> Bool {
    let pattern = path.split(separator: "/")
    let segments = segments == [[]] ? [] : segments
    guard pattern.count == segments.count else { return false }
    return zip(pattern, segments).allSatisfy { $0 == "*" ? !$1.isEmpty : Array($0.utf8) == $1 }
  }

  static func json<Reply: Encodable>(_ reply: Reply) throws(RequestError) -> HTTPReply {
    do {
      return .now(
        HTTPResponse(
          status: 200, contentType: "application/json", headers: commonHeaders, body: try encode(reply)))
    } catch {
      throw .internal(error.description)
    }
  }

  fileprivate static func page(_ text: String, _ type: String) -> HTTPResponse {
    HTTPResponse(
      status: 200, contentType: type + "; charset=utf-8",
      headers: commonHeaders + [
        (name: "Content-Security-Policy", value: Page.contentSecurityPolicy),
        (name: "Referrer-Policy", value: "no-referrer"),
      ],
      body: Array(text.utf8))
  }
}
