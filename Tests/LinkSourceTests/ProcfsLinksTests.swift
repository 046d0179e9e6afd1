// /proc/net/dev as a source: its text, and the links of a real kernel without netlink.
import Foundation
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

private let headings =
  "Inter-|   Receive                                                |  Transmit\n"
  + " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n"

private func parsed(_ lines: String) -> [ProcNetDevLine]? { parseProcNetDev(Array((headings + lines).utf8)) }

@Suite("The text of /proc/net/dev")
struct ProcNetDevTests {
  @Test("counters up to 2^64 are read by name")
  func counters() {
    let lines = parsed(
      "    lo:       7       2    0    0    0     0          0         0        8       3    0    0    0     0       0          0\n"
        + "longest-name-15:18446744073709551615 1 0 0 0 0 0 0 9223372036854775808 2 0 0 0 0 0 0\n")
    #expect(
      lines == [
        ProcNetDevLine(
          name: LinkName(escaped: "lo"), counters: LinkCounters(rxBytes: 7, txBytes: 8, rxPackets: 2, txPackets: 3)),
        ProcNetDevLine(
          name: LinkName(escaped: "longest-name-15"),
          counters: LinkCounters(rxBytes: .max, txBytes: 1 << 63, rxPackets: 1, txPackets: 2)),
      ])
    #expect(parsed("") == [])
  }

  @Test(
    "names are bytes",
    arguments: [[0xFF, 0xFE], [0x7C], [0x3A, 0x31], [0x01, 0x1B], [0xF0, 0x9F, 0x9B]] as [[UInt8]])
  func names(name: [UInt8]) {
    let text = Array(headings.utf8) + [0x20] + name + Array(": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n".utf8)
    let lines = parseProcNetDev(text)
    #expect(lines?.map(\.name.bytes) == [name])
    #expect(lines?.first?.counters == LinkCounters(rxBytes: 1, txBytes: 9, rxPackets: 2, txPackets: 10))
  }

  @Test(
    "a text of which any line is not as the kernel writes it is not believed at all",
    arguments: [
      "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
      "lo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
      "lo: -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
      "lo: 18446744073709551616 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
      "a-name-of-16-byt: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "\n",
    ])
  func odd(line: String) {
    #expect(parsed(line) == nil)
    #expect(parsed(line + "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n") == nil)
  }

  @Test("random bytes never trap", arguments: 0..<4)
  func hostile(seed: UInt64) {
    var state = seed &+ 1
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    let alphabet = Array("0123456789 :\n\u{0}x".utf8) + [0xFF]
    for _ in 0..<2000 {
      let bytes = (0..<next() % 400).map { _ in alphabet[Int(next() % UInt64(alphabet.count))] }
      _ = parseProcNetDev(Array(headings.utf8) + bytes)
      _ = parseProcNetDev(bytes)
    }
  }

  @Test("drivers that links made in software have are their kind, and those of hardware are none")
  func kinds() {
    for (driver, kind) in [
      ("802.1Q VLAN Support", "vlan"), ("bonding", "bond"), ("tun", "tun"), ("e1000e", ""), ("", ""),
    ] {
      #expect(infoKind(ofDriver: Array(driver.utf8)) == kind)
    }
  }
}

private func openPolled(path: String = "/proc/thread-self/net/dev") throws -> ProcfsLinks {
  let sysfs = Sysfs()
  return try ProcfsLinks(path: path, now: { testMoment }, complete: { sysfs.complete(&$0) })
}

@Suite(
  "Polled links", .serialized, .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
struct ProcfsLinksTests {
  @Test("list and sample agree with netlink's: counters, identity, kind and state of each link")
  func sameAsNetlink() throws {
    let (polled, told, readings) = try NetworkNamespace.withOne { _ in
      try ip("link add va type veth peer name vb")
      try ip("link set vb up")
      try ip("link add sw type bridge mcast_snooping 0")
      try ip("link add m0 link va type macvlan")
      try ip("tuntap add tp0 mode tap")
      try prepareToSend("va", number: 8)
      try sendDatagrams(7, of: 333, number: 8)
      let sysfs = Sysfs()
      let links = try KernelLinks(now: { testMoment }, complete: { sysfs.complete(&$0) })
      let procfs = try openPolled()
      let polled = try procfs.list().links
      let sample = try procfs.sample()
      let readings = sample.readings.map { ($0.ifindex, $0.counters) }
      guard !sample.overrun else { throw NamespaceError(what: "nothing had changed") }
      return (polled, try links.list().links, readings)
    }
    #expect(polled.count == 6 && told.count == 6 && readings.count == 6)
    for theirs in told {
      let ours = try #require(polled.first { $0.facts.ifindex == theirs.facts.ifindex })
      let reading = readings.first { $0.0 == theirs.facts.ifindex }?.1
      #expect(ours.counters == theirs.counters && reading == theirs.counters)
      #expect(identityKey(ours.facts) == identityKey(theirs.facts))
      #expect(ours.facts.inode == theirs.facts.inode && ours.facts.inode != 0)
      #expect(classify(ours.facts).type == classify(theirs.facts).type)
      #expect(ours.facts.isUp == theirs.facts.isUp && ours.facts.mtu == theirs.facts.mtu)
      #expect(ours.facts.hardwareType == theirs.facts.hardwareType)
      if theirs.facts.hardwareType == 1 { #expect(ours.facts.address == theirs.facts.address) }
    }
  }

  @Test(
    "other links than before ask for a list: a birth, a death, a rename, two names swapped, the same name and index anew",
    arguments: [
      ["link add new type ifb"], ["link del one"], ["link set one name three"],
      ["link set one name three", "link set two name one", "link set three name two"],
      ["link del one", "link add name one index 70 type ifb"],
    ])
  func changes(commands: [String]) throws {
    let (changed, after) = try NetworkNamespace.withOne { _ in
      try ip("link add name one index 70 type ifb")
      try ip("link add two type ifb")
      let links = try openPolled()
      _ = try links.list()
      guard try !links.sample().overrun else { throw NamespaceError(what: "nothing had changed") }
      for command in commands { try ip(command) }
      let changed = try links.sample()
      let state = (changed.overrun, changed.readings.count)
      _ = try links.list()
      return (state, try links.sample().overrun)
    }
    #expect(changed == (true, 0))
    #expect(!after)
  }

  @Test("names that are no UTF-8 are read as they are")
  func oddNames() throws {
    let names = try NetworkNamespace.withOne { _ in
      try ip("link add |x type ifb")
      try ip("link add \u{1B}[1m type ifb")
      return try openPolled().list().links.map(\.facts.name.escaped)
    }
    #expect(Set(names) == ["lo", "|x", "%1B[1m"])
  }

  @Test("nothing that lives on is ever missing from a list while links come, go and change their names")
  func churn() throws {
    let (fewest, restless, lists) = try NetworkNamespace.withOne { _ in
      try ipBatch((0..<60).map { "link add s\($0) type ifb" })
      let links = try openPolled()
      let stay = Set(try links.list().links.map(\.facts.ifindex))
      var fewest = stay.count
      var (restless, lists) = (0, 0)
      let commands = (0..<50).flatMap {
        [
          "link add t\($0) type ifb", "link set s\($0 % 60) name r\($0)", "link set r\($0) name s\($0 % 60)",
          "link del t\($0)",
        ]
      }
      try whileBatchRuns(commands) {
        do {
          let listed = try links.list().links
          fewest = min(fewest, stay.intersection(listed.map(\.facts.ifindex)).count)
          lists += 1
        } catch LinkSourceError.restlessNames {
          restless += 1
        }
      }
      return (fewest, restless, lists)
    }
    print("\(lists) lists, \(restless) given up")
    #expect(fewest == 61 && lists > 0)
  }

  @Test("a /proc that is missing or odd is named, with its remedy")
  func errors() throws {
    #expect(throws: LinkSourceError.readProcfs(code: ENOENT)) { try openPolled(path: "/nowhere").list() }
    try withTemporaryFolder { root in
      let file = root.appendingPathComponent("dev")
      try Data("nonsense".utf8).write(to: file)
      #expect(throws: LinkSourceError.readProcfs(code: EBADMSG)) { try openPolled(path: file.path).sample() }
    }
    #expect(
      LinkSourceError.readProcfs(code: ENOENT).description.hasSuffix("mount /proc (ProcSubset=all), or allow netlink"))
    #expect(LinkSourceError.openEvents(code: EAFNOSUPPORT).isDenial)
    #expect(!LinkSourceError.openEvents(code: EMFILE).isDenial && !LinkSourceError.readCounters(code: EPERM).isDenial)
  }
}
