// The commands that change something, and the list of what was changed.
import Glibc
import TallyRender
import TallyWire

/// rename NAME TITLE
func rename(_ session: Session) throws(Failure) -> ExitCode {
  let operands = try operands(session, 2, "rename needs an interface and a title: iftally rename NAME TITLE")
  return try session.change(
    "POST", .title(operands[0]), json: try jsonText(TitleRequest(title: operands[1])))
}

/// merge FROM INTO
func merge(_ session: Session) throws(Failure) -> ExitCode {
  let operands = try operands(session, 2, "merge needs two interfaces: iftally merge FROM INTO")
  return try session.change("POST", .merge(operands[0]), json: try jsonText(MergeRequest(into: operands[1])))
}

/// forget NAME
func forget(_ session: Session) throws(Failure) -> ExitCode {
  let name = try operands(session, 1, "forget needs an interface: iftally forget NAME")[0]
  if !session.settings.yes, try !isConfirmed("Hide all history of \(quoted(name)), until it is undone or deleted?") {
    throw Failure(.failed, "nothing was changed")
  }
  return try session.change("DELETE", .interface(name))
}

/// undo ID
func undo(_ session: Session) throws(Failure) -> ExitCode {
  // The last change may be somebody else's: which one is meant has to be said.
  let text = try operands(session, 1, "undo needs the number of a change; iftally changes lists them")[0]
  guard let id = Int64(text), id > 0 else {
    throw Failure(.usage, "\(quoted(text)) is no number of a change", remedy: "iftally changes lists them.")
  }
  return try session.change("POST", .undo(id))
}

/// changes
func showChanges(_ session: Session) throws(Failure) -> ExitCode {
  let (reply, json) = try session.fetch(ChangesReply.self, .changes)
  if session.settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, session.style))
  }
  return .ok
}

private func operands(_ session: Session, _ count: Int, _ problem: String) throws(Failure) -> [String] {
  let operands = session.settings.operands
  guard operands.count == count, !operands[0].isEmpty else {
    throw Failure(.usage, problem, remedy: "See iftally help \(session.settings.command).")
  }
  return operands
}

/// Asks on the terminal.
private func isConfirmed(_ question: String) throws(Failure) -> Bool {
  guard isatty(0) == 1, isatty(2) == 1 else {
    throw Failure(.usage, "there is no terminal to ask for a confirmation on", remedy: "Say --yes if it is meant.")
  }
  let line = Array("\(question) [y/N] ".utf8)
  _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  return ["y", "yes"].contains(readLine()?.lowercased())
}
