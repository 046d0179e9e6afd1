// The server over real sockets, with curl as the client.

import Glibc
import Testing

@testable import LocalHTTP

@Suite(.enabled(if: hasTool("curl"), "curl is not installed"))
struct ServerTests {
  @Test("GET is answered with status, type, more headers and body")
  func get() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in
      HTTPResponse(
        status: 405, contentType: "text/plain", headers: [(name: "Allow", value: "GET, HEAD")], body: Array("no".utf8))
    }
    let output = try test.curl("-i", "http://localhost/")
    #expect(output.hasPrefix("HTTP/1.1 405 "))
    #expect(output.contains("Content-Type: text/plain\r\n"))
    #expect(output.contains("Allow: GET, HEAD\r\n"))
    #expect(output.hasSuffix("\r\n\r\nno"))
  }

  @Test("HEAD has the length of the body and no body")
  func head() throws {
    let test = try ServerUnderTest()
    let output = try test.curl("-I", "http://localhost/")
    #expect(output.contains("Content-Length: 5\r\n"))
    #expect(output.hasSuffix("\r\n\r\n"))
    #expect(test.requests.map(\.method) == ["HEAD"])
  }

  @Test("several requests share one connection")
  func keepAlive() throws {
    let test = try ServerUnderTest()
    let output = try test.curl("-w", " %{num_connects}\n", "http://localhost/1", "http://localhost/2")
    #expect(output == "hello 1\nhello 0\n")
  }

  @Test("requests sent ahead are answered in order")
  func pipelining() throws {
    let test = try ServerUnderTest()
    test.answer = { .text($0.target.rawPath) }
    let request = { (n: Int) in "GET /\(n) HTTP/1.1\r\nHost: x\r\n\r\n" }
    let output = try test.raw((1...5).map(request).joined(), answers: 5)
    #expect(
      output.split(separator: "\r\n\r\n").compactMap { $0.first == "/" ? $0.prefix(2) : nil }
        == (1...5).map { "/\($0)" })
  }

  @Test("a path is decoded once, segment by segment, into bytes")
  func path() throws {
    let test = try ServerUnderTest()
    _ = try test.curl("http://localhost/v1/interfaces/a%2Fb%FF%00%2541/")
    let target = try #require(test.requests.first?.target)
    #expect(target.rawPath == "/v1/interfaces/a%2Fb%FF%00%2541/")
    #expect(
      target.segments == [
        Array("v1".utf8), Array("interfaces".utf8), Array("a/b".utf8) + [0xFF, 0] + Array("%41".utf8), [],
      ])
  }

  @Test("query items keep their order and their repetitions")
  func query() throws {
    let test = try ServerUnderTest()
    _ = try test.curl("http://localhost/u?interface=a+b&from=%3D%26&interface=c&flag&=x&&to=1=2")
    #expect(
      test.requests.first?.target.query.map { String(decoding: $0.name + [0x7C] + $0.value, as: UTF8.self) }
        == ["interface|a+b", "from|=&", "interface|c", "flag|", "|x", "to|1=2"])
  }

  @Test("the headers of interest reach the handler")
  func headers() throws {
    let test = try ServerUnderTest()
    _ = try test.curl(
      "-H", "Accept: a", "-H", "accept: b", "-H", "Origin: http://o", "-H", "If-None-Match: \"1\"", "-H",
      "Content-Type: t/t", "-H", "Last-Event-ID: 7", "http://localhost:80/")
    let headers = try #require(test.requests.first?.headers)
    #expect(headers.host == "localhost")
    #expect(headers.accept == "a, b")
    #expect(headers.origin == "http://o")
    #expect(headers.ifNoneMatch == "\"1\"")
    #expect(headers.contentType == "t/t")
    #expect(headers.lastEventID == "7")
  }

  @Test(
    "a client that has the current version is answered 304 without a body",
    arguments: ["\"v1\"", "\"x\", W/\"v1\"", "*"])
  func notModified(ifNoneMatch: String) throws {
    let test = try ServerUnderTest()
    test.answer = { _ in HTTPResponse(status: 200, contentType: "text/html", body: [1, 2, 3], etag: "\"v1\"") }
    let output = try test.curl("-i", "-H", "If-None-Match: \(ifNoneMatch)", "http://localhost/")
    #expect(output.hasPrefix("HTTP/1.1 304 "))
    #expect(output.contains("ETag: \"v1\"\r\n"))
    #expect(output.hasSuffix("\r\n\r\n"))
  }

  @Test(
    "a body arrives whole, with a length and in chunks", arguments: ["Content-Length:", "Transfer-Encoding: chunked"])
  func body(framing: String) throws {
    let test = try ServerUnderTest()
    let sent = String(repeating: "0123456789", count: 6000)
    let header = framing.hasPrefix("Transfer") ? ["-H", framing] : []
    let arguments = ["curl", "-sS", "--unix-socket", test.listener.address] + header
    #expect(try test.output(of: arguments + ["--data", sent, "http://localhost/"]) == "hello")
    #expect(test.requests.first?.body.count == 60000)
    #expect(test.requests.first?.body == Array(sent.utf8))
  }

  @Test("a body beyond the limit is answered 413", arguments: ["X: y", "Transfer-Encoding: chunked"])
  func bodyTooLarge(header: String) throws {
    let test = try ServerUnderTest(limits: HTTPLimits(bodyBytes: 1000))
    let output = try test.curl("-i", "-H", header, "--data", String(repeating: "x", count: 1001), "http://localhost/")
    #expect(output.contains("HTTP/1.1 413 "))
    #expect(output.hasSuffix("the body is longer than 1000 bytes"))
    #expect(test.requests.isEmpty)
  }

  @Test("a body without end is cut off")
  func endlessBody() throws {
    let test = try ServerUnderTest(limits: HTTPLimits(bodyBytes: 1000))
    let chunk = "1000\r\n" + String(repeating: "x", count: 0x1000) + "\r\n"
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(try test.raw(head + String(repeating: chunk, count: 20)).contains("200") == false)
    #expect(test.requests.isEmpty)
    #expect(try test.curl("http://localhost/") == "hello")
  }

  @Test("a header that cannot be sent becomes a 500, not a split answer")
  func responseSplitting() throws {
    let test = try ServerUnderTest()
    test.answer = { _ in
      HTTPResponse(status: 200, contentType: "text/plain", headers: [(name: "X", value: "a\r\nY: b")], body: [])
    }
    let output = try test.curl("-i", "http://localhost/")
    #expect(output.hasPrefix("HTTP/1.1 500 "))
    #expect(!output.contains("Y: b"))
  }

  @Test("it answers over TCP too, where no peer is known")
  func tcp() throws {
    let test = try ServerUnderTest(tcp: true, allowedHosts: AllowedHosts())
    #expect(try test.output(of: ["curl", "-sS", "http://\(test.listener.address)/"]) == "hello")
    #expect(test.requests.first?.peer == nil)
    #expect(
      try test.output(of: [
        "curl", "-sS", "-w", " %{http_code}", "-H", "Host: evil.example", "http://\(test.listener.address)/",
      ]) == "evil.example is not an allowed host; add it to AllowedHosts= if it is yours 403")
    #expect(test.requests.count == 1)
  }

  @Test("the peer is who the kernel says it is")
  func peer() throws {
    let test = try ServerUnderTest()
    _ = try test.curl("http://localhost/")
    let peer = try #require(test.requests.first?.peer)
    #expect(peer.uid == geteuid())
    #expect(peer.gid == getegid())
    #expect(peer.pid != getpid() && peer.pid > 0)
  }

  @Test(
    "another user's supplementary groups are seen, however many",
    .enabled(if: isRoot && hasTool("setpriv"), "needs root and setpriv"), arguments: [2, 500])
  func peerGroups(count: Int) throws {
    let test = try ServerUnderTest()
    let groups = (0..<count).map { UInt32(70000 + $0) }
    _ = try test.output(of: [
      "setpriv", "--reuid=65534", "--regid=65533", "--groups=" + groups.map(String.init).joined(separator: ","),
      "curl", "-sS", "--unix-socket", test.listener.address, "http://localhost/",
    ])
    let peer = try #require(test.requests.first?.peer)
    #expect(peer.uid == 65534)
    #expect(peer.gid == 65533)
    #expect(peer.groups == groups)
    #expect(peer.belongs(to: 65533) && peer.belongs(to: 70001) && !peer.belongs(to: 0))
  }
}
