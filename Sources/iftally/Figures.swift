// The commands that show traffic: the summary, live rates, interfaces, and usage by periods.
import Glibc
import TallyRender
import TallyWire

/// Without a command.
func showSummary(_ session: Session) throws(Failure) -> ExitCode {
  let settings = session.settings
  let current = try session.selectedInterfaces()
  var yesterday: (reply: UsageReply, json: [UInt8])?
  var thisMonth: (reply: UsageReply, json: [UInt8])?
  var problem: String?
  do throws(Failure) {
    let target = settings.chosen(.usage)
    yesterday = try session.fetch(
      UsageReply.self, target.with("from", "yesterday").with("to", "yesterday").with("resolution", "day"))
    thisMonth = try session.fetch(
      UsageReply.self, target.with("from", "this-month").with("to", "now").with("resolution", "month"))
  } catch {
    // The present can be told without the past.
    guard [Problem.Code.storeUnavailable, Problem.Code.loading].contains(error.problemCode) else { throw error }
    problem = error.message
  }
  if settings.json {
    let null = Array("null".utf8)
    var bytes = Array(#"{"interfaces":"#.utf8) + current.json
    bytes += Array(#","nature":"\#(natureEstimate)","this_month":"#.utf8) + (thisMonth?.json ?? null)
    bytes += Array(#","yesterday":"#.utf8) + (yesterday?.json ?? null) + Array("}".utf8)
    try session.print(json: bytes)
    return .ok
  }
  let summary = Summary(
    asOf: current.reply.asOf, interfaces: current.reply.interfaces, yesterday: yesterday?.reply,
    thisMonth: thisMonth?.reply,
    historyProblem: problem, showsAll: settings.all || !settings.interfaces.isEmpty)
  try session.output.print(render(summary, session.style))
  return .ok
}

/// interfaces
func showInterfaces(_ session: Session) throws(Failure) -> ExitCode {
  let (reply, json) = try session.selectedInterfaces()
  if session.settings.json {
    try session.print(json: json)
  } else if session.settings.namesAlone {
    try session.output.print(reply.interfaces.map { typable($0.name) })
  } else {
    try session.output.print(render(reply, verbose: session.settings.verbose, session.style))
  }
  return .ok
}

/// minutes, fives, hours, days, months, years, usage
func showUsage(_ session: Session, resolution: String, span: String, limit: Int?) throws(Failure) -> ExitCode {
  let settings = session.settings
  // A span back from now says nothing about a table that ends earlier: there the number of periods decides.
  let from = settings.from ?? (settings.to == nil ? span : "all")
  let count = settings.limit ?? (settings.from == nil ? limit : nil)
  let target = settings.chosen(.usage).with("from", from).with("to", settings.to).with("resolution", resolution)
    .with("limit", count.map { "\($0)" })
  let (reply, json) = try session.fetch(UsageReply.self, target)
  if settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, session.style))
  }
  return .ok
}

/// rules
func showRules(_ session: Session) throws(Failure) -> ExitCode {
  let (reply, json) = try session.fetch(RulesReply.self, .rules)
  if session.settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, verbose: session.settings.verbose, session.style))
  }
  return .ok
}

/// totals
func showTotals(_ session: Session) throws(Failure) -> ExitCode {
  let settings = session.settings
  let target = RequestTarget.totals.with("from", settings.from ?? (settings.to == nil ? "today" : nil))
    .with("to", settings.to)
  let (reply, json) = try session.fetch(TotalsReply.self, target)
  if settings.json {
    try session.print(json: json)
  } else {
    try session.output.print(render(reply, session.style))
  }
  return .ok
}

/// live
func showLive(_ session: Session) throws(Failure) -> ExitCode {
  let settings = session.settings
  var due = timespec()
  clock_gettime(CLOCK_MONOTONIC, &due)
  var drawn = 0
  var left = settings.count
  while left != 0 {
    var (reply, json) = try session.selectedInterfaces()
    if settings.interfaces.isEmpty { reply.interfaces.removeAll { !$0.present } }
    let style = session.style
    if settings.json {
      try session.print(json: json)
    } else if session.output.isTerminal {
      let frame = liveFrame(reply, height: session.output.height.map { $0 - 1 }, style)
      // Draws over the last frame line by line, so that nothing flickers and nothing has to be restored at the end.
      let back = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
      try session.output.write(Array((back + frame.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J").utf8))
      drawn = frame.count
    } else {
      try session.output.print(liveLines(reply, style))
    }
    left = left.map { $0 - 1 }
    if left == 0 { break }
    wait(&due, settings.interval ?? 1)
  }
  return .ok
}

/// Waits for the next multiple of the interval; one that was missed is not made up for.
private func wait(_ due: inout timespec, _ interval: Double) {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  let step = Int(interval * 1e9)
  var next = due.tv_sec * 1_000_000_000 + due.tv_nsec
  let present = now.tv_sec * 1_000_000_000 + now.tv_nsec
  next += max(1, (present - next) / step + 1) * step
  due = timespec(tv_sec: next / 1_000_000_000, tv_nsec: next % 1_000_000_000)
  while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nil) == EINTR {}
}
