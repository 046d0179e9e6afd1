// A toy kernel: links with counters, an event queue that can overflow, and the truth of what passed.
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

/// One network device of the toy kernel.
struct ToyLink {
  var facts: LinkFacts
  var counters = LinkCounters.zero
  /// Whose history it is, by the rules of identity.
  var history: Int
  var peer: UInt32 = 0
  var isHere = true
  /// Where a veth end is that is not here.
  var place: FarEnd?
  /// The most that its counters have shown, for steps back that stay small.
  var highest = LinkCounters.zero
}

struct ToyKernel {
  var links: [UInt32: ToyLink] = [:]
  var queue: [LinkEvent] = []
  var overrun = false
  var nextIndex: UInt32 = 1
  var nextInode: UInt64 = 1000
  /// What passed while the link was here, by history.
  var truth: [Amounts] = []
  /// Identity of each history: kind and name.
  var keys: [String] = []
  /// Identity -> the history that bears it now.
  var owner: [String: Int] = [:]
  var bootID = BootID(high: 1, low: 1)
  var boot: Int64 = 100 * Moment.second
  var utc: Int64 = 1_700_000_000 * Moment.second
  var listening = false
  /// Departures of veth ends in other namespaces are told.
  var hearsFarEnds = false
  /// The next index in each other namespace, as small as those here.
  var farIndex: [Int32: UInt32] = [:]
  /// Of the dumps; lists and events have all 64 bits.
  var width = CounterWidth.bits64
  /// Readings that the next dump shows instead of the true ones, and the links that the last one lied about.
  var odd: [UInt32: LinkCounters] = [:]
  var lied: Set<UInt32> = []

  var now: Moment { Moment(utc: utc, boot: boot, bootID: bootID) }
  /// The indices of the links that are here.
  var present: [UInt32] { links.values.filter(\.isHere).map(\.facts.ifindex).sorted() }

  mutating func pass(_ nanoseconds: Int64) {
    utc += nanoseconds
    boot += nanoseconds
  }

  /// Readings of all links at this moment.
  mutating func dump() -> [Reading] {
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

  mutating func drain() -> [LinkEvent] {
    defer { queue = [] }
    return queue
  }

  mutating func post(_ event: LinkEvent) {
    if listening, !overrun { queue.append(event) }
  }

  func listed(_ index: UInt32) -> ListedLink {
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

  func index(of name: String) -> UInt32? {
    let name = LinkName(escaped: name)
    return links.values.first { $0.isHere && $0.facts.name == name }?.facts.ifindex
  }

  // MARK: Lives

  /// `speed`, Mbit/s, makes it hardware. `base` is where its counters begin: as a link that counted elsewhere before.
  @discardableResult
  mutating func create(
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
    links[facts.ifindex] = ToyLink(facts: facts, counters: base, history: history(for: facts), highest: base)
    post(.appeared(listed(facts.ifindex)))
    return facts.ifindex
  }

  @discardableResult
  mutating func createPair(_ a: String, _ b: String) -> (UInt32, UInt32) {
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
  mutating func touch(_ index: UInt32) {
    if links[index]?.isHere == true { post(.changed(listed(index))) }
  }

  mutating func delete(_ index: UInt32, peerFirst: Bool = false) {
    guard let link = links[index] else { return }
    if !peerFirst { die(index) }
    if link.peer != 0, links[link.peer] != nil { die(link.peer) }
    if peerFirst { die(index) }
  }

  mutating func die(_ index: UInt32) {
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
  }

  mutating func rename(_ index: UInt32, to name: String) {
    guard let link = links[index], link.isHere, self.index(of: name) == nil else { return }
    let old = nameKey(link.facts)
    links[index]!.facts.name = LinkName(escaped: name)
    let key = nameKey(links[index]!.facts)
    keys[link.history] = key
    if owner[old] == link.history { owner[old] = keys.indices.filter { keys[$0] == old }.max() }
    owner[key] = link.history
    touch(index)
  }

  mutating func moveOut(_ index: UInt32) {
    guard let link = links[index], link.isHere, link.peer == 0 else { return }
    post(.departed(ifindex: index, name: link.facts.name, final: link.counters, movedOut: true))
    links[index]!.isHere = false
  }

  mutating func moveBack(_ index: UInt32) {
    guard let link = links[index], !link.isHere, self.index(of: link.facts.name.escaped) == nil else { return }
    links[index]!.history = history(for: link.facts)
    links[index]!.facts.inode = nextInode
    nextInode += 1
    links[index]!.isHere = true
    post(.appeared(listed(index)))
  }

  mutating func reboot() {
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
  }

  // MARK: Traffic

  mutating func push(_ name: String, rx: UInt64, tx: UInt64) {
    if let index = index(of: name) { push(index, rx: rx, tx: tx) }
  }

  mutating func push(_ index: UInt32, rx: UInt64, tx: UInt64) {
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
    link.highest = highWater(link.highest, link.counters)
    links[index] = link
    if link.isHere { truth[link.history] += amounts }
  }

  // MARK: Odd drivers

  /// The driver forgets its counters; what passed has passed.
  mutating func resetDriver(_ index: UInt32) {
    links[index]?.counters = .zero
    links[index]?.highest = .zero
  }

  /// A counter steps back by less than a tenth of the most it showed, and goes on from there.
  mutating func stepBack(_ index: UInt32, by part: UInt64) {
    guard let link = links[index] else { return }
    let floor = link.highest.rxBytes - link.highest.rxBytes / 10
    guard link.counters.rxBytes > floor else { return }
    links[index]!.counters.rxBytes -= min(link.counters.rxBytes - floor, part)
  }
}
