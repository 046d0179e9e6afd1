// A real server on a real socket, cranked by hand in the test's own thread.

import Foundation
import Glibc
import Testing

@testable import LocalHTTP

let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
let isRoot = geteuid() == 0
func hasTool(_ name: String) -> Bool { isCI || access("/usr/bin/\(name)", X_OK) == 0 }

/// A folder that others can enter, gone with the object.
final class Folder {
  let path: String

  init() throws {
    var template = Array("/tmp/local-http-XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template))
    path = String(cString: made)
    chmod(path, 0o755)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

final class ServerUnderTest {
  let folder: Folder
  let listener: ListeningSocket
  private let limits: HTTPLimits
  private let allowedHosts: AllowedHosts?
  private(set) var server: HTTPServer!
  var requests: [HTTPRequest] = []
  /// What the handler was told to answer later.
  var held: [HTTPExchange] = []
  /// Answers each request; nil: later.
  var answer: (HTTPRequest) -> HTTPResponse? = { _ in .text("hello") }
  /// Begins a stream with each request that is answered later, before the handler returns.
  var begin: ((HTTPExchange) -> Void)?

  /// How often there was a reason to turn the server.
  private(set) var turns = 0
  private var isTurnWanted = false
  private var deadline: Date?

  init(tcp: Bool = false, limits: HTTPLimits = HTTPLimits(), allowedHosts: AllowedHosts? = nil) throws {
    folder = try Folder()
    listener = tcp ? try .tcp("127.0.0.1:0") : try .unix(path: folder.path + "/s")
    self.limits = limits
    self.allowedHosts = allowedHosts
    try restart()
  }

  /// Closes all connections and serves the same socket anew.
  func restart() throws {
    server?.stop()
    isTurnWanted = false
    deadline = nil
    server = try HTTPServer(
      listener, limits: limits, allowedHosts: allowedHosts,
      refuse: { HTTPResponse(status: $0.status, contentType: "application/problem+json", body: Array($0.detail.utf8)) },
      handler: { [unowned self] request, exchange in
        requests.append(request)
        if let response = answer(request) { return .now(response) }
        held.append(exchange)
        begin?(exchange)
        return .later
      })
    server.wantsTurn = { [unowned self] in isTurnWanted = true }
  }

  deinit { server.stop() }

  /// Turns the server as an event loop would, never without a reason, until the condition holds; false after ten
  /// seconds.
  @discardableResult
  func crank(seconds: Double = 10, until condition: () -> Bool) throws -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while !condition() {
      let now = Date()
      guard now < end else { return false }
      var watched = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
      let isDue = isTurnWanted || deadline.map { $0 <= now } ?? false
      if poll(&watched, 1, isDue ? 0 : 1) > 0 || isDue {
        isTurnWanted = false
        turns += 1
        try server.process()
        deadline = server.nextTimeout().map { Date().addingTimeInterval(Double($0) / 1000) }
      }
    }
    return true
  }

  /// Runs a program while the server is turned; its standard output.
  func output(of arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let file = folder.path + "/out-\(UInt32.random(in: 0...UInt32.max))"
    try #require(FileManager.default.createFile(atPath: file, contents: nil))
    process.standardOutput = FileHandle(forWritingAtPath: file)
    process.standardError = FileHandle.nullDevice
    try process.run()
    try #require(try crank(seconds: 30) { !process.isRunning })
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
  }

  /// curl on the Unix socket; what it wrote.
  func curl(_ arguments: String...) throws -> String {
    try output(of: ["curl", "-sS", "--max-time", "20", "--unix-socket", listener.address] + arguments)
  }

  /// Does blocking work in another thread while the server is turned.
  func whileServing<Value: Sendable>(_ work: @escaping @Sendable () -> Value) throws -> Value {
    let box = Box<Value>()
    Thread { box.set(work()) }.start()
    try crank { box.get() != nil }
    return try #require(box.get())
  }

  /// Sends bytes as they are; all that comes back until the server closes or `count` answers are there.
  func raw(_ text: String, answers count: Int = .max) throws -> String {
    let client = try RawClient(listener.address)
    client.send(Array(text.utf8))
    try crank {
      client.receive()
      return client.isClosed || client.text.components(separatedBy: "HTTP/1.1 ").count > count
    }
    return client.text
  }
}

extension HTTPResponse {
  static func text(_ text: String) -> HTTPResponse {
    HTTPResponse(status: 200, contentType: "text/plain", body: Array(text.utf8))
  }
}

/// A value that one thread puts down and another picks up.
final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value?

  func set(_ value: Value) { lock.withLock { self.value = value } }
  func get() -> Value? { lock.withLock { value } }
}

/// A Unix client that never waits.
final class RawClient {
  struct Refused: Error {
    var code: CInt
  }

  private let descriptor: CInt
  private(set) var received: [UInt8] = []
  private(set) var isClosed = false
  var text: String { String(decoding: received, as: UTF8.self) }

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, streamSocket | CInt(SOCK_NONBLOCK.rawValue), 0)
    let address = try #require(UnixAddress(path))
    let fd = descriptor
    guard address.call({ connect(fd, $0, $1) }) == 0 else {
      close(descriptor)
      throw Refused(code: errno)
    }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func receive() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        received += buffer.prefix(count)
      } else {
        if count == 0 || errno == ECONNRESET { isClosed = true }
        return
      }
    }
  }
}
