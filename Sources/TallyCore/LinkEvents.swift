// What the kernel reports, in the ledger's words.

/// A link and its counters, if the report had them, from a link list or event.
package struct ListedLink: Sendable {
  package var facts: LinkFacts
  package var counters: LinkCounters?

  package init(facts: LinkFacts, counters: LinkCounters?) {
    self.facts = facts
    self.counters = counters
  }
}

/// One link event, in the order in which the kernel queued it.
package enum LinkEvent: Sendable {
  /// RTM_NEWLINK with ifi_change 0xffffffff: a new incarnation (created here, or moved in with its counters).
  case appeared(ListedLink)
  /// Any other RTM_NEWLINK: facts changed; the counters may be older than a dump's.
  case changed(ListedLink)
  /// RTM_DELLINK of AF_UNSPEC: final counters. `movedOut`: it left for another namespace and lives on there.
  case departed(ifindex: UInt32, name: LinkName, final: LinkCounters?, movedOut: Bool)

  /// The index whose incarnation begins or ends with this event: dumps near it may show either one.
  package var bornOrDead: UInt32? {
    switch self {
    case .appeared(let link): link.facts.ifindex
    case .changed: nil
    case .departed(let ifindex, _, _, _): ifindex
    }
  }
}

/// Why a full list of links is given to the ledger.
package enum ListCause: Sendable {
  /// The daemon starts.
  case start
  /// Link events were lost: what died or was born in between was not seen.
  case overrun
}
