// A toy kernel: links with counters, an event queue that can overflow, and the truth of what passed.
package import TallyCore

/// One network device of the toy kernel.
package struct ToyLink {
  package var facts: LinkFacts
  package var counters = LinkCounters.zero
  /// Whose history it is, by the rules of identity.
  package var history: Int
  package var peer: UInt32 = 0
  package var isHere = true
  /// Where a veth end is that is not here.
  package var place: FarEnd?
  /// The most received bytes that it has shown, for steps back that stay small.
  package var highest: UInt64 = 0
}

/// Bytes that passed a link at once.
package struct Passage {
  /// Nanoseconds since 1970, by a clock that is right.
  package var utc: Int64
  package var history: Int
  package var amounts: Amounts
}

package struct ToyKernel {
  package init() {}

  package var links: [UInt32: ToyLink] = [:]
  package var queue: [LinkEvent] = []
  package var overrun = false
  /// Hears what happens, for those who want to read it.
  package var told: ((String) -> Void)?
  /// Events that the queue holds; then all are dropped until it is drained.
  package var capacity = Int.max
  package var nextIndex: UInt32 = 1
  package var nextInode: UInt64 = 1000
  /// What passed while the link was here, by history.
  package var truth: [Amounts] = []
  /// The same, one by one.
  package private(set) var passages: [Passage] = []
  /// Identity of each history: kind and name.
  package var keys: [String] = []
  /// Identity -> the history that bears it now.
  package var owner: [String: Int] = [:]
  package var bootID = BootID(high: 1, low: 1)
  package var boot: Int64 = 100 * Moment.second
  package var utc: Int64 = 1_700_000_000 * Moment.second
  /// How far the wall clock is ahead of the right time; behind: less than 0.
  package var clockError: Int64 = 0
  /// The part of `boot` that the machine was suspended for.
  package var asleep: Int64 = 0
  package var listening = false
  /// Departures of veth ends in other namespaces are told.
  package var hearsFarEnds = false
  /// The next index in each other namespace, as small as those here.
  package var farIndex: [Int32: UInt32] = [:]
  /// Of the dumps; lists and events have all 64 bits.
  package var width = CounterWidth.bits64
  /// Readings that the next dump shows instead of the true ones, and the links that the last one lied about.
  package var odd: [UInt32: LinkCounters] = [:]
  package var lied: Set<UInt32> = []

  package var now: Moment { Moment(utc: utc, boot: boot, bootID: bootID, asleep: asleep) }
  /// The indices of the links that are here.
  package var present: [UInt32] { links.values.filter(\.isHere).map(\.facts.ifindex).sorted() }

  package mutating func pass(_ nanoseconds: Int64) {
    utc += nanoseconds
    boot += nanoseconds
  }

  package mutating func suspend(_ nanoseconds: Int64) {
    pass(nanoseconds)
    asleep += nanoseconds
  }

  package mutating func setClock(by nanoseconds: Int64) {
    utc += nanoseconds
    clockError += nanoseconds
  }

  /// Readings of all links at this moment.
  package mutating func dump() -> [Reading] {
    lied = Set(odd.keys)
    defer { odd = [:] }
    let mask = width == .bits64 ? UInt64.max : UInt64(UInt32.max)
    return present.map { index in
      var counters = odd[index] ?? links[index]!.counters
      counters.rxBytes &= mask
      counters.txBytes &= mask
      counters.rxPackets &= mask
      counters.txPackets &= mask
      return Reading(ifindex: index, counters: counters)
    }
  }

  package mutating func drain() -> [LinkEvent] {
    defer { queue = [] }
    return queue
  }

  package mutating func post(_ event: LinkEvent) {
    if queue.count >= capacity, !overrun {
      overrun = true
      told?("the kernel drops link events")
    }
    if listening, !overrun { queue.append(event) }
  }

  package func listed(_ index: UInt32) -> ListedLink {
    ListedLink(facts: links[index]!.facts, counters: links[index]!.counters)
  }

  mutating func history(for facts: LinkFacts) -> Int {
    let key = nameKey(facts)
    if let known = owner[key], !links.values.contains(where: { $0.history == known && $0.isHere }) { return known }
    truth.append(.zero)
    keys.append(key)
    owner[key] = truth.count - 1
    return truth.count - 1
  }

  package func index(of name: String) -> UInt32? {
    let name = LinkName(escaped: name)
    return links.values.first { $0.isHere && $0.facts.name == name }?.facts.ifindex
  }

  // MARK: Lives

  /// `speed`, Mbit/s, makes it hardware. `base` is where its counters begin: as a link that counted elsewhere before.
  @discardableResult
  package mutating func create(
    _ name: String, kind: String = "dummy", index: UInt32? = nil, speed: UInt32? = nil, base: LinkCounters = .zero
  ) -> UInt32 {
    if let present = self.index(of: name) { return present }
    var facts = LinkFacts()
    facts.name = LinkName(escaped: name)
    facts.infoKind = kind
    facts.ifindex = index ?? nextIndex
    facts.inode = nextInode
    facts.hasDevice = speed != nil
    facts.speedMbit = speed
    nextInode += 1
    nextIndex = max(nextIndex, facts.ifindex) + 1
    links[facts.ifindex] = ToyLink(facts: facts, counters: base, history: history(for: facts), highest: base.rxBytes)
    told?("\(name) is made, index \(facts.ifindex), inode \(facts.inode)")
    post(.appeared(listed(facts.ifindex)))
    return facts.ifindex
  }

  @discardableResult
  package mutating func createPair(_ a: String, _ b: String) -> (UInt32, UInt32) {
    let one = create(a, kind: "veth")
    let two = create(b, kind: "veth")
    links[one]!.peer = two
    links[two]!.peer = one
    for end in [one, two] {
      showPeer(of: end)
      touch(end)
    }
    return (one, two)
  }

  /// A change of something that is told with the counters of the moment.
  package mutating func touch(_ index: UInt32) {
    if links[index]?.isHere == true { post(.changed(listed(index))) }
  }

  package mutating func delete(_ index: UInt32, peerFirst: Bool = false) {
    guard let link = links[index] else { return }
    told?("\(link.facts.name), index \(index), is deleted with \(link.counters)")
    if !peerFirst { die(index) }
    if link.peer != 0, links[link.peer] != nil { die(link.peer) }
    if peerFirst { die(index) }
  }

  package mutating func die(_ index: UInt32) {
    guard var link = links[index] else { return }
    if link.peer != 0 {
      // What a veth end received is what its peer sent, and the peer is gone first.
      link.counters.rxBytes = 0
      link.counters.rxPackets = 0
    }
    if link.isHere {
      post(.departed(ifindex: index, name: link.facts.name, final: link.counters, movedOut: false))
    } else if let place = link.place {
      postFar(place, final: link.counters, movedOut: false)
    }
    links[index] = nil
    odd[index] = nil
  }

  package mutating func rename(_ index: UInt32, to name: String) {
    guard let link = links[index], link.isHere, self.index(of: name) == nil else { return }
    told?("\(link.facts.name) is renamed to \(name)")
    let old = nameKey(link.facts)
    links[index]!.facts.name = LinkName(escaped: name)
    let key = nameKey(links[index]!.facts)
    keys[link.history] = key
    if owner[old] == link.history { owner[old] = keys.indices.filter { keys[$0] == old }.max() }
    owner[key] = link.history
    touch(index)
  }

  package mutating func moveOut(_ index: UInt32) {
    guard let link = links[index], link.isHere, link.peer == 0 else { return }
    told?("\(link.facts.name) moves to another namespace")
    post(.departed(ifindex: index, name: link.facts.name, final: link.counters, movedOut: true))
    links[index]!.isHere = false
  }

  package mutating func moveBack(_ index: UInt32) {
    guard let link = links[index], !link.isHere, self.index(of: link.facts.name.escaped) == nil else { return }
    told?("\(link.facts.name) moves back, with \(link.counters)")
    links[index]!.history = history(for: link.facts)
    links[index]!.facts.inode = nextInode
    nextInode += 1
    links[index]!.isHere = true
    post(.appeared(listed(index)))
  }

  /// One that is elsewhere comes back, after it counted there.
  package mutating func moveAnyBack() {
    guard let back = links.values.filter({ !$0.isHere }).map(\.facts.ifindex).min() else { return }
    push(back, rx: 1_000_000, tx: 1)
    moveBack(back)
  }

  package mutating func reboot() {
    links = [:]
    queue = []
    odd = [:]
    listening = false
    overrun = false
    nextIndex = 1
    farIndex = [:]
    bootID.low += 1
    pass(20 * Moment.second)
    boot = 10 * Moment.second
    asleep = 0
  }

  // MARK: Traffic

  package mutating func push(_ name: String, rx: UInt64, tx: UInt64) {
    if let index = index(of: name) { push(index, rx: rx, tx: tx) }
  }

  package mutating func push(_ index: UInt32, rx: UInt64, tx: UInt64) {
    if let link = links[index] { told?("\(link.facts.name) receives \(rx) and sends \(tx)") }
    add(index, rx: rx, tx: tx)
    if let peer = links[index]?.peer, peer != 0 { add(peer, rx: tx, tx: rx) }
  }

  private mutating func add(_ index: UInt32, rx: UInt64, tx: UInt64) {
    guard var link = links[index] else { return }
    let amounts = Amounts(rxBytes: rx, txBytes: tx, rxPackets: (rx + 999) / 1000, txPackets: (tx + 999) / 1000)
    link.counters.rxBytes &+= amounts.rxBytes
    link.counters.txBytes &+= amounts.txBytes
    link.counters.rxPackets &+= amounts.rxPackets
    link.counters.txPackets &+= amounts.txPackets
    link.highest = max(link.highest, link.counters.rxBytes)
    links[index] = link
    if link.isHere {
      truth[link.history] += amounts
      passages.append(Passage(utc: utc - clockError, history: link.history, amounts: amounts))
    }
  }

  // MARK: Odd drivers

  /// The driver forgets its counters; what passed has passed.
  package mutating func resetDriver(_ index: UInt32) {
    links[index]?.counters = .zero
    links[index]?.highest = 0
  }

  /// The next dump shows what is not so, in one of four ways; once in a row, since two odd readings are a reset for all
  /// that anybody can tell.
  package mutating func glitch(_ index: UInt32, _ way: UInt64) {
    guard let link = links[index], !lied.contains(index) else { return }
    var shown = link.counters
    switch way {
    case 0: shown = .zero
    case 1: (shown.rxBytes, shown.rxPackets) = (0, 0)
    case 2: shown.txBytes /= 2
    default: shown.rxBytes = 1 << 63
    }
    odd[index] = shown
  }

  /// A counter steps back by less than a tenth of the most it showed, and goes on from there.
  package mutating func stepBack(_ index: UInt32, by part: UInt64) {
    guard let link = links[index] else { return }
    let floor = link.highest - link.highest / 10
    guard link.counters.rxBytes > floor else { return }
    links[index]!.counters.rxBytes -= min(link.counters.rxBytes - floor, part)
  }
}
