// What an examination found: each check with its verdict, and what to do where something is wrong.

/// One check and what came of it.
package struct Finding: Codable, Hashable, Sendable {
  package enum Verdict: String, Codable, Sendable {
    case ok, warning, failed
  }

  package var check: String
  package var verdict: Verdict
  /// What was found; where something is wrong, the cause.
  package var detail: String
  package var remedy: String?

  package init(_ check: String, _ verdict: Verdict, _ detail: String, remedy: String? = nil) {
    self.check = check
    self.verdict = verdict
    self.detail = detail
    self.remedy = remedy
  }
}

/// The lines of an examination.
package func render(_ findings: [Finding], _ style: Style) -> [String] {
  let width = findings.map(\.check.count).max() ?? 0
  var lines: [String] = []
  for finding in findings {
    let (word, tint): (String, Tint) =
      switch finding.verdict {
      case .ok: ("ok     ", .good)
      case .warning: ("warning", .attention)
      case .failed: ("FAILED ", .bad)
      }
    let indent = String(repeating: " ", count: 7 + 2 + width + 2)
    let room = style.width.map { max(20, $0 - indent.count) }
    let remedy = finding.remedy.map { wrapped("remedy: \(displayed($0))", to: room) } ?? []
    for (position, line) in (wrapped(displayed(finding.detail), to: room) + remedy).enumerated() {
      let check = finding.check + String(repeating: " ", count: width - finding.check.count)
      lines.append((position == 0 ? style.tinted(word, tint) + "  \(check)  " : indent) + line)
    }
  }
  let failed = findings.filter { $0.verdict == .failed }.count
  let warnings = findings.filter { $0.verdict == .warning }.count
  let verdict = failed + warnings == 0 ? "All is well." : "\(failed) failed, \(counted(warnings, "warning"))."
  return lines + ["", verdict] + notes(marks: [], style)
}
