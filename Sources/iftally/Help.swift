// The help texts, made from the tables of commands and options.
import TallyWire

/// help [COMMAND]
func showHelp(_ session: Session) throws(Failure) -> ExitCode {
  if let name = session.settings.operands.first {
    try session.output.print(help(try Command.named(name)))
  } else {
    try session.output.print(overview())
  }
  return .ok
}

/// version
func showVersion(_ session: Session) throws(Failure) -> ExitCode {
  try session.output.print([session.settings.json ? #"{"version":"\#(iftallyVersion)"}"# : "iftally \(iftallyVersion)"])
  return .ok
}

func help(_ command: Command) -> [String] {
  let name = command.name.isEmpty ? "" : " \(command.name)"
  let operand = command.operand.map { " \($0)" } ?? ""
  return ["usage: iftally\(name)\(operand) [OPTION...]", "", command.summary + ".", "", "Options:"]
    + aligned(command.options.map { (written($0), $0.help) })
}

func overview() -> [String] {
  ["usage: iftally [COMMAND] [OPTION...]", "", "The traffic of this machine's network interfaces, as estimates.", ""]
    + ["Commands:"] + aligned(Command.table.map { ($0.name.isEmpty ? "(none)" : $0.name, $0.summary) })
    + ["", "Options of most commands:"]
    + aligned((Option.selection + Option.figures + Option.common).map { (written($0), $0.help) })
    + [
      "", "iftally help COMMAND describes one command. All is told in iftally(1).",
      "Exit codes: 0 ok, 1 error, 2 usage, 3 daemon unreachable, 4 forbidden,",
      "5 no data yet, 6 unknown interface.",
    ]
}

private func written(_ option: Option) -> String {
  (option.short.map { "-\($0), " } ?? "    ") + "--\(option.long)" + (option.value.map { " \($0)" } ?? "")
}

private func aligned(_ pairs: [(String, String)]) -> [String] {
  let width = pairs.map(\.0.count).max() ?? 0
  return pairs.map { "  " + $0 + String(repeating: " ", count: width - $0.count + 2) + $1 }
}
