// Text that is safe to show on a terminal, its width there, and fitting it into a width.

/// The text with everything escaped that could move a cursor, change colours, hide or reorder what follows.
///
/// Control and format characters, line and paragraph separators become `%XX` for each of their UTF-8 bytes, the
/// form in which link names are written anyway, so that what is shown can be typed back. Escaping twice changes nothing.
package func displayed(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
  var safe = ""
  for scalar in text.unicodeScalars {
    guard isUnsafe(scalar) else {
      safe.unicodeScalars.append(scalar)
      continue
    }
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { safe += percent(byte) }
  }
  return safe
}

/// The same JSON, in which what `displayed` escapes is written `\uXXXX`; it stands within strings alone.
package func displayed(json: [UInt8]) -> [UInt8] {
  guard let text = String(validating: json, as: UTF8.self), text.unicodeScalars.contains(where: isUnsafe) else {
    return json
  }
  var safe = ""
  for scalar in text.unicodeScalars {
    guard isUnsafe(scalar) else {
      safe.unicodeScalars.append(scalar)
      continue
    }
    for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
      let digits = String(unit, radix: 16)
      safe += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return Array(safe.utf8)
}

/// A link's name as it can be typed in any shell, after `-i` too: what has a meaning to one of them is written `%XX`.
package func typable(_ name: String) -> String {
  var text = ""
  for scalar in displayed(name).unicodeScalars {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "@", "%", "\u{80}"...: text.unicodeScalars.append(scalar)
    case "-" where !text.isEmpty: text.unicodeScalars.append(scalar)
    default: text += percent(UInt8(truncatingIfNeeded: scalar.value))
    }
  }
  return text
}

private func percent(_ byte: UInt8) -> String {
  let digits = Array("0123456789ABCDEF")
  return "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
}

private func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
  if scalar.value < 0x7F { return scalar.value < 0x20 }
  return switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
  default: false
  }
}

/// Columns that the text takes on a terminal.
package func displayWidth(_ text: String) -> Int {
  text.unicodeScalars.reduce(0) { $0 + width($1) }
}

private func width(_ scalar: Unicode.Scalar) -> Int {
  if scalar.value < 0x300 { return 1 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark: return 0
  default: break
  }
  // Vowels and final consonants of Hangul are drawn into the syllable before them.
  if (0x1160...0x11FF).contains(scalar.value) { return 0 }
  return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
}

/// The blocks that Unicode's EastAsianWidth.txt calls wide or full-width.
private let wide: [ClosedRange<UInt32>] = [
  0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
  0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1B000...0x1B2FF,
  0x1F200...0x1F265, 0x20000...0x3FFFD,
]

/// The text cut to at most `limit` columns, with `ellipsis` (one column) where something was cut.
func fitted(_ text: String, to limit: Int, ellipsis: String) -> String {
  guard displayWidth(text) > limit else { return text }
  guard limit > 0 else { return "" }
  var kept = ""
  var room = limit - 1
  for scalar in text.unicodeScalars {
    room -= width(scalar)
    if room < 0 { break }
    kept.unicodeScalars.append(scalar)
  }
  return kept + ellipsis
}

/// "1 gap", "2 gaps": for words whose plural ends in s.
func counted(_ count: some BinaryInteger, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// The text broken at spaces into lines of at most `limit` columns; a longer word stays whole.
func wrapped(_ text: String, to limit: Int?, indent: String = "") -> [String] {
  guard let limit, displayWidth(text) > limit else { return [text] }
  var lines: [String] = []
  var line = ""
  for word in text.split(separator: " ") {
    if line.isEmpty {
      line = (lines.isEmpty ? "" : indent) + word
    } else if displayWidth(line) + 1 + displayWidth(String(word)) <= limit {
      line += " " + word
    } else {
      lines.append(line)
      line = indent + word
    }
  }
  return lines + [line]
}
