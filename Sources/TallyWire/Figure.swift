// A figure on the socket: amounts that never travel without their quality.

/// The values of `completeness`. They travel as text, so that a reader lives with one it does not know.
package enum Completeness {
  /// Every byte that the interface's counter showed.
  package static let complete = "complete"
  /// Complete, but a part was put into its period by proportion.
  package static let placed = "placed"
  /// Something was unobservable: the truth is this or more.
  package static let atLeast = "at_least"
}

/// What is known about how good a figure is.
package struct Quality: Codable, Hashable, Sendable {
  /// One of `Completeness`, or a word of a newer daemon.
  package var completeness: String
  /// Time observed of the time spanned, 0 to 1.
  package var coverage: Double
  /// RFC 3339: the first moment that the figure speaks of.
  package var since: String
  /// RFC 3339: the moment of the last reading in it.
  package var asOf: String
  /// New incarnations and counter resets within.
  package var resets: Int
  /// Spans within that nobody observed.
  package var gaps: Int

  package init(completeness: String, coverage: Double, since: String, asOf: String, resets: Int, gaps: Int) {
    self.completeness = completeness
    self.coverage = coverage
    self.since = since
    self.asOf = asOf
    self.resets = resets
    self.gaps = gaps
  }

  private enum CodingKeys: String, CodingKey {
    case completeness, coverage, since, resets, gaps
    case asOf = "as_of"
  }
}

/// Amounts in bytes and packets as the interface's counter counts them, with their quality.
package struct Figure: Codable, Hashable, Sendable {
  package var rxBytes: UInt64
  package var txBytes: UInt64
  package var rxPackets: UInt64
  package var txPackets: UInt64
  package var quality: Quality

  package init(rxBytes: UInt64, txBytes: UInt64, rxPackets: UInt64, txPackets: UInt64, quality: Quality) {
    self.rxBytes = rxBytes
    self.txBytes = txBytes
    self.rxPackets = rxPackets
    self.txPackets = txPackets
    self.quality = quality
  }

  private enum CodingKeys: String, CodingKey {
    case quality
    case rxBytes = "rx_bytes"
    case txBytes = "tx_bytes"
    case rxPackets = "rx_packets"
    case txPackets = "tx_packets"
  }
}

/// The mean speed over the last span between two readings.
package struct Rate: Codable, Hashable, Sendable {
  package var rxBytesPerSecond: Double
  package var txBytesPerSecond: Double
  /// Length of the span in seconds.
  package var overSeconds: Double

  package init(rxBytesPerSecond: Double, txBytesPerSecond: Double, overSeconds: Double) {
    self.rxBytesPerSecond = rxBytesPerSecond
    self.txBytesPerSecond = txBytesPerSecond
    self.overSeconds = overSeconds
  }

  private enum CodingKeys: String, CodingKey {
    case rxBytesPerSecond = "rx_bytes_per_second"
    case txBytesPerSecond = "tx_bytes_per_second"
    case overSeconds = "over_seconds"
  }
}
