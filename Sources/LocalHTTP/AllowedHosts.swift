// Which names a TCP client may use for this machine: what keeps a web page elsewhere from reading it (DNS rebinding).

/// `localhost`, `127.0.0.1`, `[::1]` and the names of the configuration, each with any port.
package struct AllowedHosts: Equatable, Sendable {
  private var names: [String]

  /// `more` are host names or addresses without a port, an IPv6 address with or without brackets.
  package init(_ more: [String] = []) {
    names = (["localhost", "127.0.0.1", "[::1]"] + more).map(AllowedHosts.normal)
  }

  /// nil when both headers are fine; otherwise the name that is not allowed. A browser sends `Origin` whenever another
  /// page asks; `null` is an origin too.
  package func stranger(host: String?, origin: String?) -> String? {
    guard let host, let name = AllowedHosts.name(ofAuthority: host[...]), names.contains(name) else {
      return host ?? "a missing Host"
    }
    guard let origin else { return nil }
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      if let name = AllowedHosts.name(ofAuthority: origin.dropFirst(scheme.count)), names.contains(name) { return nil }
    }
    return origin
  }

  /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`.
  private static func name(ofAuthority text: Substring) -> String? {
    var host = text
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[...end]
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
    }
    let port = text[host.endIndex...]
    guard port.isEmpty || (port.hasPrefix(":") && port.dropFirst().utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return host.isEmpty ? nil : normal(String(host))
  }

  private static func normal(_ name: String) -> String {
    var name = name.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    return name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
  }
}
