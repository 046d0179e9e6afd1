// The manual and the file that is installed know every key.

import Foundation
import TallyCore
import Testing

@testable import TallyConfig

private let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

@Test("iftally.conf(5) has every section and key, and no other")
func manual() throws {
  let manual = try String(contentsOf: source.appendingPathComponent("man/iftally.conf.5"), encoding: .utf8)
  var told: [String] = []
  var section = ""
  for line in manual.split(separator: "\n") {
    if line.hasPrefix(".SH ") { section = String(line.dropFirst(4)) }
    if line.hasPrefix(".BI "), section.hasPrefix("["), let end = line.firstIndex(of: "=") {
      told.append("\(section) \(line[..<end].dropFirst(4))")
    }
  }
  let known =
    ConfigurationKey.all.map { "[\($0.section.uppercased())] \($0.name)" }
    + RuleKey.all.map { "[RULE NAME] \($0.name)" }
  #expect(told.sorted() == known.sorted())
}

@Test("The file that is installed shows every key with its default, and says nothing as it stands")
func installedFile() throws {
  let text = try String(contentsOf: source.appendingPathComponent("systemd/iftally.conf.in"), encoding: .utf8)
  for key in ConfigurationKey.all.map(\.name) + RuleKey.all.map(\.name) {
    #expect(text.contains("\n#\(key)="), "\(key)=")
  }
  let defaults = Configuration(environment: [:])
  let folder = try Folder()
  #expect(try Configuration.load(file: folder.write("f", text), environment: [:]) == defaults)
  let spoken = text.replacingOccurrences(of: "\n#(\\[Rule|[A-Z][A-Za-z]*=)", with: "\n$1", options: .regularExpression)
  var withRule = defaults
  withRule.rules = [LinkRule(name: "office")]
  withRule.rules[0].set.group = ""
  #expect(try Configuration.load(file: folder.write("g", spoken), environment: [:]) == withRule)
}
