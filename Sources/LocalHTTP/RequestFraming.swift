// What makes a request ambiguous: two readers could disagree where it ends or whom it is for, so it is refused.

/// Why a request was refused before the handler saw it.
package enum HTTPRefusal: Equatable, Sendable {
  /// The `Host` header is missing, or there are several.
  case badHost(String)
  /// The `Host` or `Origin` is outside the allowed ones.
  case forbiddenHost(String)
  /// The target is not a path.
  case badTarget
  /// The headers leave open where the request ends.
  case badFraming(String)
  /// The body is longer than this many bytes.
  case bodyTooLarge(limit: Int)

  /// The status that fits.
  package var status: Int {
    switch self {
    case .badHost, .badTarget, .badFraming: 400
    case .forbiddenHost: 403
    case .bodyTooLarge: 413
    }
  }

  /// One sentence for the person who sent it.
  package var detail: String {
    switch self {
    case .badHost(let problem), .badFraming(let problem): problem
    case .forbiddenHost(let name): "\(name) is not an allowed host; add it to AllowedHosts= if it is yours"
    case .badTarget: "the request target must be a path that begins with '/'"
    case .bodyTooLarge(let limit): "the body is longer than \(limit) bytes"
    }
  }
}

struct HeaderField {
  var name: [UInt8]
  var value: [UInt8]

  /// `lowercase` must be in lower case; field names ignore case (RFC 9110, 5.1).
  func isNamed(_ lowercase: String) -> Bool { equalIgnoringCase(name, lowercase) }
}

/// What is wrong with the head of a request, by RFC 9112 (3.2, 5.1, 6.1, 6.3); nil: nothing.
///
/// libmicrohttpd 0.9.75 lets all of these pass, 1.0.1 some.
func refusal(of fields: [HeaderField], version: String, bodyLimit: Int) -> HTTPRefusal? {
  for field in fields {
    guard !field.name.isEmpty, field.name.allSatisfy(isTokenByte) else {
      return .badFraming("a header name holds a character that is not allowed there")
    }
    guard field.value.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      return .badFraming("a header value holds a control character")
    }
  }
  let hosts = fields.filter { $0.isNamed("host") }
  guard let host = hosts.first else { return .badHost("the Host header is missing") }
  guard hosts.count == 1 else { return .badHost("there are several Host headers") }
  guard host.value.allSatisfy(isHostByte) else { return .badHost("the Host header is no host name") }

  let lengths = fields.filter { $0.isNamed("content-length") }
  let codings = fields.filter { $0.isNamed("transfer-encoding") }
  guard lengths.count <= 1 else { return .badFraming("there are several Content-Length headers") }
  if let coding = codings.first {
    guard lengths.isEmpty else { return .badFraming("there are both Content-Length and Transfer-Encoding") }
    guard version == "HTTP/1.1", codings.count == 1, equalIgnoringCase(coding.value, "chunked") else {
      return .badFraming("the only Transfer-Encoding understood is chunked, once, in HTTP/1.1")
    }
  }
  if let length = lengths.first {
    guard let bytes = decimal(length.value) else { return .badFraming("Content-Length is no number") }
    if bytes > bodyLimit { return .bodyTooLarge(limit: bodyLimit) }
  }
  return nil
}

/// Digits alone as a number: no sign, no space, no overflow.
func decimal(_ digits: some Collection<UInt8>) -> Int? {
  guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
  return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
}

func equalIgnoringCase(_ bytes: some Collection<UInt8>, _ lowercase: String) -> Bool {
  bytes.count == lowercase.utf8.count && zip(bytes, lowercase.utf8).allSatisfy { lowercased($0) == $1 }
}

func lowercased(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

private func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}

private func isHostByte(_ byte: UInt8) -> Bool {
  byte > 0x20 && byte < 0x7F && !"/?#@,\\".utf8.contains(byte)
}
