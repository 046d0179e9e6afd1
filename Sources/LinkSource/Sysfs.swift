// Facts of a link that only sysfs tells: its inode, its device type, the device behind it.
import Glibc
package import TallyCore

/// /sys as the source of facts. It shows the network namespace of whoever mounted it, so nothing is believed of a link
/// whose name leads to another index here.
package struct Sysfs: Sendable {
  private let linkFolder: [UInt8]
  private let udevFolder: String

  /// `root` stands for /sys, `udev` for the folder of udev's database.
  package init(root: String = "/sys", udev: String = "/run/udev/data") {
    linkFolder = Array(root.utf8) + Array("/class/net/".utf8)
    udevFolder = udev
  }

  /// Adds what sysfs tells of the link with this name and index. Unreadable facts stay unset, all of them when the link
  /// is not found. About ten system calls. True when the link was found.
  @discardableResult
  package func complete(_ facts: inout LinkFacts) -> Bool {
    guard let path = path(of: facts.name) else { return false }
    // One descriptor for all reads: a rename meanwhile cannot mix two links.
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    guard read("ifindex", in: folder, atMost: 32).flatMap(number) == Int64(facts.ifindex) else { return false }

    var status = stat()
    guard fstat(folder, &status) == 0 else { return false }
    facts.inode = UInt64(status.st_ino)
    facts.devtype = read("uevent", in: folder, atMost: 4096).flatMap { value(of: "DEVTYPE", in: $0) } ?? ""
    facts.hasWirelessPhy = exists("phy80211", in: folder)
    facts.hasDevice = exists("device", in: folder)
    // Radios and modems made in software lie below /devices/virtual/ too, but not below its net/.
    let place = target(of: path, in: AT_FDCWD)
    facts.isVirtual = place.map { contains($0, "/devices/virtual/net/") } ?? false
    facts.paths = facts.hasDevice ? [place.flatMap(devicePath), udevPath(facts.ifindex)].compactMap { $0 } : []
    facts.driver = target(of: cString("device/driver"), in: folder).map(lastComponent) ?? ""
    // What virtual links call their speed is made up, and asking takes the kernel's lock on links.
    if facts.hasDevice { facts.speedMbit = read("speed", in: folder, atMost: 32).flatMap(number).flatMap(speed) }
    if facts.tunType == 0 { facts.tunType = read("tun_flags", in: folder, atMost: 32).flatMap(tunType) ?? 0 }
    return true
  }

  /// The inode of the folder of a link with this name, of whatever namespace /sys shows; 0 when there is none. One
  /// system call.
  func inode(of name: LinkName) -> UInt64 {
    var status = stat()
    guard let path = path(of: name), stat(path, &status) == 0 else { return 0 }
    return UInt64(status.st_ino)
  }

  /// ID_PATH of udev's database; the kernel's path of a USB device changes with the port's number alone, this one hardly.
  private func udevPath(_ ifindex: UInt32) -> String? {
    let bytes = read("\(udevFolder)/n\(ifindex)", in: AT_FDCWD, atMost: 16384)
    return bytes.flatMap { value(of: "E:ID_PATH", in: $0) }.flatMap { $0.utf8.count <= 256 ? $0 : nil }
  }

  /// nil for what cannot be a name, so that no name leads out of the folder.
  private func path(of name: LinkName) -> [CChar]? {
    let bytes = name.bytes
    guard !bytes.isEmpty, !bytes.contains(0), !bytes.contains(UInt8(ascii: "/")), bytes != Array(".".utf8),
      bytes != Array("..".utf8)
    else { return nil }
    return (linkFolder + bytes + [0]).map { CChar(bitPattern: $0) }
  }
}

/// The first `limit` bytes of a file, without the line's end; nil when it cannot be read (many files of a link that is
/// down give EINVAL).
private func read(_ file: String, in folder: Int32, atMost limit: Int) -> [UInt8]? {
  let descriptor = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var failed = false
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    let length = Glibc.read(descriptor, buffer.baseAddress, limit)
    failed = length < 0
    count = max(0, length)
  }
  return failed ? nil : bytes
}

private func exists(_ entry: String, in folder: Int32) -> Bool {
  var status = stat()
  return fstatat(folder, entry, &status, AT_SYMLINK_NOFOLLOW) == 0
}

/// What a symlink says; nil when there is none.
private func target(of path: [CChar], in folder: Int32) -> [UInt8]? {
  var failed = false
  let capacity = 4096
  let target = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    let length = buffer.withMemoryRebound(to: CChar.self) { text in
      text.baseAddress.map { readlinkat(folder, path, $0, capacity) } ?? -1
    }
    failed = length < 0
    count = max(0, length)
  }
  return failed ? nil : target
}

/// "pci0000:00/0000:00:1f.6" of a link to "../../devices/pci0000:00/0000:00:1f.6/net/eth0".
private func devicePath(_ target: [UInt8]) -> String? {
  let parts = target.split(separator: UInt8(ascii: "/"))
  guard let start = parts.firstIndex(where: { $0.elementsEqual("devices".utf8) }),
    let end = parts.lastIndex(where: { $0.elementsEqual("net".utf8) }), end > start
  else { return nil }
  return parts[(start + 1)..<end].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
}

private func cString(_ text: String) -> [CChar] { text.utf8CString.map { $0 } }

private func lastComponent(_ path: [UInt8]) -> String {
  String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
}

private func contains(_ bytes: [UInt8], _ part: String) -> Bool {
  let part = Array(part.utf8)
  guard bytes.count >= part.count else { return false }
  return (0...(bytes.count - part.count)).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
}

/// The value of the line KEY=value.
private func value(of key: String, in bytes: [UInt8]) -> String? {
  let start = Array((key + "=").utf8)
  let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
  return line.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
}

private func trimmed(_ bytes: [UInt8]) -> String {
  String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

private func number(_ bytes: [UInt8]) -> Int64? { Int64(trimmed(bytes)) }

/// nil for the -1 and 4294967295 of drivers that do not know.
private func speed(_ mbit: Int64) -> UInt32? {
  mbit > 0 && mbit < Int64(UInt32.max) ? UInt32(mbit) : nil
}

/// IFF_TUN and IFF_TAP of <linux/if_tun.h>, from "0x1801".
private func tunType(_ bytes: [UInt8]) -> UInt8? {
  let text = trimmed(bytes)
  guard text.hasPrefix("0x"), let flags = UInt32(text.dropFirst(2), radix: 16) else { return nil }
  return flags & 1 != 0 ? 1 : flags & 2 != 0 ? 2 : 0
}
