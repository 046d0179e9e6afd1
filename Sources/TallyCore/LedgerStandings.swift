// What a machine total makes of each link, kept with its record: the answer for links that are gone.

extension Ledger {
  /// Takes over where the present links stand; a change is committed with the next commit.
  package mutating func note(_ graph: LinkGraph) {
    for life in lives {
      guard let standing = graph.standings[life.ifindex] else { continue }
      let carrier = standing.carriers.first.flatMap { slot(ifindex: $0.ifindex) }.map { records[$0].id }
      let isAdded = standing.share == .added
      guard records[life.slot].isAdded != isAdded || records[life.slot].carrier != carrier else { continue }
      records[life.slot].isAdded = isAdded
      records[life.slot].carrier = carrier
      dirtySlots.insert(life.slot)
    }
  }

  /// The present links.
  package var presentFacts: [LinkFacts] { lives.compactMap { facts[$0.slot] } }
}

extension LinkRecord {
  /// Whether a machine total adds it: as it last was, and where that was never found out by its kind.
  package var wasAdded: Bool {
    isAdded ?? ([.wired, .wifi, .cellular].contains(kind) && !["virt_wifi", "rmnet", "dsa"].contains(type))
  }
}
