// What a link is: ordered rules over what the kernel says of it, never over its name.

/// The kind of a link and the rule that decided; the first rule that matches wins.
///
/// The order is that of trust: the kernel's own word for the link (IFLA_INFO_KIND), then its DEVTYPE, its radio, its
/// hardware type (ARPHRD_*), its tun flags, and last the bus device behind it.
package func classify(_ facts: LinkFacts) -> Classification {
  classified(facts).0
}

/// The same, and the name of that rule.
func classified(_ facts: LinkFacts) -> (Classification, rule: String) {
  let rule = rules.first { $0.matches(facts) } ?? unknown
  let classification = Classification(
    kind: rule.kind, type: rule.type.text(facts), touchesMedium: rule.touchesMedium, why: rule.why)
  return (classification, rule.name)
}

/// What the names of built-in rules begin with, where they stand beside those of a configuration.
package let builtInPrefix = "built-in: "

/// The built-in rules in their order: what each asks for and what it sets, in words.
package let builtInRules: [(name: String, match: String, set: String)] =
  (rules + [unknown]).map { rule in
    let medium = rule.touchesMedium ? ", its bytes cross a medium here" : ""
    return (builtInPrefix + rule.name, rule.ground, "kind \(rule.kind.rawValue)\(medium)")
  }
  + [Crowd.containers, Crowd.guests].map { crowd in
    (builtInPrefix + crowd.group, crowd.match, "group \(crowd.group)")
  }
  + [
    (
      Ledger.overflowRule, "virtual links that come when there are as many interfaces as MaximumInterfaces= allows",
      "group \(Ledger.overflowGroup)"
    )
  ]

private struct Rule: Sendable {
  let name: String
  /// What it asks for, in words.
  let ground: String
  let kind: Kind
  let type: TypeName
  let touchesMedium: Bool
  let why: String
  let matches: @Sendable (LinkFacts) -> Bool

  init(
    _ name: String, _ ground: String, _ kind: Kind, _ type: TypeName, medium: Bool = false, _ why: String,
    matches: @escaping @Sendable (LinkFacts) -> Bool
  ) {
    self.name = name
    self.ground = ground
    self.kind = kind
    self.type = type
    self.touchesMedium = medium
    self.why = why
    self.matches = matches
  }
}

/// Where a classification's type comes from.
private enum TypeName: Sendable, ExpressibleByStringLiteral {
  case literal(String)
  case infoKind
  case driver(otherwise: String)
  case wirelessMode

  init(stringLiteral text: String) { self = .literal(text) }

  func text(_ facts: LinkFacts) -> String {
    switch self {
    case .literal(let text): text
    case .infoKind: facts.infoKind
    case .driver(let otherwise): facts.driver.isEmpty ? otherwise : facts.driver
    case .wirelessMode:
      switch facts.wirelessMode {
      case .station, .ap, .mesh, .ibss, .monitor: facts.wirelessMode?.rawValue ?? "wireless"
      case .other, nil: "wireless"
      }
    }
  }
}

private let insideTunnel = "inner traffic; the carrier counts it again with overhead"
private let insideUserspaceTunnel = "inner traffic of a userspace tunnel; the carrier counts it again with overhead"
private let inSoftware = "made in software; the bytes cross no medium here"
private let containerEnd = "a container or VM end"
private let onMembers = "its members carry and count the bytes"
private let onPorts = "its ports carry and count the bytes"

private let rules: [Rule] = [
  Rule("loopback", "the loopback flag", .loopback, "loopback", "every packet is seen as rx and as tx") {
    $0.isLoopback
  },

  // IFLA_INFO_KIND: who made a virtual link names it.
  Rule(
    "virt_wifi", "the kind virt_wifi", .wifi, .infoKind,
    "a wifi face over an Ethernet link, which carries and counts the bytes"
  ) {
    $0.infoKind == "virt_wifi"
  },
  Rule("can", "a CAN bus", .other, "can", "a CAN bus, not IP traffic") { $0.hardwareType == Hardware.can },
  Rule("nlmon", "the kind nlmon", .other, .infoKind, "a netlink capture") { $0.infoKind == "nlmon" },
  Rule("vsockmon", "the kind vsockmon", .other, .infoKind, "a capture of virtual sockets") {
    $0.infoKind == "vsockmon"
  },
  Rule("vlan", "the kind vlan", .vlan, .infoKind, "its parent carries and counts the bytes") { $0.infoKind == "vlan" },
  Rule("bridge", "the kinds bridge and openvswitch", .bridge, .infoKind, onPorts) {
    ["bridge", "openvswitch"].contains($0.infoKind)
  },
  Rule("bond", "the kinds bond, team and hsr", .bond, .infoKind, onMembers) {
    ["bond", "team", "hsr"].contains($0.infoKind)
  },
  Rule(
    "container end", "the kinds veth, netkit, macvlan, macvtap, ipvlan and ipvtap", .virtual, .infoKind, containerEnd
  ) {
    ["veth", "netkit", "macvlan", "macvtap", "ipvlan", "ipvtap"].contains($0.infoKind)
  },
  Rule("software", "the kinds dummy, ifb, vrf, batadv, netdevsim and lowpan", .virtual, .infoKind, inSoftware) {
    ["dummy", "ifb", "vrf", "batadv", "netdevsim", "lowpan"].contains($0.infoKind)
  },
  Rule("tap", "a tun device in tap mode", .tunnel, "tap", insideUserspaceTunnel) { $0.infoKind == "tun" && isTap($0) },
  Rule("tun", "a tun device", .tunnel, "tun", insideUserspaceTunnel) { $0.infoKind == "tun" },
  Rule("ppp", "the kind ppp", .tunnel, .infoKind, pppWhy) { $0.infoKind == "ppp" },
  Rule("wireguard", "the kind wireguard", .tunnel, .infoKind, insideTunnel) { $0.infoKind == "wireguard" },
  Rule("tunnel", "the kernel's other kinds of tunnels", .tunnel, .infoKind, insideTunnel) {
    tunnelKinds.contains($0.infoKind)
  },
  Rule("rmnet", "the kind rmnet", .cellular, .infoKind, "a channel of a modem, whose link carries and counts the bytes")
  {
    $0.infoKind == "rmnet"
  },
  Rule("wwan", "the kind wwan", .cellular, .driver(otherwise: "wwan"), medium: true, modemWhy) {
    $0.infoKind == "wwan"
  },
  Rule(
    "dsa", "the kind dsa", .wired, .infoKind,
    "a port of a switch chip; the link to the chip carries and counts the bytes"
  ) {
    $0.infoKind == "dsa"
  },
  Rule("ipoib", "the kind ipoib", .wired, "infiniband", medium: true, "an InfiniBand port") { $0.infoKind == "ipoib" },
  Rule("unknown kind", "a kind that no rule knows", .other, .infoKind, "a kind of link that no rule knows") {
    !$0.infoKind.isEmpty
  },

  // A radio in monitor mode keeps the DEVTYPE of a wireless link, so it comes before it.
  Rule("monitor", "a radio in monitor mode", .other, "monitor", "monitor mode: copies of frames") {
    isMonitor($0) && hasRadio($0)
  },
  Rule("capture", "a radio capture", .other, "monitor", "a radio capture, not traffic of this machine") {
    isMonitor($0)
  },

  // DEVTYPE of the link's uevent, and the radio behind it.
  Rule("wifi", "a radio", .wifi, .wirelessMode, medium: true, "a radio link") { hasRadio($0) },
  Rule("modem", "DEVTYPE wwan", .cellular, .driver(otherwise: "wwan"), medium: true, modemWhy) { $0.devtype == "wwan" },
  Rule(
    "usb gadget", "DEVTYPE gadget", .wired, "usb-gadget", medium: true,
    "this machine is the USB device; the cable is the medium"
  ) {
    $0.devtype == "gadget"
  },
  Rule(
    "bluetooth", "DEVTYPE bluetooth", .other, .literal("bluetooth"), medium: true, "a Bluetooth network, a radio link"
  ) { $0.devtype == "bluetooth" },
  Rule("l2tp", "DEVTYPE l2tpeth", .tunnel, "l2tp", "inner traffic") { $0.devtype == "l2tpeth" },
  Rule("ppp link", "DEVTYPE ppp, or hardware type 512", .tunnel, "ppp", pppWhy) {
    $0.devtype == "ppp" || $0.hardwareType == Hardware.ppp
  },

  // ARPHRD: what kernels without the words above still tell.
  Rule("ipip", "hardware type 768", .tunnel, "ipip", insideTunnel) { $0.hardwareType == Hardware.tunnel },
  Rule("ip6tnl", "hardware type 769", .tunnel, "ip6tnl", insideTunnel) { $0.hardwareType == Hardware.tunnel6 },
  Rule("sit", "hardware type 776", .tunnel, "sit", insideTunnel) { $0.hardwareType == Hardware.sit },
  Rule("gre", "hardware type 778", .tunnel, "gre", insideTunnel) { $0.hardwareType == Hardware.ipGRE },
  Rule("ip6gre", "hardware type 823", .tunnel, "ip6gre", insideTunnel) { $0.hardwareType == Hardware.ip6GRE },
  Rule("infiniband", "hardware type 32", .wired, "infiniband", medium: true, "an InfiniBand port") {
    $0.hardwareType == Hardware.infiniband
  },
  Rule(
    "raw ip", "hardware type 519 with a device", .cellular, .driver(otherwise: "raw-ip"), medium: true,
    "a modem: raw IP over a bus device"
  ) {
    $0.hardwareType == Hardware.rawIP && $0.hasDevice
  },

  // tun_flags, for a kernel that does not name the kind.
  Rule("tun flags", "tun flags of a tun", .tunnel, "tun", insideUserspaceTunnel) { $0.tunType == 1 },
  Rule("tap flags", "tun flags of a tap", .tunnel, "tap", insideUserspaceTunnel) { $0.tunType == 2 },

  // A bus device: hardware.
  Rule(
    "virtual function", "a device below another link that is no bridge or bond", .wired, "ethernet",
    "a virtual function: the link above it counts the same bytes"
  ) {
    // Hyper-V's netvsc and net_failover add the counters of the device under them to their own; unlike bonds and
    // bridges they name no kind.
    $0.hasDevice && $0.master != 0 && $0.portKind.isEmpty
  },
  Rule(
    "usb tethering", "a device with the driver rndis_host", .wired, "usb-tethering", medium: true,
    "RNDIS host: a phone or a modem that hides as Ethernet"
  ) {
    $0.hasDevice && $0.driver == "rndis_host"
  },
  Rule(
    "usb ethernet", "a device with a driver of USB Ethernet", .wired, "usb-ethernet", medium: true,
    "USB Ethernet: a dongle or a tethered phone; the kernel cannot tell"
  ) { $0.hasDevice && usbDrivers.contains($0.driver) },
  Rule("ethernet", "a device of hardware type 1", .wired, "ethernet", medium: true, "hardware, no kind, no DEVTYPE") {
    $0.hasDevice && $0.hardwareType == Hardware.ethernet
  },
  Rule(
    "hardware", "any other device", .wired, "hardware", medium: true,
    "hardware that is not Ethernet, no kind, no DEVTYPE"
  ) { $0.hasDevice },
]

private let unknown = Rule("unknown", "any link", .other, "unknown", "the kernel says nothing that a rule knows") { _ in
  true
}

private let modemWhy = "a modem: DEVTYPE wwan, whatever the driver"
private let pppWhy = "PPPoE, L2TP, PPTP or a serial modem: carried by another link unless a rule says it is the medium"

private let tunnelKinds: Set<String> = [
  "amt", "bareudp", "erspan", "geneve", "gre", "gretap", "gtp", "ip6erspan", "ip6gre", "ip6gretap", "ip6tnl", "ipip",
  "ipip6", "macsec", "ovpn", "pfcp", "sit", "vti", "vti6", "vxlan", "xfrm",
]

/// Drivers of USB network devices that are no modems by DEVTYPE; all of drivers/net/usb that speak Ethernet.
private let usbDrivers: Set<String> = [
  "aqc111", "asix", "ax88179_178a", "catc", "cdc_eem", "cdc_ether", "cdc_mbim", "cdc_ncm", "cdc_subset", "ch9200",
  "cx82310_eth", "dm9601", "gl620a", "huawei_cdc_ncm", "int51x1", "ipheth", "kalmia", "kaweth", "lan78xx", "lg-vl600",
  "MOSCHIP usb-ethernet driver", "net1080", "pegasus", "plusb", "r8152", "r8153_ecm", "rtl8150", "smsc75xx",
  "smsc95xx", "sr9700", "sr9800", "zaurus",
]

/// ARPHRD_* of <linux/if_arp.h>.
private enum Hardware {
  static let ethernet: UInt16 = 1
  static let infiniband: UInt16 = 32
  static let can: UInt16 = 280
  static let ppp: UInt16 = 512
  static let rawIP: UInt16 = 519
  static let tunnel: UInt16 = 768
  static let tunnel6: UInt16 = 769
  static let sit: UInt16 = 776
  static let ipGRE: UInt16 = 778
  static let ip6GRE: UInt16 = 823
  /// IEEE 802.11 frames as they are, with a Prism or a radiotap header: what a capture receives.
  static let wirelessCapture: ClosedRange<UInt16> = 801...803
}

private func isTap(_ facts: LinkFacts) -> Bool {
  facts.tunType == 2 || (facts.tunType == 0 && facts.hardwareType == Hardware.ethernet)
}

private func isMonitor(_ facts: LinkFacts) -> Bool {
  Hardware.wirelessCapture.contains(facts.hardwareType) || facts.wirelessMode == .monitor
}

private func hasRadio(_ facts: LinkFacts) -> Bool {
  facts.devtype == "wlan" || facts.hasWirelessPhy
}
