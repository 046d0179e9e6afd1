// The mode of radio links and the network they are in, which neither the link list nor sysfs tells.
import CLinkStats
package import TallyCore

/// Adds the wireless mode and network of a link with a radio; run it after `Sysfs.complete`. Three system calls for such
/// a link, none for others. Where nl80211 does not answer the mode stays nil.
package func completeWireless(_ facts: inout LinkFacts) {
  guard facts.hasWirelessPhy || facts.devtype == "wlan" else { return }
  var answer = ls_wireless()
  guard ls_wireless_ask(facts.ifindex, &answer) >= 0 else { return }
  facts.wirelessMode = WirelessMode(nl80211: Int32(truncatingIfNeeded: answer.mode))
  facts.ssid = withUnsafeBytes(of: answer.ssid) { Array($0.prefix(Int(answer.ssid_length))) }
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
