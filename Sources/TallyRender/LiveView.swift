// Live rates: a frame for a terminal, or lines for a file or a pipe.
package import TallyWire

/// One frame: at most `height` lines, none longer than the style's width.
package func liveFrame(_ reply: InterfacesReply, height: Int?, _ style: Style) -> [String] {
  var table = Table([
    Column(title: "INTERFACE", alignment: .left, shrinks: true),
    Column(title: "KIND", alignment: .left, sacrifice: 4),
    Column(title: "RECEIVING"), Column(title: "SENDING"),
    Column(title: "TODAY", sacrifice: 5),
    Column(title: "TOTAL", sacrifice: 6),
  ])
  var marks: Set<String> = []
  func amount(_ figure: Figure?) -> Cell {
    guard let figure else { return Cell("-") }
    marks.insert(figure.quality.completeness)
    let (sum, overflow) = figure.rxBytes.addingReportingOverflow(figure.txBytes)
    return Cell(style.mark(figure.quality.completeness) + style.units.amount(overflow ? .max : sum))
  }
  for interface in reply.interfaces {
    table.append([
      Cell(fullName(interface.name, interface.title), .strong), Cell(interface.kind),
      rate(interface.rate?.rxBytesPerSecond, style),
      rate(interface.rate?.txBytesPerSecond, style), amount(interface.today), amount(interface.total),
    ])
  }
  let head = ["Rates as of \(writtenTime(reply.asOf))", ""]
  var body = reply.interfaces.isEmpty ? ["No interface is present."] : table.lines(style)
  let more = memberNotes(reply.interfaces.map { ($0.name, $0.askedMembers) })
  let foot = [""] + notes(marks: marks, more: more, style)
  if let height {
    let room = max(2, height - head.count - foot.count)
    if body.count > room {
      let left = body.count - (room - 1)
      body = body.prefix(room - 1) + ["\(left) more; choose with -i NAME or --kind KIND"]
    }
  }
  return head + body + foot
}

/// One line for each interface, the estimate said in each, since lines get cut out of logs.
package func liveLines(_ reply: InterfacesReply, _ style: Style) -> [String] {
  reply.interfaces.map { interface in
    let rx = rate(interface.rate?.rxBytesPerSecond, style).text
    let tx = rate(interface.rate?.txBytesPerSecond, style).text
    let members = interface.askedMembers.map { ", counting " + $0.map { displayed($0) }.joined(separator: ", ") } ?? ""
    return "\(displayed(reply.asOf)) \(displayed(interface.name)) receiving \(rx), sending \(tx) (estimate\(members))"
  }
}

private func rate(_ bytesPerSecond: Double?, _ style: Style) -> Cell {
  guard let bytesPerSecond else { return Cell("-") }
  return Cell(style.units.rate(bytesPerSecond), bytesPerSecond > 0 ? .good : .plain)
}
