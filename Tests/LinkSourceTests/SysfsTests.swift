// What is read of sysfs, what is not believed, and that odd files do no harm.

import Foundation
import TallyCore
import Testing

@testable import LinkSource

/// A small sysfs with one link.
private struct Tree {
  let root: URL
  let folder: URL

  init(
    _ root: URL, name: [UInt8] = Array("eth0".utf8), device: String = "devices/pci0/net/eth0", ifindex: String = "7\n"
  )
    throws
  {
    self.root = root
    folder = root.appendingPathComponent(device)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let classFolder = root.appendingPathComponent("class/net")
    try FileManager.default.createDirectory(at: classFolder, withIntermediateDirectories: true)
    let path = Array((classFolder.path + "/").utf8) + name + [0]
    try #require(symlink("../../" + device, path.map { CChar(bitPattern: $0) }) == 0)
    try write("ifindex", ifindex)
  }

  func write(_ file: String, _ content: String) throws { try write(file, Data(content.utf8)) }
  func write(_ file: String, _ content: Data) throws { try content.write(to: folder.appendingPathComponent(file)) }
  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.appendingPathComponent(name).path, withDestinationPath: target)
  }
}

private func facts(_ name: [UInt8] = Array("eth0".utf8), ifindex: UInt32 = 7) -> LinkFacts {
  var facts = LinkFacts()
  facts.name = LinkName(bytes: name)
  facts.ifindex = ifindex
  return facts
}

@Suite("Sysfs")
struct SysfsTests {
  @Test("all facts of a device are read, and the inode is that of its folder")
  func device() throws {
    try withTemporaryFolder { root in
      let tree = try Tree(root)
      try tree.write("uevent", "DEVTYPE=wlan\nINTERFACE=eth0\nIFINDEX=7\n")
      try tree.write("speed", "2500\n")
      try FileManager.default.createDirectory(
        at: root.appendingPathComponent("devices/pci0/device"), withIntermediateDirectories: true)
      try tree.link("device", to: "../../device")
      try tree.link("device/driver", to: "../../../bus/pci/drivers/e1000e")
      try tree.link("phy80211", to: "../../ieee80211/phy0")
      var found = facts()
      #expect(Sysfs(root: root.path).complete(&found))
      #expect(found.devtype == "wlan" && found.driver == "e1000e" && found.speedMbit == 2500)
      #expect(found.hasDevice && found.hasWirelessPhy && !found.isVirtual)
      #expect(found.paths == ["pci0"])
      let attributes = try FileManager.default.attributesOfItem(atPath: tree.folder.path)
      #expect(found.inode == (attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }
  }

  @Test("a device is known by its place below /sys/devices and by udev's ID_PATH, a virtual link by neither")
  func paths() throws {
    try withTemporaryFolder { root in
      let tree = try Tree(root, device: "devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/net/eth0")
      try FileManager.default.createDirectory(
        at: root.appendingPathComponent("udev"), withIntermediateDirectories: true)
      let record = root.appendingPathComponent("udev/n7")
      try Data("I:1\nE:ID_PATH=pci-0000:00:14.0-usb-0:2:1.0\nE:ID_BUS=usb\n".utf8).write(to: record)
      let sysfs = Sysfs(root: root.path, udev: root.appendingPathComponent("udev").path)
      var found = facts()
      #expect(sysfs.complete(&found))
      #expect(found.paths == [])
      try tree.link("device", to: "../..")
      #expect(sysfs.complete(&found))
      #expect(found.paths == ["pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0", "pci-0000:00:14.0-usb-0:2:1.0"])
      try Data("E:ID_PATH=\(String(repeating: "x", count: 9000))\n".utf8).write(to: record)
      #expect(sysfs.complete(&found))
      #expect(found.paths.count == 1)
    }
  }

  @Test("only what lies below /devices/virtual/net/ is virtual")
  func virtual() throws {
    for (device, isVirtual) in [
      ("devices/virtual/net/eth0", true), ("devices/virtual/mac80211_hwsim/hwsim0/net/eth0", false),
      ("devices/pci0/net/eth0", false),
    ] {
      try withTemporaryFolder { root in
        _ = try Tree(root, device: device)
        var found = facts()
        Sysfs(root: root.path).complete(&found)
        #expect(found.isVirtual == isVirtual)
      }
    }
  }

  @Test("a link with another index here is of another namespace: nothing is believed")
  func otherNamespace() throws {
    try withTemporaryFolder { root in
      let tree = try Tree(root)
      try tree.write("uevent", "DEVTYPE=wwan\n")
      var found = facts(ifindex: 8)
      #expect(!Sysfs(root: root.path).complete(&found))
      #expect(found == facts(ifindex: 8))
    }
  }

  @Test("a link that is not there, a missing /sys and impossible names leave all unset")
  func absent() throws {
    try withTemporaryFolder { root in
      _ = try Tree(root)
      for name in ["eth1", "", ".", "..", "../net/eth0", "a/b", "eth0\0x", "/"] {
        var found = facts(Array(name.utf8))
        #expect(!Sysfs(root: root.path).complete(&found))
        #expect(found == facts(Array(name.utf8)))
      }
      var found = facts()
      #expect(!Sysfs(root: root.path + "/none").complete(&found))
    }
  }

  @Test("names are bytes", arguments: [[0xFF, 0xFE], [0x01, 0x1B], [0x22, 0x5C], [0xF0, 0x9F, 0x9B]] as [[UInt8]])
  func names(name: [UInt8]) throws {
    try withTemporaryFolder { root in
      _ = try Tree(root, name: name)
      var found = facts(name)
      #expect(Sysfs(root: root.path).complete(&found))
      #expect(found.inode != 0)
    }
  }

  @Test(
    "an index file that is no number is not believed", arguments: ["", "\n", "7x", "-7", " 7", "99999999999999999999"])
  func oddIndex(text: String) throws {
    try withTemporaryFolder { root in
      _ = try Tree(root, ifindex: text)
      var found = facts()
      #expect(!Sysfs(root: root.path).complete(&found))
    }
  }

  @Test("speeds that say unknown are unknown, and a link without a device has none")
  func speeds() throws {
    for (text, device, speed) in [
      ("10000\n", true, 10000), ("-1\n", true, nil), ("0\n", true, nil), ("4294967295\n", true, nil),
      ("fast\n", true, nil), ("10000\n", false, nil),
    ] as [(String, Bool, UInt32?)] {
      try withTemporaryFolder { root in
        let tree = try Tree(root)
        try tree.write("speed", text)
        if device { try tree.link("device", to: "../../x") }
        var found = facts()
        Sysfs(root: root.path).complete(&found)
        #expect(found.speedMbit == speed)
      }
    }
  }

  @Test("tun_flags tell tun from tap where netlink does not, and do not overrule it")
  func tunFlags() throws {
    for (text, before, after) in [
      ("0x1801\n", 0, 1), ("0x1002\n", 0, 2), ("0x0\n", 0, 0), ("1801", 0, 0), ("0xzz", 0, 0), ("0x1802\n", 1, 1),
    ] as [(String, UInt8, UInt8)] {
      try withTemporaryFolder { root in
        let tree = try Tree(root)
        try tree.write("tun_flags", text)
        var found = facts()
        found.tunType = before
        Sysfs(root: root.path).complete(&found)
        #expect(found.tunType == after)
      }
    }
  }

  @Test("huge and broken files are read within bounds")
  func oddFiles() throws {
    try withTemporaryFolder { root in
      let tree = try Tree(root)
      try tree.write("uevent", Data(repeating: 0xFF, count: 1 << 20) + Data("\nDEVTYPE=late\n".utf8))
      try tree.write("speed", Data(repeating: 0x39, count: 1 << 16))
      try tree.write("tun_flags", Data(repeating: 0, count: 100))
      try tree.link("device", to: String(repeating: "x/", count: 1000))
      var found = facts()
      #expect(Sysfs(root: root.path).complete(&found))
      #expect(found.devtype == "" && found.speedMbit == nil && found.tunType == 0 && found.driver == "")
    }
  }

  @Test("the real /sys knows the loopback link of this namespace", .enabled(if: loopbackIsReadable, "no /sys here"))
  func real() {
    var found = facts(Array("lo".utf8), ifindex: 1)
    #expect(Sysfs().complete(&found))
    #expect(found.inode != 0 && found.isVirtual && !found.hasDevice)
  }

  @Test("modes of nl80211 have their words")
  func wirelessModes() {
    let modes: [WirelessMode] = [
      .other, .ibss, .station, .ap, .ap, .other, .monitor, .mesh, .station, .ap, .other, .other,
    ]
    for (number, mode) in modes.enumerated() { #expect(WirelessMode(nl80211: Int32(number)) == mode) }
    #expect(WirelessMode(nl80211: 200) == .other)
  }

  @Test("a link without a radio is not asked for its mode, and one that has none keeps nil")
  func noWirelessMode() {
    var found = facts(Array("lo".utf8), ifindex: 1)
    completeWireless(&found)
    #expect(found.wirelessMode == nil)
  }
}

/// With CI=true the test runs and fails instead of being skipped.
private let loopbackIsReadable =
  FileManager.default.fileExists(atPath: "/sys/class/net/lo/ifindex")
  || ProcessInfo.processInfo.environment["CI"] == "true"
