// The status command.
import TallyRender
import TallyWire

/// status
func showStatus(_ session: Session) throws(Failure) -> ExitCode {
  let (reply, json) = try session.fetch(StatusReply.self, .status)
  if session.settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, verbose: session.settings.verbose, session.style))
  }
  return .ok
}
