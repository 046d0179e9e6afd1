// A request as a value: its target taken apart and decoded once, the headers of interest, the body, the peer.

/// Who is at the other end of a Unix connection, as the kernel says.
package struct PeerCredentials: Equatable, Sendable {
  package var pid: Int32
  package var uid: UInt32
  /// The primary group.
  package var gid: UInt32
  /// The supplementary groups.
  package var groups: [UInt32]

  package init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32]) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
  }

  /// Whether the peer has the group, primary or supplementary.
  package func belongs(to group: UInt32) -> Bool { gid == group || groups.contains(group) }
}

/// One request, complete. Everything in it comes from the client.
package struct HTTPRequest: Equatable, Sendable {
  package var method: String
  package var target: HTTPTarget
  package var headers: HTTPHeaders
  package var body: [UInt8]
  /// nil for TCP, where nobody vouches for the other end.
  package var peer: PeerCredentials?
}

/// The headers that somebody here looks at; a repeated one is joined with ", ".
package struct HTTPHeaders: Equatable, Sendable {
  package var host: String?
  package var origin: String?
  package var accept: String?
  package var ifNoneMatch: String?
  package var contentType: String?
  package var lastEventID: String?

  init(_ fields: [HeaderField]) {
    func text(_ name: String) -> String? {
      let values = fields.lazy.filter { $0.isNamed(name) }.map { String(decoding: $0.value, as: UTF8.self) }
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    host = text("host")
    origin = text("origin")
    accept = text("accept")
    ifNoneMatch = text("if-none-match")
    contentType = text("content-type")
    lastEventID = text("last-event-id")
  }
}

/// The target of a request: `/v1/interfaces/eth0?from=today`.
///
/// Percent escapes are decoded once, after the split, into bytes: a segment or value may hold `/`, zero or bytes that
/// are no UTF-8. An escape that no two hex digits follow stands for itself, and so does `+`.
package struct HTTPTarget: Equatable, Sendable {
  package struct QueryItem: Equatable, Sendable {
    package var name: [UInt8]
    /// Empty both for `?name=` and for `?name`.
    package var value: [UInt8]

    package init(name: [UInt8], value: [UInt8]) {
      self.name = name
      self.value = value
    }
  }

  /// The path as it was sent, up to the query, undecoded.
  package var rawPath: String
  /// The decoded segments; `/` has none, and a final `/` adds an empty one.
  package var segments: [[UInt8]]
  /// In the order sent, repeated names included.
  package var query: [QueryItem]

  /// nil unless the bytes are a path that begins with `/`, with no space, control or non-ASCII byte in it.
  package init?(_ bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "/"), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    rawPath = String(decoding: parts[0], as: UTF8.self)
    let path = parts[0].dropFirst()
    segments =
      path.isEmpty
      ? [] : path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(percentDecoded)
    query = []
    guard parts.count == 2 else { return }
    for item in parts[1].split(separator: UInt8(ascii: "&")) {
      let pair = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      query.append(QueryItem(name: percentDecoded(pair[0]), value: pair.count == 2 ? percentDecoded(pair[1]) : []))
    }
  }
}

private func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
  var decoded: [UInt8] = []
  decoded.reserveCapacity(text.count)
  var i = text.startIndex
  while i < text.endIndex {
    if text[i] == UInt8(ascii: "%"), text.endIndex - i > 2, let high = hexDigitValue(text[i + 1]),
      let low = hexDigitValue(text[i + 2])
    {
      decoded.append(high << 4 | low)
      i += 3
    } else {
      decoded.append(text[i])
      i += 1
    }
  }
  return decoded
}

func hexDigitValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  default: nil
  }
}
