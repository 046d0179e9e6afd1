// Bytes from the daemon: the one place that knows the HTTP client.
import LocalHTTP
import TallyRender
import TallyWire

/// The connection to the daemon, kept for the life of the command.
final class Transport {
  static let defaultSocket = "/run/iftally/iftally.sock"

  let socket: String
  private let client: HTTPClient

  init(socket: String, timeout: Double) {
    self.socket = socket
    self.client = HTTPClient(.unix(socket), timeoutMilliseconds: Int(timeout * 1000))
  }

  /// The status and body of an answer, whatever the status.
  func get(_ target: RequestTarget) throws(Failure) -> (status: Int, body: [UInt8]) {
    do throws(LocalHTTPError) {
      let answer = try client.get(target.text)
      return (answer.status, answer.body)
    } catch {
      throw failure(error)
    }
  }

  /// The status of an answer of any length; the body of a 200 goes to `sink`, any other is returned.
  /// `id`: where an event stream goes on.
  func download(
    _ target: RequestTarget, after id: UInt64? = nil, _ sink: @escaping ([UInt8]) -> Bool
  ) throws(Failure) -> (status: Int, body: [UInt8]) {
    do throws(LocalHTTPError) {
      let answer = try client.download(target.text, lastEventID: id, sink)
      return (answer.status, answer.body)
    } catch {
      throw failure(error)
    }
  }

  /// The same of a change.
  func change(_ method: String, _ target: RequestTarget, json: [UInt8]?) throws(Failure) -> (status: Int, body: [UInt8])
  {
    do throws(LocalHTTPError) {
      let answer = try client.change(method, target.text, json: json)
      return (answer.status, answer.body)
    } catch {
      var failure = failure(error)
      if case .timedOut = error { failure.remedy = "It may still be made: iftally changes tells." }
      throw failure
    }
  }

  private func failure(_ error: LocalHTTPError) -> Failure {
    let place = displayed(socket)
    switch error {
    case .unreachable(_, let problem):
      return Failure(
        .unreachable, "no daemon answers on \(place) (\(displayed(problem)))",
        remedy: "Start it with: systemctl start iftallyd. If its socket is elsewhere: --socket PATH.")
    case .forbidden:
      return Failure(
        .forbidden, "you may not connect to \(place)",
        remedy: SocketFacts(socket).remedy + " iftally doctor tells more.")
    case .timedOut(_, let milliseconds):
      return Failure(
        .unreachable, "the daemon on \(place) gave no answer within \(writtenDuration(Double(milliseconds) / 1000))",
        remedy: "See what it does: systemctl status iftallyd; journalctl -u iftallyd.")
    default:
      return Failure(
        .failed, "what answers on \(place) is no iftally daemon: \(displayed(error.description))",
        remedy: "See who listens there: ss -xlp.")
    }
  }
}
