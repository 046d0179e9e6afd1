// HTTP/1.1 answers from bytes, however they are cut into pieces (RFC 9112, sections 4, 6 and 7).

struct AnswerReader {
  struct Violation: Error, Equatable {
    var problem: String
  }

  enum Progress: Equatable {
    case needsMore
    /// `reusable`: the connection can carry another request.
    case complete(HTTPAnswer, reusable: Bool)
  }

  private enum State {
    case head
    case counted(remaining: Int)
    case chunkSize
    case chunkData(remaining: Int)
    /// The line break after a chunk.
    case chunkEnd
    case trailer
    case untilClose
  }

  private static let longestHead = 65536
  private static let longestChunkLine = 1024

  private let maximumBody: Int
  private let passesOn: Bool
  private var passedOn: [UInt8] = []
  private var state = State.head
  private var pending: [UInt8] = []
  private var answer = HTTPAnswer(status: 0, contentType: "", body: [])
  private var reusable = true

  /// `passesOn`: the body of a 200 is for `takePassedOn`, however long, and not in the answer.
  init(maximumBody: Int, passesOn: Bool = false) {
    self.maximumBody = maximumBody
    self.passesOn = passesOn
  }

  /// What has come of a body that is passed on since the last call; nil when nothing has.
  mutating func takePassedOn() -> [UInt8]? {
    guard !passedOn.isEmpty else { return nil }
    defer { passedOn = [] }
    return passedOn
  }

  private var longestBody: Int { passesOn && answer.status == 200 ? .max : maximumBody }

  /// Whether no byte of an answer has come yet.
  private(set) var isUntouched = true

  mutating func take(_ bytes: [UInt8]) throws(Violation) -> Progress {
    isUntouched = isUntouched && bytes.isEmpty
    if pending.isEmpty { pending = bytes } else { pending += bytes }
    var start = 0
    defer { pending.removeFirst(start) }
    while true {
      switch state {
      case .head:
        guard let end = lineBreak(after: start, limit: AnswerReader.longestHead, of: "\r\n\r\n") else {
          if pending.count - start > AnswerReader.longestHead { throw Violation(problem: "its head has no end") }
          return .needsMore
        }
        try readHead(pending[start..<end])
        start = end + 4
        if case .counted(0) = state { return complete(leftOver: pending.count - start) }
      case .counted(let remaining):
        let count = min(remaining, pending.count - start)
        try append(pending[start..<start + count])
        start += count
        if count == remaining { return complete(leftOver: pending.count - start) }
        state = .counted(remaining: remaining - count)
        return .needsMore
      case .chunkSize:
        guard let line = try nextLine(&start) else { return .needsMore }
        let size = try chunkSize(line)
        state = size == 0 ? .trailer : .chunkData(remaining: size)
      case .chunkData(let remaining):
        let count = min(remaining, pending.count - start)
        try append(pending[start..<start + count])
        start += count
        if count < remaining {
          state = .chunkData(remaining: remaining - count)
          return .needsMore
        }
        state = .chunkEnd
      case .chunkEnd:
        guard let line = try nextLine(&start) else { return .needsMore }
        guard line.isEmpty else { throw Violation(problem: "a chunk is longer than its size") }
        state = .chunkSize
      case .trailer:
        guard let line = try nextLine(&start) else { return .needsMore }
        if line.isEmpty { return complete(leftOver: pending.count - start) }
      case .untilClose:
        try append(pending[start...])
        start = pending.count
        return .needsMore
      }
    }
  }

  /// The server closed the connection.
  mutating func finish() throws(Violation) -> Progress {
    guard case .untilClose = state else { throw Violation(problem: "it closed the connection in mid-answer") }
    return .complete(answer, reusable: false)
  }

  private func complete(leftOver: Int) -> Progress {
    // Bytes that nobody asked for would be taken for the next answer.
    .complete(answer, reusable: reusable && leftOver == 0)
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) throws(Violation) {
    if passesOn, answer.status == 200 {
      passedOn += bytes
      return
    }
    guard bytes.count <= maximumBody - answer.body.count else {
      throw Violation(problem: "its answer is longer than \(maximumBody) bytes")
    }
    answer.body += bytes
  }

  private mutating func readHead(_ head: ArraySlice<UInt8>) throws(Violation) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    let first = lines.first.map { $0.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false) } ?? []
    guard first.count >= 2, first[0].hasPrefix("HTTP/1."), first[1].utf8.count == 3,
      let status = decimal(first[1].utf8)
    else { throw Violation(problem: "the status line is no HTTP/1") }
    // An interim answer: the real one follows.
    if (100..<200).contains(status) { return }
    answer.status = status
    reusable = first[0] == "HTTP/1.1"
    var length: Int?
    var isChunked = false
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw Violation(problem: "a header line has no colon") }
      let value = trimmed(line[line.index(after: colon)...])
      switch line[..<colon].lowercased() {
      case "content-type": answer.contentType = value
      case "content-length":
        guard let number = decimal(value.utf8), length == nil || length == number else {
          throw Violation(problem: "its Content-Length is no number")
        }
        length = number
      case "transfer-encoding":
        guard value.lowercased() == "chunked" else { throw Violation(problem: "it uses the coding '\(value)'") }
        isChunked = true
      case "connection": if value.lowercased() == "close" { reusable = false }
      default: break
      }
    }
    if status == 204 || status == 304 {
      state = .counted(remaining: 0)
    } else if isChunked {
      state = .chunkSize
    } else if let length {
      guard length <= longestBody else { throw Violation(problem: "its answer is longer than \(maximumBody) bytes") }
      state = .counted(remaining: length)
    } else {
      state = .untilClose
    }
  }

  private func chunkSize(_ line: ArraySlice<UInt8>) throws(Violation) -> Int {
    let digits = line.prefix { hexDigitValue($0) != nil }
    let rest = line.dropFirst(digits.count).drop { $0 == 0x20 || $0 == 0x09 }
    guard (1...8).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";") else {
      throw Violation(problem: "a chunk has no size")
    }
    return digits.reduce(0) { $0 << 4 | Int(hexDigitValue($1) ?? 0) }
  }

  private func nextLine(_ start: inout Int) throws(Violation) -> ArraySlice<UInt8>? {
    guard let end = lineBreak(after: start, limit: AnswerReader.longestChunkLine, of: "\r\n") else {
      if pending.count - start > AnswerReader.longestChunkLine { throw Violation(problem: "a line has no end") }
      return nil
    }
    defer { start = end + 2 }
    return pending[start..<end]
  }

  private func lineBreak(after start: Int, limit: Int, of mark: StaticString) -> Int? {
    let length = mark.utf8CodeUnitCount
    let last = min(pending.count, start + limit + length) - length
    guard start <= last else { return nil }
    return (start...last).first { at in
      (0..<length).allSatisfy { pending[at + $0] == mark.utf8Start[$0] }
    }
  }
}

private func trimmed(_ text: Substring) -> String {
  let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
  var text = text.drop(while: isSpace)
  while let last = text.last, isSpace(last) { text.removeLast() }
  return String(text)
}
