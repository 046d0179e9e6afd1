// The watch command: the daemon's stream of events as lines, or a program run for each; it outlives the daemon's restarts.
import Glibc
import TallyRender
import TallyWire

/// watch [--exec -- COMMAND...]
func followEvents(_ session: Session) throws(Failure) -> ExitCode {
  try Follower(session).run()
}

/// The stream from one connection to the next.
private final class Follower {
  private let session: Session
  private let target: RequestTarget
  private let command: EventCommand?
  /// Events to show; nil: without end.
  private var left: Int?
  /// The id of the last event that was dealt with.
  private var position: UInt64?
  private var reader = EventStreamReader()
  private var failure: Failure?
  private var wasConnected = false
  private var isWaiting = false
  private var pause = shortestPause

  private static let shortestPause: UInt32 = 1
  private static let longestPause: UInt32 = 30

  init(_ session: Session) throws(Failure) {
    let settings = session.settings
    self.session = session
    left = settings.count
    guard settings.exec == !settings.operands.isEmpty else {
      throw settings.exec
        ? Failure(.usage, "--exec has no command to run", remedy: "Write iftally watch --exec -- COMMAND ARGUMENT ...")
        : Failure(
          .usage, "watch takes no argument \(quoted(settings.operands[0]))", remedy: "A command is run with --exec --.")
    }
    command = settings.exec ? EventCommand(settings.operands, seconds: settings.execTimeout) : nil
    // A program is for what happens, and rates happen all the time.
    let events = settings.events ?? StreamEvent.Kind.all.filter { !settings.exec || $0 != StreamEvent.Kind.rates }
    let interval = settings.interval ?? 10
    guard interval >= 1, interval == interval.rounded() else {
      throw Failure(.usage, "--interval of watch is a whole number of seconds from 1 to 3600")
    }
    target = settings.selected(RequestTarget.stream).with("events", events.joined(separator: ","))
      .with("interval", "\(Int(interval))")
  }

  func run() throws(Failure) -> ExitCode {
    while true {
      reader = EventStreamReader()
      let problem: Failure
      do throws(Failure) {
        let (status, body) = try session.transport.download(target, after: position) { [self] in take($0) }
        problem = status == 200 ? Failure(.unreachable, "the daemon ended the stream") : session.failure(status, body)
      } catch {
        problem = error
      }
      if let failure { throw failure }
      if left == 0 { return .ok }
      guard isPassing(problem), wasConnected || command != nil else { throw problem }
      if !isWaiting { Main.complain("iftally: \(problem.message); trying again until it is there") }
      isWaiting = true
      var rest = pause
      while rest > 0 { rest = sleep(rest) }
      pause = min(2 * pause, Follower.longestPause)
    }
  }

  /// A daemon that is not there, or has no room, may be there later; one that refuses the question will refuse it again.
  private func isPassing(_ problem: Failure) -> Bool {
    switch problem.exit {
    case .unreachable, .noDataYet: true
    // Cut off in the middle, which is how a daemon that stops or is killed ends a stream.
    case .failed: problem.problemCode == Problem.Code.tooManyStreams || wasConnected && problem.problemCode == nil
    default: false
    }
  }

  /// False when no more is wanted.
  private func take(_ bytes: [UInt8]) -> Bool {
    if isWaiting { Main.complain("iftally: following the daemon again") }
    (wasConnected, isWaiting, pause) = (true, false, Follower.shortestPause)
    do throws(WireError) {
      for block in try reader.take(bytes) {
        if !block.data.isEmpty { show(block.data) }
        if failure != nil || left == 0 { return false }
        if let id = block.id.flatMap({ UInt64($0) }) { position = id }
      }
    } catch {
      failure = Failure(.failed, "the daemon's stream \(error.description)")
    }
    return failure == nil
  }

  private func show(_ data: [UInt8]) {
    do throws(Failure) {
      let event: StreamEvent
      do throws(WireError) {
        event = try decode(StreamEvent.self, from: data)
      } catch {
        // A newer daemon may have other events.
        return
      }
      if session.settings.json {
        try session.print(json: data)
      } else {
        try session.output.print(streamLines(event, session.style))
      }
      if let command, let problem = command.run(event, json: data) { Main.complain("iftally: \(problem)") }
      left = left.map { $0 - 1 }
    } catch {
      failure = error
    }
  }
}
