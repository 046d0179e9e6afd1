// Cumulative counters of one link as the kernel shows them, and amounts: differences that were counted.

/// How wide the source's counters are: netlink's are 64 bit, getifaddrs' are 32.
package enum CounterWidth: UInt8, Sendable {
  case bits32 = 32
  case bits64 = 64
}

/// Cumulative counters of one link; what a driver counts in them differs by kind.
package struct LinkCounters: Hashable, Sendable {
  package var rxBytes: UInt64
  package var txBytes: UInt64
  package var rxPackets: UInt64
  package var txPackets: UInt64

  package init(rxBytes: UInt64 = 0, txBytes: UInt64 = 0, rxPackets: UInt64 = 0, txPackets: UInt64 = 0) {
    self.rxBytes = rxBytes
    self.txBytes = txBytes
    self.rxPackets = rxPackets
    self.txPackets = txPackets
  }

  package static let zero = LinkCounters()
}

/// One line of a counter dump.
package struct Reading: Sendable {
  package var ifindex: UInt32
  package var counters: LinkCounters

  package init(ifindex: UInt32, counters: LinkCounters) {
    self.ifindex = ifindex
    self.counters = counters
  }
}

/// Bytes and packets that passed in some span.
package struct Amounts: Hashable, Sendable {
  package var rxBytes: UInt64
  package var txBytes: UInt64
  package var rxPackets: UInt64
  package var txPackets: UInt64

  package init(rxBytes: UInt64 = 0, txBytes: UInt64 = 0, rxPackets: UInt64 = 0, txPackets: UInt64 = 0) {
    self.rxBytes = rxBytes
    self.txBytes = txBytes
    self.rxPackets = rxPackets
    self.txPackets = txPackets
  }

  package static let zero = Amounts()

  package var isZero: Bool { self == .zero }

  /// Sums saturate: totals of a hostile counter must not trap the daemon.
  package static func += (a: inout Amounts, b: Amounts) {
    a.rxBytes = saturatingSum(a.rxBytes, b.rxBytes)
    a.txBytes = saturatingSum(a.txBytes, b.txBytes)
    a.rxPackets = saturatingSum(a.rxPackets, b.rxPackets)
    a.txPackets = saturatingSum(a.txPackets, b.txPackets)
  }
}

extension Amounts {
  /// What is left of these without others; nil when one of the four is less than theirs.
  package func without(_ other: Amounts) -> Amounts? {
    guard rxBytes >= other.rxBytes, txBytes >= other.txBytes, rxPackets >= other.rxPackets,
      txPackets >= other.txPackets
    else { return nil }
    return Amounts(
      rxBytes: rxBytes - other.rxBytes, txBytes: txBytes - other.txBytes, rxPackets: rxPackets - other.rxPackets,
      txPackets: txPackets - other.txPackets)
  }
}

@inlinable
package func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max : sum
}
