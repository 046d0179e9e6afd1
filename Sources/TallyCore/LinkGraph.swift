// Which link carries which, and what follows for a machine total: each byte is added once, where it crosses a medium.

/// The far end of a tunnel as the kernel tells it (IFLA_INFO_DATA, or WireGuard's own netlink family).
package struct TunnelEndpoint: Hashable, Sendable {
  /// 4 bytes of IPv4 or 16 of IPv6.
  package var remote: [UInt8]
  /// The source address of the outer packets; empty when the routes decide.
  package var local: [UInt8]
  /// The firewall mark that the outer packets bear; 0: none.
  package var mark: UInt32

  package init(remote: [UInt8], local: [UInt8] = [], mark: UInt32 = 0) {
    self.remote = remote
    self.local = local
    self.mark = mark
  }
}

/// What the routes of this namespace say, asked outside the core.
package struct RouteFacts: Hashable, Sendable {
  /// Where the packets to a tunnel's far ends leave.
  package enum Route: Hashable, Sendable {
    /// Over these links.
    case over([UInt32])
    /// No route leads there now.
    case none
    /// The kernel does not tell us the far end (WireGuard's needs CAP_NET_ADMIN).
    case refused
  }

  /// What a ppp link is a session of.
  package enum Session: Hashable, Sendable {
    case l2tp(over: UInt32)
    /// Over one of these, in ascending order; where there are several, the kernel does not tell which.
    case pppoe(overOneOf: [UInt32])
  }

  /// By the tunnel's ifindex; a tunnel without a far end that is known has none.
  package var endpoints: [UInt32: Route] = [:]
  /// By the ifindex of a ppp link; one of no session that is known has none.
  package var sessions: [UInt32: Session] = [:]
  /// Links over which a default route of the main table leaves.
  package var defaults: [UInt32] = []

  package init() {}
}

/// One link that carries another.
package struct CarrierEdge: Hashable, Sendable {
  /// How it is known.
  package enum Basis: Hashable, Sendable {
    /// `Carrier=` of the rule of this name.
    case rule(String)
    /// IFLA_LINK, or the link that a tunnel is bound to.
    case lower
    /// It is a port of this bridge or VRF or a member of this bond.
    case member
    /// It is the link above, whose counters have those of this one in them.
    case above
    /// Packets to the tunnel's far end leave over it.
    case route
    /// The ppp link is a session over it, of this protocol.
    case session(String)
  }

  package var ifindex: UInt32
  package var basis: Basis
}

/// What a machine total makes of a link.
package enum TotalShare: Hashable, Sendable {
  /// Its bytes cross a medium here: added.
  case added
  /// Its bytes pass other links, which count them.
  case carried
  /// Neither. `isUncertain`: they may cross a medium all the same, so a total without them is a lower bound.
  case leftOut(isUncertain: Bool)
}

/// Where a link stands among the others.
package struct Standing: Hashable, Sendable {
  package var share: TotalShare
  /// What carries it; also of links that are added, for whatever carries them beside the medium.
  package var carriers: [CarrierEdge] = []
  /// Why, in words, without a final period.
  package var why: String
}

/// The present links and how they lean on each other. A value: made anew when a link, a rule or a route changes.
package struct LinkGraph: Sendable {
  /// By ifindex.
  package private(set) var standings: [UInt32: Standing] = [:]

  /// The far ends of tunnels and the default routes come as values; no link carries itself, and circles end.
  package init(_ links: [(facts: LinkFacts, designation: Designation)], routes: RouteFacts) {
    var graph = GraphLinks(links, routes)
    graph.findOutside()
    for link in links { standings[link.facts.ifindex] = graph.standing(of: link) }
    for (ifindex, standing) in standings where standing.share == .carried && graph.isInCircle(ifindex) {
      standings[ifindex]?.share = .leftOut(isUncertain: false)
      standings[ifindex]?.why = "it and what carries it carry each other in a circle"
    }
  }

  /// Whether bytes of this link arrive, carrier by carrier, at one that is added.
  package func reachesMedium(_ ifindex: UInt32) -> Bool {
    var seen: Set<UInt32> = []
    var next = [ifindex]
    while let link = next.popLast() {
      guard seen.insert(link).inserted, let standing = standings[link] else { continue }
      if standing.share == .added { return true }
      next += standing.carriers.map(\.ifindex)
    }
    return false
  }
}
