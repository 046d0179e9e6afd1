// What decides the looks of an output: units, colour, character set and width.

import TallyWire

/// How to write for one reader.
package struct Style: Hashable, Sendable {
  package var units: Units
  /// Write SGR sequences.
  package var colour: Bool
  /// The reader's locale is UTF-8; else marks and bars are ASCII.
  package var unicode: Bool
  /// Columns of the terminal; nil: no limit.
  package var width: Int?

  package init(units: Units = Units(), colour: Bool = false, unicode: Bool = true, width: Int? = nil) {
    self.units = units
    self.colour = colour
    self.unicode = unicode
    self.width = width
  }

  var ellipsis: String { unicode ? "…" : ">" }
  var bar: String { unicode ? "█" : "#" }

  /// The mark that stands before a figure of this completeness.
  func mark(_ completeness: String) -> String {
    switch completeness {
    case Completeness.complete: ""
    case Completeness.placed: "~ "
    case Completeness.atLeast: unicode ? "≥ " : ">= "
    default: "? "
    }
  }
}

/// The colour of a piece of text.
package enum Tint: String, Sendable {
  case plain = ""
  case strong = "1"
  case dim = "2"
  case good = "32"
  case attention = "33"
  case bad = "31"
}

extension Style {
  /// The text in a colour, where colour is wanted.
  package func tinted(_ text: String, _ tint: Tint) -> String {
    colour && tint != .plain && !text.isEmpty ? "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[0m" : text
  }
}
