// A toy kernel with links, an event queue and the truth, and a daemon that watches it through a ledger.
@testable import TallyCore

/// A small seeded generator (SplitMix64, Steele et al. 2014): the same seed gives the same history everywhere.
struct Seeded: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

let utcCalendar = LocalCalendar(
  start: { resolution, second in
    switch resolution {
    case .minute: floorDivide(second, 60) * 60
    case .fiveMinutes: floorDivide(second, 300) * 300
    case .hour: floorDivide(second, 3600) * 3600
    case .day: floorDivide(second, 86400) * 86400
    case .month, .year: floorDivide(second, 30 * 86400) * 30 * 86400
    }
  },
  next: { resolution, second in
    switch resolution {
    case .minute: (floorDivide(second, 60) + 1) * 60
    case .fiveMinutes: (floorDivide(second, 300) + 1) * 300
    case .hour: (floorDivide(second, 3600) + 1) * 3600
    case .day: (floorDivide(second, 86400) + 1) * 86400
    case .month, .year: (floorDivide(second, 30 * 86400) + 1) * 30 * 86400
    }
  })

/// One network device of the toy kernel.
struct ToyLink {
  var facts: LinkFacts
  var counters = LinkCounters.zero
  /// Whose history it is, by the rules of identity.
  var history: Int
  var peer: UInt32 = 0
  var isHere = true
}

struct ToyKernel {
  var links: [UInt32: ToyLink] = [:]
  var queue: [LinkEvent] = []
  var overrun = false
  var nextIndex: UInt32 = 1
  var nextInode: UInt64 = 1000
  /// True bytes by history: what passed while the link was here.
  var truth: [Amounts] = []
  /// Identity of each history: kind and name.
  var keys: [String] = []
  /// Identity -> the history that bears it now.
  var owner: [String: Int] = [:]
  var bootID = BootID(high: 1, low: 1)
  var boot: Int64 = 100 * Moment.second
  var utc: Int64 = 1_700_000_000 * Moment.second
  var listening = false

  var now: Moment { Moment(utc: utc, boot: boot, bootID: bootID) }

  mutating func pass(_ nanoseconds: Int64) {
    utc += nanoseconds
    boot += nanoseconds
  }

  mutating func post(_ event: LinkEvent) {
    guard listening else { return }
    if overrun { return }
    queue.append(event)
  }

  func listed(_ index: UInt32) -> ListedLink {
    let link = links[index]!
    return ListedLink(facts: link.facts, counters: link.counters)
  }

  mutating func history(for facts: LinkFacts) -> Int {
    let key = nameKey(facts)
    if let known = owner[key], !links.values.contains(where: { $0.history == known && $0.isHere }) { return known }
    truth.append(.zero)
    keys.append(key)
    owner[key] = truth.count - 1
    return truth.count - 1
  }

  @discardableResult
  mutating func create(_ name: String, kind: String = "dummy", index: UInt32? = nil) -> UInt32 {
    let bytes = LinkName(bytes: Array(name.utf8))
    if let present = links.values.first(where: { $0.isHere && $0.facts.name == bytes }) { return present.facts.ifindex }
    var facts = LinkFacts()
    facts.name = bytes
    facts.infoKind = kind
    facts.ifindex = index ?? nextIndex
    facts.inode = nextInode
    nextInode += 1
    nextIndex = max(nextIndex, facts.ifindex) + 1
    links[facts.ifindex] = ToyLink(facts: facts, history: history(for: facts))
    post(.appeared(listed(facts.ifindex)))
    return facts.ifindex
  }

  mutating func createPair(_ a: String, _ b: String) -> (UInt32, UInt32) {
    let one = create(a, kind: "veth")
    let two = create(b, kind: "veth")
    links[one]!.peer = two
    links[two]!.peer = one
    links[one]!.facts.lower = two
    links[two]!.facts.lower = one
    post(.changed(listed(one)))
    post(.changed(listed(two)))
    return (one, two)
  }

  mutating func push(_ index: UInt32, rx: UInt64, tx: UInt64) {
    add(index, rx: rx, tx: tx)
    if let peer = links[index]?.peer, peer != 0 { add(peer, rx: tx, tx: rx) }
  }

  private mutating func add(_ index: UInt32, rx: UInt64, tx: UInt64) {
    guard let link = links[index] else { return }
    links[index]!.counters.rxBytes += rx
    links[index]!.counters.txBytes += tx
    links[index]!.counters.rxPackets += rx / 1000
    links[index]!.counters.txPackets += tx / 1000
    guard link.isHere else { return }
    truth[link.history].rxBytes += rx
    truth[link.history].txBytes += tx
  }

  mutating func delete(_ index: UInt32) {
    guard let link = links[index] else { return }
    if link.peer != 0 { links[index]!.counters.rxBytes = 0 }
    announceDeath(index)
    links[index] = nil
    if link.peer != 0, links[link.peer] != nil {
      links[link.peer]!.counters.rxBytes = 0
      announceDeath(link.peer)
      links[link.peer] = nil
    }
  }

  private mutating func announceDeath(_ index: UInt32) {
    guard let link = links[index], link.isHere else { return }
    post(.departed(ifindex: index, name: link.facts.name, final: link.counters, movedOut: false))
  }

  mutating func rename(_ index: UInt32, to name: String) {
    let bytes = LinkName(bytes: Array(name.utf8))
    guard let link = links[index], !links.values.contains(where: { $0.isHere && $0.facts.name == bytes }) else { return }
    let old = nameKey(link.facts)
    links[index]!.facts.name = bytes
    let key = nameKey(links[index]!.facts)
    keys[link.history] = key
    if owner[old] == link.history { owner[old] = keys.indices.filter { keys[$0] == old }.max() }
    owner[key] = link.history
    post(.changed(listed(index)))
  }

  mutating func moveOut(_ index: UInt32) {
    guard let link = links[index], link.isHere, link.peer == 0 else { return }
    post(.departed(ifindex: index, name: link.facts.name, final: link.counters, movedOut: true))
    links[index]!.isHere = false
  }

  mutating func moveBack(_ index: UInt32) {
    guard let link = links[index], !link.isHere,
      !links.values.contains(where: { $0.isHere && $0.facts.name == link.facts.name })
    else { return }
    links[index]!.history = history(for: link.facts)
    links[index]!.facts.inode = nextInode
    nextInode += 1
    links[index]!.isHere = true
    post(.appeared(listed(index)))
  }

  mutating func reboot() {
    links = [:]
    queue = []
    listening = false
    overrun = false
    nextIndex = 1
    bootID.low += 1
    pass(20 * Moment.second)
    boot = 10 * Moment.second
  }
}
