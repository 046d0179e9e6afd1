// How the graph of links is made: what carries each, what leads outside, and the words that say so.

/// The links while their graph is made.
struct GraphLinks {
  typealias Link = (facts: LinkFacts, designation: Designation)

  let byIndex: [UInt32: Link]
  private let byName: [LinkName: UInt32]
  /// By ifindex of the link above.
  private let members: [UInt32: [UInt32]]
  private let routes: RouteFacts
  private let hasMedium: Bool
  /// Where there is no hardware: the links whose other end is elsewhere that lead outside, and why nothing does for sure.
  private var outside: Set<UInt32> = []
  private var outsideIsUnclear = false

  init(_ links: [Link], _ routes: RouteFacts) {
    byIndex = Dictionary(links.map { ($0.facts.ifindex, $0) }, uniquingKeysWith: { first, _ in first })
    byName = Dictionary(links.map { ($0.facts.name, $0.facts.ifindex) }, uniquingKeysWith: { first, _ in first })
    members = Dictionary(
      grouping: links.lazy.map(\.facts).filter { $0.master != 0 && $0.master != $0.ifindex }, by: \.master
    )
    .mapValues { $0.map(\.ifindex).sorted() }
    self.routes = routes
    hasMedium = links.contains { $0.designation.classification.touchesMedium && $0.designation.set.isIgnored != true }
  }

  // MARK: What carries a link

  func carriers(of link: Link) -> [CarrierEdge] {
    let facts = link.facts
    if let name = link.designation.set.carrier, let carrier = byName[name], carrier != facts.ifindex {
      return [CarrierEdge(ifindex: carrier, basis: .rule(link.designation.rule ?? ""))]
    }
    if collectsMembers(link) {
      return (members[facts.ifindex] ?? []).map { CarrierEdge(ifindex: $0, basis: .member) }
    }
    if facts.lower != 0, !facts.lowerIsElsewhere, !isPair(facts), facts.lower != facts.ifindex,
      byIndex[facts.lower] != nil
    {
      return [CarrierEdge(ifindex: facts.lower, basis: .lower)]
    }
    if case .over(let links) = routes.endpoints[facts.ifindex] {
      return links.filter { $0 != facts.ifindex && byIndex[$0] != nil }
        .map { CarrierEdge(ifindex: $0, basis: .route) }
    }
    switch routes.sessions[facts.ifindex] {
    case .l2tp(let lower)? where byIndex[lower] != nil && lower != facts.ifindex:
      return [CarrierEdge(ifindex: lower, basis: .session("L2TP"))]
    case .pppoe(let lower)? where lower.count == 1 && byIndex[lower[0]] != nil && lower[0] != facts.ifindex:
      return [CarrierEdge(ifindex: lower[0], basis: .session("PPPoE"))]
    default: break
    }
    // A virtual function under netvsc or net_failover: the one kind of hardware that names a link above it and is no port.
    if facts.hasDevice, facts.infoKind.isEmpty, facts.portKind.isEmpty, facts.master != 0,
      !link.designation.classification.touchesMedium, byIndex[facts.master] != nil
    {
      return [CarrierEdge(ifindex: facts.master, basis: .above)]
    }
    return []
  }

  private func collectsMembers(_ link: Link) -> Bool {
    ["bridge", "bond", "team", "hsr", "vrf", "openvswitch", "batadv"].contains(link.facts.infoKind)
  }

  /// IFLA_LINK of these is their other end.
  private func isPair(_ facts: LinkFacts) -> Bool { ["veth", "netkit"].contains(facts.infoKind) }

  // MARK: What leads outside

  /// A veth, macvlan, ipvlan, VLAN or tunnel that was moved here, with what carries it in another namespace.
  private func crosses(_ facts: LinkFacts) -> Bool { facts.lowerIsElsewhere && !facts.isLoopback }

  /// In a namespace without hardware, as a container is, the link whose other end is elsewhere is what touches the
  /// outside. So do the veths of containers within, so the default route decides: the namespace that it leads to is the
  /// outside. Without one, ports of bridges are taken for the containers' ends.
  mutating func findOutside() {
    guard !hasMedium else { return }
    let crossing = byIndex.values.map(\.facts).filter(crosses)
    let routed = crossingBelow(routes.defaults)
    if routed.count == 1 || routed.count > 1 && !passesBridge(routes.defaults) {
      let spaces = Set(routed.compactMap { byIndex[$0]?.facts.lowerNamespace })
      let same = crossing.filter { $0.lowerNamespace.map(spaces.contains) ?? false }
      outside = routed.union(same.map(\.ifindex))
    } else if routed.isEmpty {
      outside = Set(crossing.filter { $0.portKind != "bridge" && $0.portKind != "openvswitch" }.map(\.ifindex))
      if outside.isEmpty, crossing.count == 1 { outside = Set(crossing.map(\.ifindex)) }
    }
    outsideIsUnclear = outside.isEmpty && !crossing.isEmpty
  }

  /// The crossing links at which packets over these links arrive, carrier by carrier.
  private func crossingBelow(_ start: [UInt32]) -> Set<UInt32> {
    var found: Set<UInt32> = []
    walk(down: start) { link in
      guard crosses(link.facts) else { return true }
      found.insert(link.facts.ifindex)
      return false
    }
    return found
  }

  /// Which port of a bridge leads outside is not known.
  private func passesBridge(_ start: [UInt32]) -> Bool {
    var passes = false
    walk(down: start) { link in
      if link.designation.classification.kind == .bridge { passes = true }
      return !crosses(link.facts)
    }
    return passes
  }

  /// Visits links and what carries them, each once, for as long as `visit` says to go on below one.
  private func walk(down start: [UInt32], _ visit: (Link) -> Bool) {
    var seen: Set<UInt32> = []
    var next = start
    while let ifindex = next.popLast() {
      guard seen.insert(ifindex).inserted, let link = byIndex[ifindex], visit(link) else { continue }
      next += carriers(of: link).map(\.ifindex)
    }
  }

  /// Its carriers lead back to it, and to nothing that is added.
  func isInCircle(_ ifindex: UInt32) -> Bool {
    var returns = false
    var arrives = false
    walk(down: carriers(of: ifindex)) { link in
      returns = returns || link.facts.ifindex == ifindex
      arrives = arrives || link.designation.classification.touchesMedium || outside.contains(link.facts.ifindex)
      return true
    }
    return returns && !arrives
  }

  private func carriers(of ifindex: UInt32) -> [UInt32] {
    byIndex[ifindex].map { carriers(of: $0).map(\.ifindex) } ?? []
  }

  // MARK: What a total makes of it

  func standing(of link: Link) -> Standing {
    let (facts, designation) = link
    let carriers = carriers(of: link)
    func left(_ why: String, isUncertain: Bool = false) -> Standing {
      Standing(share: .leftOut(isUncertain: isUncertain), carriers: carriers, why: why)
    }
    if designation.set.isIgnored == true { return left("the rule \(designation.rule ?? "") ignores it") }
    if designation.classification.touchesMedium {
      return Standing(
        share: .added, carriers: carriers, why: "its bytes cross a medium here: \(designation.classification.why)")
    }
    if designation.set.touchesMedium == false, carriers.isEmpty {
      return left("the rule \(designation.rule ?? "") says that its bytes cross no medium here")
    }
    if outside.contains(facts.ifindex), designation.set.touchesMedium == nil {
      return Standing(
        share: .added, carriers: carriers,
        why: "its other end is in another network namespace, and this one has no hardware: it is the way outside")
    }
    if !carriers.isEmpty { return Standing(share: .carried, carriers: carriers, why: why(carriers)) }
    return unexplained(link, left)
  }

  private func why(_ carriers: [CarrierEdge]) -> String {
    let names = carriers.prefix(4).map { byIndex[$0.ifindex]?.facts.name.escaped ?? "?" }
    let more = carriers.count > names.count ? " and \(carriers.count - names.count) more" : ""
    let list = names.joined(separator: ", ") + more
    let isOne = carriers.count == 1
    let head = "\(list) \(isOne ? "carries" : "carry") its bytes"
    return switch carriers[0].basis {
    case .rule(let name): "\(head), as the rule \(name) says"
    case .lower: "\(head): the kernel names it as the link below"
    case .member: "\(head): \(isOne ? "the only port or member of it" : "ports or members of it")"
    case .above: "\(list) above it counts the same bytes"
    case .route: "\(head): the route to its far end leads there"
    case .session(let name): "\(head): it is a session of \(name) over it"
    }
  }

  /// Why the session of a ppp link does not tell its carrier; nil when it has none.
  private func session(of facts: LinkFacts) -> String? {
    guard case .pppoe(let lower) = routes.sessions[facts.ifindex], lower.count > 1 else { return nil }
    let names = lower.prefix(4).map { byIndex[$0]?.facts.name.escaped ?? "?" }.joined(separator: ", ")
    return "there are sessions of PPPoE over \(names), and the kernel does not tell which of them it is"
  }

  private func unexplained(_ link: Link, _ left: (String, Bool) -> Standing) -> Standing {
    let (facts, designation) = link
    let classification = designation.classification
    let absent = designation.set.carrier.map {
      "the rule \(designation.rule ?? "") names \($0.escaped), which is not here, as its carrier"
    }
    switch classification.kind {
    case .loopback: return left("it never leaves this machine", false)
    case .tunnel:
      let untold =
        ["tun", "tap"].contains(classification.type)
        ? "only the program that made it knows its far end" : "the kernel tells no far end of it"
      let reason: String? =
        switch routes.endpoints[facts.ifindex] {
        case .refused: "WireGuard's far end is shown only to those with CAP_NET_ADMIN"
        case .none?: "no route leads to its far end now"
        case .over: "the route to its far end leads over no link that is known"
        case nil: nil
        }
      return left(
        "inner traffic of a tunnel, which the link that carries it counts again"
          + ". Which one that is, is not known (\(absent ?? reason ?? session(of: facts) ?? untold)): Carrier= in a rule tells it",
        false)
    case .bridge, .bond: return left("it has no ports, so nothing carries its bytes to a medium", false)
    case .virtual where isPair(facts) && !facts.lowerIsElsewhere:
      return left("both ends of it are here: its bytes do not leave this machine over it", false)
    case .virtual where crosses(facts):
      if outsideIsUnclear {
        return left(
          "one of the ports leads outside, and which one cannot be told: Medium=yes in a rule tells it", true)
      }
      return left(
        "a container's or VM's end: what that sends outside is counted where it leaves this machine", false)
    case .other
    where classification.type == "unknown" || !facts.infoKind.isEmpty && classification.type == facts.infoKind:
      return left("\(classification.why); Medium=yes or no in a rule decides", true)
    default: return left(absent ?? classification.why, false)
    }
  }
}
