// What a backup holds, as text and as JSON.
import Glibc
import TallyRender
import TallyStore
import TallyWire

/// A file with a store in it, and what is in it.
struct StoreReport: Encodable {
  var nature = natureEstimate
  var file: String
  var sizeBytes: Int64
  var schema: Int64
  /// RFC 3339; nil: nothing was counted yet.
  var from: String?
  var to: String?
  var interfaces: [String]
  /// Where the store that was in its place lies now.
  var replaced: String?

  private enum CodingKeys: String, CodingKey {
    case nature, file, schema, from, to, interfaces, replaced
    case sizeBytes = "size_bytes"
  }

  init(_ summary: StoreSummary, file: String, replaced: String?) {
    self.file = file
    self.replaced = replaced
    sizeBytes = summary.size
    schema = summary.schema
    from = summary.from.map { localTime($0) }
    to = summary.to.map { localTime($0 / 1_000_000_000) }
    interfaces = summary.interfaces.map { displayed(String(decoding: $0, as: UTF8.self)) }
  }
}

extension Session {
  /// Prints what was done and what is in it.
  func tell(_ report: StoreReport, headline: String) throws(Failure) {
    if settings.json { return try print(json: report) }
    let names = report.interfaces.prefix(20).joined(separator: ", ")
    let more = report.interfaces.count - 20
    var lines = [
      "\(headline):",
      "  span        " + (report.from.map { "\(writtenTime($0)) to \(report.to.map(writtenTime) ?? "?")" } ?? "empty"),
      "  interfaces  \(report.interfaces.count)\(names.isEmpty ? "" : ": " + names)\(more > 0 ? " and \(more) more" : "")",
      "  size        \(settings.units.amount(UInt64(max(0, report.sizeBytes)))), schema \(report.schema), every page is sound",
    ]
    if let replaced = report.replaced { lines.append("  replaced    is kept as \(displayed(replaced))") }
    if settings.command == "restore" {
      lines += [
        "", "Start the daemon: systemctl start iftallyd. What passed since that span is counted as after any absence.",
      ]
    }
    try output.print(lines)
  }
}

/// RFC 3339 in the zone of this machine.
private func localTime(_ seconds: Int64) -> String {
  var time = time_t(seconds)
  var parts = tm()
  guard localtime_r(&time, &parts) != nil else { return "\(seconds)" }
  let offset = parts.tm_gmtoff / 60
  let zone = "\(offset < 0 ? "-" : "+")\(digits(abs(offset) / 60)):\(digits(abs(offset) % 60))"
  return "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1))-\(digits(Int(parts.tm_mday)))"
    + "T\(digits(Int(parts.tm_hour))):\(digits(Int(parts.tm_min))):\(digits(Int(parts.tm_sec)))\(zone)"
}

/// UTC, for the name of a file: "20261130T083000Z".
func fileDate(_ seconds: time_t) -> String {
  var time = seconds
  var parts = tm()
  guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
  return digits(Int(parts.tm_year) + 1900, 4) + digits(Int(parts.tm_mon) + 1) + digits(Int(parts.tm_mday)) + "T"
    + digits(Int(parts.tm_hour)) + digits(Int(parts.tm_min)) + digits(Int(parts.tm_sec)) + "Z"
}

private func digits(_ value: Int, _ width: Int = 2) -> String {
  let text = String(value)
  return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
