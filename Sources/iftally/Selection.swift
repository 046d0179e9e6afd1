// Choosing interfaces by name, id, kind and label: the daemon does, so that every question means the same.
import TallyRender
import TallyWire

extension Settings {
  var selectsAll: Bool { interfaces.isEmpty && kinds.isEmpty && labels.isEmpty }

  /// A target with the selection in it.
  func chosen(_ target: RequestTarget) -> RequestTarget { labels.reduce(selected(target)) { $0.with("label", $1) } }

  /// A target with the interfaces and kinds of the selection in it.
  func selected(_ target: RequestTarget) -> RequestTarget {
    let named = interfaces.reduce(target) { $0.with("interface", $1) }
    return kinds.reduce(named) { $0.with("kind", $1) }
  }
}

extension Session {
  /// The interfaces that were asked for, as a reply and as the JSON that came; a name that is unknown is a failure.
  func selectedInterfaces() throws(Failure) -> (reply: InterfacesReply, json: [UInt8]) {
    do throws(Failure) {
      return try fetch(InterfacesReply.self, settings.chosen(.interfaces))
    } catch {
      guard error.exit == .unknownInterface else { throw error }
      let known = try fetch(InterfacesReply.self, .interfaces).reply.interfaces.map { displayed($0.name) }
      let named = settings.interfaces.flatMap { $0.split(separator: "+").map { displayed(String($0)) } }
      let mistyped = named.filter { !known.contains($0) }
      var told = error
      told.remedy = mistyped.compactMap { suggestion(for: $0, among: known) }.first ?? error.remedy
      throw told
    }
  }
}
