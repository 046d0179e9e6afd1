// What the counter of each sort of link counts, as a sentence to stand beside its figures.

/// One sentence that says what is in the bytes of this link's counter, and what is not.
///
/// Measured for loopback, tun, tap, veth, macvlan, bridge, vxlan and WireGuard; for the others it is what the kernel's
/// source does. Super-packets of segmentation offload count once, with one header.
package func counts(_ classification: Classification, _ facts: LinkFacts) -> String {
  switch classification.kind {
  case .loopback:
    "IP packets alone; each one is counted as received and as sent."
  case .wired:
    classification.touchesMedium ? ethernetFrames : ethernetFrames + " " + alsoElsewhere
  case .wifi:
    classification.touchesMedium
      ? "IP packets with a 14-byte Ethernet header; no radio headers, retries or encryption."
      : ethernetFrames + " " + alsoElsewhere
  case .cellular:
    classification.touchesMedium
      ? cellular(facts) : "IP packets of one channel; the modem's own link counts them again."
  case .vlan:
    "IP packets, received without, sent with the 14-byte Ethernet header, without the VLAN tag; the parent counts them again."
  case .bridge:
    "Traffic of this machine over the bridge: received without, sent with the 14-byte Ethernet header; not what the bridge "
      + "forwards between its ports."
  case .bond:
    "Frames of all members together; the members count them again."
  case .tunnel:
    tunnel(classification, facts)
  case .virtual:
    classification.type == "vrf"
      ? "IP packets of the routing domain; its member links count them again."
      : ethernetFrames + " They cross no cable or radio here."
  case .other:
    other(classification)
  }
}

private let ethernetFrames = "IP packets with their 14-byte Ethernet header; no frame check sequence, no padding."
private let alsoElsewhere = "The link that carries them counts them again."
private let again = "the carrier counts it again with overhead."

private func cellular(_ facts: LinkFacts) -> String {
  facts.hardwareType == 1
    ? "IP packets with the 14-byte Ethernet header that the modem's driver adds; not what the operator bills."
    : "IP packets alone; not what the operator bills."
}

private func tunnel(_ classification: Classification, _ facts: LinkFacts) -> String {
  switch classification.type {
  case "tun":
    "Inner IP packets alone, sent ones when the program takes them; " + again
  case "tap":
    "Inner IP packets with their 14-byte Ethernet header; " + again
  case "wireguard":
    "Inner IP packets padded to 16 bytes, with 32 bytes of WireGuard's own when received and 16 when sent, and handshakes; "
      + again
  case "ppp":
    "Inner IP packets with 2 to 4 bytes of PPP header; " + again
  case "vxlan", "geneve":
    "Inner frames without their Ethernet header; " + again
  case "macsec", "l2tp", "gretap", "ip6gretap", "erspan", "ip6erspan":
    "Inner frames, with or without their Ethernet header by direction; " + again
  default:
    "Inner IP packets alone; " + again
  }
}

private func other(_ classification: Classification) -> String {
  switch classification.type {
  case "can": "Data bytes of CAN frames; no IP traffic."
  case "nlmon", "vsockmon": "Copies of messages inside this machine; no network traffic."
  case "monitor": "Copies of radio frames with their headers; other counters have this machine's own traffic."
  case "bluetooth": "IP packets with their 14-byte Ethernet header; no radio headers or retries."
  default: "What the driver counts; no rule knows this sort of link."
  }
}
