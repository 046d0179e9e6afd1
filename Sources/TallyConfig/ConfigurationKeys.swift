// The table of every section and key: what each allows, and how its text becomes a value.

/// One key of the configuration file.
struct ConfigurationKey: Sendable {
  let section: String
  let name: String
  /// What may stand after `=`, in words that complete "allowed: …".
  let allowed: String
  /// Sets the value, or answers false when the text is none.
  let set: @Sendable (_ text: String, _ configuration: inout Configuration) -> Bool
  /// Takes the default back, which is what an empty value means, as in systemd's files.
  let reset: @Sendable (_ configuration: inout Configuration, _ defaults: Configuration) -> Void

  init<Value>(
    _ section: String, _ name: String, allowed: String,
    _ path: any WritableKeyPath<Configuration, Value> & Sendable,
    _ read: @escaping @Sendable (_ text: String, _ present: Value) -> Value?
  ) {
    self.section = section
    self.name = name
    self.allowed = allowed
    set = { text, configuration in
      guard let value = read(text, configuration[keyPath: path]) else { return false }
      configuration[keyPath: path] = value
      return true
    }
    reset = { configuration, defaults in configuration[keyPath: path] = defaults[keyPath: path] }
  }

  /// `map(Optional.some)` keeps "no such value" apart from the value nil where a key's value is optional.
  static let all: [ConfigurationKey] = [
    ConfigurationKey("Store", "Directory", allowed: "an absolute path", \.store.directory) { text, _ in
      absolutePath(text)
    },
    ConfigurationKey(
      "Store", "ForgottenDays", allowed: "a number of days from 0 to 36500", \.store.forgottenDays
    ) { text, _ in
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? Int(text).flatMap { $0 <= 36500 ? $0 : nil } : nil
    },
    ConfigurationKey("Api", "Socket", allowed: "an absolute path of at most 107 bytes", \.api.socket) { text, _ in
      text.utf8.count <= 107 && !text.hasSuffix("/") ? absolutePath(text) : nil
    },
    ConfigurationKey("Api", "SocketMode", allowed: "an octal mode from 0000 to 0777, such as 0660", \.api.socketMode) {
      text, _ in octalMode(text)
    },
    ConfigurationKey("Api", "SocketGroup", allowed: "a group of this machine, by name or number", \.api.socketGroup) {
      text, _ in existingGroup(text).map(Optional.some)
    },
    ConfigurationKey(
      "Api", "Tcp", allowed: "PORT, 127.0.0.1:PORT, [::1]:PORT or localhost:PORT, with a port from 1 to 65535",
      \.api.tcp
    ) { text, _ in tcpAddress(text).map(Optional.some) },
    ConfigurationKey(
      "Api", "AllowedHosts", allowed: "host names or addresses without a port, separated by spaces, 64 in all",
      \.api.allowedHosts
    ) { text, present in hostNames(text, after: present) },
    ConfigurationKey("Api", "ChangeGroup", allowed: "a group of this machine, by name or number", \.api.changeGroup) {
      text, _ in existingGroup(text).map { Configuration.ChangeGroup(name: $0.name) }
    },
    ConfigurationKey("Sampling", "Source", allowed: "netlink, getifaddrs or procfs", \.sampling.source) { text, _ in
      Configuration.Source(rawValue: text)
    },
    ConfigurationKey(
      "Links", "MaximumInterfaces", allowed: "a number from 16 to 100000", \.links.maximumInterfaces
    ) { text, _ in Int(text).flatMap { (16...100_000).contains($0) ? $0 : nil } },
    ConfigurationKey(
      "Links", "ExpireDays", allowed: "a number of days from 1 to 36500, or never", \.links.expireDays
    ) { text, _ in
      if text == "never" { return .some(nil) }
      return Int(text).flatMap { (1...36500).contains($0) ? .some($0) : nil }
    },
  ]

  /// Names of the sections, in the order of the table.
  static let sections: [String] = all.reduce(into: []) { names, key in
    if names.last != key.section { names.append(key.section) }
  }

  /// The name of the rule whose section this is; nil for other sections.
  static func ruleName(ofSection section: String) -> String? {
    section.hasPrefix("Rule ") ? String(section.dropFirst(5)) : nil
  }

  static func named(_ name: String, in section: String) -> ConfigurationKey? {
    all.first { $0.section == section && $0.name == name }
  }

  /// What to say of a section that is not in the table.
  static func unknownSection(_ name: String) -> String {
    "unknown section [\(name)]\(suggestion(for: name, among: sections) { "[\($0)]" }); "
      + "allowed: \(sections.map { "[\($0)]" }.joined(separator: ", ")), [Rule NAME]"
  }

  /// What to say of a key that is not in its section.
  static func unknownKey(_ name: String, in section: String) -> String {
    let here =
      ruleName(ofSection: section) == nil ? all.filter { $0.section == section }.map(\.name) : RuleKey.all.map(\.name)
    let elsewhere = all.first { $0.name.lowercased() == name.lowercased() && $0.section != section }
    let hint =
      if let elsewhere {
        " (\(elsewhere.name)= belongs to [\(elsewhere.section)])"
      } else {
        suggestion(for: name, among: here) { "\($0)=" }
      }
    return "unknown key \(name)= in [\(section)]\(hint); allowed: \(here.map { "\($0)=" }.joined(separator: ", "))"
  }
}

/// " (did you mean …?)" where a candidate is close enough to be meant.
private func suggestion(for name: String, among candidates: [String], as shown: (String) -> String) -> String {
  let nearest = candidates.map { (name: $0, distance: editDistance(name.lowercased(), $0.lowercased())) }
    .min { $0.distance < $1.distance }
  guard let nearest, nearest.distance <= max(2, nearest.name.count / 3) else { return "" }
  return " (did you mean \(shown(nearest.name))?)"
}

/// Levenshtein's distance, with one row of the table in memory; lines are bounded, so names are.
func editDistance(_ a: String, _ b: String) -> Int {
  let b = Array(b)
  var row = Array(0...b.count)
  for (i, letter) in a.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for j in b.indices {
      let substituted = diagonal + (letter == b[j] ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
    }
  }
  return row[b.count]
}
