// The client against the server, against servers that misbehave, and its reader against every cut of the bytes.

import Foundation
import Glibc
import Testing

@testable import LocalHTTP

private typealias Outcome = Result<HTTPAnswer, LocalHTTPError>

private func outcome(_ client: HTTPClient, _ target: String) -> Outcome {
  do throws(LocalHTTPError) { return .success(try client.get(target)) } catch { return .failure(error) }
}

/// A server that says `text` to whoever connects, then closes.
private func outcome(ofServerThatSays text: String, close closes: Bool = true) throws -> Outcome {
  let folder = try Folder()
  let listener = try ListeningSocket.unix(path: folder.path + "/s")
  let box = Box<Outcome>()
  let path = listener.address
  Thread { box.set(outcome(HTTPClient(.unix(path), timeoutMilliseconds: closes ? 5000 : 300, maximumBody: 100), "/")) }
    .start()
  var watched = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
  try #require(poll(&watched, 1, 5000) == 1)
  let connection = accept(listener.descriptor, nil, nil)
  var request = [UInt8](repeating: 0, count: 1000)
  _ = recv(connection, &request, request.count, 0)
  _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
  if closes { close(connection) }
  while box.get() == nil { usleep(1000) }
  if !closes { close(connection) }
  return try #require(box.get())
}

struct ClientTests {
  @Test("requests share a connection, and one that the server closed meanwhile is opened again")
  func reuse() throws {
    let test = try ServerUnderTest()
    test.answer = { HTTPResponse(status: 404, contentType: "a/b", body: Array($0.target.rawPath.utf8)) }
    nonisolated(unsafe) let client = HTTPClient(.unix(test.listener.address))
    var answers = try test.whileServing { [outcome(client, "/1"), outcome(client, "/2")] }
    #expect(test.server.connections == 1)
    try test.restart()
    answers.append(try test.whileServing { outcome(client, "/3") })
    #expect(
      answers
        == (1...3).map { .success(HTTPAnswer(status: 404, contentType: "a/b", body: Array("/\($0)".utf8))) })
    #expect(test.requests.map(\.headers.host) == ["localhost", "localhost", "localhost"])
  }

  @Test("it speaks TCP, and carries a large body")
  func tcp() throws {
    let test = try ServerUnderTest(tcp: true)
    let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    test.answer = { _ in HTTPResponse(status: 200, contentType: "x", body: body) }
    let address = test.listener.address
    let answer = try test.whileServing { outcome(HTTPClient(.tcp(address)), "/") }
    #expect(try answer.get().body == body)
    let refused = try test.whileServing { outcome(HTTPClient(.tcp(address), maximumBody: 4_999_999), "/") }
    #expect(refused == .failure(.badAnswer(address: address, problem: "its answer is longer than 4999999 bytes")))
  }

  @Test("a file is sent as it is read, and taken in pieces; any other answer is taken whole")
  func download() throws {
    let test = try ServerUnderTest()
    test.answer = { $0.target.rawPath == "/file" ? nil : HTTPResponse(status: 403, contentType: "x", body: [1, 2, 3]) }
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 11) }
    let file = test.folder.path + "/file"
    try Data(body).write(to: URL(fileURLWithPath: file))
    let path = test.listener.address
    let box = Box<[Int]>()
    let pieces = Box<[UInt8]>()
    Thread {
      nonisolated(unsafe) var taken: [UInt8] = []
      let client = HTTPClient(.unix(path), maximumBody: 10)
      let good = try? client.download("/file") { piece in
        taken += piece
        return true
      }
      let bad = try? client.download("/other") { _ in false }
      pieces.set(taken)
      box.set([good?.status ?? 0, good?.body.count ?? -1, bad?.status ?? 0, bad?.body.count ?? -1])
    }.start()
    try test.crank { !test.held.isEmpty }
    let descriptor = open(file, O_RDONLY)
    // What is sent is what was open, whatever becomes of its name.
    unlink(file)
    test.held.first?.respond(
      HTTPResponse(status: 200, contentType: "y", body: []), file: descriptor, length: Int64(body.count))
    test.held = []
    try test.crank { box.get() != nil }
    #expect(box.get() == [200, 0, 403, 3])
    #expect(pieces.get() == body)
    #expect(fcntl(descriptor, F_GETFD) == -1)
  }

  @Test("who wants no more of a file ends the connection, and its descriptor is closed")
  func downloadEnded() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in nil }
    let file = test.folder.path + "/file"
    try Data(repeating: 7, count: 9_000_000).write(to: URL(fileURLWithPath: file))
    let path = test.listener.address
    let box = Box<Bool>()
    Thread {
      let answer = try? HTTPClient(.unix(path)).download("/") { _ in false }
      box.set(answer == nil)
    }.start()
    try test.crank { !test.held.isEmpty }
    let descriptor = open(file, O_RDONLY)
    test.held.first?.respond(HTTPResponse(status: 200, contentType: "y", body: []), file: descriptor, length: 9_000_000)
    test.held = []
    try test.crank { box.get() != nil && test.server.connections == 0 }
    #expect(box.get() == true)
    #expect(fcntl(descriptor, F_GETFD) == -1)
  }

  @Test("no socket, nobody listening and no permission are told apart")
  func failures() throws {
    let folder = try Folder()
    let path = folder.path + "/s"
    #expect(
      outcome(HTTPClient(.unix(path)), "/")
        == .failure(.unreachable(address: path, problem: "there is no such socket")))
    let listener = try ListeningSocket.unix(path: path)
    link(path, path + "2")
    listener.close()
    #expect(
      outcome(HTTPClient(.unix(path + "2")), "/")
        == .failure(.unreachable(address: path + "2", problem: "no server listens there")))
    let long = String(repeating: "x", count: 108)
    guard case .failure(.unreachable) = outcome(HTTPClient(.unix(long)), "/") else {
      Issue.record("a long path was accepted")
      return
    }
  }

  @Test("a socket whose mode keeps the user out is forbidden", .enabled(if: isRoot, "needs root"))
  func forbidden() throws {
    let folder = try Folder()
    let listener = try ListeningSocket.unix(path: folder.path + "/s", mode: 0o600)
    let path = listener.address
    let box = Box<Outcome>()
    Thread {
      // The user id for files is each thread's own, and the call is in no header that Swift reads.
      let name = dlsym(nil, "setfsuid")
      _ = unsafeBitCast(name, to: (@convention(c) (uid_t) -> CInt).self)(65534)
      box.set(outcome(HTTPClient(.unix(path)), "/"))
    }.start()
    while box.get() == nil { usleep(1000) }
    #expect(box.get() == .failure(.forbidden(address: path)))
  }

  @Test("silence ends in a timeout, with a server that never accepts and with a full backlog")
  func timeouts() throws {
    let folder = try Folder()
    let listener = try ListeningSocket.unix(path: folder.path + "/s")
    let expected = Outcome.failure(.timedOut(address: listener.address, milliseconds: 100))
    let client = HTTPClient(.unix(listener.address), timeoutMilliseconds: 100)
    #expect(outcome(client, "/") == expected)
    var clients: [RawClient] = []
    while let other = try? RawClient(listener.address) { clients.append(other) }
    #expect(outcome(client, "/") == expected)
  }

  @Test(
    "an answer that is no HTTP, or ends too early, is named",
    arguments: [
      ("SSH-2.0-x\r\n\r\n", "the status line is no HTTP/1"),
      ("HTTP/1.1 2x0 OK\r\n\r\n", "the status line is no HTTP/1"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "it closed the connection in mid-answer"),
      ("HTTP/1.1 200 OK\r\nContent-Len", "it closed the connection in mid-answer"),
      ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "its Content-Length is no number"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", "its answer is longer than 100 bytes"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "its Content-Length is no number"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "it uses the coding 'gzip'"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk has no size"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "a chunk is longer than its size"),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + String(repeating: "x", count: 101),
        "its answer is longer than 100 bytes"
      ),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "0", count: 2000),
        "a line has no end"
      ),
      ("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "a header line has no colon"),
      ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70000), "its head has no end"),
    ])
  func badAnswers(text: String, problem: String) throws {
    guard case .failure(.badAnswer(_, let found)) = try outcome(ofServerThatSays: text) else {
      Issue.record("no failure")
      return
    }
    #expect(found == problem)
  }

  @Test("a connection closed without a word is no answer, an answer without an end a timeout")
  func cut() throws {
    guard case .failure(.unreachable(_, "the connection was closed")) = try outcome(ofServerThatSays: "") else {
      Issue.record("not reported as unreachable")
      return
    }
    let half = try outcome(ofServerThatSays: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", close: false)
    guard case .failure(.timedOut(_, 300)) = half else {
      Issue.record("not reported as a timeout")
      return
    }
  }

  @Test("a target that would break the request line is not sent", arguments: ["/a b", "/\r\nX: y", "x", ""])
  func badTarget(target: String) {
    guard case .failure(.badAnswer) = outcome(HTTPClient(.unix("/nowhere")), target) else {
      Issue.record("it was sent")
      return
    }
  }
}

struct AnswerReaderTests {
  private static let chunked =
    "HTTP/1.1 200 OK\r\ncontent-type:  t/t \r\nTRANSFER-ENCODING: Chunked\r\n\r\n3;x=y\r\nabc\r\n00A \r\n0123456789\r\n0\r\nT: u\r\n\r\n"

  @Test(
    "an answer reads the same however its bytes are cut",
    arguments: [
      (chunked, "abc0123456789"),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: t/t\r\nContent-Length: 4\r\n\r\nbody", "body"),
      ("HTTP/1.1 200\r\nContent-Type: t/t\r\nContent-Length: 0\r\n\r\n", ""),
    ])
  func cuts(text: String, body: String) throws {
    let bytes = Array(text.utf8)
    let expected = AnswerReader.Progress.complete(
      HTTPAnswer(status: 200, contentType: "t/t", body: Array(body.utf8)), reusable: true)
    for first in 0...bytes.count {
      var reader = AnswerReader(maximumBody: 100)
      var progress = try reader.take(Array(bytes[..<first]))
      if first < bytes.count {
        #expect(progress == .needsMore)
        progress = try reader.take(Array(bytes[first...]))
      }
      #expect(progress == expected)
    }
    var reader = AnswerReader(maximumBody: 100)
    for byte in bytes.dropLast() { #expect(try reader.take([byte]) == .needsMore) }
    #expect(try reader.take([bytes[bytes.count - 1]]) == expected)
  }

  @Test("a connection is not used again after close, HTTP/1.0 or bytes too many")
  func reusable() throws {
    func isReusable(_ text: String) throws -> Bool? {
      var reader = AnswerReader(maximumBody: 100)
      guard case .complete(_, let reusable) = try reader.take(Array(text.utf8)) else { return nil }
      return reusable
    }
    #expect(try isReusable("HTTP/1.1 204 No\r\n\r\n") == true)
    #expect(try isReusable("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n") == false)
    #expect(try isReusable("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n") == false)
    #expect(try isReusable("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1") == false)
  }

  @Test("without a length the body lasts until the connection closes")
  func untilClose() throws {
    var reader = AnswerReader(maximumBody: 100)
    #expect(try reader.take(Array("HTTP/1.1 200 OK\r\n\r\nab".utf8)) == .needsMore)
    #expect(try reader.take(Array("c".utf8)) == .needsMore)
    #expect(
      try reader.finish()
        == .complete(HTTPAnswer(status: 200, contentType: "", body: Array("abc".utf8)), reusable: false))
  }
}
