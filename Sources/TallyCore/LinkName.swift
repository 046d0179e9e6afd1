// The name of a link: up to 15 bytes that need not be UTF-8, and their one way to be written as text.

/// A link's name as the kernel holds it.
///
/// As text, every byte that is a control character or no part of valid UTF-8 is written `%XX`. The kernel
/// refuses `%` (and `/`, `:`, white space) in names, so the text is unambiguous and comes back.
package struct LinkName: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads the escaped text, in which any byte may be written `%XX`; a `%` that no two hex digits follow stands for
  /// itself.
  package init(escaped text: String) {
    bytes = unescaped(text).map(\.byte)
  }

  /// The escaped text.
  package var escaped: String {
    if let plain = String(validating: bytes, as: UTF8.self), !bytes.contains(where: isControl) { return plain }
    var text = ""
    for (value, _) in units(of: bytes) {
      if let scalar = Unicode.Scalar(value), scalar.value >= 0x20, scalar.value != 0x7F {
        text.unicodeScalars.append(scalar)
      } else {
        text += percent(UInt8(truncatingIfNeeded: value))
      }
    }
    return text
  }

  package var description: String { escaped }
}

/// The bytes of an escaped text, each with whether it was written `%XX`.
func unescaped(_ text: String) -> [(byte: UInt8, isEscaped: Bool)] {
  let source = Array(text.utf8)
  var bytes: [(byte: UInt8, isEscaped: Bool)] = []
  var i = 0
  while i < source.count {
    if source[i] == UInt8(ascii: "%"), i + 2 < source.count, let high = hexDigit(source[i + 1]),
      let low = hexDigit(source[i + 2])
    {
      bytes.append((byte: high << 4 | low, isEscaped: true))
      i += 3
    } else {
      bytes.append((byte: source[i], isEscaped: false))
      i += 1
    }
  }
  return bytes
}

/// The characters in UTF-8 and where each begins. A byte that is part of none is a value of its own, above them all.
func units(of bytes: [UInt8]) -> [(value: UInt32, offset: Int)] {
  var units: [(value: UInt32, offset: Int)] = []
  var decoder = UTF8.ForwardParser()
  var rest = bytes.makeIterator()
  var offset = 0
  while true {
    switch decoder.parseScalar(from: &rest) {
    case .valid(let encoded):
      let scalar = UTF8.decode(encoded)
      units.append((value: scalar.value, offset: offset))
      offset += UTF8.width(scalar)
    case .error(let length):
      units += (offset..<offset + length).map { (value: 0x11_0000 | UInt32(bytes[$0]), offset: $0) }
      offset += length
    case .emptyInput:
      return units
    }
  }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

func percent(_ byte: UInt8) -> String {
  let digits = Array("0123456789ABCDEF")
  return "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  default: nil
  }
}
