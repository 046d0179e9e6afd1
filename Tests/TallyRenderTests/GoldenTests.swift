// Whole outputs against golden files; UPDATE_GOLDEN=1 in the environment writes them anew.
import Foundation
import TallyWire
import Testing

@testable import TallyRender

@Suite struct GoldenTests {
  static let styles: [(name: String, style: Style)] = [
    ("plain", Style()),
    ("80", Style(width: 80)),
    ("40", Style(width: 40)),
    ("colour-ascii", Style(colour: true, unicode: false, width: 120)),
    ("si-bytes", Style(units: Units(scale: .si, ratesInBits: false, decimals: 1))),
  ]

  static let styleNames = styles.map(\.name)

  static let views = [
    "summary", "summary-loading", "interfaces", "interfaces-verbose", "days", "hours", "live", "live-lines", "status",
    "status-troubled", "explain", "findings", "totals", "rules", "stream",
  ]

  static let tables = views.filter { $0 != "live-lines" && $0 != "stream" }

  @Test("An output is what its golden file holds", arguments: views, styleNames)
  func golden(view: String, styleName: String) throws {
    let style = try #require(Self.styles.first { $0.name == styleName }?.style)
    let text = try lines(view, style).map { $0 + "\n" }.joined()
    let file = folder(#filePath).appendingPathComponent("Golden/\(view).\(styleName).txt")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try text == String(contentsOf: file, encoding: .utf8))
  }

  @Test("Every output says that it is an estimate and never claims more", arguments: views)
  func estimate(view: String) throws {
    let text = try lines(view, Style()).joined(separator: "\n").lowercased()
    #expect(text.contains("estimate"))
    #expect(!text.contains("exact"))
  }

  @Test("Without colour no output holds a control character, whatever the names are", arguments: views)
  func harmless(view: String) throws {
    for width in [nil, 20, 60] as [Int?] {
      for line in try lines(view, Style(width: width)) {
        #expect(
          !line.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E })
      }
    }
  }

  @Test("Tables stay within the terminal down to 60 columns", arguments: tables)
  func narrow(view: String) throws {
    for width in 60...130 {
      for line in try lines(view, Style(width: width)) where line.contains("  ") {
        #expect(displayWidth(line) <= width, "\(width): \(line)")
      }
    }
  }

  @Test("A live frame never has more lines than the terminal", arguments: 8...40)
  func height(rows: Int) throws {
    let reply = try reply(InterfacesReply.self, "interfaces")
    #expect(liveFrame(reply, height: rows, Style(width: 80)).count <= max(rows, 9))
  }

  private func lines(_ view: String, _ style: Style) throws -> [String] {
    switch view {
    case "summary", "summary-loading":
      let loading = view == "summary-loading"
      let interfaces = try reply(InterfacesReply.self, "interfaces")
      return render(
        Summary(
          asOf: interfaces.asOf, interfaces: interfaces.interfaces,
          yesterday: loading ? nil : try reply(UsageReply.self, "yesterday"),
          thisMonth: loading ? nil : try reply(UsageReply.self, "this-month"),
          historyProblem: loading ? "the store is being opened" : nil, showsAll: false), style)
    case "interfaces": return render(try reply(InterfacesReply.self, "interfaces"), verbose: false, style)
    case "interfaces-verbose": return render(try reply(InterfacesReply.self, "interfaces"), verbose: true, style)
    case "live": return liveFrame(try reply(InterfacesReply.self, "interfaces"), height: nil, style)
    case "live-lines": return liveLines(try reply(InterfacesReply.self, "interfaces"), style)
    case "status": return render(try reply(StatusReply.self, view), verbose: false, style)
    case "status-troubled": return render(try reply(StatusReply.self, view), verbose: true, style)
    case "explain": return render(try reply(ExplainReply.self, view), style)
    case "totals": return render(try reply(TotalsReply.self, view), style)
    case "rules": return render(try reply(RulesReply.self, view), verbose: false, style)
    case "stream": return try reply([StreamEvent].self, view).flatMap { streamLines($0, style) }
    case "findings": return render(findings, style)
    default: return render(try reply(UsageReply.self, view), style)
    }
  }

  private let findings = [
    Finding("socket", .ok, "/run/iftally/iftally.sock is a socket"),
    Finding(
      "store", .failed, "history is kept in memory only: disk \u{1B}[31mfull",
      remedy: "make room on the file system that holds /var/lib/iftally"),
    Finding("gaps", .warning, "2 gaps, of them 1 in which bytes may have gone unseen", remedy: "see iftally status -v"),
  ]
}

private func folder(_ path: String) -> URL { URL(fileURLWithPath: path).deletingLastPathComponent() }

/// The wire's golden documents are the replies that are rendered here.
private func reply<Reply: Decodable>(_ type: Reply.Type, _ name: String) throws -> Reply {
  let file = folder(#filePath).deletingLastPathComponent().appendingPathComponent("TallyWireTests/Golden/\(name).json")
  return try decode(type, from: [UInt8](Data(contentsOf: file)))
}
