// Shell patterns over short texts, as rules match names with them.

/// A pattern of `*` (any run), `?` (one character) and `[a-z]`, `[!a-z]` (one character of a set); all else stands for
/// itself. A `[` without its `]` stands for itself.
package struct Glob: Hashable, Sendable {
  package let text: String

  private enum Part: Hashable {
    case run
    case any
    case literal(UInt32)
    case set([ClosedRange<UInt32>], negated: Bool)

    func matches(_ value: UInt32) -> Bool {
      switch self {
      case .run: false
      case .any: true
      case .literal(let wanted): wanted == value
      case .set(let ranges, let negated): ranges.contains { $0.contains(value) } != negated
      }
    }
  }

  /// A character of the pattern; one that was written `%XX` means itself alone.
  private struct Unit {
    var value: UInt32
    var isEscaped = false

    func means(_ wanted: Unicode.Scalar) -> Bool { !isEscaped && value == wanted.value }
  }

  private let parts: [Part]
  private let isOfName: Bool

  package init(_ text: String) {
    self.init(text, text.unicodeScalars.map { Unit(value: $0.value) }, isOfName: false)
  }

  /// A pattern for names of links in their escaped form. What is written `%XX` in it is that byte of the name and has no
  /// other meaning, so that a name that holds a `*` can be meant; `?` also stands for a byte that is no part of UTF-8.
  package init(ofName text: String) {
    let bytes = unescaped(text)
    let units = units(of: bytes.map(\.byte)).map { Unit(value: $0.value, isEscaped: bytes[$0.offset].isEscaped) }
    self.init(text, units, isOfName: true)
  }

  private init(_ text: String, _ units: [Unit], isOfName: Bool) {
    self.text = text
    self.isOfName = isOfName
    var parts: [Part] = []
    var i = 0
    while i < units.count {
      if units[i].means("*") {
        if parts.last != .run { parts.append(.run) }
      } else if units[i].means("?") {
        parts.append(.any)
      } else if units[i].means("["), let (set, end) = Glob.set(units, from: i + 1) {
        parts.append(set)
        i = end
      } else {
        parts.append(.literal(units[i].value))
      }
      i += 1
    }
    self.parts = parts
  }

  /// The set that begins behind a bracket, and where its closing bracket is. A `]` right at the start is one of the set.
  private static func set(_ units: [Unit], from start: Int) -> (Part, end: Int)? {
    var i = start
    let negated = i < units.count && (units[i].means("!") || units[i].means("^"))
    if negated { i += 1 }
    let first = i
    var ranges: [ClosedRange<UInt32>] = []
    while i < units.count {
      if units[i].means("]"), i > first { return (.set(ranges, negated: negated), i) }
      let low = units[i].value
      if i + 2 < units.count, units[i + 1].means("-"), !units[i + 2].means("]") {
        let high = units[i + 2].value
        if low <= high { ranges.append(low...high) }
        i += 3
      } else {
        ranges.append(low...low)
        i += 1
      }
    }
    return nil
  }

  /// Nothing in it stands for several texts.
  package var isOneText: Bool {
    parts.allSatisfy { part in
      if case .literal = part { true } else { false }
    }
  }

  /// Whether the whole text fits. In time of at most pattern times text: only the last `*` is ever gone back to.
  package func matches(_ text: String) -> Bool {
    let values =
      isOfName ? units(of: LinkName(escaped: text).bytes).map(\.value) : text.unicodeScalars.map(\.value)
    var (at, part) = (0, 0)
    var retry: (at: Int, part: Int)?
    while at < values.count {
      if part < parts.count, parts[part] == .run {
        part += 1
        retry = (at, part)
      } else if part < parts.count, parts[part].matches(values[at]) {
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
