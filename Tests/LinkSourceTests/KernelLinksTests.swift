// Lists, samples and the cross-check on a real kernel, in namespaces of their own.
import CLinkStats
import CNetlink
import Foundation
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

/// A few links that have seen traffic.
private func makeBusyLinks() throws {
  try ip("link add va type veth peer name vb")
  try ip("link set vb up")
  // A bridge sends nothing before it has a port that is up; with snooping it also sends reports by itself.
  try ip("link add sw type bridge mcast_snooping 0")
  try ip("link set vb master sw")
  try prepareToSend("va", number: 8)
  try prepareToSend("sw", number: 5)
  try sendDatagrams(7, of: 333, number: 8)
  try sendDatagrams(3, of: 44, number: 5)
}

/// What libnl-route's own cache says of every link.
private func libnlLinks() throws -> [LibnlLink] {
  guard let handle = nl_socket_alloc() else { throw NamespaceError(what: "nl_socket_alloc") }
  defer { nl_socket_free(handle) }
  var cache: OpaquePointer?
  guard nl_connect(handle, NETLINK_ROUTE) == 0, rtnl_link_alloc_cache(handle, AF_UNSPEC, &cache) == 0, let cache else {
    throw NamespaceError(what: "rtnl_link_alloc_cache")
  }
  defer { nl_cache_free(cache) }
  var links: [LibnlLink] = []
  var next = nl_cache_get_first(cache)
  while let object = next {
    links.append(LibnlLink(object))
    next = nl_cache_get_next(object)
  }
  return links
}

/// What the C module's list says of every link.
private func listedLinks() throws -> [LibnlLink] {
  var requests: OpaquePointer?
  guard ls_requests_open(&requests) == 0, let requests else { throw NamespaceError(what: "ls_requests_open") }
  defer { ls_requests_close(requests) }
  var links = ls_links()
  defer { ls_links_free(&links) }
  var report = ls_dump_report()
  guard ls_list_links(requests, &links, &report) == 0 else { throw NamespaceError(what: "ls_list_links") }
  return UnsafeBufferPointer(start: links.items, count: links.count).map { LibnlLink($0) }
}

/// Counters by index, read by RTM_GETSTATS and by RTM_GETLINK.
private func bothDumps() throws -> [[UInt32: LinkCounters]] {
  var requests: OpaquePointer?
  guard ls_requests_open(&requests) == 0, let requests else { throw NamespaceError(what: "ls_requests_open") }
  defer { ls_requests_close(requests) }
  var stats = ls_stats()
  defer { ls_stats_free(&stats) }
  return try [false, true].map { withoutGetStats in
    if withoutGetStats { ls_requests_without_getstats(requests) }
    var report = ls_dump_report()
    guard ls_dump_counters(requests, &stats, &report) == 0 else { throw NamespaceError(what: "ls_dump_counters") }
    let pairs = UnsafeBufferPointer(start: stats.items, count: stats.count).map {
      ($0.ifindex, LinkCounters($0.counters))
    }
    guard (ls_requests_lack_getstats(requests) != 0) == withoutGetStats else { throw NamespaceError(what: "fallback") }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}

@Suite(
  "Kernel links", .serialized, .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
struct KernelLinksTests {
  @Test("a list has every link's facts and counters, and asks for the rest of them")
  func list() throws {
    let (links, expected) = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      try ip("link set va alias uplink_of_the_lab")
      try ip("link property add dev va altname a-longer-name-than-fifteen-bytes")
      try ip("link add m0 link va type macvlan")
      let links = try openLinks(complete: { $0.inode = UInt64($0.ifindex) + 100 })
      return (try links.list().links, try ["lo", "va", "vb", "sw", "m0"].map { ($0, try sysfsCounters($0)) })
    }
    for (name, counters) in expected {
      let link = try #require(links.first { $0.facts.name.escaped == name })
      #expect(link.counters == counters)
      #expect(link.facts.inode == UInt64(link.facts.ifindex) + 100)
    }
    let a = try #require(links.first { $0.facts.name.escaped == "va" }).facts
    let macvlan = try #require(links.first { $0.facts.name.escaped == "m0" }).facts
    #expect(links.count == 5)
    #expect(String(decoding: a.alias, as: UTF8.self) == "uplink_of_the_lab")
    #expect(a.altnames.map(\.escaped) == ["a-longer-name-than-fifteen-bytes"])
    #expect(a.isUp && a.isVeth && a.address.count == 6 && a.mtu == 1500 && a.operState == 6)
    #expect(links.first { $0.facts.ifindex == a.lower }?.facts.name.escaped == "vb")
    #expect(macvlan.infoKind == "macvlan" && macvlan.lower == a.ifindex)
    #expect(links.first { $0.facts.name.escaped == "lo" }?.facts.isLoopback == true)
  }

  @Test("our list agrees with libnl-route's, all counters included")
  func sameAsLibnl() throws {
    let (ours, theirs) = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      return (try listedLinks(), try libnlLinks())
    }
    #expect(ours.count == 4 && Set(ours) == Set(theirs))
  }

  @Test("RTM_GETSTATS, RTM_GETLINK and /sys tell the same counters, for more links than fit a dump's chunk")
  func sameCounters() throws {
    let (dumps, files) = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      try ipBatch((0..<200).map { "link add t\($0) type ifb" })
      let names = ["va", "vb", "sw", "t0", "t199"]
      return (try bothDumps(), try names.map { (linkIndex($0), try sysfsCounters($0)) })
    }
    #expect(dumps[0].count == 204)
    #expect(dumps[0] == dumps[1])
    for (ifindex, counters) in files { #expect(dumps[0][ifindex] == counters) }
  }

  @Test("a sample has each link's reading, its moment, and no reading of a link that came or went with its events")
  func sample() throws {
    let (first, second, third, indices) = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      let links = try openLinks()
      func names() throws -> [UInt32] { try links.sample().readings.map(\.ifindex) }
      let first = try names()
      try ip("link add late type ifb")
      try ip("link del va")
      let second = try links.sample()
      let kept = second.readings.map(\.ifindex)
      let late = linkIndex("late")
      return (first, (second, kept), try names(), (linkIndex("lo"), linkIndex("sw"), late))
    }
    #expect(first.count == 4)
    #expect(Set(second.1) == [indices.0, indices.1])
    #expect(second.0.at == testMoment && second.0.width == .bits64 && !second.0.overrun)
    #expect(
      second.0.events.map(\.text).filter { !$0.hasPrefix("changed") }.sorted() == [
        "appeared late", "departed va", "departed vb",
      ])
    #expect(Set(third) == [indices.0, indices.1, indices.2])
  }

  @Test("after an overrun a sample has no readings: they may be another incarnation's")
  func sampleAfterOverrun() throws {
    let (lost, next) = try NetworkNamespace.withOne { _ in
      let links = try openLinks(events: .own(receiveBuffer: 4096))
      try ipBatch((0..<40).map { "link add t\($0) type ifb" })
      let lost = try links.sample()
      return ((lost.overrun, lost.readings.count), try links.sample().readings.count)
    }
    #expect(lost == (true, 0))
    #expect(next == 41)
  }

  @Test("the moment is taken after the counters were read")
  func momentAfterDump() throws {
    let before = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      let kernel = try KernelLinks(
        now: {
          try? sendDatagrams(1, of: 10_000, number: 5)
          return testMoment
        }, complete: { _ in })
      let expected = try sysfsCounters("sw")
      let reading = try kernel.sample().readings.first { $0.ifindex == linkIndex("sw") }
      return (expected, reading?.counters)
    }
    #expect(before.0 == before.1)
  }

  @Test("getifaddrs as the source gives 32-bit readings of every link, which agree with its list")
  func getifaddrsSource() throws {
    let (width, readings, listed) = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      // A link without a hardware address, which getifaddrs tells by its name alone.
      let tun = try openTun("t0")
      defer { close(tun) }
      try prepareToSend("t0", number: 9)
      _ = packet(of: 1400).withUnsafeBytes { write(tun, $0.baseAddress, $0.count) }
      let links = try openLinks(source: .getifaddrs)
      let sample = try links.sample()
      let readings = sample.readings.map { ($0.ifindex, $0.counters) }
      let listed = try links.list().links.map { ($0.facts.ifindex, $0.counters) }
      return (sample.width, readings, listed)
    }
    #expect(width == .bits32)
    #expect(readings.count == 5)
    let tunIsListed = listed.contains { $0.1?.rxBytes == 1400 }
    #expect(tunIsListed)
    for (ifindex, counters) in listed {
      let reading = readings.first { $0.0 == ifindex }?.1
      #expect(reading == counters)
    }
  }

  @Test("getifaddrs agrees with the low 32 bits of netlink's counters")
  func crossCheck() throws {
    let check = try NetworkNamespace.withOne { _ in
      try makeBusyLinks()
      return try openLinks().crossCheck()
    }
    #expect(check == CrossCheck(checkedLinks: 4, disagreements: []))
  }

  @Test("addresses of every interface are told with their prefix, those of an IPv4 label by the interface's name")
  func addresses() throws {
    let texts = try NetworkNamespace.withOne { _ in
      try ip("link set lo up")
      try ip("link add x type ifb")
      try ip("addr add 192.0.2.1/24 dev x label x:y")
      try "0".write(toFile: "/proc/sys/net/ipv6/conf/x/disable_ipv6", atomically: false, encoding: .ascii)
      try ip("addr add 2001:db8::1/64 dev x nodad")
      return try LinkAddress.list().map { "\($0.name) \($0.text)" }
    }
    #expect(texts.contains("lo 127.0.0.1/8"))
    #expect(texts.contains("x 192.0.2.1/24"))
    #expect(texts.contains("x 2001:db8::1/64"))
  }

  @Test("addresses beyond the bound are left out")
  func boundedAddresses() throws {
    let count = try NetworkNamespace.withOne { _ in
      try ip("link add x type ifb")
      try ipBatch((1...20).map { "addr add 192.0.2.\($0)/32 dev x" })
      return try LinkAddress.list(limit: 7).count
    }
    #expect(count == 7)
  }

  @Test("a dump that the kernel marks as interrupted is asked for again")
  func interrupted() throws {
    let (health, fewest) = try NetworkNamespace.withOne { _ in
      try ipBatch((0..<400).map { "link add t\($0) type ifb" })
      let links = try openLinks()
      var fewest = Int.max
      try whileBatchRuns((400..<900).map { "link add t\($0) type ifb" }) {
        let sample = try links.sample()
        let born = sample.events.filter { $0.text.hasPrefix("appeared") }
        fewest = min(fewest, sample.readings.count + born.count)
      }
      return (links.health, fewest)
    }
    #expect(health.dumpRetries > 0)
    #expect(fewest >= 401 || health.interruptedDumps > 0)
  }

  @Test("a dump that is interrupted again and again ends after five tries, and tells so")
  func interruptedAgain() throws {
    let (health, samples) = try NetworkNamespace.withOne { _ in
      try ipBatch((0..<300).map { "link add t\($0) type ifb" })
      let links = try openLinks()
      var samples: UInt64 = 0
      // Changes of 300 links, one after the other, as fast as the kernel takes them. On a busy machine the two may take
      // turns, and no dump is interrupted: then once more.
      var made = 300
      repeat {
        let lines = (0..<4000).map { "link set t\($0 % 300) mtu \(1000 + $0 % 400)" }
        try whileBatchRuns(lines + (made..<made + 200).map { "link add t\($0) type ifb" }) {
          let before = links.health
          let sample = try links.sample()
          samples += 1
          let tries = links.health.dumpRetries - before.dumpRetries
          let wasInterrupted = links.health.interruptedDumps > before.interruptedDumps
          guard tries <= 4, sample.isComplete != wasInterrupted, !wasInterrupted || tries == 4 else {
            throw NamespaceError(what: "\(tries) retries, interrupted: \(wasInterrupted)")
          }
        }
        made += 200
      } while links.health.dumpRetries == 0 && made < 3000
      return (links.health, samples)
    }
    print("\(samples) samples, \(health.dumpRetries) retries, \(health.interruptedDumps) used as they were")
    #expect(health.dumpRetries > 0)
  }
}

@Suite struct KernelCrossCheckTests {
  @Test("a narrow counter that lies between two wide ones agrees, also across 2^32")
  func betweenness() {
    let low = LinkCounters(rxBytes: (1 << 32) - 10, txBytes: 5, rxPackets: 0, txPackets: 0)
    let high = LinkCounters(rxBytes: (1 << 32) + 10, txBytes: 5, rxPackets: 0, txPackets: 0)
    for (narrow, agrees) in [
      (UInt64(UInt32.max) - 9, true), (0, true), (10, true), (11, false), (4_294_967_285, false),
    ] {
      #expect(LinkCounters(rxBytes: narrow, txBytes: 5).isNarrowOf(between: low, and: high) == agrees)
    }
    #expect(!LinkCounters(rxBytes: 0, txBytes: 6).isNarrowOf(between: low, and: high))
  }

  @Test("errors name what failed, why, and the remedy")
  func errors() {
    #expect(
      LinkSourceError.openEvents(code: EPERM).description
        == "cannot open the netlink socket for link events: Operation not permitted: allow AF_NETLINK to the service "
        + "(RestrictAddressFamilies=, SystemCallFilter=, or the container's seccomp profile)")
    #expect(LinkSourceError.readCounters(code: ENOBUFS).description.hasSuffix("raise the service's MemoryMax="))
  }
}
