// The targets of requests: paths of the routes, and names and values percent-encoded into them.

/// A path and a query, to be written into a request line.
package struct RequestTarget: Hashable, Sendable {
  package static let status = RequestTarget(path: "/v1/status")
  package static let interfaces = RequestTarget(path: "/v1/interfaces")
  package static let usage = RequestTarget(path: "/v1/usage")
  package static let explain = RequestTarget(path: "/v1/explain")
  package static let stream = RequestTarget(path: "/v1/stream")
  package static let backup = RequestTarget(path: "/v1/backup")
  package static let totals = RequestTarget(path: "/v1/totals")
  package static let changes = RequestTarget(path: "/v1/changes")
  package static let rules = RequestTarget(path: "/v1/rules")
  package static let metrics = RequestTarget(path: "/metrics")

  /// One interface by escaped name or "id:3".
  package static func interface(_ nameOrID: String) -> RequestTarget {
    RequestTarget(path: "/v1/interfaces/" + percentEncoded(nameOrID))
  }

  package static func title(_ interface: String) -> RequestTarget {
    RequestTarget(path: "/v1/interfaces/" + percentEncoded(interface) + "/title")
  }

  package static func merge(_ interface: String) -> RequestTarget {
    RequestTarget(path: "/v1/interfaces/" + percentEncoded(interface) + "/merge")
  }

  package static func undo(_ change: Int64) -> RequestTarget { RequestTarget(path: "/v1/changes/\(change)/undo") }

  /// The path, percent-encoded.
  package let path: String
  /// Parameters in order; a name may come more than once.
  package private(set) var query: [(name: String, value: String)] = []

  private init(path: String) {
    self.path = path
  }

  /// The same target with one more parameter; unchanged when `value` is nil.
  package func with(_ name: String, _ value: String?) -> RequestTarget {
    guard let value else { return self }
    var target = self
    target.query.append((name, value))
    return target
  }

  /// What stands in the request line, ASCII alone.
  package var text: String {
    guard !query.isEmpty else { return path }
    return path + "?"
      + query.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }.joined(separator: "&")
  }

  package static func == (a: RequestTarget, b: RequestTarget) -> Bool { a.text == b.text }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Every byte that RFC 3986 does not call unreserved, as `%XX`; so '+', '&', '%' and '/' in names stay what they are.
private func percentEncoded(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF")
  var encoded = ""
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      encoded.unicodeScalars.append(Unicode.Scalar(byte))
    default:
      encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }
  return encoded
}
