// The explain command.
import TallyRender
import TallyWire

/// explain NAME
func showExplanation(_ session: Session) throws(Failure) -> ExitCode {
  let settings = session.settings
  guard let name = settings.operands.first, !name.isEmpty else {
    throw Failure(
      .usage, "explain needs to know which interface",
      remedy: "Write iftally explain NAME; iftally interfaces lists them."
    )
  }
  guard settings.period == nil || settings.from == nil && settings.to == nil else {
    throw Failure(.usage, "a named period and --from or --to exclude each other")
  }
  let target = settings.chosen(.explain.with("interface", name)).with("from", settings.period ?? settings.from)
    .with("to", settings.to).with("resolution", settings.resolution)
  let (reply, json) = try session.fetch(ExplainReply.self, target)
  if settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, session.style))
  }
  return .ok
}
