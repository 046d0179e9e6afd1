// The reply of /v1/usage: series of periods and their sums.

/// The interface that a series belongs to.
package struct SeriesInterface: Codable, Hashable, Sendable {
  package var id: String
  package var name: String
  /// What a person calls it; absent without one.
  package var title: String?
  package var kind: String
  package var type: String
  /// What the rules call its traffic; absent where several labels are added up.
  package var label: String?
  /// The records of one device that are added up, the one that goes on first; absent of a single one.
  package var records: [LabelledRecord]?
  /// Names that were asked for, of links that are counted in this group; absent without any.
  package var askedMembers: [String]?
  package var present: Bool

  package init(
    id: String, name: String, title: String? = nil, kind: String, type: String, label: String? = nil,
    records: [LabelledRecord]? = nil, askedMembers: [String]? = nil, present: Bool
  ) {
    self.id = id
    self.name = name
    self.title = title
    self.kind = kind
    self.type = type
    self.label = label
    self.records = records
    self.askedMembers = askedMembers
    self.present = present
  }

  private enum CodingKeys: String, CodingKey {
    case id, name, title, kind, type, label, records, present
    case askedMembers = "asked_members"
  }
}

/// One period with traffic.
package struct UsagePoint: Codable, Hashable, Sendable {
  /// RFC 3339, inclusive.
  package var start: String
  /// RFC 3339, exclusive.
  package var end: String
  package var rxBytes: UInt64
  package var txBytes: UInt64
  package var rxPackets: UInt64
  package var txPackets: UInt64
  /// One of `Completeness`, or a word of a newer daemon.
  package var completeness: String
  /// Time observed of the period, as far as it has passed, 0 to 1.
  package var coverage: Double

  package init(
    start: String, end: String, rxBytes: UInt64, txBytes: UInt64, rxPackets: UInt64, txPackets: UInt64,
    completeness: String, coverage: Double
  ) {
    self.start = start
    self.end = end
    self.rxBytes = rxBytes
    self.txBytes = txBytes
    self.rxPackets = rxPackets
    self.txPackets = txPackets
    self.completeness = completeness
    self.coverage = coverage
  }

  private enum CodingKeys: String, CodingKey {
    case start, end, completeness, coverage
    case rxBytes = "rx_bytes"
    case txBytes = "tx_bytes"
    case rxPackets = "rx_packets"
    case txPackets = "tx_packets"
  }
}

/// One interface's periods, oldest first; those without traffic are left out.
package struct UsageSeries: Codable, Hashable, Sendable {
  package var interface: SeriesInterface
  package var points: [UsagePoint]
  /// Of the whole span asked for, also of points that a limit left out.
  package var sum: Figure

  package init(interface: SeriesInterface, points: [UsagePoint], sum: Figure) {
    self.interface = interface
    self.points = points
    self.sum = sum
  }
}

/// GET /v1/usage
package struct UsageReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  /// RFC 3339, widened to whole periods.
  package var from: String
  package var to: String
  /// minute, five_minutes, hour, day, month or year.
  package var resolution: String
  /// Name of the zone that days are cut in, for example "Europe/Berlin".
  package var timezone: String
  package var series: [UsageSeries]

  package init(
    asOf: String, from: String, to: String, resolution: String, timezone: String, series: [UsageSeries]
  ) {
    self.asOf = asOf
    self.from = from
    self.to = to
    self.resolution = resolution
    self.timezone = timezone
    self.series = series
  }

  private enum CodingKeys: String, CodingKey {
    case nature, from, to, resolution, timezone, series
    case asOf = "as_of"
  }
}
