// Choosing interfaces by name, id and kind.
import TallyCore
import TallyRender
import TallyWire

extension Settings {
  var selectsAll: Bool { interfaces.isEmpty && kinds.isEmpty && labels.isEmpty }

  /// The interfaces that were asked for; a name that none of them has is a failure.
  func select(_ known: [Interface]) throws(Failure) -> [Interface] {
    var chosen: Set<String> = []
    for value in interfaces {
      // A name that has the joint in it and fits as a whole comes first, as in the daemon.
      var found = try bearers(of: value, among: known)
      if found.isEmpty {
        let names = value.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else { throw emptyName(in: value) }
        for name in names {
          let bearers = try bearers(of: name, among: known)
          guard !bearers.isEmpty else { throw unknown(name, among: known) }
          found += bearers
        }
      }
      chosen.formUnion(found.map(\.id))
    }
    return known.filter { interface in
      (interfaces.isEmpty || chosen.contains(interface.id)) && (kinds.isEmpty || kinds.contains(interface.kind))
        && (labels.isEmpty || interface.label.map(labels.contains) ?? false)
    }
  }

  private func bearers(of name: String, among known: [Interface]) throws(Failure) -> [Interface] {
    let found = known.filter { $0.isCalled(name) }
    if !found.isEmpty { return found }
    // A title that several have is no choice.
    let titled = known.filter { $0.isTitled(name) }
    guard titled.count < 2 else {
      throw Failure(
        .usage, "several interfaces are called \(quoted(name)): \(titled.map(\.id).joined(separator: ", "))",
        remedy: "Name one of them by its id.")
    }
    return titled
  }

  private func unknown(_ name: String, among known: [Interface]) -> Failure {
    Failure(
      .unknownInterface, "no interface \(quoted(name)) is known",
      remedy: suggestion(for: displayed(name), among: known.map { displayed($0.name) })
        ?? "iftally interfaces lists them.")
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
  fileprivate func isCalled(_ text: String) -> Bool {
    // Bytes, and not characters: what Swift takes for one "é" may be the names of two links.
    let name = LinkName(escaped: text)
    func fits(_ id: String?, _ other: String) -> Bool { id == text || LinkName(escaped: other) == name }
    return fits(id, self.name) || merged?.contains { fits($0.id, $0.name) } ?? false
  }

  fileprivate func isTitled(_ text: String) -> Bool {
    guard let title else { return false }
    return title == text || LinkName(escaped: text).bytes == Array(title.utf8)
  }
}
