// What the daemon says about itself: to the journal with fields when it runs as a service, else a line on stderr.

import CSystemd
import Glibc
import Synchronization

/// The priorities of syslog that are in use.
enum LogLevel: Int {
  case error = 3
  case warning, notice, info, debug

  var name: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .notice: "notice"
    case .info: "info"
    case .debug: "debug"
    }
  }
}

/// The log; any thread may write.
final class Log: Sendable {
  private let program: String
  /// Less urgent messages are dropped.
  private let threshold: LogLevel
  private let toJournal: Bool
  private let repetitions = Mutex(RepetitionLimit())

  init(program: String = "iftallyd", threshold: LogLevel = .info) {
    self.program = program
    self.threshold = threshold
    toJournal = Log.isJournal(descriptor: 2)
  }

  /// `code` is stable, for filters and the documentation; messages of one code are held back when they repeat too often.
  func write(_ level: LogLevel, code: String, _ message: @autoclosure () -> String) {
    guard level.rawValue <= threshold.rawValue else { return }
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    guard let heldBack = repetitions.withLock({ $0.admit(code, atSecond: now.tv_sec) }) else { return }
    var text = Log.printable(message())
    if heldBack > 0 { text += " (\(heldBack) more of this kind were held back)" }
    if toJournal {
      journal(level, code, text)
    } else {
      let line = Array("\(program): \(level.name): \(text)\n".utf8)
      _ = line.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }
  }

  func error(code: String, _ message: @autoclosure () -> String) { write(.error, code: code, message()) }
  func warning(code: String, _ message: @autoclosure () -> String) { write(.warning, code: code, message()) }
  func notice(code: String, _ message: @autoclosure () -> String) { write(.notice, code: code, message()) }
  func info(code: String, _ message: @autoclosure () -> String) { write(.info, code: code, message()) }
  func debug(code: String, _ message: @autoclosure () -> String) { write(.debug, code: code, message()) }

  private func journal(_ level: LogLevel, _ code: String, _ text: String) {
    let message = Array("MESSAGE=\(text)".utf8)
    let others = Array("PRIORITY=\(level.rawValue)\nSYSLOG_IDENTIFIER=\(program)\nIFTALLY_CODE=\(code)".utf8)
    message.withUnsafeBytes { message in
      others.withUnsafeBytes { others in
        var fields = [csystemd_field(bytes: message.baseAddress, length: message.count)]
        for field in others.split(separator: UInt8(ascii: "\n")) {
          fields.append(csystemd_field(bytes: others.baseAddress.map { $0 + field.startIndex }, length: field.count))
        }
        _ = csystemd_journal(fields, fields.count)
      }
    }
  }

  /// Whether the descriptor leads to the journal: systemd names its device and inode in JOURNAL_STREAM.
  private static func isJournal(descriptor: CInt) -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var found = stat()
    guard fstat(descriptor, &found) == 0 else { return false }
    return String(cString: stream) == "\(found.st_dev):\(found.st_ino)"
  }

  /// One line, with nothing in it that a terminal obeys: names in a message come from anybody.
  static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isControl) else { return text }
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { plain.append(scalar.isControl ? "\u{FFFD}" : scalar) }
    return String(plain)
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}

/// Lets the first few messages of each key through in a window of time, and counts the rest.
struct RepetitionLimit {
  static let windowSeconds = 300
  static let perWindow = 5
  static let mostKeys = 256

  private struct Window {
    var start: Int
    var admitted: Int
    var heldBack: Int
  }

  private var windows: [String: Window] = [:]

  /// nil: hold it back. Otherwise how many of its kind were held back since the last one admitted.
  mutating func admit(_ key: String, atSecond now: Int) -> Int? {
    guard var window = windows[key] else {
      // Keys are few and fixed; should they not be, forgetting all costs some repetition and no memory.
      if windows.count >= RepetitionLimit.mostKeys { windows = [:] }
      windows[key] = Window(start: now, admitted: 1, heldBack: 0)
      return 0
    }
    if now - window.start >= RepetitionLimit.windowSeconds {
      windows[key] = Window(start: now, admitted: 1, heldBack: 0)
      return window.heldBack
    }
    guard window.admitted < RepetitionLimit.perWindow else {
      window.heldBack += 1
      windows[key] = window
      return nil
    }
    window.admitted += 1
    windows[key] = window
    return 0
  }
}
