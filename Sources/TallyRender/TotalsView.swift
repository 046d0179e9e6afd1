// The machine's total: its parts by kind and label, tunnels beside their carriers, and what was not added.
package import TallyWire

/// A host of containers has thousands.
private let mostReasons = 40

/// The lines of a machine total.
package func render(_ reply: TotalsReply, _ style: Style) -> [String] {
  let head =
    "Machine total, \(shortTime(reply.from)) to \(shortTime(reply.to)) (\(displayed(reply.timezone))), "
    + "as of \(writtenTime(reply.asOf))"
  var lines = wrapped(head, to: style.width, indent: "  ") + [""] + parts(reply, style) + [""]
  if !reply.tunnels.isEmpty { lines += ["Tunnels, inside what their carriers count:"] + tunnels(reply, style) + [""] }
  if !reply.notAdded.isEmpty {
    let shown = reply.notAdded.prefix(mostReasons).map {
      (displayed(fullName($0.interface.name, $0.interface.title)), reason($0, style))
    }
    let rest = reply.notAdded.count - shown.count
    lines += ["Not added:"] + keyed(shown, style)
    if rest > 0 { lines.append("  and \(counted(rest, "more interface")), which --json lists") }
    lines.append("")
  }
  let figures = [reply.total] + reply.tunnels.map(\.figure)
  var more: [String] = []
  if !reply.tunnels.isEmpty {
    more.append("Ratio: bytes of the carrier for each byte of the tunnel; the carrier's other traffic is in it.")
  }
  return lines + notes(marks: Set(figures.map(\.quality.completeness)), more: more, style)
}

private func parts(_ reply: TotalsReply, _ style: Style) -> [String] {
  var table = Table(
    [
      Column(title: "TOTAL OF", alignment: .left, shrinks: true),
      Column(title: "INTERFACES", alignment: .left, sacrifice: 1),
    ] + figureColumns)
  func append(_ title: String, _ interfaces: [InterfaceReference], _ figure: Figure, _ tint: Tint = .plain) {
    let names = interfaces.prefix(3).map(\.name).joined(separator: " ")
    let more = interfaces.count > 3 ? " +\(interfaces.count - 3)" : ""
    table.append([Cell(title, tint), Cell(names + more)] + figureCells(figure, style))
  }
  for part in reply.byKind { append(part.name ?? "", part.interfaces, part.figure) }
  for part in reply.byLabel { append(part.name.map { "\"\($0)\"" } ?? "without a label", part.interfaces, part.figure) }
  append("this machine", [], reply.total, .strong)
  return table.lines(style)
}

private func tunnels(_ reply: TotalsReply, _ style: Style) -> [String] {
  var table = Table(
    [
      Column(title: "TUNNEL", alignment: .left, shrinks: true),
      Column(title: "CARRIER", alignment: .left, sacrifice: 1),
    ] + figureColumns + [Column(title: "RATIO")])
  for tunnel in reply.tunnels {
    table.append(
      [
        Cell(fullName(tunnel.interface.name, tunnel.interface.title), .strong),
        Cell(tunnel.carriers.map(\.name).joined(separator: " ")),
      ]
        + figureCells(tunnel.figure, style) + [Cell(tunnel.carrierRatio.map { writtenRatio($0) } ?? "-")])
  }
  return table.lines(style)
}

/// Two digits after the point, rounded to the nearest.
func writtenRatio(_ ratio: Double) -> String {
  guard ratio.isFinite, ratio < 1e12 else { return "-" }
  let hundredths = Int((ratio * 100).rounded())
  let rest = String(hundredths % 100)
  return "\(hundredths / 100).\(rest.count < 2 ? "0" : "")\(rest)"
}

private func reason(_ entry: TotalsInterface, _ style: Style) -> String {
  let (sum, overflow) = entry.figure.rxBytes.addingReportingOverflow(entry.figure.txBytes)
  let mark = style.mark(entry.figure.quality.completeness)
  return "\(mark)\(style.units.amount(overflow ? .max : sum)): \(entry.why)"
}
