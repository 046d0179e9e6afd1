// Errors on the socket: RFC 9457 problem+json with stable codes, and a remedy where there is one.
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

/// A request that cannot be answered as asked.
struct RequestError: Error {
  var code: String
  var status: Int
  var title: String
  var detail: String
  var remedy: String?
  var headers: [(name: String, value: String)] = []

  static func badParameter(_ name: String, _ detail: String, remedy: String? = nil) -> RequestError {
    RequestError(
      code: Problem.Code.badParameter, status: 400, title: "A parameter has no usable value",
      detail: "\(name): \(detail)", remedy: remedy)
  }

  static func unknownKind(_ word: Substring) -> RequestError {
    .badParameter(
      "kind", "there is no kind '\(word)'", remedy: "one of " + Kind.allCases.map(\.rawValue).joined(separator: ", "))
  }

  static func unknownParameter(_ name: String, allowed: [String]) -> RequestError {
    RequestError(
      code: Problem.Code.unknownParameter, status: 400, title: "Unknown parameter",
      detail: "there is no parameter '\(name)' here",
      remedy: allowed.isEmpty
        ? "this route takes no parameters" : "it takes " + allowed.joined(separator: ", "))
  }

  static func unknownInterface(_ name: String) -> RequestError {
    RequestError(
      code: Problem.Code.unknownInterface, status: 404, title: "Unknown interface",
      detail: "no interface '\(name)' is known in this network namespace",
      remedy: "GET /v1/interfaces lists those that are")
  }

  static func member(_ name: String, of group: String) -> RequestError {
    RequestError(
      code: Problem.Code.unknownInterface, status: 404, title: "Unknown interface",
      detail: "'\(name)' is no interface of its own: it is counted in the group \(group)",
      remedy: "name the group if all of it is meant")
  }

  static func tooMuch(_ detail: String) -> RequestError {
    RequestError(
      code: Problem.Code.badParameter, status: 400, title: "The answer would be too long", detail: detail,
      remedy: "ask for a shorter span, a coarser resolution, fewer interfaces or a limit")
  }

  static let loading = RequestError(
    code: Problem.Code.loading, status: 503, title: "No data yet",
    detail: "the first sample has not been taken", remedy: "ask again in a second",
    headers: [(name: "Retry-After", value: "1")])

  static let notFound = RequestError(
    code: Problem.Code.notFound, status: 404, title: "No such route", detail: "nothing is served at this path",
    remedy: "GET /v1/status, /v1/interfaces, /v1/interfaces/NAME, /v1/usage, /v1/explain, /v1/totals, /v1/rules, "
      + "/v1/changes, /v1/stream, /v1/backup, /metrics or /")

  static func methodNotAllowed(_ method: String, allowed: [String]) -> RequestError {
    RequestError(
      code: Problem.Code.methodNotAllowed, status: 405, title: "Method not allowed",
      detail: "\(method) is not served at this path", remedy: "use \(allowed.joined(separator: " or "))",
      headers: [(name: "Allow", value: allowed.joined(separator: ", "))])
  }

  static func forbidden(_ detail: String, remedy: String) -> RequestError {
    RequestError(
      code: Problem.Code.forbidden, status: 403, title: "Not permitted", detail: detail, remedy: remedy)
  }

  static let busy = RequestError(
    code: Problem.Code.busy, status: 503, title: "Busy", detail: "the store is being copied for somebody else",
    remedy: "ask again in a moment", headers: [(name: "Retry-After", value: "5")])

  static let tooManyStreams = RequestError(
    code: Problem.Code.tooManyStreams, status: 503, title: "Too many streams",
    detail: "\(Streams.most) clients follow the stream already", remedy: "end one of them, or ask again later",
    headers: [(name: "Retry-After", value: "30")])

  static func storeUnavailable(_ error: StoreError) -> RequestError {
    RequestError(
      code: Problem.Code.storeUnavailable, status: 503, title: "The history cannot be read",
      detail: error.what,
      remedy: (error.remedy.map { "\($0); " } ?? "") + "present totals are served all the same",
      headers: [(name: "Retry-After", value: "60")])
  }

  static func `internal`(_ detail: String) -> RequestError {
    RequestError(code: Problem.Code.internal, status: 500, title: "Internal error", detail: detail, remedy: nil)
  }

  // MARK: Changes

  static let unsupportedMediaType = RequestError(
    code: Problem.Code.unsupportedMediaType, status: 415, title: "Unsupported media type",
    detail: "a change is asked for in JSON, or without a body", remedy: "send Content-Type: application/json")

  static func badBody(_ detail: String) -> RequestError {
    RequestError(
      code: Problem.Code.badParameter, status: 400, title: "A parameter has no usable value",
      detail: "the body \(detail)", remedy: #"for example {"title": "Office"} or {"into": "id:3"}"#)
  }

  static func ambiguous(_ name: String, _ ids: [String]) -> RequestError {
    RequestError(
      code: Problem.Code.ambiguousInterface, status: 409, title: "Several interfaces have this name",
      detail: "'\(name)' fits \(ids.joined(separator: ", "))", remedy: "name one of them by its id")
  }

  static func notStored(_ detail: String) -> RequestError {
    RequestError(
      code: Problem.Code.notStored, status: 503, title: "The change could not be stored",
      detail: "nothing was changed: \(detail)", remedy: "GET /v1/status says how the store is; then ask again")
  }

  /// `what`: the interfaces or the change that it is about.
  static func refused(_ error: ChangeError, _ what: String) -> RequestError {
    func conflict(_ code: String, _ detail: String, _ remedy: String, status: Int = 409) -> RequestError {
      RequestError(
        code: code, status: status, title: "The change cannot be made", detail: detail, remedy: remedy)
    }
    return switch error {
    case .badTitle(let problem):
      conflict(
        Problem.Code.badTitle, "the title cannot be used: \(problem)",
        "at most \(longestTitle) bytes of text; an empty title takes it away", status: 400)
    case .sameInterface:
      conflict(Problem.Code.sameInterface, "an interface cannot be merged into itself", "name two interfaces")
    case .bothPresent:
      conflict(
        Problem.Code.bothPresent, "\(what) are both there now, so they are two interfaces",
        "merge one that is gone")
    case .sharesDiffer:
      conflict(
        Problem.Code.sharesDiffer, "of \(what) a machine total adds one and not the other",
        "merge interfaces that both cross a medium, or neither; GET /v1/totals tells which do")
    case .expiredGroup:
      conflict(
        Problem.Code.expiredGroup, "of \(what) one is a group of expired links, which grows as more expire",
        "leave it apart; a title keeps a link from expiring")
    case .merged(let target):
      conflict(
        Problem.Code.merged, "\(what): one is shown with id:\(target) and is no interface of its own",
        "name id:\(target), or undo the merge")
    case .forgotten:
      conflict(Problem.Code.forgotten, "the history of \(what) is forgotten", "undo that change first")
    case .unknownChange:
      conflict(
        Problem.Code.unknownChange, "there is no change \(what)", "GET /v1/changes lists them", status: 404)
    case .alreadyUndone:
      conflict(Problem.Code.alreadyUndone, "change \(what) is undone already", "make it again if it is wanted")
    case .superseded(let later):
      conflict(
        Problem.Code.superseded, "change \(later) came after change \(what)", "undo change \(later) first")
    case .deleted:
      conflict(
        Problem.Code.deleted, "what change \(what) was about is deleted",
        "ForgottenDays= in [Store] says how long forgotten history is kept")
    }
  }

  var response: HTTPResponse {
    let problem = Problem(code: code, status: status, title: title, detail: detail, remedy: remedy)
    return HTTPResponse(
      status: status, contentType: Problem.mediaType, headers: headers + commonHeaders,
      body: (try? encode(problem)) ?? [])
  }
}

extension RequestError {
  /// The words for a request that never reached a route.
  init(_ refusal: HTTPRefusal) {
    let code =
      switch refusal {
      case .forbiddenHost: Problem.Code.forbiddenHost
      case .bodyTooLarge: Problem.Code.tooLarge
      default: Problem.Code.badParameter
      }
    self.init(
      code: code, status: refusal.status, title: "The request was refused", detail: refusal.detail, remedy: nil)
  }
}

/// Figures are of one moment and anybody's: nothing may be kept or guessed about them.
let commonHeaders: [(name: String, value: String)] = [
  (name: "Cache-Control", value: "no-store"), (name: "X-Content-Type-Options", value: "nosniff"),
]
