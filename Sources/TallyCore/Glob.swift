// Shell patterns over short texts, as rules match names with them.

/// A pattern of `*` (any run), `?` (one character) and `[a-z]`, `[!a-z]` (one character of a set); all else stands for
/// itself. A `[` without its `]` stands for itself.
package struct Glob: Hashable, Sendable {
  package let text: String

  private enum Part: Hashable {
    case run
    case any
    case literal(Unicode.Scalar)
    case set([ClosedRange<UInt32>], negated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .run: false
      case .any: true
      case .literal(let wanted): wanted == scalar
      case .set(let ranges, let negated): ranges.contains { $0.contains(scalar.value) } != negated
      }
    }
  }

  private let parts: [Part]

  package init(_ text: String) {
    self.text = text
    let scalars = Array(text.unicodeScalars)
    var parts: [Part] = []
    var i = 0
    while i < scalars.count {
      switch scalars[i] {
      case "*": if parts.last != .run { parts.append(.run) }
      case "?": parts.append(.any)
      case "[":
        if let (set, end) = Glob.set(scalars, from: i + 1) {
          parts.append(set)
          i = end
        } else {
          parts.append(.literal("["))
        }
      default: parts.append(.literal(scalars[i]))
      }
      i += 1
    }
    self.parts = parts
  }

  /// The set that begins behind a bracket, and where its closing bracket is. A `]` right at the start is one of the set.
  private static func set(_ scalars: [Unicode.Scalar], from start: Int) -> (Part, end: Int)? {
    var i = start
    let negated = i < scalars.count && (scalars[i] == "!" || scalars[i] == "^")
    if negated { i += 1 }
    let first = i
    var ranges: [ClosedRange<UInt32>] = []
    while i < scalars.count {
      if scalars[i] == "]", i > first { return (.set(ranges, negated: negated), i) }
      let low = scalars[i].value
      if i + 2 < scalars.count, scalars[i + 1] == "-", scalars[i + 2] != "]" {
        let high = scalars[i + 2].value
        if low <= high { ranges.append(low...high) }
        i += 3
      } else {
        ranges.append(low...low)
        i += 1
      }
    }
    return nil
  }

  /// Whether the whole text fits. In time of at most pattern times text: only the last `*` is ever gone back to.
  package func matches(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (at, part) = (0, 0)
    var retry: (at: Int, part: Int)?
    while at < scalars.count {
      if part < parts.count, parts[part] == .run {
        part += 1
        retry = (at, part)
      } else if part < parts.count, parts[part].matches(scalars[at]) {
        at += 1
        part += 1
      } else if let last = retry {
        at = last.at + 1
        part = last.part
        retry = (at, part)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .run }
  }
}
