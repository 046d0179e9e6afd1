// The mode of radio links, which neither the link list nor sysfs tells.
import CLinkStats
package import TallyCore

/// Adds the wireless mode of a link with a radio; run it after `Sysfs.complete`. Three system calls for such a link,
/// none for others. Where nl80211 does not answer the mode stays nil.
package func completeWirelessMode(_ facts: inout LinkFacts) {
  guard facts.hasWirelessPhy || facts.devtype == "wlan" else { return }
  let mode = ls_wireless_mode(facts.ifindex)
  if mode >= 0 { facts.wirelessMode = WirelessMode(nl80211: mode) }
}

extension WirelessMode {
  /// From NL80211_IFTYPE_* of <linux/nl80211.h>: a Wi-Fi Direct client is a station, a group owner an access point.
  init(nl80211 mode: Int32) {
    switch mode {
    case 1: self = .ibss
    case 2, 8: self = .station
    case 3, 4, 9: self = .ap
    case 6: self = .monitor
    case 7: self = .mesh
    default: self = .other
    }
  }
}
