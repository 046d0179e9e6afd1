// One file's lines as section, key and value with their line numbers, by way of libinih.

import CInih
import Glibc

/// One `Key=value` line.
struct ConfigurationEntry: Equatable {
  var line: Int
  var section: String
  var key: String
  var value: String
}

/// Feeds a file's lines to libinih and takes its entries back.
///
/// Debian's libinih tells no line numbers, cuts long lines, and reads more than systemd's style has: continued and
/// indented lines, `:` for `=`, comments after values. So each line is checked and stripped before it is handed over,
/// and a line that is refused is handed over empty.
final class EntryReader {
  /// Longest line in bytes, its end not counted; libinih's buffer of 200 holds it whole.
  static let longestLine = 190

  private(set) var entries: [ConfigurationEntry] = []
  /// Line and message.
  private(set) var problems: [(line: Int, message: String)] = []

  private var rest: ArraySlice<UInt8>
  private var line = 0
  /// The section header was fine; lines below one that was not are passed over, since they have been answered for.
  private var isInKnownSection = false
  private var hasSeenHeader = false
  /// A `Key=value` line has been handed over and no entry has come back for it yet.
  private var awaitsEntry = false

  private init(_ bytes: [UInt8]) {
    rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
  }

  /// Reads a whole file's bytes.
  static func read(_ bytes: [UInt8]) -> EntryReader {
    let reader = EntryReader(bytes)
    let context = Unmanaged.passUnretained(reader).toOpaque()
    let outcome = cinih_parse(
      { context, buffer, capacity in
        guard let context, let buffer else { return false }
        let reader = Unmanaged<EntryReader>.fromOpaque(context).takeUnretainedValue()
        return reader.handOver(into: UnsafeMutableBufferPointer(start: buffer, count: capacity))
      },
      { context, section, key, value in
        guard let context, let section, let key, let value else { return }
        let reader = Unmanaged<EntryReader>.fromOpaque(context).takeUnretainedValue()
        reader.take(section: String(cString: section), key: String(cString: key), value: String(cString: value))
      }, context)
    if outcome < 0 || !reader.rest.isEmpty {
      reader.refuse("libinih stopped reading here; is memory short?")
    }
    return reader
  }

  private func handOver(into buffer: UnsafeMutableBufferPointer<CChar>) -> Bool {
    if awaitsEntry { refuse(Self.notAnEntry) }
    awaitsEntry = false
    guard !rest.isEmpty else { return false }
    let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
    let raw = rest[..<end]
    rest = rest[end...].dropFirst()
    line += 1

    var accepted = accept(raw)
    if accepted.count + 2 > buffer.count {
      refuse("line is longer than the installed libinih can hold")
      accepted = []
    }
    for (offset, byte) in accepted.enumerated() { buffer[offset] = CChar(bitPattern: byte) }
    buffer[accepted.count] = 0x0A
    buffer[accepted.count + 1] = 0
    return true
  }

  private func take(section: String, key: String, value: String) {
    awaitsEntry = false
    guard !key.isEmpty else { return refuse("no key before '='; write Key=value") }
    entries.append(ConfigurationEntry(line: line, section: section, key: key, value: value))
  }

  /// The line without its margins as libinih shall see it; empty when it says nothing or was refused.
  private func accept(_ raw: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if raw.contains(0) { return refused("line holds a NUL byte; is this a text file?") }
    let text = stripped(raw)
    guard let first = text.first, !Self.isCommentMark(first) else { return [] }
    guard text.count <= Self.longestLine else {
      return refused("line is longer than \(Self.longestLine) bytes; shorten it, or repeat the key if it is a list")
    }
    guard let line = String(validating: text, as: UTF8.self) else {
      return refused("line is not UTF-8; save the file as UTF-8")
    }
    if line.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || (0x7F..<0xA0).contains($0.value) }) {
      return refused("line holds a control character; remove it")
    }
    return first == UInt8(ascii: "[") ? acceptHeader(text, line) : acceptEntry(text, line)
  }

  private func acceptHeader(_ text: ArraySlice<UInt8>, _ line: String) -> ArraySlice<UInt8> {
    hasSeenHeader = true
    isInKnownSection = false
    let name = String(line.dropFirst().dropLast())
    guard line.hasSuffix("]"), !name.isEmpty, !name.utf8.contains(where: { $0 == 0x5B || $0 == 0x5D }) else {
      return refused("section header is malformed; write [Name] alone on its line")
    }
    if let rule = ConfigurationKey.ruleName(ofSection: name) {
      // libinih cuts a section's name at 49 bytes.
      guard !rule.isEmpty, name.utf8.count < 50, !rule.contains(where: { $0 == " " || $0 == "\t" }) else {
        return refused("a rule's name is one word of up to 44 bytes; write [Rule NAME]")
      }
    } else if name == "Rule" {
      return refused("a rule needs a name of its own; write [Rule NAME]")
    } else if !ConfigurationKey.sections.contains(name) {
      return refused(ConfigurationKey.unknownSection(name))
    }
    isInKnownSection = true
    return text
  }

  private func acceptEntry(_ text: ArraySlice<UInt8>, _ line: String) -> ArraySlice<UInt8> {
    guard hasSeenHeader else {
      return refused(
        "\(Self.shown(line)) stands before any section; put [\(ConfigurationKey.sections[0])] or another above it")
    }
    guard isInKnownSection else { return [] }
    guard let separator = line.first(where: { $0 == "=" || $0 == ":" }), separator == "=" else {
      return refused(Self.notAnEntry)
    }
    if line.hasSuffix("\\") { return refused("lines cannot be continued with '\\'; repeat the key if it is a list") }
    if zip(text, text.dropFirst()).contains(where: { Self.isMargin($0) && Self.isCommentMark($1) }) {
      return refused("a comment cannot follow a value; put it on a line of its own")
    }
    awaitsEntry = true
    return text
  }

  private static let notAnEntry = "line is neither [Section], Key=value nor a comment (# or ;)"

  private static func shown(_ line: String) -> String {
    line.count > 40 ? "'\(line.prefix(40))…'" : "'\(line)'"
  }

  private func refuse(_ message: String) { problems.append((line, message)) }

  private func refused(_ message: String) -> ArraySlice<UInt8> {
    refuse(message)
    return []
  }

  private func stripped(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let last = line.lastIndex(where: { !Self.isMargin($0) }) else { return [] }
    return line[...last].drop(while: Self.isMargin)
  }

  private static func isMargin(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  private static func isCommentMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";") }
}
