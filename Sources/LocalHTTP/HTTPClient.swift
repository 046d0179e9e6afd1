// A small blocking HTTP/1.1 client for one local server: GET kept alive between requests, bounded in time and size.
//
// Own code, since libcurl brings some thirty shared libraries to a command whose only peer is a local socket.

import Glibc

/// An answer as it came, whatever its status.
package struct HTTPAnswer: Equatable, Sendable {
  package var status: Int
  /// Empty when the server named none.
  package var contentType: String
  package var body: [UInt8]
}

package final class HTTPClient {
  /// Where the server is.
  package enum Endpoint: Equatable, Sendable, CustomStringConvertible {
    /// The path of a Unix socket.
    case unix(String)
    /// `host:port` with a numeric host or `localhost`.
    case tcp(String)

    package var description: String {
      switch self {
      case .unix(let path): path
      case .tcp(let address): address
      }
    }
  }

  private typealias Sink = ([UInt8]) -> Bool

  private let endpoint: Endpoint
  private let timeoutMilliseconds: Int
  private let maximumBody: Int
  private var descriptor: CInt = -1

  /// `timeoutMilliseconds` bounds a whole request, connecting included; `maximumBody` is in bytes.
  package init(_ endpoint: Endpoint, timeoutMilliseconds: Int = 10_000, maximumBody: Int = 64 << 20) {
    self.endpoint = endpoint
    self.timeoutMilliseconds = timeoutMilliseconds
    self.maximumBody = maximumBody
  }

  deinit { disconnect() }

  /// Gets `target`, a path with its query, escaped already.
  package func get(_ target: String, accept: String = "*/*") throws(LocalHTTPError) -> HTTPAnswer {
    try get(target, accept: accept, sink: nil)
  }

  /// Gets `target`, of whatever length: the body of a 200 goes to `sink` piece by piece and is not in the answer. The time
  /// allowed is that without a byte. `sink` returns false to have no more. `lastEventID`: where an event stream goes on.
  package func download(
    _ target: String, lastEventID: UInt64? = nil, _ sink: @escaping ([UInt8]) -> Bool
  ) throws(LocalHTTPError) -> HTTPAnswer {
    try get(target, accept: "*/*", lastEventID: lastEventID, sink: sink)
  }

  private func get(
    _ target: String, accept: String, lastEventID: UInt64? = nil, sink: Sink?
  ) throws(LocalHTTPError) -> HTTPAnswer {
    guard HTTPTarget(Array(target.utf8)) != nil, accept.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      throw .badAnswer(address: endpoint.description, problem: "'\(target)' cannot be asked for")
    }
    let resuming = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\n\(resuming)\r\n"
    let deadline = monotonicMilliseconds() + timeoutMilliseconds
    let reused = descriptor >= 0
    do throws(LocalHTTPError) {
      return try exchange(Array(request.utf8), deadline: deadline, sink: sink)
    } catch {
      // A kept connection that the server has closed meanwhile says nothing about the server.
      guard reused, case .unreachable = error else { throw error }
      return try exchange(Array(request.utf8), deadline: deadline, sink: sink)
    }
  }

  /// Asks for a change of `target` with a body of JSON, or none: POST or DELETE. On a connection of its own, and once:
  /// where no answer comes nobody knows whether it was made.
  package func change(
    _ method: String, _ target: String, json: [UInt8]? = nil
  ) throws(LocalHTTPError) -> HTTPAnswer {
    guard HTTPTarget(Array(target.utf8)) != nil else {
      throw .badAnswer(address: endpoint.description, problem: "'\(target)' cannot be asked for")
    }
    disconnect()
    let type = json == nil ? "" : "Content-Type: application/json\r\n"
    let head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)Content-Length: \(json?.count ?? 0)\r\n\r\n"
    return try exchange(
      Array(head.utf8) + (json ?? []), deadline: monotonicMilliseconds() + timeoutMilliseconds, sink: nil)
  }

  private func exchange(_ request: [UInt8], deadline: Int, sink: Sink?) throws(LocalHTTPError) -> HTTPAnswer {
    var keep = false
    defer { if !keep { disconnect() } }
    if descriptor < 0 { try connect(deadline: deadline) }
    try send(request, deadline: deadline)
    var reader = AnswerReader(maximumBody: maximumBody, passesOn: sink != nil)
    while true {
      let bytes = try receive(
        deadline: sink == nil ? deadline : monotonicMilliseconds() + timeoutMilliseconds)
      let answer: AnswerReader.Progress
      do throws(AnswerReader.Violation) {
        answer = bytes.isEmpty ? try reader.finish() : try reader.take(bytes)
      } catch {
        if bytes.isEmpty, reader.isUntouched {
          throw .unreachable(address: endpoint.description, problem: "the connection was closed")
        }
        throw .badAnswer(address: endpoint.description, problem: error.problem)
      }
      if let sink, let piece = reader.takePassedOn(), !sink(piece) {
        throw .badAnswer(address: endpoint.description, problem: "no more of it was wanted")
      }
      if case .complete(let value, let reusable) = answer {
        keep = reusable
        return value
      }
    }
  }

  private func disconnect() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  private func connect(deadline: Int) throws(LocalHTTPError) {
    let name = endpoint.description
    let family: CInt
    let call: ((UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt
    switch endpoint {
    case .unix(let path):
      guard let address = UnixAddress(path) else {
        throw .unreachable(address: name, problem: "a socket path is 1 to \(UnixAddress.longestPath) bytes long")
      }
      family = AF_UNIX
      call = address.call
    case .tcp(let text):
      guard let address = TCPAddress(text) else {
        throw .unreachable(address: name, problem: "this is no address and port")
      }
      family = address.family
      call = address.call
    }
    descriptor = socket(family, streamSocket | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .unreachable(address: name, problem: systemMessage(errno)) }
    // A Unix connect to a full backlog cannot be polled for; the send timeout bounds it, and a TCP one too.
    try allow(untilDeadline: deadline, SO_SNDTIMEO)
    let fd = descriptor
    while call({ Glibc.connect(fd, $0, $1) }) != 0 {
      switch errno {
      case EINTR: continue
      case EISCONN: return
      case EACCES, EPERM: throw .forbidden(address: name)
      case EAGAIN, EINPROGRESS, EALREADY, ETIMEDOUT: throw timedOut
      case ENOENT: throw .unreachable(address: name, problem: "there is no such socket")
      case ECONNREFUSED: throw .unreachable(address: name, problem: "no server listens there")
      default: throw .unreachable(address: name, problem: systemMessage(errno))
      }
    }
  }

  private func send(_ bytes: [UInt8], deadline: Int) throws(LocalHTTPError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      try allow(untilDeadline: deadline, SO_SNDTIMEO)
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw failure(errno)
      }
    }
  }

  private func receive(deadline: Int) throws(LocalHTTPError) -> [UInt8] {
    while true {
      try allow(untilDeadline: deadline, SO_RCVTIMEO)
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, initialized in
        count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        initialized = max(0, count)
      }
      if count >= 0 { return bytes }
      if errno != EINTR { throw failure(errno) }
    }
  }

  private func allow(untilDeadline deadline: Int, _ option: CInt) throws(LocalHTTPError) {
    let left = deadline - monotonicMilliseconds()
    guard left > 0 else { throw timedOut }
    var time = timeval(tv_sec: left / 1000, tv_usec: left % 1000 * 1000)
    setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  private var timedOut: LocalHTTPError {
    .timedOut(address: endpoint.description, milliseconds: timeoutMilliseconds)
  }

  private func failure(_ code: CInt) -> LocalHTTPError {
    code == EAGAIN ? timedOut : .unreachable(address: endpoint.description, problem: systemMessage(code))
  }
}

private func monotonicMilliseconds() -> Int {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
