// Events of the stream as lines for a terminal or a log.
package import TallyWire

/// One line for an event; for rates one for each interface.
package func streamLines(_ event: StreamEvent, _ style: Style) -> [String] {
  let time = writtenTime(event.at)
  if event.event == StreamEvent.Kind.rates { return (event.interfaces ?? []).map { "\(time)  \(speed($0, style))" } }
  return ["\(time)  " + displayed(words(event))]
}

private func speed(_ speed: StreamEvent.Speed, _ style: Style) -> String {
  func written(_ bytesPerSecond: Double?) -> String { bytesPerSecond.map(style.units.rate) ?? "-" }
  return "\(displayed(speed.interface.name)) receiving \(written(speed.rate?.rxBytesPerSecond)), "
    + "sending \(written(speed.rate?.txBytesPerSecond)) (estimate)"
}

private func words(_ event: StreamEvent) -> String {
  let subject = event.interface.map { "\($0.name) (\($0.kind))" } ?? "every interface"
  let span = "from \(event.from.map(writtenTime) ?? "?") to \(event.to.map(writtenTime) ?? "?")"
  let loss = event.lossy == false ? "nothing is lost" : "bytes may be lost"
  switch event.event {
  case StreamEvent.Kind.link:
    let former = event.formerName.map { " from \($0)" } ?? ""
    let cause = event.cause.map { ": \($0.split(separator: "_").joined(separator: " "))" } ?? ""
    let life = event.incarnation.map { $0 > 1 ? ", incarnation \($0)" : "" } ?? ""
    return "\(subject) \(event.change ?? "?")\(former)\(cause)\(life)"
  case StreamEvent.Kind.reset:
    return "\(subject): its counter went back, unobserved \(span): \(loss)"
  case StreamEvent.Kind.gap:
    let reason = event.reason.map { $0.split(separator: "_").joined(separator: " ") } ?? "?"
    return "\(subject): unobserved \(span), \(reason): \(loss)"
  case StreamEvent.Kind.problem:
    let remedy = event.state == StreamEvent.State.raised ? event.remedy.map { "; \($0)" } ?? "" : ""
    return "problem \(event.state ?? "?"): \(event.code ?? "?"): \(event.message ?? "")\(remedy)"
  case StreamEvent.Kind.missed:
    switch event.reason {
    case StreamEvent.Missed.restarted: return "events may have been missed: the daemon was restarted"
    default: return "events were missed: more happened than is kept"
    }
  default:
    return "\(event.event)"
  }
}
