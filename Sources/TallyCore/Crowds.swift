// The built-in rules for crowds: ends of containers and virtual machines, known by the names that their runtimes make.

/// One group that short-lived links are folded into by themselves.
struct Crowd: Sendable {
  var group: String
  /// What it asks for, in words.
  var match: String

  static let containers = Crowd(
    group: "containers",
    match:
      "veths with a runtime's random name (veth and 7 or more hex digits, vethXXXXXX of LXC), or whose other end is "
      + "in another namespace and that are named cali*, lxc*, ve-*, vb-*, vethNiN, or vethN at a podman bridge")
  static let guests = Crowd(
    group: "guests",
    match: "taps that hypervisors name: vnetN, tapNiN, tap and 8 or more hex digits or dashes")
}

/// The crowd that a link belongs to.
///
/// Names that people choose must not fit: a veth that is called lan0 or veth1, a VPN's tap0. Random names count wherever
/// the other end is, since runtimes make both ends here and send one of them away.
func crowd(_ facts: LinkFacts, master: LinkName?) -> Crowd? {
  let name = facts.name.bytes
  if facts.isVeth { return isContainerEnd(name, facts, master: master) ? .containers : nil }
  if facts.infoKind == "tun", facts.tunType != 1, isGuestTap(name) { return .guests }
  return nil
}

private func isContainerEnd(_ name: [UInt8], _ facts: LinkFacts, master: LinkName?) -> Bool {
  if let rest = rest(of: name, after: "veth") {
    // docker, containerd and the CNI plugins: 7 or 8 hex digits, one of which is hardly ever no number.
    if rest.count >= 7, rest.allSatisfy(isHex), rest.contains(where: isDigit) { return true }
    // LXC: six letters and digits.
    if rest.count == 6, rest.allSatisfy(isAlphanumeric), rest.contains(where: { isDigit($0) || isUpper($0) }) {
      return true
    }
    guard facts.lowerIsElsewhere else { return false }
    if !rest.isEmpty, rest.count <= 4, rest.allSatisfy(isDigit) {
      return master.map { hasPrefix($0.bytes, "podman") || hasPrefix($0.bytes, "cni-podman") } ?? false
    }
    return isNumbered(rest)
  }
  guard facts.lowerIsElsewhere else { return false }
  return ["cali", "lxc", "ve-", "vb-"].contains { hasPrefix(name, $0) && name.count > $0.utf8.count }
}

private func isGuestTap(_ name: [UInt8]) -> Bool {
  if let rest = rest(of: name, after: "vnet") { return !rest.isEmpty && rest.allSatisfy(isDigit) }
  guard let rest = rest(of: name, after: "tap") else { return false }
  return isNumbered(rest)
    || rest.count >= 8 && rest.allSatisfy { isHex($0) || $0 == UInt8(ascii: "-") } && rest.contains(where: isDigit)
}

/// "100i0": the guest's number and the link's.
private func isNumbered(_ rest: ArraySlice<UInt8>) -> Bool {
  let parts = rest.split(separator: UInt8(ascii: "i"), omittingEmptySubsequences: false)
  return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isDigit) }
}

private func rest(of name: [UInt8], after prefix: String) -> ArraySlice<UInt8>? {
  hasPrefix(name, prefix) ? name.dropFirst(prefix.utf8.count) : nil
}

private func hasPrefix(_ name: [UInt8], _ prefix: String) -> Bool { name.starts(with: prefix.utf8) }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func isHex(_ byte: UInt8) -> Bool { isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) }

private func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

private func isAlphanumeric(_ byte: UInt8) -> Bool {
  isDigit(byte) || isUpper(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
}
