// Standard output: written whole, its errors seen, a reader that went away no error.
import Glibc
import TallyRender

/// The standard output and what is known of its reader.
struct Output {
  let isTerminal = isatty(1) == 1

  /// How to write for this reader, as it is now: a terminal can change its size.
  func style(_ settings: Settings) -> Style {
    Style(
      units: settings.units, colour: isTerminal && !settings.noColor && wantsColour, unicode: isUTF8,
      width: Int(environment("COLUMNS") ?? "").flatMap { $0 > 0 ? $0 : nil } ?? size.map { Int($0.ws_col) })
  }

  /// Rows of the terminal; nil without one.
  var height: Int? { size.map { Int($0.ws_row) } }

  private var size: winsize? {
    var size = winsize()
    guard isTerminal, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return size
  }

  func print(_ lines: [String]) throws(Failure) {
    try write(Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  func write(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw outputFailure()
      }
    }
  }

  /// Closes it, since some file systems tell of a lack of space only then.
  func finish() throws(Failure) {
    if close(1) != 0 { throw outputFailure() }
  }

  /// no-color.org: set and not empty.
  private var wantsColour: Bool {
    environment("NO_COLOR") == nil && environment("TERM") != "dumb"
  }

  private var isUTF8: Bool {
    let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
    return ["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) || locale.lowercased().contains($0 + "@") }
  }
}

/// An environment variable that is set and not empty.
func environment(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}

/// Like `| head`: the reader had enough, which is no error.
private func outputFailure() -> Failure {
  let code = errno
  if code == EPIPE { return Failure(.ok, "") }
  return Failure(.failed, "the output cannot be written: \(String(cString: strerror(code)))")
}
