// Answers that come later, clients that go earlier, more of them than there is room for, and the quiet after.

import Foundation
import Glibc
import Testing

@testable import LocalHTTP

private let get = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

struct WaitingTests {
  @Test("an answer given later arrives, and the connection lives on")
  func later() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    let client = try RawClient(test.listener.address)
    for round in 1...2 {
      client.send(get)
      try #require(try test.crank { test.held.count == 1 })
      #expect(test.server.nextTimeout() == nil)
      test.held.removeLast().respond(.text("round \(round)"))
      #expect(
        try test.crank {
          client.receive()
          return client.text.hasSuffix("round \(round)")
        })
    }
  }

  @Test("the first answer counts")
  func twice() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    let client = try RawClient(test.listener.address)
    client.send(get)
    try test.crank { test.held.count == 1 }
    test.held[0].respond(.text("first"))
    test.held[0].respond(.text("second"))
    #expect(!test.held[0].isOpen)
    try test.crank {
      client.receive()
      return client.text.hasSuffix("first")
    }
  }

  @Test("an answer to a client that has gone is dropped")
  func gone() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    var client: RawClient? = try RawClient(test.listener.address)
    client?.send(get)
    try test.crank { test.held.count == 1 }
    client = nil
    test.held[0].respond(.text("too late"))
    #expect(try test.crank { test.server.connections == 0 })
  }

  @Test("a handler that forgets its exchange answers 500")
  func forgotten() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    let client = try RawClient(test.listener.address)
    client.send(get)
    try test.crank { test.held.count == 1 }
    test.held.removeAll()
    #expect(
      try test.crank {
        client.receive()
        return client.text.hasPrefix("HTTP/1.1 500 ")
      })
  }

  @Test("stopping closes the exchanges that wait, and an answer to them does nothing")
  func stop() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    let client = try RawClient(test.listener.address)
    client.send(get)
    try test.crank { test.held.count == 1 }
    test.server.stop()
    #expect(!test.held[0].isOpen)
    test.held[0].respond(.text("too late"))
    #expect(test.server.descriptor == -1)
    client.receive()
    #expect(client.isClosed)
  }

  @Test("a hundred clients are all served although sixteen are the limit")
  func beyondTheLimit() throws {
    let test = try ServerUnderTest(limits: HTTPLimits(connections: 16))
    test.answer = { _ in nil }
    let clients = try (0..<100).map { _ in try RawClient(test.listener.address) }
    for client in clients { client.send(Array("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)) }
    var most = 0
    #expect(
      try test.crank {
        most = max(most, test.server.connections)
        if test.held.count == 16 || test.requests.count == 100 {
          for exchange in test.held { exchange.respond(.text("done")) }
          test.held = []
        }
        for client in clients { client.receive() }
        return clients.allSatisfy { $0.isClosed }
      })
    #expect(clients.allSatisfy { $0.text.hasSuffix("done") })
    #expect(most == 16)
  }

  @Test("curl gets a hundred answers in parallel", .enabled(if: hasTool("curl"), "curl is not installed"))
  func parallelCurl() throws {
    let test = try ServerUnderTest()
    let output = try test.curl(
      "--parallel", "--parallel-immediate", "--parallel-max", "100", "-w", "%{http_code}\n", "http://localhost/[1-100]")
    #expect(output.components(separatedBy: "200").count == 101)
    #expect(test.requests.count == 100)
  }

  @Test(
    "idle and half-sent connections are closed after the idle time",
    arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHos"])
  func idle(sent: String) throws {
    let test = try ServerUnderTest(limits: HTTPLimits(idleSeconds: 1))
    let client = try RawClient(test.listener.address)
    client.send(Array(sent.utf8))
    let start = Date()
    #expect(
      try test.crank {
        client.receive()
        return client.isClosed
      })
    #expect((0.9...3.5).contains(Date().timeIntervalSince(start)))
    #expect(test.requests.isEmpty)
  }

  @Test("without a client there is no timeout and nothing to do, before the first and after the last")
  func quiet() throws {
    let test = try ServerUnderTest()
    func isQuiet() throws -> Bool {
      var watched = pollfd(fd: test.server.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&watched, 1, 0) == 0 && test.server.nextTimeout() == nil
    }
    #expect(try isQuiet())
    _ = try test.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    try test.crank { test.server.connections == 0 }
    #expect(try test.crank(seconds: 1, until: isQuiet0))
    func isQuiet0() -> Bool { (try? isQuiet()) == true }
  }
}
