// Choosing interfaces by name, id and kind.
import TallyRender
import TallyWire

extension Settings {
  var selectsAll: Bool { interfaces.isEmpty && kinds.isEmpty }

  /// The interfaces that were asked for; a name that none of them has is a failure.
  func select(_ known: [Interface]) throws(Failure) -> [Interface] {
    // What is shown escaped can be typed so.
    let wanted = interfaces.map { displayed($0) }
    for name in wanted where !known.contains(where: { $0.id == name || displayed($0.name) == name }) {
      throw Failure(
        .unknownInterface, "no interface \"\(name)\" is known",
        remedy: suggestion(for: name, among: known.map { displayed($0.name) }) ?? "iftally interfaces lists them.")
    }
    return known.filter { interface in
      (wanted.isEmpty || wanted.contains(interface.id) || wanted.contains(displayed(interface.name)))
        && (kinds.isEmpty || kinds.contains(interface.kind))
    }
  }

  /// The usage target with the selection in it.
  var usageTarget: RequestTarget { selected(.usage) }

  /// A target with the selection in it.
  func selected(_ target: RequestTarget) -> RequestTarget {
    let named = interfaces.reduce(target) { $0.with("interface", $1) }
    return kinds.reduce(named) { $0.with("kind", $1) }
  }
}

extension Session {
  /// The interfaces that were asked for, as a reply and as its JSON. What is passed on whole keeps the fields that
  /// this version does not know.
  func selectedInterfaces() throws(Failure) -> (reply: InterfacesReply, json: [UInt8]) {
    var (reply, json) = try fetch(InterfacesReply.self, .interfaces)
    guard !settings.selectsAll else { return (reply, json) }
    reply.interfaces = try settings.select(reply.interfaces)
    return (reply, try jsonText(reply))
  }
}
