// One run of the command: the settings, the output, and the daemon's replies as values or failures.
import TallyRender
import TallyWire

/// What a command works with.
struct Session {
  let settings: Settings
  let output = Output()
  let transport: Transport

  init(_ settings: Settings) {
    self.settings = settings
    transport = Transport(
      socket: settings.socket ?? environment("IFTALLY_SOCKET") ?? Transport.defaultSocket,
      timeout: settings.timeout ?? Command.table.first { $0.name == settings.command }?.patience ?? 10)
  }

  var style: Style { output.style(settings) }

  /// A reply as a value and as the bytes that came.
  func fetch<Reply: Decodable>(
    _ type: Reply.Type, _ target: RequestTarget
  ) throws(Failure) -> (reply: Reply, json: [UInt8]) {
    try value(type, of: target, try transport.get(target))
  }

  /// What a change answers when it is stored.
  func change(_ method: String, _ target: RequestTarget, json: [UInt8]? = nil) throws(Failure) -> ExitCode {
    let (reply, json) = try value(ChangeReply.self, of: target, try transport.change(method, target, json: json))
    if settings.json { try print(json: json) } else { try output.print(render(reply, style)) }
    return .ok
  }

  private func value<Reply: Decodable>(
    _ type: Reply.Type, of target: RequestTarget, _ answer: (status: Int, body: [UInt8])
  ) throws(Failure) -> (reply: Reply, json: [UInt8]) {
    let (status, body) = answer
    guard status == 200 else { throw failure(status, body) }
    do throws(WireError) {
      return (try decode(type, from: body), body)
    } catch {
      throw Failure(
        .failed, "the daemon's answer to \(target.path) \(displayed(error.description))",
        remedy: "Versions may differ: compare iftally version with iftallyd --version.")
    }
  }

  /// Prints JSON as one line.
  func print(json: [UInt8]) throws(Failure) {
    // Between the tokens of JSON a line break is a space; within them there is none.
    let line = json.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
    try output.write(displayed(json: line) + [10])
  }

  func print(json reply: some Encodable) throws(Failure) {
    try print(json: try jsonText(reply))
  }

  /// What an answer that is no success says.
  func failure(_ status: Int, _ body: [UInt8]) -> Failure {
    guard let problem = try? decode(Problem.self, from: body) else {
      return Failure(
        .failed, "the daemon answered with HTTP status \(status) and no reason",
        remedy: "See its log: journalctl -u iftallyd.")
    }
    let exit: ExitCode =
      switch problem.code {
      case Problem.Code.loading: .noDataYet
      case Problem.Code.forbidden: .forbidden
      case Problem.Code.unknownInterface: .unknownInterface
      case Problem.Code.badParameter, Problem.Code.unknownParameter, Problem.Code.ambiguousInterface,
        Problem.Code.badTitle:
        .usage
      default: .failed
      }
    let detail = sentence(problem.detail.isEmpty ? problem.title : problem.detail)
    if exit == .noDataYet {
      return Failure(
        exit, "there is no data yet: \(detail)",
        remedy: "The daemon takes its first sample now: try again in a second.",
        problemCode: problem.code)
    }
    if exit == .unknownInterface {
      return Failure(exit, detail, remedy: "iftally interfaces lists them.", problemCode: problem.code)
    }
    return Failure(exit, detail, remedy: problem.remedy.map { sentence($0) + "." }, problemCode: problem.code)
  }
}

/// A value as JSON.
func jsonText(_ value: some Encodable) throws(Failure) -> [UInt8] {
  do throws(WireError) {
    return try encode(value)
  } catch {
    throw Failure(.failed, "the reply \(error.description)")
  }
}

/// Safe to show and without a final period.
private func sentence(_ text: String) -> String {
  let safe = displayed(text)
  return safe.hasSuffix(".") ? String(safe.dropLast()) : safe
}
