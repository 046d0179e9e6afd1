// The text of server-sent events (WHATWG HTML, "Server-sent events"): writing ours, and reading them in pieces.

package enum EventStream {
  package static let mediaType = "text/event-stream"
  /// What a client takes no notice of, and a connection that is no more fails with.
  package static let keepalive = Array(":\n\n".utf8)

  /// Says where the stream begins, without an event: a client that is cut off before the first one resumes there.
  package static func greeting(id: UInt64) -> [UInt8] { Array("retry: 3000\nid: \(id)\n\n".utf8) }

  /// One event with its data on one line. Throws as `encode` does.
  package static func text(_ event: StreamEvent) throws(WireError) -> [UInt8] {
    Array("id: \(event.id)\nevent: \(event.event)\ndata: ".utf8) + (try encode(event)) + Array("\n\n".utf8)
  }
}

/// Takes a stream apart, however it is cut into pieces.
package struct EventStreamReader {
  /// An event, or without data the place in the stream alone.
  package struct Block: Hashable, Sendable {
    /// nil: as before.
    package var id: String?
    package var event = ""
    package var data: [UInt8] = []
  }

  /// No event of ours comes near; a line or an event beyond it is not waited for.
  package static let longest = 16 << 20

  private var line: [UInt8] = []
  private var block = Block()
  private var hasData = false

  package init() {}

  /// The blocks that are complete with these bytes. Lines may end in LF or CR LF.
  package mutating func take(_ bytes: [UInt8]) throws(WireError) -> [Block] {
    var blocks: [Block] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      line += rest[..<end]
      rest = rest[(end + 1)...]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty {
        if hasData || block.id != nil { blocks.append(block) }
        (block, hasData) = (Block(), false)
      } else {
        field()
      }
      line.removeAll(keepingCapacity: true)
    }
    line += rest
    guard line.count + block.data.count <= EventStreamReader.longest else {
      throw WireError("has an event without an end")
    }
    return blocks
  }

  private mutating func field() {
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    var value = line.dropFirst(name.count + 1)
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    switch String(decoding: name, as: UTF8.self) {
    case "id": block.id = String(decoding: value, as: UTF8.self)
    case "event": block.event = String(decoding: value, as: UTF8.self)
    case "data":
      if hasData { block.data.append(UInt8(ascii: "\n")) }
      block.data += value
      hasData = true
    default: break
    }
  }
}
