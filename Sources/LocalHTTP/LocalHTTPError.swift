// Everything that can fail in this target, each case naming the thing and, where there is one, the remedy.
import Glibc

package enum LocalHTTPError: Error, Equatable, CustomStringConvertible {
  /// Another process answers on this socket or port already.
  case anotherServer(String)
  /// No listening socket at `address`.
  case cannotListen(address: String, problem: String, remedy: String)
  /// The server could not be started on a listening socket, or cannot go on.
  case serverFailed(String)

  /// Nobody answers at `address`: no such socket, or nobody listens there.
  case unreachable(address: String, problem: String)
  /// The socket is there, and its mode keeps this user out.
  case forbidden(address: String)
  /// No complete answer within the time allowed.
  case timedOut(address: String, milliseconds: Int)
  /// What came back is no HTTP, or longer than the bounds of the client.
  case badAnswer(address: String, problem: String)

  package var description: String {
    switch self {
    case .anotherServer(let address): "another server answers on \(address)"
    case .cannotListen(let address, let problem, let remedy): "cannot listen on \(address): \(problem); \(remedy)"
    case .serverFailed(let problem): "the HTTP server failed: \(problem)"
    case .unreachable(let address, let problem): "nobody answers on \(address): \(problem)"
    case .forbidden(let address): "no permission to connect to \(address)"
    case .timedOut(let address, let milliseconds): "no answer from \(address) within \(milliseconds) ms"
    case .badAnswer(let address, let problem): "\(address) did not answer in HTTP: \(problem)"
    }
  }
}

/// The system's words for an error number.
func systemMessage(_ code: CInt) -> String {
  guard let text = strerror(code) else { return "error \(code)" }
  return String(cString: text)
}
