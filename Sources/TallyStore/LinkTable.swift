// Links as rows: identity apart from what every commit changes, and their incarnations.
import TallyCore

/// The tables `link`, `link_total` and `incarnation`.
struct LinkTable {
  let database: Database

  private static let bookedColumns = """
    before_rx_bytes, before_tx_bytes, before_rx_packets, before_tx_packets, booked_from, booked_until,
    counted_rx_bytes, counted_tx_bytes, counted_rx_packets, counted_tx_packets
    """

  /// Every link that was ever committed, by id. A present one's baseline knows its incarnation: the newest open one
  /// of its boot and index (SQLite takes the other columns from the row with the maximum).
  func all() throws(StoreError) -> [LinkRecord] {
    let select = try database.statement(
      """
      SELECT id, key, name, kind, type, first_seen, last_seen, rx_bytes, tx_bytes, rx_packets, tx_packets, at_least,
        resets, base_utc, base_boot, base_boot_id_high, base_boot_id_low, base_ifindex, base_inode, base_rx_bytes,
        base_tx_bytes, base_rx_packets, base_tx_packets, base_width, max(opened), birth,
        added, carrier, label, rule, member_of, ignored, member_lives,
        \(LinkTable.bookedColumns), title, merged_into, forgotten
      FROM link JOIN link_total ON link_total.link = id LEFT JOIN incarnation ON incarnation.link = id
        AND boot_id_high = base_boot_id_high AND boot_id_low = base_boot_id_low AND ifindex = base_ifindex
        AND closed IS NULL
      GROUP BY id ORDER BY id
      """)
    defer { select.reset() }
    try select.start()
    var links: [LinkRecord] = []
    while try select.step() {
      var link = LinkRecord(
        id: LinkID(truncatingIfNeeded: select.integer(0)), key: select.text(1), name: LinkName(bytes: select.blob(2)),
        kind: try value(select.text(3), column: "link.kind"), type: select.text(4), firstSeen: select.integer(5),
        lastSeen: select.integer(6), total: select.amounts(7), totalIsAtLeast: select.flag(11),
        resets: select.small(12),
        baseline: select.isNull(13)
          ? nil
          : select.baseline(
            13, opened: select.optional(24) ?? select.integer(5),
            birth: select.isNull(25) ? .born : try value(select.text(25), column: "incarnation.birth"),
            booked: select.booked(33)))
      link.isAdded = select.isNull(26) ? nil : select.flag(26)
      link.carrier = select.optional(27).map { LinkID(truncatingIfNeeded: $0) }
      link.label = select.isNull(28) ? nil : select.text(28)
      link.rule = select.isNull(29) ? nil : select.text(29)
      link.group = select.optional(30).map { LinkID(truncatingIfNeeded: $0) }
      link.isIgnored = select.flag(31)
      link.memberLives = select.small(32)
      link.title = select.text(43)
      link.mergedInto = select.optional(44).map { LinkID(truncatingIfNeeded: $0) }
      link.forgotten = select.optional(45)
      links.append(link)
    }
    return links
  }

  /// Inserts the link or replaces the one with its id. An identity that is the same is not written again.
  func put(_ link: LinkRecord) throws(StoreError) {
    try database.statement(
      """
      INSERT INTO link
        (id, key, name, kind, type, first_seen, added, carrier, label, rule, member_of, ignored, title, merged_into,
        forgotten)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET key = excluded.key, name = excluded.name, kind = excluded.kind,
        type = excluded.type, first_seen = excluded.first_seen, added = excluded.added, carrier = excluded.carrier,
        label = excluded.label, rule = excluded.rule, member_of = excluded.member_of, ignored = excluded.ignored,
        title = excluded.title, merged_into = excluded.merged_into, forgotten = excluded.forgotten
      WHERE (key, name, kind, type, first_seen, added, carrier, label, rule, member_of, ignored, title, merged_into,
        forgotten) IS NOT (excluded.key, excluded.name, excluded.kind, excluded.type, excluded.first_seen,
        excluded.added, excluded.carrier, excluded.label, excluded.rule, excluded.member_of, excluded.ignored,
        excluded.title, excluded.merged_into, excluded.forgotten)
      """
    ).run(
      .integer(Int64(link.id)), .text(link.key), .blob(link.name.bytes), .text(link.kind.rawValue), .text(link.type),
      .integer(link.firstSeen), link.isAdded.map { .flag($0) } ?? .null, .optional(link.carrier.map { Int64($0) }),
      link.label.map { .text($0) } ?? .null, link.rule.map { .text($0) } ?? .null,
      .optional(link.group.map { Int64($0) }), .flag(link.isIgnored),
      link.title.isEmpty ? .null : .text(link.title), .optional(link.mergedInto.map { Int64($0) }),
      .optional(link.forgotten))
    let base = link.baseline
    let counters = base?.counters
    try database.statement(
      """
      INSERT INTO link_total (link, last_seen, rx_bytes, tx_bytes, rx_packets, tx_packets, at_least, resets,
        base_utc, base_boot, base_boot_id_high, base_boot_id_low, base_ifindex, base_inode, base_rx_bytes,
        base_tx_bytes, base_rx_packets, base_tx_packets, base_width, member_lives)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (link) DO UPDATE SET last_seen = excluded.last_seen, rx_bytes = excluded.rx_bytes,
        tx_bytes = excluded.tx_bytes, rx_packets = excluded.rx_packets, tx_packets = excluded.tx_packets,
        at_least = excluded.at_least, resets = excluded.resets, base_utc = excluded.base_utc,
        base_boot = excluded.base_boot, base_boot_id_high = excluded.base_boot_id_high,
        base_boot_id_low = excluded.base_boot_id_low, base_ifindex = excluded.base_ifindex,
        base_inode = excluded.base_inode, base_rx_bytes = excluded.base_rx_bytes,
        base_tx_bytes = excluded.base_tx_bytes, base_rx_packets = excluded.base_rx_packets,
        base_tx_packets = excluded.base_tx_packets, base_width = excluded.base_width,
        member_lives = excluded.member_lives
      """
    ).run(
      .integer(Int64(link.id)), .integer(link.lastSeen), .counter(link.total.rxBytes), .counter(link.total.txBytes),
      .counter(link.total.rxPackets), .counter(link.total.txPackets), .flag(link.totalIsAtLeast), .small(link.resets),
      .optional(base?.at.utc), .optional(base?.at.boot), .optional(base?.at.bootID.high),
      .optional(base?.at.bootID.low), base.map { .small($0.ifindex) } ?? .null, .optional(base?.inode),
      .optional(counters?.rxBytes), .optional(counters?.txBytes), .optional(counters?.rxPackets),
      .optional(counters?.txPackets), base?.width == .bits32 ? .integer(32) : .null,
      .small(link.memberLives))
  }

  /// Deletes a link and what is known of its lives; one that is not there is no error.
  func remove(_ link: LinkID) throws(StoreError) {
    for table in ["incarnation WHERE link", "link_total WHERE link", "link WHERE id"] {
      try database.statement("DELETE FROM \(table) = ?").run(.integer(Int64(link)))
    }
  }

  /// Inserts the incarnation or replaces the one of the same link, boot, ifindex and opening.
  func put(_ incarnation: Incarnation) throws(StoreError) {
    let (before, counted) = (incarnation.booked?.before, incarnation.booked?.amounts)
    try database.statement(
      """
      INSERT OR REPLACE INTO incarnation
        (link, boot_id_high, boot_id_low, ifindex, opened, inode, birth, closed, death, \(LinkTable.bookedColumns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      .integer(Int64(incarnation.link)), .counter(incarnation.bootID.high), .counter(incarnation.bootID.low),
      .small(incarnation.ifindex), .integer(incarnation.opened), .counter(incarnation.inode),
      .text(incarnation.birth.rawValue), .optional(incarnation.closed),
      incarnation.death.map { .text($0.rawValue) } ?? .null, .optional(before?.rxBytes), .optional(before?.txBytes),
      .optional(before?.rxPackets), .optional(before?.txPackets), .optional(incarnation.booked?.from),
      .optional(incarnation.booked?.until), .optional(counted?.rxBytes), .optional(counted?.txBytes),
      .optional(counted?.rxPackets), .optional(counted?.txPackets))
  }

  /// Incarnations that were open at any time in [from, to) or have bytes there, of these links or of all, by link and
  /// opening.
  func incarnations(
    from: Int64, to: Int64, links: Set<LinkID>?, maximum: Int
  ) throws(StoreError) -> [Incarnation] {
    let select = try database.statement(
      """
      SELECT link, boot_id_high, boot_id_low, ifindex, inode, opened, birth, closed, death, \(LinkTable.bookedColumns)
      FROM incarnation
      WHERE opened < ?1 AND (closed IS NULL OR closed >= ?2)
        OR booked_from < ?1 AND (closed IS NULL OR booked_until >= ?2)
      ORDER BY link, opened
      """)
    defer { select.reset() }
    try select.start(.integer(to), .integer(from))
    var found: [Incarnation] = []
    while try select.step() {
      let link = LinkID(truncatingIfNeeded: select.integer(0))
      if let links, !links.contains(link) { continue }
      guard found.count < maximum else { throw .tooManyRows(maximum) }
      found.append(
        Incarnation(
          link: link, bootID: BootID(high: select.counter(1), low: select.counter(2)), ifindex: select.small(3),
          inode: select.counter(4), opened: select.integer(5),
          birth: try value(select.text(6), column: "incarnation.birth"), closed: select.optional(7),
          death: select.isNull(8) ? nil : try value(select.text(8), column: "incarnation.death"),
          booked: select.booked(9)))
    }
    return found
  }

  private func value<V: RawRepresentable<String>>(_ text: String, column: String) throws(StoreError) -> V {
    guard let value = V(rawValue: text) else {
      throw .corrupt(path: database.path, cause: "\(column) holds the unknown value \"\(text)\"")
    }
    return value
  }
}

extension SQLValue {
  static func optional(_ value: UInt64?) -> SQLValue { value.map { .counter($0) } ?? .null }
}

extension Statement {
  /// Four columns: rx and tx bytes, rx and tx packets.
  func amounts(_ column: Int32) -> Amounts {
    Amounts(
      rxBytes: counter(column), txBytes: counter(column + 1), rxPackets: counter(column + 2),
      txPackets: counter(column + 3))
  }

  /// Eleven columns: a moment, ifindex, inode, four counters and their width.
  fileprivate func baseline(_ column: Int32, opened: Int64, birth: BirthCause, booked: Booked?) -> Baseline {
    Baseline(
      at: moment(column), ifindex: small(column + 4), inode: counter(column + 5),
      counters: LinkCounters(
        rxBytes: counter(column + 6), txBytes: counter(column + 7), rxPackets: counter(column + 8),
        txPackets: counter(column + 9)),
      width: optional(column + 10) == 32 ? .bits32 : .bits64, opened: opened, birth: birth, booked: booked)
  }

  /// Ten columns: four amounts of before, two times, and four that are NULL while the incarnation is open.
  fileprivate func booked(_ column: Int32) -> Booked? {
    guard !isNull(column) else { return nil }
    return Booked(
      before: amounts(column), amounts: isNull(column + 6) ? nil : amounts(column + 6), from: integer(column + 4),
      until: integer(column + 5))
  }
}
