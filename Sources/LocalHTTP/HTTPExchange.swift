// The answer to a request, and the place where it can still be given when the handler has long returned.

import CHTTP
import Glibc

/// An answer. Content-Length, Date and Connection are added; the body is left out for HEAD and 304.
package struct HTTPResponse: Equatable, Sendable {
  package var status: Int
  package var contentType: String
  /// More headers. A line break in a name or value makes the answer a 500.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// A strong validator with its quotes. A GET or HEAD whose If-None-Match names it is answered 304.
  package var etag: String?

  package init(
    status: Int, contentType: String, headers: [(name: String, value: String)] = [], body: [UInt8], etag: String? = nil
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
    self.etag = etag
  }

  package static func == (a: HTTPResponse, b: HTTPResponse) -> Bool {
    a.status == b.status && a.contentType == b.contentType && a.body == b.body && a.etag == b.etag
      && a.headers.elementsEqual(b.headers, by: ==)
  }

  /// The answer to a client that has this version already.
  func unlessCurrent(method: String, ifNoneMatch: String?) -> HTTPResponse {
    guard let etag, let ifNoneMatch, status == 200, method == "GET" || method == "HEAD" else { return self }
    let known = ifNoneMatch.split(separator: ",").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
    guard known.contains(where: { $0 == "*" || $0 == etag || $0 == "W/\(etag)" }) else { return self }
    var short = self
    short.status = 304
    short.body = []
    return short
  }
}

/// What a handler decides about a request.
package enum HTTPReply {
  case now(HTTPResponse)
  /// `HTTPExchange.respond` will be called, or `stream` was; the connection waits without cost, and without a time limit.
  case later
}

/// One request that waits for its answer. Belongs to the thread that calls `HTTPServer.process`.
///
/// Keep it until the answer is known. Dropped without one, it answers 500, so that no client waits for ever.
package final class HTTPExchange {
  /// nil once answered, or when the client has gone.
  var request: OpaquePointer?
  private let method: String
  private let ifNoneMatch: String?

  /// Called once when a stream has ended for whatever reason; the exchange may be let go of then.
  package var ended: (() -> Void)?
  /// Gives the next bytes of a stream; nil: this is none.
  private var source: (() -> [UInt8]?)?
  /// What the client could not take yet of what the source gave.
  private var rest: ArraySlice<UInt8> = []

  init(_ request: OpaquePointer, method: String, ifNoneMatch: String?) {
    self.request = request
    self.method = method
    self.ifNoneMatch = ifNoneMatch
    chttp_set_owner(request, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    if source == nil {
      respond(HTTPResponse(status: 500, contentType: "text/plain", body: []))
    } else if let request {
      chttp_set_owner(request, nil)
      chttp_more(request)
    }
  }

  /// Whether an answer is still wanted. A client that hangs up while it waits is noticed when the answer is sent.
  package var isOpen: Bool { request != nil }

  /// Answers; the first answer counts. Does nothing when the connection or the server is gone.
  package func respond(_ response: HTTPResponse) {
    guard let request else { return }
    self.request = nil
    chttp_set_owner(request, nil)
    send(response.unlessCurrent(method: method, ifNoneMatch: ifNoneMatch), to: request, close: false)
  }

  /// Answers with the first `length` bytes of a file instead of the response's body; they are read while they are sent.
  /// The descriptor is closed afterwards, whatever becomes of the answer.
  package func respond(_ response: HTTPResponse, file descriptor: CInt, length: Int64) {
    guard let request else {
      close(descriptor)
      return
    }
    self.request = nil
    chttp_set_owner(request, nil)
    let headers = response.headers + [(name: "Content-Type", value: response.contentType)]
    let status = withHeaders(headers) {
      chttp_respond_file(request, UInt32(clamping: response.status), $0, $1, descriptor, UInt64(clamping: length))
    }
    if status < 0 { _ = answer(request, 500, [], [], close: true) }
  }
}

// MARK: Streams

extension HTTPExchange {
  /// Answers with a body of no known length. `next` is called each time the client can take more; it returns the next
  /// bytes, none when there are none yet, and nil at the end. Keep the exchange until `ended`: dropped, it ends the stream.
  ///
  /// Nothing is kept here but what `next` returned last, so a slow client holds up nobody. One that takes nothing for
  /// the server's idle time, with bytes waiting for it, is closed.
  package func stream(_ response: HTTPResponse, next: @escaping () -> [UInt8]?) {
    guard let request else { return }
    source = next
    let headers = response.headers + [(name: "Content-Type", value: response.contentType)]
    let status = withHeaders(headers) {
      chttp_respond_stream(request, UInt32(clamping: response.status), $0, $1)
    }
    if status < 0 { _ = answer(request, 500, [], [], close: true) }
  }

  /// Has `next` called again, now that it has something; not from within it.
  package func wake() {
    if let request { chttp_more(request) }
  }

  /// The client has closed its end. Of a TCP client, and of any that nothing is sent to, this is not noticed by itself.
  package var isDeserted: Bool { request.map { chttp_is_deserted($0) } ?? true }

  func clientHasGone() {
    request = nil
    ended?()
    ended = nil
  }

  func give(_ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    if rest.isEmpty {
      guard let bytes = source?() else { return -1 }
      rest = bytes[...]
    }
    let piece = rest.prefix(room.count)
    _ = room.update(fromContentsOf: piece)
    rest = piece.count == rest.count ? [] : rest.dropFirst(piece.count)
    return piece.count
  }
}

func send(_ response: HTTPResponse, to request: OpaquePointer, close: Bool) {
  var headers = response.headers
  headers.append((name: "Content-Type", value: response.contentType))
  if let etag = response.etag { headers.append((name: "ETag", value: etag)) }
  if answer(request, response.status, headers, response.body, close: close) < 0 {
    _ = answer(request, 500, [], [], close: true)
  }
}

private func answer(
  _ request: OpaquePointer, _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8], close: Bool
) -> CInt {
  withHeaders(headers) { chttp_respond(request, UInt32(clamping: status), $0, $1, body, body.count, close) }
}

private func withHeaders(
  _ headers: [(name: String, value: String)], _ body: (UnsafePointer<chttp_header>?, Int) -> CInt
) -> CInt {
  // All the text in one block, so that the pointers hold for the length of the call.
  var text: [CChar] = []
  var offsets: [(name: Int, value: Int)] = []
  for header in headers {
    let name = text.count
    text += header.name.utf8CString
    offsets.append((name: name, value: text.count))
    text += header.value.utf8CString
  }
  return text.withUnsafeBufferPointer { text in
    let pointers = offsets.map { offset in
      chttp_header(name: text.baseAddress.map { $0 + offset.name }, value: text.baseAddress.map { $0 + offset.value })
    }
    return pointers.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
  }
}
