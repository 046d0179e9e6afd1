// Answers without an end: pieces as they come, clients that go, clients that are slow, and the end of the server.

import Foundation
import Glibc
import Testing

@testable import LocalHTTP

private let get = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
private let beginning = HTTPResponse(status: 200, contentType: "text/event-stream", body: [])

/// A server whose every answer is a stream of what a test puts into `pieces`.
private final class Streaming {
  let test: ServerUnderTest
  /// What the next questions for more are answered with; nil ends the stream.
  var pieces: [[UInt8]?] = []
  private(set) var questions = 0
  private(set) var ends = 0

  init(limits: HTTPLimits = HTTPLimits()) throws {
    test = try ServerUnderTest(limits: limits)
    test.answer = { _ in nil }
    test.begin = { [unowned self] exchange in
      exchange.ended = { [weak self] in self?.ends += 1 }
      exchange.stream(beginning) { [unowned self] in
        questions += 1
        return pieces.isEmpty ? [] : pieces.removeFirst()
      }
    }
  }

  func client() throws -> RawClient {
    let client = try RawClient(test.listener.address)
    client.send(get)
    return client
  }

  func say(_ text: String?) {
    pieces.append(text.map { Array($0.utf8) })
    for exchange in test.held { exchange.wake() }
  }

  func crank(_ client: RawClient, until condition: () -> Bool) throws -> Bool {
    try test.crank {
      client.receive()
      return condition()
    }
  }

  /// It comes true while the server is turned and the client, if one is named, reads.
  func expect(
    _ client: RawClient? = nil, _ location: SourceLocation = #_sourceLocation, until condition: () -> Bool
  ) throws {
    let holds = try test.crank {
      client?.receive()
      return condition()
    }
    #expect(holds, sourceLocation: location)
  }
}

struct StreamTests {
  @Test(
    "the head is there before anything is to be told, each piece when it is given, and the end leaves the connection")
  func pieces() throws {
    let streaming = try Streaming()
    let client = try streaming.client()
    try streaming.expect(client) { client.text.hasSuffix("\r\n\r\n") }
    #expect(client.text.contains("text/event-stream"))
    for word in ["one", "two"] {
      streaming.say(word)
      try streaming.expect(client) { client.text.contains(word) }
    }
    streaming.say(nil)
    try streaming.expect(client) { client.text.hasSuffix("\r\n0\r\n\r\n") }
    #expect(streaming.ends == 1)
    client.send(get)
    try streaming.expect(client) { streaming.test.requests.count == 2 }
  }

  @Test("a stream that has nothing to tell wakes nobody, and has no time limit")
  func quiet() throws {
    let streaming = try Streaming(limits: HTTPLimits(idleSeconds: 1))
    let client = try streaming.client()
    try streaming.expect(client) { streaming.questions == 1 }
    try streaming.test.crank(seconds: 0.1) { false }
    let turns = streaming.test.turns
    let isOver = try streaming.test.crank(seconds: 2.5) { streaming.ends > 0 }
    #expect(!isOver)
    #expect(streaming.test.turns == turns)
    #expect(streaming.questions == 1)
    #expect(streaming.test.server.nextTimeout() == nil)
    streaming.say("still here")
    try streaming.expect(client) { client.text.contains("still here") }
  }

  @Test("a client that has gone is seen when somebody looks, and its stream ends with the next piece")
  func gone() throws {
    let streaming = try Streaming()
    var client: RawClient? = try streaming.client()
    try streaming.test.crank { streaming.questions == 1 }
    let before = streaming.test.held[0].isDeserted
    client = nil
    let after = streaming.test.held[0].isDeserted
    #expect(!before && after && client == nil)
    #expect(streaming.ends == 0)
    streaming.say("anybody?")
    try streaming.expect { streaming.ends == 1 && streaming.test.server.connections == 0 }
    #expect(!streaming.test.held[0].isOpen)
    streaming.say("nobody")
  }

  @Test("a client that takes nothing is asked for nothing more, and gets all in order when it takes it")
  func slow() throws {
    let streaming = try Streaming()
    let client = try streaming.client()
    try streaming.expect(client) { streaming.questions == 1 }
    let filling = String(repeating: "-", count: 400)
    let numbers = (0..<3000).map { "event number \($0) \(filling);" }
    streaming.pieces = numbers.map { Array($0.utf8) }
    streaming.test.held[0].wake()
    // Without its reading, until the socket takes no more.
    try streaming.test.crank(seconds: 0.3) { false }
    let (taken, turns) = (streaming.questions, streaming.test.turns)
    #expect(taken < 2000)
    try streaming.test.crank(seconds: 0.3) { false }
    #expect(streaming.questions == taken && streaming.test.turns == turns)
    let last = Array("\(numbers[2999])\r\n".utf8)
    try streaming.expect(client) { client.received.suffix(last.count).elementsEqual(last) }
    let body = client.text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
    let told = body.components(separatedBy: "\r\n").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    let isWhole = told.joined() == numbers.joined()
    #expect(isWhole)
  }

  @Test("a client that takes nothing for the idle time is let go")
  func stuck() throws {
    let streaming = try Streaming(limits: HTTPLimits(idleSeconds: 1))
    let client = try streaming.client()
    try streaming.expect(client) { streaming.questions == 1 }
    streaming.pieces = (0..<50_000).map { _ in [UInt8](repeating: 97, count: 100) }
    streaming.test.held[0].wake()
    try streaming.expect { streaming.ends == 1 }
  }

  @Test("the end of the server ends streams at once, those that wait and those that are blocked")
  func stop() throws {
    let streaming = try Streaming()
    let blocked = try streaming.client()
    try streaming.expect(blocked) { streaming.questions == 1 }
    streaming.pieces = (0..<50_000).map { _ in [UInt8](repeating: 97, count: 100) }
    streaming.test.held[0].wake()
    try streaming.test.crank(seconds: 0.3) { false }
    streaming.pieces = []
    let waiting = try streaming.client()
    try streaming.expect(waiting) { waiting.text.hasSuffix("\r\n\r\n") }
    streaming.test.server.stop()
    #expect(streaming.ends == 2)
    for client in [blocked, waiting] {
      client.receive()
      #expect(client.isClosed)
    }
    streaming.say("too late")
  }

  @Test("a stream whose exchange is let go of ends")
  func forgotten() throws {
    let streaming = try Streaming()
    let client = try streaming.client()
    try streaming.expect(client) { streaming.questions == 1 }
    streaming.test.held.removeAll()
    try streaming.expect(client) { client.text.hasSuffix("0\r\n\r\n") }
  }

  @Test("the client follows a stream, says where it goes on, and stops when it has enough")
  func client() throws {
    let streaming = try Streaming()
    streaming.pieces = [Array("one".utf8), Array("two".utf8)]
    let path = streaming.test.listener.address
    let received = try streaming.test.whileServing { () -> [UInt8] in
      var taken: [UInt8] = []
      let client = HTTPClient(.unix(path), timeoutMilliseconds: 5000)
      _ = try? client.download("/", lastEventID: 42) { piece in
        taken += piece
        return taken.count < 6
      }
      return taken
    }
    #expect(String(decoding: received, as: UTF8.self) == "onetwo")
    #expect(streaming.test.requests.map(\.headers.lastEventID) == ["42"])
  }
}
