// Messages that real kernels sent, and the means to hand the parser any bytes at the edge of readable memory.
import CLinkStats
import Foundation
import Glibc

/// One link as a real kernel showed it, and its whole RTM_NEWLINK.
struct Recording: CustomStringConvertible, Sendable {
  var key: String
  var name: String
  var ifindex: UInt32
  var infoKind: String
  var portKind: String
  var arphrd: UInt16
  var mtu: UInt32
  var tunFlags: Int
  var message: [UInt8]

  var description: String { key }

  static let all: [Recording] = ["kinds.json", "kinds-6.12.json"].flatMap { file in
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/\(file)")
    guard let data = try? Data(contentsOf: url),
      let top = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let links = top["interfaces"] as? [String: [String: Any]]
    else { return [Recording]() }
    return links.keys.sorted().compactMap { key in links[key].flatMap { Recording("\(file) \(key)", $0) } }
  }

  private init?(_ key: String, _ link: [String: Any]) {
    guard let encoded = link["raw_newlink_b64"] as? String, let message = Data(base64Encoded: encoded),
      let shown = link["ip_d_j"] as? [String: Any], let name = shown["ifname"] as? String,
      let arphrd = link["arphrd"] as? Int, let ifindex = shown["ifindex"] as? Int, let mtu = shown["mtu"] as? Int
    else { return nil }
    self.key = key
    self.name = name
    self.ifindex = UInt32(ifindex)
    self.infoKind = link["info_kind"] as? String ?? ""
    self.portKind = link["info_slave_kind"] as? String ?? ""
    self.arphrd = UInt16(arphrd)
    self.mtu = UInt32(mtu)
    let flags = (link["sysfs"] as? [String: Any])?["tun_flags"] as? String ?? "0x0"
    self.tunFlags = Int(flags.dropFirst(2), radix: 16) ?? 0
    self.message = Array(message)
  }
}

/// What ls_parse_message said of some bytes, and what it wrote.
struct Parsed {
  var result: Int32
  var link: ls_link
  var stat: ls_stat
  var namespace: Int32
  /// Every byte of the outputs is as it was before.
  var outputsUntouched: Bool
}

/// Two pages of which the second may not be touched: bytes are laid right before it, so that a read past them ends the
/// test. Up to 3 bytes lie between where the length is no multiple of 4, since messages are aligned.
final class PageEdge {
  private let base: UnsafeMutableRawPointer
  private let size = 16384
  private let pattern = [UInt8](repeating: 0xA5, count: MemoryLayout<ls_link>.size)

  init?() {
    guard let base = mmap(nil, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      base != MAP_FAILED, mprotect(base + size, 4096, PROT_NONE) == 0
    else { return nil }
    self.base = base
  }

  deinit { munmap(base, size + 4096) }

  func parse(_ bytes: some Collection<UInt8>) -> Parsed {
    let start = base + (size - (bytes.count + 3) / 4 * 4)
    UnsafeMutableRawBufferPointer(start: start, count: bytes.count).copyBytes(from: bytes)
    var link = ls_link()
    var stat = ls_stat()
    memcpy(&link, pattern, MemoryLayout<ls_link>.size)
    memcpy(&stat, pattern, MemoryLayout<ls_stat>.size)
    let unwritten = Int32.min
    var namespace = unwritten
    let result = ls_parse_message(start, bytes.count, &link, &stat, &namespace)
    let untouched =
      memcmp(&link, pattern, MemoryLayout<ls_link>.size) == 0
      && memcmp(&stat, pattern, MemoryLayout<ls_stat>.size) == 0 && namespace == unwritten
    return Parsed(result: result, link: link, stat: stat, namespace: namespace, outputsUntouched: untouched)
  }
}

/// Netlink messages by hand.
enum Bytes {
  static func little<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

  static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
    let length = payload.count + 4
    return little(UInt16(length)) + little(type) + payload + [UInt8](repeating: 0, count: (4 - length % 4) % 4)
  }

  static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
    little(UInt32(16 + body.count)) + little(type) + little(UInt16(0)) + little(UInt32(0)) + little(UInt32(0)) + body
  }

  /// struct ifinfomsg.
  static func link(
    family: UInt8 = 0, hardwareType: UInt16 = 1, index: Int32 = 7, flags: UInt32 = 1, change: UInt32 = 0
  ) -> [UInt8] {
    [family, 0] + little(hardwareType) + little(index) + little(flags) + little(change)
  }

  /// struct rtgenmsg, padded.
  static let general: [UInt8] = [0, 0, 0, 0]

  /// struct if_stats_msg.
  static func stats(index: UInt32 = 7) -> [UInt8] { [0, 0, 0, 0] + little(index) + little(UInt32(0)) }

  static func counters(_ values: [UInt64]) -> [UInt8] { values.flatMap { little($0) } }
}
