// Backups and examinations of the store: who may ask for them, and how the answers find their clients.
import Glibc
import LocalHTTP
import TallyStore

/// What clients wait for that the store's reader does: one copy at a time, and one examination for all who ask meanwhile.
final class Upkeep {
  /// Has a commit made of what is counted.
  var commit: () -> Void = {}

  private let workers: StoreWorkers
  private let history: History
  /// The copy lacks what came while another commit was on its way.
  private var isLate = false
  private var copied: ((Result<StoreCopy, StoreError>) -> Void)?
  private var checked: [(StoreError?) -> Void] = []

  init(_ workers: StoreWorkers, _ history: History) {
    self.workers = workers
    self.history = history
    history.upkeepDone = { [unowned self] in take($0) }
  }

  var isCopying: Bool { copied != nil }

  /// Has the store copied with what is counted up to now; `then` is called in the loop's thread, and has the descriptor to close.
  func copy(then: @escaping (Result<StoreCopy, StoreError>) -> Void) {
    copied = then
    commit()
    isLate = history.isBehind
    workers.copy()
  }

  /// Has the whole file examined; `then` is given what is wrong.
  func check(then: @escaping (StoreError?) -> Void) {
    checked.append(then)
    if checked.count == 1 { workers.check() }
  }

  private func take(_ result: StoreResult) {
    switch result {
    case .copied(.success(let early)) where isLate:
      close(early.descriptor)
      commit()
      isLate = false
      workers.copy()
    case .copied(let outcome):
      let then = copied
      copied = nil
      then?(outcome)
    case .checked(let error):
      let all = checked
      checked = []
      for then in all { then(error) }
    default: break
    }
  }
}

extension Api {
  /// The store as a file, with everything that is counted up to now.
  func backup(_ request: HTTPRequest, _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    guard request.method == "GET" else { throw .methodNotAllowed(request.method, allowed: ["GET"]) }
    // It is no more than everybody may read, but costs as much disk and time as the store is large.
    guard isTrusted(request.peer) else {
      throw .forbidden(
        "a backup is for root and the group \(authority.group), through the Unix socket",
        remedy: "run it with sudo, or join the group (usermod -aG \(authority.group) USER) and log in again")
    }
    _ = try present()
    guard !upkeep.isCopying else { throw .busy }
    upkeep.copy { outcome in
      switch outcome {
      case .failure(let error): exchange.respond(RequestError.storeUnavailable(error).response)
      case .success(let copy):
        let head = HTTPResponse(
          status: 200, contentType: "application/vnd.sqlite3", headers: commonHeaders, body: [])
        exchange.respond(head, file: copy.descriptor, length: copy.length)
      }
    }
    return .later
  }

  /// Root, the daemon's own user and the group of those who may change things; over TCP nobody.
  private func isTrusted(_ peer: PeerCredentials?) -> Bool {
    peer.map { authority.admits($0) || $0.uid == geteuid() } ?? false
  }
}
