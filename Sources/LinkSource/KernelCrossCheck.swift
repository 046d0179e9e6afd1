// Two independent ways to the same counters, held against each other.
import CLinkStats
import Glibc
package import TallyCore

/// How netlink's and getifaddrs' counters compare.
package struct CrossCheck: Hashable, Sendable {
  /// Links that both showed; 0 where the second way is not open.
  package var checkedLinks: Int
  /// Those whose counters cannot both be right.
  package var disagreements: [LinkName]

  package var agrees: Bool { disagreements.isEmpty }
}

extension KernelLinks {
  /// Reads netlink's counters before and after those of getifaddrs: the latter are the low 32 bits of something
  /// between. Links that came, went or were reset meanwhile are left out.
  package func crossCheck() throws(LinkSourceError) -> CrossCheck {
    var before = ls_stats()
    var narrow = ls_stats()
    var after = ls_stats()
    defer {
      ls_stats_free(&before)
      ls_stats_free(&narrow)
      ls_stats_free(&after)
    }
    try dumpCounters(into: &before)
    try dumpNarrowCounters(into: &narrow)
    try dumpCounters(into: &after)
    return CrossCheck(byIndex(narrow), between: byIndex(before), and: byIndex(after))
  }
}

extension CrossCheck {
  /// Counters by index: those of one source, and those that another showed before and after.
  init(
    _ narrow: [UInt32: LinkCounters], between before: [UInt32: LinkCounters], and after: [UInt32: LinkCounters]
  ) {
    self.init(checkedLinks: 0, disagreements: [])
    for (ifindex, value) in narrow {
      guard let low = before[ifindex], let high = after[ifindex], high.isAtLeast(low) else { continue }
      checkedLinks += 1
      if !value.isNarrowOf(between: low, and: high) { disagreements.append(name(of: ifindex)) }
    }
  }
}

extension LinkCounters {
  func isAtLeast(_ other: LinkCounters) -> Bool {
    rxBytes >= other.rxBytes && txBytes >= other.txBytes && rxPackets >= other.rxPackets
      && txPackets >= other.txPackets
  }

  /// Each is the low 32 bits of a value in low...high.
  func isNarrowOf(between low: LinkCounters, and high: LinkCounters) -> Bool {
    fits(rxBytes, low.rxBytes, high.rxBytes) && fits(txBytes, low.txBytes, high.txBytes)
      && fits(rxPackets, low.rxPackets, high.rxPackets) && fits(txPackets, low.txPackets, high.txPackets)
  }
}

private func fits(_ narrow: UInt64, _ low: UInt64, _ high: UInt64) -> Bool {
  let distance = UInt32(truncatingIfNeeded: narrow) &- UInt32(truncatingIfNeeded: low)
  return UInt64(distance) <= high &- low
}

func byIndex(_ stats: ls_stats) -> [UInt32: LinkCounters] {
  var counters: [UInt32: LinkCounters] = [:]
  for stat in UnsafeBufferPointer(start: stats.items, count: stats.count) {
    counters[stat.ifindex] = LinkCounters(stat.counters)
  }
  return counters
}

/// The name that the index has now; the index itself, which no name can hold, when the link has gone.
private func name(of ifindex: UInt32) -> LinkName {
  let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer -> [UInt8]? in
    guard let start = buffer.baseAddress, if_indextoname(ifindex, start) != nil else { return nil }
    return UnsafeBufferPointer(start: start, count: strnlen(start, buffer.count)).map { UInt8(bitPattern: $0) }
  }
  return LinkName(bytes: name ?? Array("index:\(ifindex)".utf8))
}
