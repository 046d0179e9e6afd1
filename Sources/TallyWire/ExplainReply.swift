// The reply of /v1/explain: what one figure is made of, to the byte, and what is known of its making.

/// Bytes and packets without a quality of their own: parts of a figure.
package struct ExplainedAmounts: Codable, Hashable, Sendable {
  package var rxBytes: UInt64
  package var txBytes: UInt64
  package var rxPackets: UInt64
  package var txPackets: UInt64

  package init(rxBytes: UInt64, txBytes: UInt64, rxPackets: UInt64, txPackets: UInt64) {
    self.rxBytes = rxBytes
    self.txBytes = txBytes
    self.rxPackets = rxPackets
    self.txPackets = txPackets
  }

  private enum CodingKeys: String, CodingKey {
    case rxBytes = "rx_bytes"
    case txBytes = "tx_bytes"
    case rxPackets = "rx_packets"
    case txPackets = "tx_packets"
  }
}

/// GET /v1/explain
package struct ExplainReply: Codable, Hashable, Sendable {
  /// A share of the figure.
  package struct Part: Codable, Hashable, Sendable {
    /// Numbers of the incarnations that it is of; empty when none is on record.
    package var incarnations: [Int]
    /// The incarnations before those that are listed take part in it.
    package var earlier: Bool
    /// whole_life, by_time, shared, unrecorded, earlier_store, or a word of a newer daemon.
    package var method: String
    /// The same in words.
    package var text: String
    package var amounts: ExplainedAmounts

    package init(incarnations: [Int], earlier: Bool, method: String, text: String, amounts: ExplainedAmounts) {
      self.incarnations = incarnations
      self.earlier = earlier
      self.method = method
      self.text = text
      self.amounts = amounts
    }
  }

  /// One life of the link.
  package struct Incarnation: Codable, Hashable, Sendable {
    package var number: Int
    /// "id:3": whose life it was; absent unless others were merged into the interface.
    package var interface: String?
    package var bootID: String
    package var ifindex: UInt32
    /// Of sysfs; absent where it was not readable.
    package var inode: UInt64?
    package var opened: String
    /// first_sight, born, moved_in, born_unseen, or a word of a newer daemon.
    package var birth: String
    /// Absent while it goes on.
    package var closed: String?
    /// deleted, moved_out, vanished, reboot, forgotten, or a word of a newer daemon.
    package var death: String?
    /// How it began and ended, in words.
    package var text: String
    /// It lies in the figure's span from beginning to end.
    package var isWhole: Bool
    /// All that it counted, in the span or not; null when it began before that was kept.
    @NullWhenNil package var counted: ExplainedAmounts?

    package init(
      number: Int, interface: String? = nil, bootID: String, ifindex: UInt32, inode: UInt64?, opened: String,
      birth: String, closed: String?,
      death: String?, text: String, isWhole: Bool, counted: ExplainedAmounts?
    ) {
      self.number = number
      self.interface = interface
      self.bootID = bootID
      self.ifindex = ifindex
      self.inode = inode
      self.opened = opened
      self.birth = birth
      self.closed = closed
      self.death = death
      self.text = text
      self.isWhole = isWhole
      self._counted = NullWhenNil(wrappedValue: counted)
    }

    private enum CodingKeys: String, CodingKey {
      case number, interface, ifindex, inode, opened, birth, closed, death, text, counted
      case bootID = "boot_id"
      case isWhole = "whole"
    }
  }

  /// A span in which something was not observed; a counter that was reset, too.
  package struct Gap: Codable, Hashable, Sendable {
    package var from: String
    package var to: String
    /// As in `StatusReply.Gap`.
    package var reason: String
    /// Bytes of this interface may have passed in it that nobody will ever see.
    package var lossy: Bool
    /// The reason and what it means for this interface, in words.
    package var text: String

    package init(from: String, to: String, reason: String, lossy: Bool, text: String) {
      self.from = from
      self.to = to
      self.reason = reason
      self.lossy = lossy
      self.text = text
    }
  }

  /// A span over which bytes were distributed by proportion, since it is not known when in it they passed.
  package struct Placement: Codable, Hashable, Sendable {
    package var from: String
    package var to: String
    package var rxBytes: UInt64
    package var txBytes: UInt64
    /// It crosses a boundary of the figure's periods: the figure is `placed` by it.
    package var crossesPeriod: Bool

    package init(from: String, to: String, rxBytes: UInt64, txBytes: UInt64, crossesPeriod: Bool) {
      self.from = from
      self.to = to
      self.rxBytes = rxBytes
      self.txBytes = txBytes
      self.crossesPeriod = crossesPeriod
    }

    private enum CodingKeys: String, CodingKey {
      case from, to
      case rxBytes = "rx_bytes"
      case txBytes = "tx_bytes"
      case crossesPeriod = "crosses_period"
    }
  }

  /// How many older ones of each list were left out.
  package struct Omitted: Codable, Hashable, Sendable {
    package var incarnations: Int
    package var resets: Int
    package var gaps: Int
    package var placements: Int
    package var clockSteps: Int

    package init(incarnations: Int, resets: Int, gaps: Int, placements: Int, clockSteps: Int) {
      self.incarnations = incarnations
      self.resets = resets
      self.gaps = gaps
      self.placements = placements
      self.clockSteps = clockSteps
    }

    private enum CodingKeys: String, CodingKey {
      case incarnations, resets, gaps, placements
      case clockSteps = "clock_steps"
    }
  }

  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  /// RFC 3339, widened to whole periods; of a total from the first sight of the interface until now.
  package var from: String
  package var to: String
  /// minute, five_minutes, hour, day, month or year; absent for the interface's total.
  package var resolution: String?
  package var timezone: String
  package var interface: SeriesInterface
  package var figure: Figure
  /// Why the figure has its completeness, in sentences.
  package var verdict: [String]
  /// They add up to the figure, field by field.
  package var parts: [Part]
  /// Oldest first.
  package var incarnations: [Incarnation]
  package var resets: [Gap]
  package var gaps: [Gap]
  package var placements: [Placement]
  package var clockSteps: [StatusReply.Clock.Step]
  package var omitted: Omitted
  /// The rule that decided the kind, in words.
  package var why: String
  /// What the counter counts, in words.
  package var counts: String
  /// The interface below: the same traffic passes there too.
  package var carrier: InterfaceReference?
  /// What must not be added to this figure, in words.
  package var carrierNote: String?

  package init(
    asOf: String, from: String, to: String, resolution: String?, timezone: String, interface: SeriesInterface,
    figure: Figure, verdict: [String], parts: [Part], incarnations: [Incarnation], resets: [Gap], gaps: [Gap],
    placements: [Placement], clockSteps: [StatusReply.Clock.Step], omitted: Omitted, why: String, counts: String,
    carrier: InterfaceReference?, carrierNote: String?
  ) {
    self.asOf = asOf
    self.from = from
    self.to = to
    self.resolution = resolution
    self.timezone = timezone
    self.interface = interface
    self.figure = figure
    self.verdict = verdict
    self.parts = parts
    self.incarnations = incarnations
    self.resets = resets
    self.gaps = gaps
    self.placements = placements
    self.clockSteps = clockSteps
    self.omitted = omitted
    self.why = why
    self.counts = counts
    self.carrier = carrier
    self.carrierNote = carrierNote
  }

  private enum CodingKeys: String, CodingKey {
    case nature, from, to, resolution, timezone, interface, figure, verdict, parts, incarnations, resets, gaps
    case placements, omitted, why, counts, carrier
    case asOf = "as_of"
    case clockSteps = "clock_steps"
    case carrierNote = "carrier_note"
  }
}
