// Streams over a real socket, with time turned by hand: what a client that does not read gets in the end.
import Foundation
import Glibc
import TallyCore
import TallyWire
import Testing

@testable import LocalHTTP
@testable import iftallyd

/// The streams of a scripted kernel behind a server.
private final class Served {
  let kernel = ScriptedKernel()
  let sampler: Sampler
  let streams: Streams
  private let folder: String
  private let listener: ListeningSocket
  private var server: HTTPServer?
  private var client: CInt = -1
  private var received: [UInt8] = []

  init(seconds: Int64?) throws {
    var template = Array("/tmp/iftally-streams-XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template))
    folder = String(cString: made)
    sampler = Sampler(kernel)
    streams = Streams(sampler)
    listener = try .unix(path: folder + "/s")
    server = try HTTPServer(
      listener, refuse: { _ in HTTPResponse(status: 400, contentType: "text/plain", body: []) },
      handler: { [streams] _, exchange in
        do throws(RequestError) {
          try streams.open(exchange, StreamFilter(), seconds: seconds, lastID: nil)
          return .later
        } catch {
          return .now(error.response)
        }
      })
    let observed = streams
    sampler.observed = { observed.collect() }
    try sampler.sample()
    let address = try #require(UnixAddress(listener.address))
    client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    let descriptor = client
    let connected = address.call { connect(descriptor, $0, $1) }
    #expect(connected == 0)
    let request = Array("GET / HTTP/1.0\r\nHost: x\r\n\r\n".utf8)
    _ = send(client, request, request.count, CInt(MSG_NOSIGNAL))
    try turn()
  }

  deinit {
    server?.stop()
    listener.close()
    close(client)
    try? FileManager.default.removeItem(atPath: folder)
  }

  func turn() throws {
    for _ in 0..<4 { try server?.process() }
  }

  func pass(seconds: Int64) throws {
    kernel.seconds += seconds
    streams.tellRates()
    try turn()
  }

  /// What the client has got until there is no more.
  func events() throws -> [StreamEvent] {
    var chunk = [UInt8](repeating: 0, count: 65536)
    var quiet = 0
    while quiet < 3 {
      let count = recv(client, &chunk, chunk.count, 0)
      quiet = count > 0 ? 0 : quiet + 1
      received += chunk.prefix(max(0, count))
      try turn()
    }
    let text = String(decoding: received, as: UTF8.self)
    let body = text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
    var reader = EventStreamReader()
    return try reader.take(Array(body.utf8)).filter { !$0.data.isEmpty }.map {
      try decode(StreamEvent.self, from: $0.data)
    }
  }
}

struct StreamsTests {
  @Test("a client that does not read misses rates, then gets the newest, and every event that is kept")
  func slow() throws {
    let served = try Served(seconds: 1)
    for second in 0..<3000 {
      if second == 2990 {
        served.kernel.events = [.appeared(served.kernel.listed(9))]
        served.kernel.links[9] = 0
      }
      try served.pass(seconds: 1)
    }
    let events = try served.events()
    let rates = events.filter { $0.event == StreamEvent.Kind.rates }
    #expect(rates.count > 10 && rates.count < 2900)
    // The one that waited is made when it can be taken.
    let newest = rates.last?.interfaces?.count
    #expect(newest == 3)
    #expect(events.map(\.event).contains(StreamEvent.Kind.link))
    let isGrowing = zip(events, events.dropFirst()).allSatisfy { $0.id < $1.id }
    #expect(isGrowing)
    try served.pass(seconds: 1)
    let after = try served.events()
    #expect(after.count == events.count + 1)
  }

  @Test("rates come when they are due, and not for one that wants none")
  func due() throws {
    let served = try Served(seconds: 10)
    for _ in 0..<30 { try served.pass(seconds: 1) }
    let events = try served.events()
    #expect(events.count == 4)
    let silent = try Served(seconds: nil)
    for _ in 0..<30 { try silent.pass(seconds: 1) }
    let none = try silent.events()
    #expect(none.isEmpty)
    silent.streams.beat(isTick: true)
    try silent.turn()
    silent.streams.note([StatusReply.Warning(code: "disk", message: "full", remedy: "mend it")])
    silent.streams.note([StatusReply.Warning(code: "disk", message: "fuller", remedy: "mend it")])
    silent.streams.note([])
    let told = try silent.events()
    #expect(told.map(\.state) == [StreamEvent.State.raised, StreamEvent.State.cleared])
    #expect(told.first?.message == "full")
  }
}
