// Errors on the socket: RFC 9457 problem details with a stable code.

/// The body of every reply that is no success, of media type `application/problem+json`.
package struct Problem: Codable, Hashable, Sendable {
  package static let mediaType = "application/problem+json"

  /// The codes that clients may decide by. They travel as text, and a newer daemon may send others.
  package enum Code {
    package static let loading = "loading"
    /// No such route.
    package static let notFound = "not_found"
    package static let unknownInterface = "unknown_interface"
    package static let badParameter = "bad_parameter"
    package static let unknownParameter = "unknown_parameter"
    package static let methodNotAllowed = "method_not_allowed"
    package static let forbidden = "forbidden"
    package static let tooLarge = "too_large"
    package static let forbiddenHost = "forbidden_host"
    /// The same is being done for somebody else.
    package static let busy = "busy"
    /// As many clients follow the stream as may.
    package static let tooManyStreams = "too_many_streams"
    package static let storeUnavailable = "store_unavailable"
    package static let `internal` = "internal"
    /// The body of a change is no JSON.
    package static let unsupportedMediaType = "unsupported_media_type"
    /// A name fits several interfaces.
    package static let ambiguousInterface = "ambiguous_interface"
    /// Nothing was changed, since the store could not be written.
    package static let notStored = "not_stored"
    // Why a change is not made.
    package static let badTitle = "bad_title"
    package static let sameInterface = "same_interface"
    package static let bothPresent = "both_present"
    package static let sharesDiffer = "shares_differ"
    package static let expiredGroup = "expired_group"
    package static let merged = "merged"
    package static let forgotten = "forgotten"
    package static let unknownChange = "unknown_change"
    package static let alreadyUndone = "already_undone"
    package static let superseded = "superseded"
    package static let deleted = "deleted"
  }

  /// "urn:iftally:problem:CODE", or "about:blank".
  package var type: String
  /// A short sentence, the same for every occurrence of the code.
  package var title: String
  /// The HTTP status.
  package var status: Int
  /// This occurrence: names the thing that is wrong.
  package var detail: String
  package var code: String
  /// What to do about it.
  package var remedy: String?

  package init(code: String, status: Int, title: String, detail: String, remedy: String? = nil) {
    self.type = "urn:iftally:problem:\(code)"
    self.title = title
    self.status = status
    self.detail = detail
    self.code = code
    self.remedy = remedy
  }
}
