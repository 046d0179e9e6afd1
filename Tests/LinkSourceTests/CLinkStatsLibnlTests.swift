// libnl-route as a witness: its own parse of the same message must agree with ours.
import CLinkStats
import CNetlink
import Foundation
import Testing

@testable import LinkSource

/// What libnl-route makes of one link.
struct LibnlLink: Hashable {
  var name: String
  var ifindex: Int32
  var kind: String
  var hardwareType: UInt32
  var flags: UInt32
  var mtu: UInt32
  var operState: UInt8
  var lower: Int32
  var master: Int32
  var counters: [UInt64]

  init(_ link: OpaquePointer) {
    name = rtnl_link_get_name(link).map { String(cString: $0) } ?? ""
    ifindex = rtnl_link_get_ifindex(link)
    kind = rtnl_link_get_type(link).map { String(cString: $0) } ?? ""
    hardwareType = rtnl_link_get_arptype(link)
    flags = rtnl_link_get_flags(link)
    mtu = rtnl_link_get_mtu(link)
    operState = rtnl_link_get_operstate(link)
    lower = rtnl_link_get_link(link)
    master = rtnl_link_get_master(link)
    counters = [RTNL_LINK_RX_PACKETS, RTNL_LINK_TX_PACKETS, RTNL_LINK_RX_BYTES, RTNL_LINK_TX_BYTES].map {
      rtnl_link_get_stat(link, $0)
    }
  }

  init(_ link: ls_link) {
    name = String(decoding: prefix(of: link.name, link.name_length), as: UTF8.self)
    ifindex = Int32(link.ifindex)
    kind = String(decoding: prefix(of: link.kind, link.kind_length), as: UTF8.self)
    hardwareType = UInt32(link.hardware_type)
    flags = link.flags
    mtu = link.mtu
    operState = link.operstate
    lower = Int32(link.lower)
    master = Int32(link.master)
    counters = [
      link.counters.rx_packets, link.counters.tx_packets, link.counters.rx_bytes, link.counters.tx_bytes,
    ]
  }

  /// By libnl's message parser; nil when it refuses the message.
  static func parse(_ bytes: [UInt8]) -> LibnlLink? {
    let message = bytes.withUnsafeBytes { raw in
      UnsafeMutablePointer(mutating: raw.bindMemory(to: nlmsghdr.self).baseAddress).flatMap { nlmsg_convert($0) }
    }
    guard let message else { return nil }
    defer { nlmsg_free(message) }
    nlmsg_set_proto(message, NETLINK_ROUTE)
    var parsed: LibnlLink?
    withUnsafeMutablePointer(to: &parsed) { slot in
      _ = nl_msg_parse(
        message,
        { object, context in
          guard let object else { return }
          context?.assumingMemoryBound(to: LibnlLink?.self).pointee = LibnlLink(object)
        }, slot)
    }
    return parsed
  }
}

@Suite struct CLinkStatsLibnlTests {
  @Test("libnl-route reads the same facts and counters from a recorded message", arguments: Recording.all)
  func sameAsLibnl(_ recording: Recording) throws {
    let edge = try #require(PageEdge())
    let parsed = edge.parse(recording.message)
    #expect(parsed.result == LS_LINK)
    #expect(LibnlLink(parsed.link) == LibnlLink.parse(recording.message))
  }
}
