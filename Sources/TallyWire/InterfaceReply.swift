// The replies of /v1/interfaces and /v1/interfaces/{name or id}.

/// Another interface that this one leans on.
package struct InterfaceReference: Codable, Hashable, Sendable {
  /// "id:3"; absent when it is not known here, for example in another network namespace.
  package var id: String?
  package var name: String

  package init(id: String?, name: String) {
    self.id = id
    self.name = name
  }
}

/// What a device counted under one label.
package struct LabelledRecord: Codable, Hashable, Sendable {
  package var id: String
  package var name: String
  /// Absent: it had none.
  package var label: String?

  package init(id: String, name: String, label: String?) {
    self.id = id
    self.name = name
    self.label = label
  }
}

/// What is in the bytes of an interface's counter.
package struct CountedReply: Codable, Hashable, Sendable {
  /// ip_packet, ethernet_frame or other.
  package var rxLayer: String
  package var txLayer: String
  /// The inside of a tunnel, whose carrier counts the same bytes again.
  package var inner: Bool
  /// Bytes of the tunnel itself that are counted too; null: none.
  @NullWhenNil package var overhead: String?
  /// Why offload makes the figures fewer bytes than a wire carries; null: it does not.
  @NullWhenNil package var partial: String?

  package init(rxLayer: String, txLayer: String, inner: Bool, overhead: String?, partial: String?) {
    self.rxLayer = rxLayer
    self.txLayer = txLayer
    self.inner = inner
    self._overhead = NullWhenNil(wrappedValue: overhead)
    self._partial = NullWhenNil(wrappedValue: partial)
  }

  private enum CodingKeys: String, CodingKey {
    case inner, overhead, partial
    case rxLayer = "rx_layer"
    case txLayer = "tx_layer"
  }
}

extension Interface {
  /// What a group is made of.
  package struct Group: Codable, Hashable, Sendable {
    /// Links that are there now.
    package var present: Int
    /// All lives of links that were booked to it; where `expired`, the interfaces that were added to it.
    package var lives: Int
    /// True of a group of interfaces that were gone for long; else nil.
    package var expired: Bool?

    package init(present: Int, lives: Int, expired: Bool? = nil) {
      self.present = present
      self.lives = lives
      self.expired = expired
    }
  }
}

/// One interface: what it is, how it stands, what it counted.
package struct Interface: Codable, Hashable, Sendable {
  /// "id:3": the link's number, never reused.
  package var id: String
  /// Escaped: no control bytes, valid UTF-8.
  package var name: String
  /// What a person calls it; absent without one.
  package var title: String?
  /// The records of one device that are added up, the one that goes on first; absent of a single one.
  package var records: [LabelledRecord]?
  /// Names that were asked for, of links that are counted in this group; absent without any.
  package var askedMembers: [String]?
  /// The interfaces whose figures are added to its own; absent without any.
  package var merged: [InterfaceReference]?
  /// wired, wifi, cellular, tunnel, bridge, bond, vlan, virtual, loopback, other.
  package var kind: String
  /// Finer than kind, for example "wireguard".
  package var type: String
  /// Its bytes cross a medium here; only such interfaces may be added up.
  package var touchesMedium: Bool
  /// The rule that decided the kind, in words.
  package var why: String
  /// What the rules call its traffic; a list has an interface once for each label that it was counted under. Absent where
  /// several are added up.
  package var label: String?
  /// The name of the rule that decided, as /v1/rules lists it.
  package var rule: String?
  /// A rule says whether its bytes cost money.
  package var metered: Bool?
  /// Many links that are counted together; absent of a single one.
  package var group: Group?
  package var present: Bool
  package var up: Bool
  package var ifindex: UInt32?
  package var mac: String?
  package var mtu: UInt32?
  package var speedMbit: UInt32?
  package var driver: String?
  /// What an administrator wrote beside the name; escaped as names are.
  package var alias: String?
  /// Its further names; absent without any.
  package var altnames: [String]?
  /// With prefix length: "192.0.2.1/24".
  package var addresses: [String]
  /// The interface below: the same traffic passes there too.
  package var carrier: InterfaceReference?
  /// The bridge, bond or VRF above.
  package var master: InterfaceReference?
  /// What the counter counts, in words.
  package var counts: String
  /// The same as values.
  package var counted: CountedReply?
  /// What a machine total makes of it: one of `ShareWord`.
  package var share: String?
  /// Why, in words.
  package var shareWhy: String?
  /// All that carry it; a bond's or bridge's are its members.
  package var carriers: [CarrierReference]?
  package var firstSeen: String
  package var lastSeen: String
  package var incarnations: Int
  package var total: Figure
  /// null while history loads.
  @NullWhenNil package var today: Figure?
  /// null until there are two readings.
  @NullWhenNil package var rate: Rate?

  package init(
    id: String, name: String, title: String? = nil, records: [LabelledRecord]? = nil, askedMembers: [String]? = nil,
    merged: [InterfaceReference]? = nil, kind: String, type: String,
    touchesMedium: Bool, why: String, label: String? = nil, rule: String? = nil, metered: Bool? = nil,
    group: Group? = nil, present: Bool, up: Bool, ifindex: UInt32? = nil, mac: String? = nil, mtu: UInt32? = nil,
    speedMbit: UInt32? = nil, driver: String? = nil,
    alias: String? = nil, altnames: [String]? = nil,
    addresses: [String] = [], carrier: InterfaceReference? = nil, master: InterfaceReference? = nil, counts: String,
    counted: CountedReply? = nil, share: String? = nil, shareWhy: String? = nil, carriers: [CarrierReference]? = nil,
    firstSeen: String, lastSeen: String, incarnations: Int, total: Figure, today: Figure?, rate: Rate?
  ) {
    self.id = id
    self.name = name
    self.title = title
    self.records = records
    self.askedMembers = askedMembers
    self.merged = merged
    self.kind = kind
    self.type = type
    self.touchesMedium = touchesMedium
    self.why = why
    self.label = label
    self.rule = rule
    self.metered = metered
    self.group = group
    self.present = present
    self.up = up
    self.ifindex = ifindex
    self.mac = mac
    self.mtu = mtu
    self.speedMbit = speedMbit
    self.driver = driver
    self.alias = alias
    self.altnames = altnames
    self.addresses = addresses
    self.carrier = carrier
    self.master = master
    self.counts = counts
    self.counted = counted
    self.share = share
    self.shareWhy = shareWhy
    self.carriers = carriers
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
    self.incarnations = incarnations
    self.total = total
    self._today = NullWhenNil(wrappedValue: today)
    self._rate = NullWhenNil(wrappedValue: rate)
  }

  private enum CodingKeys: String, CodingKey {
    case id, name, title, merged, kind, type, why, present, up, ifindex, mac, mtu, driver, addresses, carrier, master,
      counts
    case incarnations, total, today, rate, alias, altnames, counted, share, carriers, records
    case askedMembers = "asked_members"
    case label, rule, metered, group
    case shareWhy = "share_why"
    case touchesMedium = "touches_medium"
    case speedMbit = "speed_mbit"
    case firstSeen = "first_seen"
    case lastSeen = "last_seen"
  }
}

/// GET /v1/interfaces
package struct InterfacesReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  package var interfaces: [Interface]

  package init(asOf: String, interfaces: [Interface]) {
    self.asOf = asOf
    self.interfaces = interfaces
  }

  private enum CodingKeys: String, CodingKey {
    case nature, interfaces
    case asOf = "as_of"
  }
}

/// GET /v1/interfaces/{name or id}
package struct InterfaceReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  package var interface: Interface

  package init(asOf: String, interface: Interface) {
    self.asOf = asOf
    self.interface = interface
  }

  private enum CodingKeys: String, CodingKey {
    case nature, interface
    case asOf = "as_of"
  }
}
