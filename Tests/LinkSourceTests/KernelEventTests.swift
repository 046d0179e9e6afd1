// Link events of a real kernel, in namespaces of their own: births, final counters, renames, moves and overruns.
import CNetlink
import Foundation
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

let testMoment = Moment(utc: 1_700_000_000 * Moment.second, boot: 5, bootID: BootID(high: 1, low: 2))

/// Links of the calling thread's namespace, without facts from sysfs.
func openLinks(
  source: LinkCounterSource = .netlink, events: EventSocket = .usual,
  complete: @escaping (inout LinkFacts) -> Void = { _ in }
) throws -> KernelLinks {
  try KernelLinks(source: source, events: events, now: { testMoment }, complete: complete)
}

extension LinkEvent {
  var ifindex: UInt32 {
    switch self {
    case .appeared(let link), .changed(let link): link.facts.ifindex
    case .departed(let ifindex, _, _, _): ifindex
    case .farEndDeparted(let end, _, _): end.ifindex
    case .namespaceEnded: 0
    }
  }

  var name: String {
    switch self {
    case .appeared(let link), .changed(let link): link.facts.name.escaped
    case .departed(_, let name, _, _): name.escaped
    case .farEndDeparted(let end, _, _): "\(end.ifindex) in \(end.namespace)"
    case .namespaceEnded(let namespace): "\(namespace)"
    }
  }

  /// For example "appeared va".
  var text: String {
    switch self {
    case .appeared: "appeared \(name)"
    case .changed: "changed \(name)"
    case .departed(_, _, _, let movedOut): movedOut ? "moved \(name)" : "departed \(name)"
    case .farEndDeparted(_, _, let movedOut): movedOut ? "far moved \(name)" : "far departed \(name)"
    case .namespaceEnded: "ended \(name)"
    }
  }

  var counters: LinkCounters? {
    switch self {
    case .appeared(let link), .changed(let link): link.counters
    case .departed(_, _, let final, _), .farEndDeparted(_, let final, _): final
    case .namespaceEnded: nil
    }
  }
}

/// A kind of link to make, send over and delete.
struct LinkKind: CustomStringConvertible, Sendable {
  var kind: String
  var making: [String]

  var description: String { kind }

  static let all = [
    LinkKind(kind: "ifb", making: ["link add t0 type ifb"]),
    LinkKind(
      kind: "bridge",
      making: [
        "link add t0 type bridge mcast_snooping 0", "link add va type veth peer name vb", "link set va up",
        "link set vb up master t0",
      ]),
    LinkKind(
      kind: "macvlan", making: ["link add base type ifb", "link set base up", "link add t0 link base type macvlan"]),
    LinkKind(
      kind: "vxlan",
      making: [
        "link add va type veth peer name vb", "link set vb up", "addr add 10.8.0.1/24 dev va", "link set va up",
        "neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 nud permanent dev va",
        "link add t0 type vxlan id 7 remote 10.8.0.2 dstport 4789 dev va",
      ]),
  ]
}

/// What the kernel told of one such link's life, and its counters right before its end.
private func liveAndDie(_ kind: LinkKind) throws -> (DrainedEvents, UInt32, LinkCounters) {
  try NetworkNamespace.withOne { _ in
    let links = try openLinks()
    for command in kind.making { try ip(command) }
    try prepareToSend("t0", number: 7)
    try sendDatagrams(5, of: 100, number: 7)
    let ifindex = linkIndex("t0")
    let before = try sysfsCounters("t0")
    try ip("link del t0")
    return (try links.drainEvents(), ifindex, before)
  }
}

/// The last event of a tun that carried traffic both ways, and its counters right before its end.
private func tunLife(end: String) throws -> (LinkEvent?, LinkCounters) {
  try NetworkNamespace.withOne { _ in
    let descriptor = try openTun("t0")
    let links = try openLinks()
    try prepareToSend("t0", number: 9)
    for size in [40, 1400] { _ = packet(of: size).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
    try sendDatagrams(3, of: 100, number: 9)
    var buffer = [UInt8](repeating: 0, count: 2000)
    for _ in 0..<3 { _ = read(descriptor, &buffer, buffer.count) }
    let before = try sysfsCounters("t0")
    if end == "deleted" { try ip("link del t0") }
    close(descriptor)
    // Not at once when another test is starting a process, which holds a copy for a moment.
    var last: LinkEvent?
    while last?.text != "departed t0" { last = try nextEvents(links).last }
    return (last, before)
  }
}

/// nil, and a loud word, where this machine cannot make the link; but in CI it must.
private func skippingIfImpossible<Result>(_ link: String, _ body: () throws -> Result) throws -> Result? {
  do { return try body() } catch let error as NamespaceError {
    let impossible = ["Unknown device type", "/dev/net/tun"].contains { error.what.contains($0) }
    guard impossible && ProcessInfo.processInfo.environment["CI"] != "true" else { throw error }
    print("SKIPPED: no \(link) link can be made here: \(error)")
    return nil
  }
}

@Suite(
  "Kernel events", .serialized, .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
struct KernelEventTests {
  @Test("a link's birth and its departure with the final counters are told", arguments: LinkKind.all)
  func lifeOfALink(_ kind: LinkKind) throws {
    guard let (events, ifindex, before) = try skippingIfImpossible(kind.kind, { try liveAndDie(kind) }) else { return }
    let own = events.events.filter { $0.ifindex == ifindex }
    #expect(!events.overrun)
    #expect(own.first?.text == "appeared t0")
    guard case .appeared(let link) = own.first else { return }
    #expect(link.facts.infoKind == kind.kind)
    #expect(own.last?.text == "departed t0")
    #expect(own.last?.counters == before)
    #expect(own.dropFirst().dropLast().allSatisfy { $0.text == "changed t0" })
    // An ifb that nothing is redirected to drops all it is given.
    #expect(kind.kind == "ifb" || (before.txPackets == 5 && before.txBytes >= 5 * 128))
  }

  @Test("a tun departs with everything that was read and written", arguments: ["closed", "deleted"])
  func tun(_ end: String) throws {
    guard let (departure, before) = try skippingIfImpossible("tun", { try tunLife(end: end) }) else { return }
    #expect(departure?.text == "departed t0")
    #expect(departure?.counters == before)
    #expect(before == LinkCounters(rxBytes: 1440, txBytes: 3 * 128, rxPackets: 2, txPackets: 3))
  }

  @Test("a veth's departure has its final tx; its rx is its peer's tx")
  func vethPair() throws {
    let (events, before) = try NetworkNamespace.withOne { _ in
      let links = try openLinks()
      try ip("link add va type veth peer name vb")
      try ip("link set vb up")
      try prepareToSend("va", number: 8)
      try sendDatagrams(4, of: 1000, number: 8)
      let before = try sysfsCounters("vb")
      try ip("link del va")
      return (try links.drainEvents().events, before)
    }
    let departures = events.filter { $0.text.hasPrefix("departed") }
    #expect(Set(departures.map(\.name)) == ["va", "vb"])
    #expect(departures.first { $0.name == "va" }?.counters?.txBytes == before.rxBytes)
    #expect(before.rxBytes == 4 * 1042)
    let peer = events.first { $0.text == "appeared va" }
    guard case .appeared(let link) = peer else { return }
    #expect(link.facts.isVeth)
  }

  @Test("a rename is a change of the same index, not a departure")
  func rename() throws {
    let (texts, same) = try NetworkNamespace.withOne { _ in
      try ip("link add old type ifb")
      let links = try openLinks()
      let ifindex = linkIndex("old")
      try ip("link set old name new")
      let events = try links.drainEvents().events
      return (events.map(\.text), events.allSatisfy { $0.ifindex == ifindex })
    }
    #expect(Set(texts) == ["changed new"] && same)
  }

  @Test("a port that leaves its bridge is no departed link")
  func bridgePort() throws {
    let texts = try NetworkNamespace.withOne { _ in
      try ip("link add sw type bridge")
      try ip("link add pt type ifb")
      let links = try openLinks()
      try ip("link set pt master sw")
      try ip("link set pt nomaster")
      return try links.drainEvents().events.map(\.text)
    }
    #expect(texts.contains("changed pt"))
    #expect(!texts.contains { $0.hasPrefix("departed") || $0.hasPrefix("appeared") })
  }

  @Test("a link that moves to another namespace and back says so, and keeps its counters")
  func moves() throws {
    let away = try NetworkNamespace()
    defer { away.stop() }
    let home = try NetworkNamespace()
    defer { home.stop() }
    let (texts, left, back) = try home.run {
      let links = try openLinks()
      try ip("link add va type veth peer name vb")
      try ip("link set vb up")
      try prepareToSend("va", number: 6)
      try sendDatagrams(2, of: 500, number: 6)
      try ip("link set vb netns \(away.threadID)")
      let leaving = try links.drainEvents().events.filter { $0.name == "vb" }
      try away.run { [home = home.threadID] in _ = try ip("link set vb netns \(home)") }
      let returning = try links.drainEvents().events.filter { $0.name == "vb" }
      return (leaving.map(\.text) + returning.map(\.text), leaving.last?.counters, returning.first?.counters)
    }
    #expect(texts.contains("moved vb"))
    let unchanged = texts.filter { $0 != "changed vb" }
    #expect(unchanged.last == "appeared vb")
    #expect(!texts.contains("departed vb"))
    let sent: UInt64 = 2 * 542
    #expect(left?.rxBytes == sent)
    #expect(back?.rxBytes == sent)
  }

  @Test("a queue that is too small is an overrun that is told once, and the next events come again")
  func overrun() throws {
    let (first, second, third, health) = try NetworkNamespace.withOne { _ in
      let links = try openLinks(events: .own(receiveBuffer: 4096))
      try ipBatch((0..<40).map { "link add t\($0) type ifb" })
      let first = try links.drainEvents()
      let second = try links.drainEvents()
      try ip("link del t7")
      return (first, second, try links.drainEvents(), links.health)
    }
    #expect(first.overrun && first.events.count < 40)
    #expect(!second.overrun && second.events.isEmpty)
    #expect(!third.overrun && third.events.last?.text == "departed t7")
    #expect(health.overruns == 1)
  }

  @Test("a descriptor from the service manager tells what was queued before it was taken over")
  func inherited() throws {
    let texts = try NetworkNamespace.withOne { _ in
      let descriptor = try boundEventSocket()
      try ip("link add early type ifb")
      let links = try openLinks(events: .inherited(descriptor))
      #expect(links.eventDescriptor == descriptor)
      return try links.drainEvents().events.map(\.text)
    }
    #expect(texts == ["appeared early"])
  }

  @Test("a descriptor that is no route netlink socket is refused with the remedy, and left open")
  func inheritedWrong() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    do {
      _ = try openLinks(events: .inherited(ends[0]))
      Issue.record("it was taken over")
    } catch let error as LinkSourceError {
      #expect(error == .adoptEvents(descriptor: ends[0], code: EPROTOTYPE))
      #expect(error.description.hasSuffix("its socket unit needs ListenNetlink=route 1"))
    }
    #expect(fcntl(ends[0], F_GETFD) >= 0)
  }

  @Test("facts are completed by a link's last name, and not for a link that has gone since")
  func completion() throws {
    let (texts, asked) = try NetworkNamespace.withOne { _ in
      var asked: [String] = []
      let links = try openLinks(complete: { facts in
        asked.append(facts.name.escaped)
        facts.inode = 42
      })
      try ip("link add gone type ifb")
      try ip("link del gone")
      try ip("link add first type ifb")
      try ip("link set first name last")
      let events = try links.drainEvents().events
      let texts = events.map { event -> String in
        guard case .appeared(let link) = event else { return event.text }
        return "\(event.text) \(link.facts.inode)"
      }
      return (texts, asked)
    }
    #expect(texts == ["appeared gone 0", "departed gone", "appeared first 42", "changed last"])
    #expect(asked == ["last", "last"])
  }
}

/// A socket joined to link events, as the service manager would hand it over.
func boundEventSocket() throws -> Int32 {
  guard let handle = nl_socket_alloc() else { throw NamespaceError(what: "nl_socket_alloc") }
  defer { nl_socket_free(handle) }
  guard nl_connect(handle, NETLINK_ROUTE) == 0, nl_socket_add_membership(handle, Int32(RTNLGRP_LINK.rawValue)) == 0
  else { throw NamespaceError(what: "nl_connect") }
  let copy = fcntl(nl_socket_get_fd(handle), F_DUPFD_CLOEXEC, 0)
  guard copy >= 0 else { throw NamespaceError(what: "dup: \(lastError())") }
  return copy
}
