// How the text of each sort of value is read; nil means that it is none.

import Glibc

func absolutePath(_ text: String) -> String? {
  text.hasPrefix("/") ? text : nil
}

/// Three or four octal digits that hold permission bits alone.
func octalMode(_ text: String) -> UInt32? {
  guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
    let mode = UInt32(text, radix: 8), mode <= 0o777
  else { return nil }
  return mode
}

/// A group by name or number, asked of the name service.
func existingGroup(_ text: String) -> Configuration.Group? {
  // A bare "*" or "-1" must not reach gid_t as a number: only digits are one.
  if isDecimal(text) {
    guard let id = UInt32(text), id != .max else { return nil }
    return Configuration.Group(name: text, id: id)
  }
  // SAFETY: getgrnam's static result is read before anything else can call it; configuration is read by one thread.
  guard let entry = getgrnam(text) else { return nil }
  return Configuration.Group(name: text, id: entry.pointee.gr_gid)
}

/// `PORT` alone means 127.0.0.1; a host must be numeric, since a name could mean another machine tomorrow, and
/// loopback, since the daemon listens nowhere else.
func tcpAddress(_ text: String) -> Configuration.TCPAddress? {
  let (host, digits): (Substring, Substring)
  if let colon = text.lastIndex(of: ":") {
    (host, digits) = (text[..<colon], text[text.index(after: colon)...])
  } else {
    (host, digits) = ("127.0.0.1", text[...])
  }
  guard isDecimal(digits), let port = UInt16(digits), port > 0 else { return nil }
  if host == "localhost" { return Configuration.TCPAddress(host: "127.0.0.1", port: port) }
  if host.hasPrefix("["), host.hasSuffix("]") {
    let literal = String(host.dropFirst().dropLast())
    return isLoopback(literal, family: AF_INET6) ? Configuration.TCPAddress(host: literal, port: port) : nil
  }
  return isLoopback(String(host), family: AF_INET) ? Configuration.TCPAddress(host: String(host), port: port) : nil
}

/// Host names added to those that earlier lines named; each once.
func hostNames(_ text: String, after present: [String]) -> [String]? {
  var names = present
  for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
    let name = word.lowercased()
    guard isHostName(name) || isAddress(name, family: AF_INET6) else { return nil }
    if !names.contains(name) { names.append(name) }
  }
  return names.count <= 64 ? names : nil
}

/// Letters, digits, hyphens and dots, as DNS and IPv4 have them.
private func isHostName(_ name: String) -> Bool {
  (1...253).contains(name.utf8.count)
    && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
    }
}

private func isAddress(_ text: String, family: Int32) -> Bool {
  var address = in6_addr()
  return inet_pton(family, text, &address) == 1
}

/// 127.0.0.0/8 or ::1.
private func isLoopback(_ text: String, family: Int32) -> Bool {
  var address = in6_addr()
  guard inet_pton(family, text, &address) == 1 else { return false }
  return withUnsafeBytes(of: address) { bytes in
    family == AF_INET ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }
}

private func isDecimal(_ text: some StringProtocol) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy(isDigit)
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
