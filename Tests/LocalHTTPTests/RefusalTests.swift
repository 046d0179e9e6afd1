// Requests that are refused before the handler, byte by byte.

import Testing

@testable import LocalHTTP

struct RefusalTests {
  @Test(
    "an ambiguous request is refused with 400 and its connection closed",
    arguments: [
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX\u{1}Y: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1}b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
      "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    ])
  func ambiguous(request: String) throws {
    let test = try ServerUnderTest()
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    let output = try test.raw(request + smuggled)
    #expect(output.contains("HTTP/1.1 400 ") || output.contains("HTTP/1.0 400 "), "\(output)")
    #expect(test.requests.isEmpty)
  }

  @Test("a space in the target ends the connection: refused here, redirected by libmicrohttpd 1.0")
  func space() throws {
    let test = try ServerUnderTest()
    let output = try test.raw("GET /a b HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(output.hasPrefix("HTTP/1.1 400 ") || output.hasPrefix("HTTP/1.1 301 "), "\(output)")
    #expect(test.requests.isEmpty)
  }

  @Test("what libmicrohttpd refuses by itself ends the connection and reaches no handler")
  func oversized() throws {
    let test = try ServerUnderTest()
    let long = String(repeating: "x", count: 20000)
    for request in ["GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n"] {
      let output = try test.raw(request)
      #expect(output.contains(" 414 ") || output.contains(" 431 ") || output.contains(" 413 "), "\(output.prefix(200))")
    }
    #expect(try test.raw("GET / HTTP/9.0\r\nHost: a\r\n\r\n").contains(" 505 "))
    #expect(test.requests.isEmpty)
  }

  // libmicrohttpd 1.0 refuses some of the above in words of its own; never this one.
  @Test("a refusal has the words of the caller")
  func words() throws {
    let test = try ServerUnderTest()
    let output = try test.raw("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(output.contains("Content-Type: application/problem+json\r\n"))
    #expect(output.hasSuffix("the request target must be a path that begins with '/'"))
    #expect(test.server.refused == 1)
  }

  @Test("random bytes neither reach the handler nor harm the server", arguments: [1, 2, 3] as [UInt64])
  func garbage(seed: UInt64) throws {
    let test = try ServerUnderTest()
    var state = seed
    for _ in 0..<200 {
      let client = try RawClient(test.listener.address)
      var bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8)
      for _ in 0..<4 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 24)
      }
      client.send(bytes)
      try test.server.process()
    }
    #expect(try test.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").hasSuffix("hello"))
  }

  @Test("hosts and origins outside the list are strangers")
  func allowedHosts() {
    let hosts = AllowedHosts(["Box.Example", "fd00::1"])
    for host in ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]", "[::1]:8080", "box.example.", "[fd00::1]:1"] {
      #expect(hosts.stranger(host: host, origin: nil) == nil)
      #expect(hosts.stranger(host: host, origin: "http://\(host)") == nil)
    }
    for host in [
      "evil.example", "localhost.evil.example", "127.0.0.1.evil", "[::2]", "[::1", "", ":80", "localhost:x",
      "a@localhost",
    ] {
      #expect(hosts.stranger(host: host, origin: nil) == host)
      #expect(hosts.stranger(host: "localhost", origin: "http://\(host)") == "http://\(host)")
    }
    #expect(hosts.stranger(host: nil, origin: nil) != nil)
    for origin in ["null", "", "file://localhost", "http://localhost, http://localhost", "http://localhost/"] {
      #expect(hosts.stranger(host: "localhost", origin: origin) == origin)
    }
  }
}
