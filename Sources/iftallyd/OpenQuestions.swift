// Questions to the store that it has not answered yet.

/// By the token that the answer will bear; each with the sequence number that the store had been given before it.
struct OpenQuestions {
  private var open: [UInt64: (since: UInt64, then: (History.Answer) -> Void)] = [:]
  private var nextToken: UInt64 = 1

  /// More cannot be asked at once by the connections that there are.
  private static let most = 100

  var isEmpty: Bool { open.isEmpty }
  var isFull: Bool { open.count >= OpenQuestions.most }

  /// Commits after this one may be needed to complete an answer; nil when nobody asks.
  var oldest: UInt64? { open.values.map(\.since).min() }

  mutating func add(since sequence: UInt64, _ then: @escaping (History.Answer) -> Void) -> UInt64 {
    defer { nextToken &+= 1 }
    open[nextToken] = (sequence, then)
    return nextToken
  }

  /// Who waits for it; nil when it was refused meanwhile.
  mutating func take(_ token: UInt64) -> ((History.Answer) -> Void)? { open.removeValue(forKey: token)?.then }

  mutating func takeAll() -> [(History.Answer) -> Void] {
    defer { open = [:] }
    return open.values.map(\.then)
  }
}
