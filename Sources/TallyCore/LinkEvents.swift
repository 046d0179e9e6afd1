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

/// A veth end in another network namespace, whose other end is or was here.
package struct FarEnd: Hashable, Sendable {
  /// The id that this namespace gave to that one; free for another when that ends.
  package var namespace: Int32
  package var ifindex: UInt32

  package init(namespace: Int32, ifindex: UInt32) {
    self.namespace = namespace
    self.ifindex = ifindex
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
  /// The same of a veth end in another namespace.
  case farEndDeparted(FarEnd, final: LinkCounters?, movedOut: Bool)
  /// RTM_DELNSID: a namespace ends, and all its links are about to go without a word.
  case namespaceEnded(Int32)

  /// The index whose incarnation begins or ends with this event: dumps near it may show either one.
  package var bornOrDead: UInt32? {
    switch self {
    case .appeared(let link): link.facts.ifindex
    case .changed, .farEndDeparted, .namespaceEnded: nil
    case .departed(let ifindex, _, _, _): ifindex
    }
  }

  /// It cannot be made up for by a list of links.
  package var isFleeting: Bool {
    if case .changed = self { false } else { true }
  }

  /// The link that it shows as it is now.
  package var link: ListedLink? {
    switch self {
    case .appeared(let link), .changed(let link): link
    case .departed, .farEndDeparted, .namespaceEnded: nil
    }
  }

  package var farEnd: FarEnd? {
    if case .farEndDeparted(let end, _, _) = self { end } else { nil }
  }
}

/// Link events that the service manager's socket kept while no process read them.
package struct KeptEvents: Sendable {
  /// In the kernel's order, all after the last commit of the store that the ledger was restored from.
  package var events: [LinkEvent]
  /// Nothing that happened since that commit is missing.
  package var isWhole: Bool
  /// The veths of that commit, when nothing is missing.
  package var vethEnds: [VethEnd]

  package init(events: [LinkEvent], isWhole: Bool, vethEnds: [VethEnd]) {
    self.events = events
    self.isWhole = isWhole
    self.vethEnds = vethEnds
  }
}

/// A veth end here and where its other end is: what a dying end does not tell any more.
package struct VethEnd: Hashable, Sendable {
  package var ifindex: UInt32
  /// The other end's index, 0 when it is not known.
  package var peer: UInt32
  /// The namespace of the other end; nil: this one.
  package var namespace: Int32?

  package init(ifindex: UInt32, peer: UInt32, namespace: Int32?) {
    self.ifindex = ifindex
    self.peer = peer
    self.namespace = namespace
  }
}

/// Why a full list of links is given to the ledger.
package enum ListCause: Sendable {
  /// The daemon starts.
  case start
  /// Link events were lost: what died or was born in between was not seen.
  case overrun
  /// The source has no link events, and other links are here than at the last sample.
  case polled
}
