// Choosing interfaces by name, id and kind.
import TallyRender
import TallyWire

extension Settings {
  var selectsAll: Bool { interfaces.isEmpty && kinds.isEmpty && labels.isEmpty }

  /// The interfaces that were asked for; a name that none of them has is a failure.
  func select(_ known: [Interface]) throws(Failure) -> [Interface] {
    // What is shown escaped can be typed so.
    let wanted = interfaces.map { displayed($0) }
    var chosen: Set<String> = []
    for name in wanted {
      var found = known.filter { $0.isCalled(name) }
      if found.isEmpty {
        // A title that several have is no choice.
        found = known.filter { $0.title.map(displayed) == name }
        guard found.count < 2 else {
          throw Failure(
            .usage, "several interfaces are called \"\(name)\": \(found.map(\.id).joined(separator: ", "))",
            remedy: "Name one of them by its id.")
        }
      }
      guard !found.isEmpty else {
        throw Failure(
          .unknownInterface, "no interface \"\(name)\" is known",
          remedy: suggestion(for: name, among: known.map { displayed($0.name) }) ?? "iftally interfaces lists them.")
      }
      chosen.formUnion(found.map(\.id))
    }
    return known.filter { interface in
      (wanted.isEmpty || chosen.contains(interface.id)) && (kinds.isEmpty || kinds.contains(interface.kind))
        && (labels.isEmpty || interface.label.map(labels.contains) ?? false)
    }
  }

  /// The usage target with the selection in it.
  var usageTarget: RequestTarget { labels.reduce(selected(.usage)) { $0.with("label", $1) } }

  /// A target with the interfaces and kinds of the selection in it.
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

extension Interface {
  /// By id or name, its own or that of one whose figures are shown with it.
  fileprivate func isCalled(_ name: String) -> Bool {
    id == name || displayed(self.name) == name
      || merged?.contains { $0.id == name || displayed($0.name) == name } ?? false
  }
}
