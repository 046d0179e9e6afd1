// The reply of /v1/totals: what the machine as a whole received and sent, each byte once.

/// A link that carries another, and how that is known.
package struct CarrierReference: Codable, Hashable, Sendable {
  /// "id:3".
  package var id: String
  package var name: String
  /// rule, lower, member, above, route, or earlier: it carried it when it was last seen.
  package var knownBy: String

  package init(id: String, name: String, knownBy: String) {
    self.id = id
    self.name = name
    self.knownBy = knownBy
  }

  private enum CodingKeys: String, CodingKey {
    case id, name
    case knownBy = "known_by"
  }
}

/// The values of `share`.
package enum ShareWord {
  /// Its bytes cross a medium here: in the total.
  package static let added = "added"
  /// Its bytes pass other interfaces, which count them.
  package static let carried = "carried"
  /// Neither; `why` says what it is.
  package static let leftOut = "left_out"
}

/// One interface and what the total makes of it.
package struct TotalsInterface: Codable, Hashable, Sendable {
  package var interface: SeriesInterface
  /// One of `ShareWord`, or a word of a newer daemon.
  package var share: String
  /// Why, in words.
  package var why: String
  package var carriers: [CarrierReference]
  package var figure: Figure

  package init(
    interface: SeriesInterface, share: String, why: String, carriers: [CarrierReference], figure: Figure
  ) {
    self.interface = interface
    self.share = share
    self.why = why
    self.carriers = carriers
    self.figure = figure
  }
}

/// The added interfaces of one kind or one label.
package struct TotalsPart: Codable, Hashable, Sendable {
  /// A kind, or a label; null: those without a label.
  @NullWhenNil package var name: String?
  package var figure: Figure
  package var interfaces: [InterfaceReference]

  package init(name: String?, figure: Figure, interfaces: [InterfaceReference]) {
    self._name = NullWhenNil(wrappedValue: name)
    self.figure = figure
    self.interfaces = interfaces
  }
}

/// A tunnel beside what carries it.
package struct TunnelShare: Codable, Hashable, Sendable {
  package var interface: SeriesInterface
  package var figure: Figure
  package var carriers: [CarrierReference]
  /// Of all carriers together.
  package var carrierFigure: Figure
  /// Bytes of the carriers for each byte of the tunnel in this span; null when the tunnel had none. The carriers' other
  /// traffic is in it, so it is overhead alone only where they had no other.
  @NullWhenNil package var carrierRatio: Double?

  package init(
    interface: SeriesInterface, figure: Figure, carriers: [CarrierReference], carrierFigure: Figure,
    carrierRatio: Double?
  ) {
    self.interface = interface
    self.figure = figure
    self.carriers = carriers
    self.carrierFigure = carrierFigure
    self._carrierRatio = NullWhenNil(wrappedValue: carrierRatio)
  }

  private enum CodingKeys: String, CodingKey {
    case interface, figure, carriers
    case carrierFigure = "carrier_figure"
    case carrierRatio = "carrier_ratio"
  }
}

/// GET /v1/totals
package struct TotalsReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  /// RFC 3339, widened to whole periods as /v1/usage does.
  package var from: String
  package var to: String
  /// Name of the zone that days are cut in, for example "Europe/Berlin".
  package var timezone: String
  /// All that is added, together.
  package var total: Figure
  package var byKind: [TotalsPart]
  /// Empty when no added interface has a label.
  package var byLabel: [TotalsPart]
  package var added: [TotalsInterface]
  package var tunnels: [TunnelShare]
  /// Everything else that is present or had bytes in the span, tunnels too.
  package var notAdded: [TotalsInterface]

  package init(
    asOf: String, from: String, to: String, timezone: String, total: Figure, byKind: [TotalsPart],
    byLabel: [TotalsPart], added: [TotalsInterface], tunnels: [TunnelShare], notAdded: [TotalsInterface]
  ) {
    self.asOf = asOf
    self.from = from
    self.to = to
    self.timezone = timezone
    self.total = total
    self.byKind = byKind
    self.byLabel = byLabel
    self.added = added
    self.tunnels = tunnels
    self.notAdded = notAdded
  }

  private enum CodingKeys: String, CodingKey {
    case nature, from, to, timezone, total, added, tunnels
    case asOf = "as_of"
    case byKind = "by_kind"
    case byLabel = "by_label"
    case notAdded = "not_added"
  }
}
