// The keys of a `[Rule NAME]` section: what each allows, and how its text becomes a part of the rule.
import TallyCore

/// One key of a rule.
struct RuleKey: Sendable {
  let name: String
  /// What may stand after `=`, in words that complete "allowed: …".
  let allowed: String
  /// Sets the value, or answers false when the text is none. An empty text takes back what was set.
  let set: @Sendable (_ text: String, _ rule: inout LinkRule) -> Bool

  private init(_ name: String, allowed: String, set: @escaping @Sendable (String, inout LinkRule) -> Bool) {
    self.name = name
    self.allowed = allowed
    self.set = set
  }

  /// A key that a repeated line adds alternatives to.
  private static func match(_ name: String, _ field: LinkRule.Field, allowed: String) -> RuleKey {
    RuleKey(name, allowed: allowed + "; '!' before the first: none of them") { text, rule in
      guard !text.isEmpty else {
        rule.match[field] = nil
        return true
      }
      guard let patterns = patterns(text, field), patterns.globs.count <= mostPatterns else { return false }
      guard let present = rule.match[field] else {
        rule.match[field] = patterns
        return true
      }
      guard present.isNegated == patterns.isNegated, present.globs.count + patterns.globs.count <= mostPatterns else {
        return false
      }
      rule.match[field]?.globs += patterns.globs
      return true
    }
  }

  /// A key of one value.
  private static func value<Value>(
    _ name: String, _ path: any WritableKeyPath<LinkRule.Settings, Value?> & Sendable, allowed: String,
    _ read: @escaping @Sendable (String) -> Value?
  ) -> RuleKey {
    RuleKey(name, allowed: allowed) { text, rule in
      if text.isEmpty {
        rule.set[keyPath: path] = nil
        return true
      }
      guard let value = read(text) else { return false }
      rule.set[keyPath: path] = value
      return true
    }
  }

  private static let mostPatterns = 64
  /// Longest label and group in bytes.
  private static let longestLabel = 64

  static let all: [RuleKey] = [
    match("MatchName", .name, allowed: "link names or patterns (*, ?, [a-z]), separated by spaces"),
    match("MatchAltName", .altname, allowed: "alternative names or patterns, separated by spaces"),
    match("MatchAlias", .alias, allowed: "one alias or pattern, spaces and all"),
    match("MatchKind", .kind, allowed: Kind.allCases.map(\.rawValue).joined(separator: ", ") + ", separated by spaces"),
    match("MatchType", .type, allowed: "types as iftally interfaces -v shows them, or patterns"),
    match("MatchDriver", .driver, allowed: "drivers or patterns, separated by spaces"),
    match("MatchMAC", .mac, allowed: "permanent addresses such as 02:00:5e:00:53:01, or patterns"),
    match("MatchPath", .path, allowed: "device paths as udev's ID_PATH or below /sys/devices, or patterns"),
    match("MatchMaster", .master, allowed: "names of bridges, bonds or VRFs, or patterns"),
    match("MatchSSID", .ssid, allowed: "one name of a wireless network or pattern, spaces and all"),
    value(
      "Label", \.label, allowed: "a word or words of up to \(longestLabel) bytes without control or format characters"
    ) {
      label($0)
    },
    value("Kind", \.kind, allowed: Kind.allCases.map(\.rawValue).joined(separator: ", ")) { Kind(rawValue: $0) },
    RuleKey(
      "Group", allowed: "a name of up to \(longestLabel) bytes without spaces, ':', '%', '/' or '+'; empty: no group"
    ) { text, rule in
      // Empty is a value of its own: not the group of the built-in rules either.
      guard let name = groupName(text) else { return false }
      rule.set.group = name
      return true
    },
    value("Ignore", \.isIgnored, allowed: "yes or no") { truth($0) },
    value("Identity", \.basis, allowed: "mac, path or name") { LinkRule.Basis(rawValue: $0) },
    value("Carrier", \.carrier, allowed: "the name of a link, of up to 15 bytes") { linkName($0) },
    value("Medium", \.touchesMedium, allowed: "yes or no") { truth($0) },
    value("Metered", \.isMetered, allowed: "yes or no") { truth($0) },
  ]

  static func named(_ name: String) -> RuleKey? { all.first { $0.name == name } }

  private static func label(_ text: String) -> String? {
    text.utf8.count <= longestLabel && unshowable(in: text) == nil ? text : nil
  }

  /// Like a link's name, so that a group can be asked for wherever a link can.
  private static func groupName(_ text: String) -> String? {
    text.utf8.count <= longestLabel && !text.contains { " \t:%/+".contains($0) } ? text : nil
  }

  private static func linkName(_ text: String) -> LinkName? {
    let name = LinkName(escaped: text)
    return name.bytes.count <= 15 && !text.contains { " \t:/".contains($0) } ? name : nil
  }
}

/// Booleans as systemd's files have them.
func truth(_ text: String) -> Bool? {
  switch text.lowercased() {
  case "yes", "true", "on", "1": true
  case "no", "false", "off", "0": false
  default: nil
  }
}

/// Alternatives separated by spaces; an alias and a network's name may hold spaces and are one.
private func patterns(_ text: String, _ field: LinkRule.Field) -> LinkRule.Patterns? {
  let isNegated = text.hasPrefix("!")
  let rest = isNegated ? text.dropFirst() : text[...]
  let words =
    field == .alias || field == .ssid ? [rest] : rest.split(whereSeparator: { $0 == " " || $0 == "\t" })
  guard !words.isEmpty, words.allSatisfy({ !$0.isEmpty }) else { return nil }
  switch field {
  case .kind: guard words.allSatisfy({ Kind(rawValue: String($0)) != nil }) else { return nil }
  case .mac: return LinkRule.Patterns(globs: words.map { Glob($0.lowercased()) }, isNegated: isNegated)
  case .name, .altname, .master:
    return LinkRule.Patterns(globs: words.map { Glob(ofName: String($0)) }, isNegated: isNegated)
  default: break
  }
  return LinkRule.Patterns(globs: words.map { Glob(String($0)) }, isNegated: isNegated)
}
