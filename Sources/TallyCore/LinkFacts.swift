// What the kernel says about one link, from netlink and sysfs: the ground for identity and classification.

/// Wireless mode (nl80211 iftype), where the link has a radio.
package enum WirelessMode: String, Sendable {
  case station, ap, mesh, ibss, monitor, other
}

/// The facts of one link at one moment. Every field is untrusted input; absent facts are empty, zero or nil.
package struct LinkFacts: Hashable, Sendable {
  package var ifindex: UInt32 = 0
  package var name = LinkName(bytes: [])
  package var altnames: [LinkName] = []
  package var alias: [UInt8] = []
  /// IFLA_INFO_KIND, for example "veth"; empty for hardware.
  package var infoKind = ""
  /// IFLA_INFO_SLAVE_KIND, for example "bridge"; empty when it is no port.
  package var portKind = ""
  /// ARPHRD_* of <linux/if_arp.h>.
  package var hardwareType: UInt16 = 0
  /// IFF_* flags.
  package var flags: UInt32 = 0
  package var mtu: UInt32 = 0
  /// IF_OPER_* of RFC 2863: 6 is up, 2 down, 0 unknown.
  package var operState: UInt8 = 0
  /// MAC or other hardware address.
  package var address: [UInt8] = []
  /// IFLA_PERM_ADDRESS: the address burnt into hardware; empty for virtual and randomised ones.
  package var permanentAddress: [UInt8] = []
  /// IFLA_LINK: the link below, or a veth's peer; 0 when none.
  package var lower: UInt32 = 0
  /// IFLA_LINK_NETNSID was present: `lower` is an index of another network namespace.
  package var lowerIsElsewhere = false
  /// The id of that namespace; nil when it has none.
  package var lowerNamespace: Int32?
  /// IFLA_MASTER: the bridge, bond or VRF above; 0 when none.
  package var master: UInt32 = 0
  /// IFLA_TUN_TYPE or tun_flags: 1 tun, 2 tap, 0 neither.
  package var tunType: UInt8 = 0
  /// The far end of a tunnel, where the kernel tells it with the link.
  package var endpoint: TunnelEndpoint?

  // From sysfs.
  /// Inode of /sys/class/net/NAME: new for every incarnation, stable across renames; 0 when not readable.
  package var inode: UInt64 = 0
  /// DEVTYPE of the uevent file, for example "wlan" or "wwan".
  package var devtype = ""
  package var hasWirelessPhy = false
  /// The `device` symlink exists: there is a bus device behind it.
  package var hasDevice = false
  /// It resolves below /devices/virtual/net/.
  package var isVirtual = false
  /// Driver of the bus device, for example "e1000e".
  package var driver = ""
  /// Mbit/s as sysfs says; nil when unknown.
  package var speedMbit: UInt32?
  package var wirelessMode: WirelessMode?
  /// Name of the wireless network that it is in, where nl80211 tells it; up to 32 bytes of anything.
  package var ssid: [UInt8] = []
  /// Where its device is: below /sys/devices, and udev's ID_PATH; none for virtual links.
  package var paths: [String] = []

  package init() {}

  package var isUp: Bool { flags & 1 != 0 }
  package var isLoopback: Bool { flags & 8 != 0 || hardwareType == 772 }
  package var isVeth: Bool { infoKind == "veth" }
  /// The other end of a veth when that is in another namespace.
  package var farEnd: FarEnd? {
    guard isVeth, lowerIsElsewhere, lower != 0, let lowerNamespace else { return nil }
    return FarEnd(namespace: lowerNamespace, ifindex: lower)
  }

  /// Takes what sysfs told of the same link before, for facts from an event after which it was gone from there.
  mutating func keepSysfs(of old: LinkFacts) {
    inode = old.inode
    devtype = old.devtype
    hasWirelessPhy = old.hasWirelessPhy
    hasDevice = old.hasDevice
    isVirtual = old.isVirtual
    driver = old.driver
    speedMbit = old.speedMbit
    wirelessMode = old.wirelessMode
    ssid = old.ssid
    paths = old.paths
    if tunType == 0 { tunType = old.tunType }
  }
}
