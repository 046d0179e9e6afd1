// Links and link events from the C module's structs into the ledger's words.
import CLinkStats
import TallyCore

/// The facts that netlink tells; those from sysfs are still missing.
func facts(of link: ls_link) -> LinkFacts {
  var facts = LinkFacts()
  facts.ifindex = link.ifindex
  facts.name = LinkName(bytes: prefix(of: link.name, link.name_length))
  facts.altnames = altnames(of: link)
  facts.alias = prefix(of: link.alias, link.alias_length)
  facts.infoKind = String(decoding: prefix(of: link.kind, link.kind_length), as: UTF8.self)
  facts.portKind = String(decoding: prefix(of: link.port_kind, link.port_kind_length), as: UTF8.self)
  facts.hardwareType = link.hardware_type
  facts.flags = link.flags
  facts.mtu = link.mtu
  facts.operState = link.operstate
  facts.address = prefix(of: link.address, link.address_length)
  facts.permanentAddress = prefix(of: link.permanent_address, link.permanent_address_length)
  // vxlan and xfrm tell the link that they are bound to in their own way only.
  facts.lower = link.lower != 0 ? link.lower : link.endpoint.lower
  facts.lowerIsElsewhere = link.lower_is_elsewhere != 0
  if facts.lowerIsElsewhere, link.lower_namespace >= 0 { facts.lowerNamespace = link.lower_namespace }
  facts.master = link.master
  facts.tunType = link.tun_type
  facts.endpoint = tunnelEndpoint(link.endpoint)
  return facts
}

/// nil when the message had none. All the bits there are, also beside a narrow source: the ledger extends that one's
/// readings, and what a link event tells mends what a wrap hid.
func counters(of link: ls_link) -> LinkCounters? {
  link.counter_width == 0 ? nil : LinkCounters(link.counters)
}

/// The event that a link message of sort `what` (LS_LINK, LS_LINK_GONE) of this namespace tells.
func event(_ what: Int32, _ link: ls_link) -> LinkEvent {
  if what == LS_LINK_GONE {
    return .departed(
      ifindex: link.ifindex, name: LinkName(bytes: prefix(of: link.name, link.name_length)),
      final: counters(of: link), movedOut: link.moved_out != 0)
  }
  let listed = ListedLink(facts: facts(of: link), counters: counters(of: link))
  return link.change == .max ? .appeared(listed) : .changed(listed)
}

/// The event that the departure of a veth end in the namespace of this id tells.
func farEvent(_ namespace: Int32, _ link: ls_link) -> LinkEvent {
  .farEndDeparted(
    FarEnd(namespace: namespace, ifindex: link.ifindex), final: counters(of: link), movedOut: link.moved_out != 0)
}

extension LinkCounters {
  init(_ counters: ls_counters) {
    self.init(
      rxBytes: counters.rx_bytes, txBytes: counters.tx_bytes, rxPackets: counters.rx_packets,
      txPackets: counters.tx_packets)
  }
}

/// The first `length` bytes of a C array, which Swift imports as a tuple.
func prefix<Tuple>(of tuple: Tuple, _ length: UInt8) -> [UInt8] {
  withUnsafeBytes(of: tuple) { Array($0.prefix(Int(length))) }
}

private func altnames(of link: ls_link) -> [LinkName] {
  guard link.altname_count > 0 else { return [] }  // 1 KiB that is not worth a copy
  return withUnsafeBytes(of: link.altnames) { bytes in
    bytes.bindMemory(to: ls_altname.self).prefix(Int(link.altname_count)).map {
      LinkName(bytes: prefix(of: $0.bytes, $0.length))
    }
  }
}
