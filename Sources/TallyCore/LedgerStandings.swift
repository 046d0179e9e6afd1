// What a machine total makes of each link, kept with its record: the answer for links that are gone.

extension Ledger {
  /// Takes over where the present links stand; a change is committed with the next commit.
  package mutating func note(_ graph: LinkGraph) {
    var shares: [Int: Set<Bool>] = [:]
    for life in lives {
      guard let account = life.account, let standing = graph.standings[life.ifindex] else { continue }
      if account != life.slot {
        shares[account, default: []].insert(standing.share == .added)
        continue
      }
      let carrier = standing.carriers.first.flatMap { slot(ifindex: $0.ifindex) }.map { records[$0].id }
      let isAdded = standing.share == .added
      guard records[life.slot].isAdded != isAdded || records[life.slot].carrier != carrier else { continue }
      records[life.slot].isAdded = isAdded
      records[life.slot].carrier = carrier
      dirtySlots.insert(life.slot)
    }
    for (group, shares) in shares { note(shares, of: group) }
  }

  /// A group is added when all that it is made of was; where that is not so its bytes cannot be told apart any more.
  private mutating func note(_ shares: Set<Bool>, of group: Int) {
    guard let isAdded = records[group].isAdded, shares != [isAdded] else { return }
    let isWhole = tallies[group].members == Int(records[group].memberLives)
    records[group].isAdded = isWhole && shares.count == 1 ? !isAdded : nil
    dirtySlots.insert(group)
  }

  /// The present links and what the rules make of each.
  package var presentLinks: [(facts: LinkFacts, designation: Designation)] {
    lives.compactMap { life in
      guard let facts = facts[life.slot] else { return nil }
      return (facts, designations[life.slot] ?? designate(facts))
    }
  }
}

extension LinkRecord {
  /// Whether a machine total adds it: as it last was, and where that was never found out by its kind.
  package var wasAdded: Bool {
    if isGroup { return isAdded ?? false }
    return isAdded
      ?? ([.wired, .wifi, .cellular].contains(kind) && !["virt_wifi", "rmnet", "dsa"].contains(type))
  }
}
