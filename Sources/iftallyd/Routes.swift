// The route table, and the way from a request to its handler.
import LocalHTTP
import TallyCore
import TallyWire

/// Everything that is served. All of it is for reading; nothing here changes anything.
extension Api {
  private static var routes: [(path: String, parameters: [String], handler: (Api) -> Handler)] {
    [
    ("/v1/status", [], { $0.status }),
    ("/v1/interfaces", [], { $0.interfaces }),
    ("/v1/interfaces/*", [], { $0.interface }),
    ("/v1/usage", UsageRequest.parameters, { $0.usage }),
    ("/metrics", [], { $0.metrics }),
    ("/", [], { _ in { _, _ in .now(page(Page.html, "text/html")) } }),
    ("/page.css", [], { _ in { _, _ in .now(page(Page.style, "text/css")) } }),
    ("/page.js", [], { _ in { _, _ in .now(page(Page.script, "text/javascript")) } }),
    ]
  }

  typealias Handler = (HTTPRequest, HTTPExchange) throws(RequestError) -> HTTPReply

  /// Answers a request; errors become problem+json.
  func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) -> HTTPReply {
    do throws(RequestError) {
      for route in Api.routes where Api.matches(route.path, request.target.segments) {
        guard request.method == "GET" || request.method == "HEAD" else {
          throw .methodNotAllowed(request.method)
        }
        for item in request.target.query {
          let name = LinkName(bytes: item.name).escaped
          guard route.parameters.contains(name) else {
            throw .unknownParameter(name, allowed: route.parameters)
          }
        }
        return try route.handler(self)(request, exchange)
      }
      throw .notFound
    } catch {
      return .now(error.response)
    }
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

  private static func page(_ text: String, _ type: String) -> HTTPResponse {
    HTTPResponse(
      status: 200, contentType: type + "; charset=utf-8",
      headers: commonHeaders + [
        (name: "Content-Security-Policy", value: Page.contentSecurityPolicy),
        (name: "Referrer-Policy", value: "no-referrer"),
      ],
      body: Array(text.utf8))
  }
}
