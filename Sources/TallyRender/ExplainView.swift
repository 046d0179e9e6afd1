// An explanation: the figure, why it is what it is, its parts as a table that adds up, and the evidence.
package import TallyWire

/// The lines of an explanation.
package func render(_ reply: ExplainReply, _ style: Style) -> [String] {
  let interface = reply.interface
  let span =
    (reply.resolution == nil ? "Total since it was first seen, " : "")
    + "\(boundary(reply.from)) to \(boundary(reply.to)) (\(displayed(reply.timezone))), as of \(writtenTime(reply.asOf))"
  var lines = [heading(interface, style)]
  lines += wrapped(span, to: style.width, indent: "  ") + [""]
  lines += parts(reply, style) + [""]
  lines += reply.verdict.flatMap { wrapped(displayed($0), to: style.width, indent: "  ") } + [""]
  lines += section("Incarnations", lives(reply, style), omitted: reply.omitted.incarnations, style)
  lines += section("Counter resets", reply.resets.map(pair), omitted: reply.omitted.resets, style)
  lines += section("Gaps", reply.gaps.map(pair), omitted: reply.omitted.gaps, style)
  lines += section(
    "Placed by proportion", reply.placements.map { placement($0, style) }, omitted: reply.omitted.placements, style)
  lines += section(
    "Clock steps", reply.clockSteps.map { (writtenTime($0.at), steppedBy($0.bySeconds)) },
    omitted: reply.omitted.clockSteps, style)
  var facts = [("kind", "\(interface.kind) (\(interface.type)): \(reply.why)"), ("counts", reply.counts)]
  if let carrier = reply.carrier { facts.append(("carrier", carrier.name)) }
  if let note = reply.carrierNote { facts.append(("beside it", note)) }
  lines += section("What it counts", facts, omitted: 0, style)
  let more = memberNotes([(interface.name, interface.askedMembers)])
  return lines + notes(marks: [reply.figure.quality.completeness], more: more, style)
}

private func parts(_ reply: ExplainReply, _ style: Style) -> [String] {
  var table = Table([
    Column(title: "INCARNATION", alignment: .left, shrinks: true), Column(title: "RECEIVED"), Column(title: "SENT"),
    Column(title: "TOTAL", sacrifice: 2), Column(title: "OBSERVED", sacrifice: 3),
    Column(title: "HOW", alignment: .left, sacrifice: 4),
  ])
  for part in reply.parts {
    let (rx, tx) = (part.amounts.rxBytes, part.amounts.txBytes)
    let (sum, overflow) = rx.addingReportingOverflow(tx)
    table.append(
      [Cell(names(part))] + [rx, tx, overflow ? .max : sum].map { Cell(style.units.amount($0)) }
        + [Cell(""), Cell(part.text)])
  }
  table.append([Cell("figure", .strong)] + figureCells(reply.figure, style))
  return table.lines(style)
}

/// "3", "2, 3", "earlier", "none".
private func names(_ part: ExplainReply.Part) -> String {
  var names = part.earlier ? ["earlier"] : []
  names += part.incarnations.prefix(4).map { "\($0)" }
  if part.incarnations.count > 4 { names.append("+\(part.incarnations.count - 4)") }
  return names.isEmpty ? "none" : names.joined(separator: ", ")
}

private func lives(_ reply: ExplainReply, _ style: Style) -> [(String, String)] {
  reply.incarnations.map { life in
    let counted =
      life.counted.map {
        "\(life.closed == nil ? "until now" : "in all") received \(style.units.amount($0.rxBytes)), sent "
          + style.units.amount($0.txBytes)
      } ?? "what it counted in all was not kept when it began"
    let inode = life.inode.map { ", inode \($0)" } ?? ""
    let place = life.isWhole ? "" : "; partly in this span"
    return (
      "\(life.number)",
      "\(writtenTime(life.opened)) to \(life.closed.map(writtenTime) ?? "now"): \(life.text); \(counted)\(place) "
        + "(\(life.interface.map { "\(displayed($0)), " } ?? "")index \(life.ifindex)\(inode), boot \(life.bootID.prefix(8)))"
    )
  }
}

private func pair(_ gap: ExplainReply.Gap) -> (String, String) {
  (writtenTime(gap.from), "to \(writtenTime(gap.to)): \(gap.text)")
}

private func placement(_ placement: ExplainReply.Placement, _ style: Style) -> (String, String) {
  (
    writtenTime(placement.from),
    "to \(writtenTime(placement.to)): received \(style.units.amount(placement.rxBytes)), sent "
      + style.units.amount(placement.txBytes)
      + (placement.crossesPeriod ? "; it crosses a boundary of the figure" : "; all of it inside the figure's periods")
  )
}

private func section(_ title: String, _ pairs: [(String, String)], omitted: Int, _ style: Style) -> [String] {
  guard !pairs.isEmpty || omitted > 0 else { return [] }
  let all = (omitted > 0 ? [("", "\(omitted) older ones are not listed")] : []) + pairs
  return [style.tinted(title, .strong)] + keyed(all, style) + [""]
}

private func steppedBy(_ seconds: Double) -> String {
  "set \(seconds < 0 ? "back" : "forward") by \(writtenDuration(abs(seconds)))"
}

private func boundary(_ text: String) -> String {
  guard let time = Timestamp(text) else { return displayed(text) }
  return "\(time.date) \(time.time.prefix(5))"
}
