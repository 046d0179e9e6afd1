// Usage over time: one table of periods for each interface.
package import TallyWire

/// The lines of a usage reply.
package func render(_ reply: UsageReply, _ style: Style) -> [String] {
  var lines: [String] = []
  var marks: Set<String> = []
  for series in reply.series {
    marks.insert(series.sum.quality.completeness)
    marks.formUnion(series.points.map(\.completeness))
    lines.append(heading(series.interface, style))
    lines += series.points.isEmpty ? ["No traffic in this span."] : table(series, reply, style)
    lines.append("")
  }
  if reply.series.isEmpty { lines += ["No interface had traffic in this span.", ""] }
  let words = reply.resolution.split(separator: "_").joined(separator: " ")
  let head =
    "By \(displayed(words)), \(shortTime(reply.from)) to \(shortTime(reply.to)) (\(displayed(reply.timezone))), "
    + "as of \(writtenTime(reply.asOf))"
  let more = memberNotes(reply.series.map { ($0.interface.name, $0.interface.askedMembers) })
  return wrapped(head, to: style.width, indent: "  ") + [""] + lines + notes(marks: marks, more: more, style)
}

/// The name, and in brackets the kind, the label or labels, and whether it is gone.
func heading(_ interface: SeriesInterface, _ style: Style) -> String {
  var words = [interface.kind]
  if let label = interface.label { words.append("label \(label)") }
  if let records = interface.records { words.append("labels \(labels(records)) together") }
  if !interface.present { words.append("gone") }
  return style.tinted(displayed(fullName(interface.name, interface.title)), .strong)
    + " (\(words.map { displayed($0) }.joined(separator: ", ")))"
}

private func table(_ series: UsageSeries, _ reply: UsageReply, _ style: Style) -> [String] {
  var table = Table(
    [Column(title: title(reply.resolution), alignment: .left)] + figureColumns + [
      Column(title: "MEAN RATE", sacrifice: 4), Column(title: "", alignment: .left, sacrifice: 9),
    ])
  let asOf = Timestamp(reply.asOf)?.seconds
  let since = Timestamp(series.sum.quality.since)?.seconds
  let starts = series.points.map { Timestamp($0.start) }
  // Where a clock change lies in the table, an hour can come twice: the offset tells which.
  let showsOffset = Set(starts.map { $0?.offset }).count > 1
  let largest = series.points.map(bytes).max() ?? 0
  for (point, start) in zip(series.points, starts) {
    var rate = "-"
    if let start, let end = Timestamp(point.end), end.seconds > start.seconds {
      // Of the period in which counting began, only what came after it was counted.
      let begun = since.map { $0 < end.seconds ? max($0, start.seconds) : start.seconds } ?? start.seconds
      let elapsed = min(end.seconds, asOf ?? end.seconds) - begun
      if elapsed > 0 { rate = style.units.rate(bytes(point) / elapsed) }
    }
    let length = largest > 0 ? Int((bytes(point) / largest * 20).rounded(.up)) : 0
    table.append(
      [Cell(start.map { label($0, reply.resolution, showsOffset) } ?? point.start)]
        + figureCells(
          rx: point.rxBytes, tx: point.txBytes, completeness: point.completeness, coverage: point.coverage, style)
        + [Cell(rate), Cell(String(repeating: style.bar, count: length), .dim)])
  }
  table.append([Cell("sum", .strong)] + figureCells(series.sum, style))
  return table.lines(style)
}

private func bytes(_ point: UsagePoint) -> Double { Double(point.rxBytes) + Double(point.txBytes) }

private func title(_ resolution: String) -> String {
  switch resolution {
  case "day", "month", "year": resolution.uppercased()
  default: "START"
  }
}

private func label(_ start: Timestamp, _ resolution: String, _ showsOffset: Bool) -> String {
  switch resolution {
  case "day": start.date
  case "month": String(start.date.prefix(7))
  case "year": String(start.date.prefix(4))
  default: start.date + " " + start.time.prefix(5) + (showsOffset ? " " + start.offset : "")
  }
}

/// A boundary of periods, to the minute.
func shortTime(_ text: String) -> String {
  guard let time = Timestamp(text) else { return displayed(text) }
  return "\(time.date) \(time.time.prefix(5))"
}
