// Socket addresses as the kernel takes them: a path, or a numeric host and port.

import Glibc

/// SOCK_STREAM as the number that `socket` takes; it is an enumeration in glibc's headers.
let streamSocket = CInt(SOCK_STREAM.rawValue)

struct UnixAddress {
  private var storage = sockaddr_un()

  /// sun_path less its final zero.
  static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// nil for a path that is empty, too long or holds a zero byte.
  init?(_ path: String) {
    let bytes = Array(path.utf8)
    guard (1...UnixAddress.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
    storage.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: bytes) }
  }

  func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    withSocketAddress(storage, body)
  }
}

struct TCPAddress {
  let family: CInt
  let host: String
  let port: UInt16
  private var v4 = sockaddr_in()
  private var v6 = sockaddr_in6()

  /// Reads `a.b.c.d:port`, `[v6]:port` or `localhost:port`. No names: resolving one could wait, and could lie.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let number = decimal(Array(text[text.index(after: colon)...].utf8)),
      let port = UInt16(exactly: number)
    else { return nil }
    var host = String(text[..<colon])
    if host == "localhost" { host = "127.0.0.1" }
    self.port = port
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      family = AF_INET6
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port.bigEndian
      guard inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 else { return nil }
    } else {
      family = AF_INET
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port.bigEndian
      guard inet_pton(AF_INET, host, &v4.sin_addr) == 1 else { return nil }
    }
    self.host = host
  }

  /// 127.0.0.0/8 or ::1.
  var isLoopback: Bool {
    if family == AF_INET { return UInt32(bigEndian: v4.sin_addr.s_addr) >> 24 == 127 }
    return withUnsafeBytes(of: v6.sin6_addr) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }

  func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    family == AF_INET ? withSocketAddress(v4, body) : withSocketAddress(v6, body)
  }

  func text(port: UInt16) -> String {
    family == AF_INET ? "\(host):\(port)" : "[\(host)]:\(port)"
  }
}

/// The port that the kernel chose for a bound TCP socket.
func boundPort(_ descriptor: CInt) -> UInt16? {
  var storage = sockaddr_storage()
  var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
  let status = withUnsafeMutablePointer(to: &storage) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
  }
  guard status == 0 else { return nil }
  // The port is at the same place in sockaddr_in and sockaddr_in6.
  return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
}

private func withSocketAddress<Storage>(
  _ storage: Storage, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
) -> CInt {
  withUnsafePointer(to: storage) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Storage>.size)) }
  }
}
