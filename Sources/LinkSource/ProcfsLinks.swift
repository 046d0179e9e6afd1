// Links where netlink is denied: counters from /proc/net/dev, whose they are from ioctls and sysfs, and no events.
import CLinkStats
import Glibc
package import TallyCore

/// The links of one network namespace, that of the thread which uses this. For one thread.
///
/// A line is believed to be a link's when the link bore the name both at the last reading and now, so in between. Other
/// links than before make a sample ask for a list; nothing is left out of one while it still exists.
package final class ProcfsLinks: LinkKernel {
  package let source = LinkCounterSource.procfs
  package let eventDescriptor: Int32 = -1
  package let receiveBufferBytes: UInt32 = 0
  package let health = KernelHealth()

  /// What tells one link, and one life of it, from another of its name.
  private struct Identity: Hashable {
    var ifindex: UInt32
    /// Of the folder in /sys, whatever namespace that shows: only held against itself.
    var inode: UInt64
  }

  private let path: String
  private let sysfs: Sysfs
  private let descriptor: Int32
  private let now: () -> Moment
  private let complete: (inout LinkFacts) -> Void
  /// As they were at the last list.
  private var known: [LinkName: Identity] = [:]
  private var bytes = [UInt8](repeating: 0, count: 16 << 10)
  private var held = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 0)

  private static let listTries = 5
  /// Twice as much as half a million links fill.
  private static let mostBytes = 128 << 20

  /// `complete` adds what sysfs tells of a link, by its name.
  package init(
    path: String = "/proc/thread-self/net/dev", sysfs: Sysfs = Sysfs(), now: @escaping () -> Moment,
    complete: @escaping (inout LinkFacts) -> Void
  ) throws(LinkSourceError) {
    let descriptor = ls_named_open()
    guard descriptor >= 0 else { throw .openNames(code: -descriptor) }
    self.path = path
    self.sysfs = sysfs
    self.descriptor = descriptor
    self.now = now
    self.complete = complete
  }

  deinit {
    close(descriptor)
    held.deallocate()
  }

  package func drainEvents() -> DrainedEvents { DrainedEvents(events: [], overrun: false) }

  /// Every link with all its facts.
  ///
  /// A name that passes from one link to another meanwhile is left out; a link that was here before or at the beginning
  /// and has none now, although it exists, makes the list begin anew.
  package func list() throws(LinkSourceError) -> LinkList {
    for _ in 1...ProcfsLinks.listTries {
      let before = try identities(of: lines())
      let lines = try lines()
      let after = try identities(of: lines)
      var stable: [LinkName: Identity] = [:]
      for (name, identity) in after where before[name] == identity { stable[name] = identity }
      let present = Set(stable.values.map(\.ifindex))
      let expected = Set(known.values.map(\.ifindex)).union(before.values.map(\.ifindex))
      guard expected.subtracting(present).allSatisfy(hasGone) else { continue }
      known = stable
      var listed: [LinkName: ListedLink] = [:]
      for line in lines {
        guard let identity = stable[line.name] else { continue }
        listed[line.name] = ListedLink(facts: facts(line.name, identity), counters: line.counters)
      }
      return LinkList(links: listed.values.sorted { $0.facts.ifindex < $1.facts.ifindex }, isWhole: true)
    }
    throw .restlessNames
  }

  package func sample() throws(LinkSourceError) -> Sample {
    let lines = try lines()
    let at = now()
    if held.count < lines.count {
      held.deallocate()
      held = .allocate(capacity: lines.count * 2)
    }
    var count = 0
    for line in lines {
      guard let identity = known[line.name], try self.identity(of: line.name) == identity else { continue }
      held.initializeElement(at: count, to: Reading(ifindex: identity.ifindex, counters: line.counters))
      count += 1
    }
    let isChanged = count != lines.count || count != known.count
    return Sample(
      at: at, events: [], readings: UnsafeBufferPointer(rebasing: held[..<(isChanged ? 0 : count)]), width: .bits64,
      overrun: isChanged)
  }

  /// Against getifaddrs, where that is allowed: it uses netlink itself.
  package func crossCheck() throws(LinkSourceError) -> CrossCheck {
    var narrow = ls_stats()
    defer { ls_stats_free(&narrow) }
    let before = byIndex(try lines())
    guard ls_dump_counters32(&narrow) >= 0 else { return CrossCheck(checkedLinks: 0, disagreements: []) }
    return CrossCheck(LinkSource.byIndex(narrow), between: before, and: byIndex(try lines()))
  }

  // MARK: Lines

  private func lines() throws(LinkSourceError) -> [ProcNetDevLine] {
    guard let lines = parseProcNetDev(try text()) else { throw .readProcfs(code: EBADMSG) }
    return lines
  }

  private func text() throws(LinkSourceError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .readProcfs(code: errno) }
    defer { close(file) }
    var length = 0
    while true {
      if length == bytes.count {
        guard length < ProcfsLinks.mostBytes else { throw .readProcfs(code: EFBIG) }
        bytes += [UInt8](repeating: 0, count: length)
      }
      let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: length), $0.count - length) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .readProcfs(code: errno) }
      if count == 0 { return Array(bytes[..<length]) }
      length += count
    }
  }

  private func byIndex(_ lines: [ProcNetDevLine]) -> [UInt32: LinkCounters] {
    var counters: [UInt32: LinkCounters] = [:]
    for line in lines {
      if let ifindex = known[line.name]?.ifindex { counters[ifindex] = line.counters }
    }
    return counters
  }

  // MARK: Links

  private func identities(of lines: [ProcNetDevLine]) throws(LinkSourceError) -> [LinkName: Identity] {
    var identities: [LinkName: Identity] = [:]
    for line in lines { identities[line.name] = try identity(of: line.name) }
    return identities
  }

  /// nil when no link has the name any more. Two system calls.
  private func identity(of name: LinkName) throws(LinkSourceError) -> Identity? {
    let index = ls_named_index(descriptor, name.bytes, name.bytes.count)
    if index > 0 { return Identity(ifindex: UInt32(index), inode: sysfs.inode(of: name)) }
    guard index == -ENODEV else { throw .askByName(code: -index) }
    return nil
  }

  private func hasGone(_ ifindex: UInt32) -> Bool { ls_named_exists(descriptor, ifindex) == 0 }

  /// What is told without netlink: no carrier, master, alias or further names.
  private func facts(_ name: LinkName, _ identity: Identity) -> LinkFacts {
    var named = ls_named()
    ls_named_describe(descriptor, name.bytes, name.bytes.count, &named)
    var facts = LinkFacts()
    facts.ifindex = identity.ifindex
    facts.name = name
    facts.flags = named.flags
    facts.mtu = named.mtu
    facts.hardwareType = named.hardware_type
    facts.address = prefix(of: named.address, named.address_length)
    facts.permanentAddress = prefix(of: named.permanent_address, named.permanent_address_length)
    facts.infoKind = infoKind(ofDriver: prefix(of: named.driver, named.driver_length))
    complete(&facts)
    return facts
  }
}

/// IFLA_INFO_KIND from what ethtool calls the driver, which for links made in software is their kind or a name for it.
/// Of any other driver it is empty, as netlink's is of hardware.
func infoKind(ofDriver driver: [UInt8]) -> String {
  let driver = String(decoding: driver, as: UTF8.self)
  switch driver {
  case "802.1Q VLAN Support": return "vlan"
  case "bonding": return "bond"
  default: return softwareKinds.contains(driver) ? driver : ""
  }
}

private let softwareKinds: Set<String> = [
  "bareudp", "bridge", "dummy", "erspan", "geneve", "gre", "gretap", "gtp", "hsr", "ifb", "ip6erspan", "ip6gre",
  "ip6gretap", "ip6tnl", "ipip", "ipvlan", "ipvtap", "macsec", "macvlan", "macvtap", "netdevsim", "netkit", "nlmon",
  "ppp", "sit", "team", "tun", "vcan", "veth", "vrf", "vsockmon", "vti", "vti6", "vxcan", "vxlan", "wireguard", "wwan",
  "xfrm",
]
