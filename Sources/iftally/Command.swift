// The table of commands: what each is called, says of itself, takes and does.

/// One command.
struct Command: Sendable {
  /// Empty: what runs when no command is named.
  var name: String
  var summary: String
  var options: [Option]
  /// What may follow its name, for the help; nil: nothing.
  var operand: String?
  /// More than one operand may follow.
  var takesMany = false
  /// Seconds for an answer unless told otherwise.
  var patience = 10.0
  var run: @Sendable (Session) throws(Failure) -> ExitCode

  static let table = [
    Command(
      name: "", summary: "Today, yesterday, this month and total of each interface",
      options: Option.selection + [.all] + Option.figures + Option.common, run: showSummary),
    Command(
      name: "live", summary: "Rates each second; lines where output is no terminal",
      options: Option.repetition + Option.selection + Option.figures + Option.common, run: showLive),
    Command(
      name: "watch", summary: "Follow what happens; run a program for it",
      options: Option.following + Option.selection.filter { $0.long != "label" } + Option.figures
        + Option.common, operand: "[COMMAND...]",
      takesMany: true, patience: 90, run: followEvents),
    Command(
      name: "interfaces", summary: "Kind, state, total, addresses of what is known",
      options: [.verbose, .names] + Option.selection + Option.figures + Option.common, run: showInterfaces),
    periods("minutes", "minute", span: "60m", limit: 60, "last hour by minute"),
    periods("fives", "five_minutes", span: "5h", limit: 60, "last five hours by five minutes"),
    periods("hours", "hour", span: "24h", limit: 24, "last 24 hours"),
    periods("days", "day", span: "30d", limit: 30, "last 30 days"),
    periods("months", "month", span: "all", limit: 12, "last 12 months"),
    periods("years", "year", span: "all", limit: nil, "all years"),
    Command(
      name: "usage", summary: "Traffic of any span by any period (default: today by hour)",
      options: [.resolution] + Option.span + Option.selection + Option.figures + Option.common
    ) { session throws(Failure) in
      try showUsage(session, resolution: session.settings.resolution ?? "hour", span: "today", limit: nil)
    },
    Command(
      name: "explain", summary: "What a figure is made of (default: the total)",
      options: [.label] + Option.periods + Option.bounds + [.resolution] + Option.figures + Option.common,
      operand: "NAME", run: showExplanation),
    Command(
      name: "totals", summary: "The machine's total, each byte once; what is not in it",
      options: Option.bounds + Option.figures + Option.common, run: showTotals),
    Command(
      name: "rules", summary: "What links are called and counted as, rule by rule",
      options: [.verbose] + Option.common, run: showRules),
    Command(
      name: "rename", summary: "Give an interface a title; an empty one takes it away", options: Option.common,
      operand: "NAME TITLE", run: rename),
    Command(
      name: "merge", summary: "Show one interface's history with another's", options: Option.common,
      operand: "FROM INTO", run: merge),
    Command(
      name: "forget", summary: "Hide an interface's history, and later delete it", options: [.yes] + Option.common,
      operand: "NAME", run: forget),
    Command(name: "changes", summary: "What was renamed, merged, forgotten", options: Option.common, run: showChanges),
    Command(name: "undo", summary: "Take a change back", options: Option.common, operand: "ID", run: undo),
    Command(
      name: "status", summary: "How the daemon is: samples, store, clock, gaps",
      options: [.verbose] + Option.common, run: showStatus),
    Command(
      name: "doctor", summary: "Examine socket, daemon and numbers; name remedies",
      options: Option.common, patience: 120, run: examine),
    Command(
      name: "backup", summary: "Write the whole history to a file, and verify it",
      options: [.force] + Option.units + Option.common, operand: "FILE", patience: 600, run: makeBackup),
    Command(
      name: "restore", summary: "Put a backup in the place of a stopped daemon's store",
      options: [.directory] + Option.units + Option.common, operand: "FILE", run: restoreBackup),
    Command(name: "version", summary: "The version of this command", options: Option.common, run: showVersion),
    Command(
      name: "help", summary: "Describe the commands, or one of them", options: Option.common, operand: "[COMMAND]",
      run: showHelp),
  ]

  /// Each once, for reading the command line before the command is known.
  static let everyOption = table.flatMap(\.options).reduce(into: [Option]()) { unique, option in
    if !unique.contains(where: { $0.long == option.long }) { unique.append(option) }
  }

  static func named(_ name: String) throws(Failure) -> Command {
    if let command = table.first(where: { $0.name == name }) { return command }
    throw Failure(
      .usage, "there is no command \(quoted(name))",
      remedy: suggestion(for: name, among: table.map(\.name)) ?? "See iftally help.")
  }

  private static func periods(
    _ name: String, _ resolution: String, span: String, limit: Int?, _ what: String
  ) -> Command {
    Command(
      name: name, summary: "Traffic and mean rate, \(what)",
      options: Option.span + Option.selection + Option.figures + Option.common
    ) { session throws(Failure) in
      try showUsage(session, resolution: resolution, span: span, limit: limit)
    }
  }
}
