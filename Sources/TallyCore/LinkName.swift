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

  /// Reads the escaped text; a `%` that no two hex digits follow stands for itself.
  package init(escaped text: String) {
    var bytes: [UInt8] = []
    let source = Array(text.utf8)
    var i = 0
    while i < source.count {
      if source[i] == UInt8(ascii: "%"), i + 2 < source.count, let high = hexDigit(source[i + 1]),
        let low = hexDigit(source[i + 2])
      {
        bytes.append(high << 4 | low)
        i += 3
      } else {
        bytes.append(source[i])
        i += 1
      }
    }
    self.bytes = bytes
  }

  /// The escaped text.
  package var escaped: String {
    if let plain = String(validating: bytes, as: UTF8.self), !bytes.contains(where: isControl) { return plain }
    var text = ""
    var decoder = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var offset = 0
    loop: while true {
      switch decoder.parseScalar(from: &rest) {
      case .valid(let encoded):
        let scalar = UTF8.decode(encoded)
        let width = UTF8.width(scalar)
        if scalar.value < 0x20 || scalar.value == 0x7F {
          text += percent(bytes[offset])
        } else {
          text.unicodeScalars.append(scalar)
        }
        offset += width
      case .error(let length):
        for byte in bytes[offset..<offset + length] { text += percent(byte) }
        offset += length
      case .emptyInput:
        break loop
      }
    }
    return text
  }

  package var description: String { escaped }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

private func percent(_ byte: UInt8) -> String {
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
