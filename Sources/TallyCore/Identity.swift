// Which links are the same interface to a person, over reboots and re-creations.

/// The identity of a link: "mac:aa:bb:cc:dd:ee:ff" of hardware with a permanent address, else `nameKey`.
///
/// Virtual links carry permanent addresses too (ip6tnl has one made up at creation), so a kind of its own
/// (IFLA_INFO_KIND) rules hardware out.
///
/// `basis`: by what a rule says it is to be recognised instead; "path:…" by where it is plugged in. The present address,
/// which may be random, is never part of it.
package func identityKey(_ facts: LinkFacts, _ basis: LinkRule.Basis? = nil) -> String {
  guard facts.infoKind.isEmpty, basis != .name else { return nameKey(facts) }
  if basis == .path { return facts.paths.first.map { asciiKey("path:" + $0) } ?? nameKey(facts) }
  guard let address = addressText(facts.permanentAddress) else { return nameKey(facts) }
  return "mac:" + address
}

/// The identity by kind and name, "veth:lan0" or "-:eth0": of links without a permanent address, and of hardware when
/// two links that are present share one (the interfaces of one radio do).
///
/// A name can hold no colon and no per cent sign, so keys of different links never meet.
package func nameKey(_ facts: LinkFacts) -> String {
  let kind =
    switch (facts.infoKind, facts.tunType) {
    case ("tun", 2): "tap"
    case ("", _): "-"
    default: facts.infoKind
    }
  return asciiKey(kind + ":" + facts.name.escaped)
}

/// A key with all that is not ASCII written `%XX`: Swift takes two ways to write "é" for equal texts, and the kernel for
/// the names of two links.
func asciiKey(_ text: String) -> String {
  if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
  return text.utf8.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : percent($0) }.joined()
}

/// EUI-48 and EUI-64 addresses as text; nil for other lengths, which hold tunnel endpoints or parts that change, and for
/// all zeros and all ones.
func addressText(_ bytes: [UInt8]) -> String? {
  guard bytes.count == 6 || bytes.count == 8, bytes.contains(where: { $0 != 0 }), bytes.contains(where: { $0 != 255 })
  else { return nil }
  let digits = Array("0123456789abcdef")
  return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
}
