// The HTTP server: libmicrohttpd turned by the caller's event loop, requests handed over as values.

import CHTTP
import Glibc

/// What a server grants its clients.
package struct HTTPLimits: Equatable, Sendable {
  /// Connections open at once; more wait in the kernel's backlog until one ends.
  package var connections: Int
  /// Seconds without a byte in either direction after which a connection is closed; not while an answer is awaited.
  package var idleSeconds: Int
  /// Bytes for the head of a request and of its answer, for each connection.
  package var poolBytes: Int
  package var bodyBytes: Int

  package init(connections: Int = 64, idleSeconds: Int = 30, poolBytes: Int = 16384, bodyBytes: Int = 65536) {
    self.connections = connections
    self.idleSeconds = idleSeconds
    self.poolBytes = poolBytes
    self.bodyBytes = bodyBytes
  }
}

/// A server on one listening socket. All of it, handlers included, runs in the thread that calls `process`.
///
/// The loop watches `descriptor` for readability, calls `process` when it is readable or `nextTimeout` has passed, and
/// asks `nextTimeout` anew after each `process`; `wantsTurn` asks for one more `process`. Without a client there is no
/// timeout.
package final class HTTPServer {
  /// Answers a request. The exchange is for `.later` alone; it must not call `process` or `stop`.
  package typealias Handler = (HTTPRequest, HTTPExchange) -> HTTPReply
  /// Words the answer to a request that is refused before the handler sees it; the connection ends after it.
  package typealias Refuse = (HTTPRefusal) -> HTTPResponse

  /// The names TCP clients may use; nil (a Unix socket): any.
  package var allowedHosts: AllowedHosts?
  /// Requests that reached the handler, and those refused before it.
  package private(set) var handled: UInt64 = 0
  package private(set) var refused: UInt64 = 0

  /// Told when an exchange that waited has its answer: `process` must be called soon, but not from within.
  package var wantsTurn: (() -> Void)?

  private let limits: HTTPLimits
  private let refuse: Refuse
  private let handler: Handler
  private var server: OpaquePointer?

  /// Serves `listener`, which the caller closes after `stop`.
  package init(
    _ listener: ListeningSocket, limits: HTTPLimits = HTTPLimits(), allowedHosts: AllowedHosts? = nil,
    refuse: @escaping Refuse, handler: @escaping Handler
  ) throws(LocalHTTPError) {
    self.limits = limits
    self.allowedHosts = allowedHosts
    self.refuse = refuse
    self.handler = handler
    var cLimits = chttp_limits(
      connections: UInt32(clamping: limits.connections), idle_seconds: UInt32(clamping: limits.idleSeconds),
      pool_bytes: limits.poolBytes, body_bytes: limits.bodyBytes)
    // Unretained: `stop` ends all hooks, and deinit calls it.
    var hooks = chttp_hooks(
      context: Unmanaged.passUnretained(self).toOpaque(),
      head: { context, request in
        guard let context, let request else { return }
        Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().inspect(request)
      },
      ready: { context, request in
        guard let context, let request else { return }
        Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().handle(request)
      },
      gone: { _, request in
        guard let request, let owner = chttp_owner(request) else { return }
        Unmanaged<HTTPExchange>.fromOpaque(owner).takeUnretainedValue().clientHasGone()
      },
      wake: { context in
        guard let context else { return }
        Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().wantsTurn?()
      },
      next: { _, request, bytes, size in
        guard let request, let owner = chttp_owner(request) else { return -1 }
        return Unmanaged<HTTPExchange>.fromOpaque(owner).takeUnretainedValue()
          .give(UnsafeMutableBufferPointer(start: bytes, count: size))
      })
    let status = chttp_start(listener.descriptor, &cLimits, &hooks, &server)
    if status < 0 { throw .serverFailed("\(listener.address): \(systemMessage(-status))") }
  }

  deinit { stop() }

  /// Readable when `process` has something to do; -1 after `stop`.
  package var descriptor: CInt { server.map { chttp_descriptor($0) } ?? -1 }

  /// Connections open now.
  package var connections: Int { server.map { Int(chttp_connections($0)) } ?? 0 }

  /// Accepts, reads, calls the handler, writes: all that can be done without waiting.
  package func process() throws(LocalHTTPError) {
    guard let server else { return }
    let status = chttp_run(server)
    if status < 0 { throw .serverFailed(systemMessage(-status)) }
  }

  /// Milliseconds until `process` must be called even if the descriptor is quiet; nil: never.
  package func nextTimeout() -> Int? {
    guard let server else { return nil }
    let milliseconds = chttp_timeout(server)
    return milliseconds < 0 ? nil : Int(milliseconds)
  }

  /// Closes every connection; exchanges that still wait become closed. Not from within a handler.
  package func stop() {
    guard let server else { return }
    self.server = nil
    chttp_stop(server)
  }

  private func inspect(_ request: OpaquePointer) {
    let fields = headerFields(of: request)
    let version = chttp_version(request).map { String(cString: $0) } ?? ""
    if let found = refusal(of: fields, version: version, bodyLimit: limits.bodyBytes) {
      refuse(request, found)
    } else if target(of: request) == nil {
      refuse(request, .badTarget)
    } else if let allowedHosts {
      let headers = HTTPHeaders(fields)
      if let stranger = allowedHosts.stranger(host: headers.host, origin: headers.origin) {
        refuse(request, .forbiddenHost(stranger))
      }
    }
  }

  private func handle(_ request: OpaquePointer) {
    var bytes: UnsafePointer<UInt8>?
    var length = 0
    guard chttp_body(request, &bytes, &length) == 0 else {
      return refuse(request, .bodyTooLarge(limit: limits.bodyBytes))
    }
    guard let target = target(of: request) else { return refuse(request, .badTarget) }
    handled &+= 1
    let value = HTTPRequest(
      method: chttp_method(request).map { String(cString: $0) } ?? "", target: target,
      headers: HTTPHeaders(headerFields(of: request)),
      body: Array(UnsafeBufferPointer(start: bytes, count: length)), peer: peer(of: request))
    let exchange = HTTPExchange(request, method: value.method, ifNoneMatch: value.headers.ifNoneMatch)
    if case .now(let response) = handler(value, exchange) { exchange.respond(response) }
  }

  private func refuse(_ request: OpaquePointer, _ refusal: HTTPRefusal) {
    refused &+= 1
    send(refuse(refusal), to: request, close: true)
  }
}

private func target(of request: OpaquePointer) -> HTTPTarget? {
  guard let text = chttp_target(request) else { return nil }
  return HTTPTarget(Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) })
}

private func headerFields(of request: OpaquePointer) -> [HeaderField] {
  var fields: [HeaderField] = []
  withUnsafeMutablePointer(to: &fields) { fields in
    chttp_each_header(request, fields) { context, name, nameLength, value, valueLength in
      guard let context, let name, let value else { return }
      let fields = context.assumingMemoryBound(to: [HeaderField].self)
      fields.pointee.append(
        HeaderField(
          name: Array(UnsafeRawBufferPointer(start: name, count: nameLength)),
          value: Array(UnsafeRawBufferPointer(start: value, count: valueLength))))
    }
  }
  return fields
}

private func peer(of request: OpaquePointer) -> PeerCredentials? {
  var peer = chttp_peer()
  // The number of groups may grow between two calls.
  var count: UInt32 = 32
  for _ in 0..<4 {
    var groups = [gid_t](repeating: 0, count: Int(count))
    let status = chttp_peer(request, &peer, &groups, &count)
    if status == 0 {
      return PeerCredentials(pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: Array(groups.prefix(Int(count))))
    }
    if status != -ERANGE { return nil }
  }
  return nil
}
