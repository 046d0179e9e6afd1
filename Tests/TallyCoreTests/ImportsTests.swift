// The directions of the architecture: the core imports nothing, and no I/O target knows another.

import Foundation
import Testing

private let sources = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .appendingPathComponent("Sources")

/// The modules that the Swift files of a target import; nil when the target has no Swift file.
private func imports(of target: String) throws -> [(file: String, module: String)]? {
  let folder = sources.appendingPathComponent(target)
  let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
  if files.isEmpty { return nil }
  return try files.flatMap { file in
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      importedModule(line).map { (file.lastPathComponent, $0) }
    }
  }
}

/// The module of an import declaration, whatever its attributes, access level and kind of symbol.
private func importedModule(_ line: Substring) -> String? {
  var words = line.split { $0 == " " || $0 == "\t" }[...]
  let before: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
  while let word = words.first, word.hasPrefix("@") || before.contains(word) { words.removeFirst() }
  guard words.popFirst() == "import", var module = words.popFirst() else { return nil }
  let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"]
  if kinds.contains(module), let next = words.popFirst() { module = next }
  return module.split { $0 == "." || $0 == ";" }.first.map(String.init)
}

@Suite("Imports")
struct ImportsTests {
  @Test("import declarations of every form are recognised")
  func forms() {
    #expect(importedModule("import Glibc") == "Glibc")
    #expect(importedModule("  package import TallyCore") == "TallyCore")
    #expect(importedModule("@testable import TallyCore") == "TallyCore")
    #expect(importedModule("@preconcurrency internal import struct Foundation.Date") == "Foundation")
    #expect(importedModule("// import Glibc") == nil)
    #expect(importedModule("let important = 1") == nil)
  }

  @Test("TallyCore imports nothing")
  func coreIsPure() throws {
    let found = try #require(try imports(of: "TallyCore"))
    #expect(found.isEmpty, "\(found)")
  }

  @Test("no I/O target imports another", arguments: ["LinkSource", "TallyStore", "LocalHTTP"])
  func ioTargetsAreStrangers(target: String) throws {
    let others: Set<String> = Set(["LinkSource", "TallyStore", "LocalHTTP"]).subtracting([target])
    for (file, module) in try #require(try imports(of: target)) {
      #expect(!others.contains(module), "\(target)/\(file) imports \(module)")
    }
  }
}
