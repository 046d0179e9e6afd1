// What is in the bytes of a link's counter, as values for programs; `counts` says it in a sentence.

/// The layers, headers and blind spots of a link's byte counter.
package struct Counted: Hashable, Sendable {
  /// What a counter adds up the lengths of.
  package enum Layer: String, Sendable {
    /// IP packets without any header below.
    case ipPacket = "ip_packet"
    /// IP packets with the 14-byte Ethernet header.
    case ethernetFrame = "ethernet_frame"
    case other
  }

  package var received: Layer
  package var sent: Layer
  /// It is the inside of a tunnel: what carries it counts the same bytes again, and more.
  package var isInner: Bool
  /// Bytes that the tunnel itself adds and counts with its inner packets, in words; nil: none.
  package var overhead: String?
  /// Why offload makes the bytes fewer than those on a wire, in words; nil: it does not.
  package var partial: String?
}

/// What the counter of this link counts; the same measurements as for `counts`.
package func counted(_ classification: Classification, _ facts: LinkFacts) -> Counted {
  let (received, sent) = layers(classification, facts)
  return Counted(
    received: received, sent: sent, isInner: classification.kind == .tunnel, overhead: overhead(classification),
    partial: partial(classification))
}

private func layers(_ classification: Classification, _ facts: LinkFacts) -> (Counted.Layer, Counted.Layer) {
  switch (classification.kind, classification.type) {
  case (.loopback, _): (.ipPacket, .ipPacket)
  case (.bridge, _), (.vlan, _): (.ipPacket, .ethernetFrame)
  case (.cellular, _):
    facts.hardwareType == 1 && classification.touchesMedium
      ? (.ethernetFrame, .ethernetFrame) : (.ipPacket, .ipPacket)
  case (.tunnel, "tap"): (.ethernetFrame, .ethernetFrame)
  case (.tunnel, "macsec"), (.tunnel, "l2tp"), (.tunnel, "gretap"), (.tunnel, "ip6gretap"), (.tunnel, "erspan"),
    (.tunnel, "ip6erspan"):
    (.other, .other)
  case (.tunnel, _), (.virtual, "vrf"): (.ipPacket, .ipPacket)
  case (.other, "bluetooth"): (.ethernetFrame, .ethernetFrame)
  case (.other, _): (.other, .other)
  default: (.ethernetFrame, .ethernetFrame)
  }
}

private func overhead(_ classification: Classification) -> String? {
  switch (classification.kind, classification.type) {
  case (.tunnel, "wireguard"):
    "padding to 16 bytes, 32 bytes a packet received and 16 a packet sent, and handshakes"
  case (.tunnel, "ppp"): "2 to 4 bytes of PPP header a packet"
  default: nil
  }
}

/// By kind: what a link's own features (ethtool) say of offload does not tell where its driver counts.
private func partial(_ classification: Classification) -> String? {
  switch classification.kind {
  case .loopback, .virtual, .bridge, .bond, .vlan, .tunnel:
    "a packet that segmentation offload (GSO, GRO) put together from many counts once, with one header: about 4 % "
      + "less than a wire for bulk TCP"
  case .wired where classification.touchesMedium:
    "most drivers count what is on the wire; where flows are offloaded to the hardware (switchdev, flow tables), it "
      + "may forward packets that the driver never counts"
  case .wifi, .cellular, .wired, .other: nil
  }
}
