// Every recorded link of two real kernels is what the table says: raw netlink message, sysfs tree, classification.

import CLinkStats
import Foundation
import TallyCore
import Testing

@testable import LinkSource

private let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

/// A row of expected-kinds.tsv.
private struct Expectation {
  let fixture: String
  let classification: Classification

  static let all: [Expectation] = {
    guard let table = try? String(contentsOf: fixtures.appendingPathComponent("expected-kinds.tsv"), encoding: .utf8)
    else { return [] }
    return table.split(separator: "\n").dropFirst().compactMap { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard cells.count == 5, let kind = Kind(rawValue: cells[1]) else { return nil }
      return Expectation(
        fixture: cells[0],
        classification: Classification(kind: kind, type: cells[2], touchesMedium: cells[3] == "yes", why: cells[4]))
    }
  }()
}

/// One link as a real kernel showed it.
struct RecordedLink: Decodable {
  struct Device: Decodable {
    var path: String?
    var driver: String?
  }
  struct Details: Decodable {
    var ifindex: UInt32
    var ifname: String
    var linkinfo: Info?
  }
  struct Info: Decodable {
    struct Data: Decodable { var remote: String? }
    var data: Data?
    enum CodingKeys: String, CodingKey { case data = "info_data" }
  }
  var how: String
  var details: Details
  var uevent: String
  var sysfs: [String: String?]
  var links: [String: String]
  var real: String
  var device: Device?
  var message: Data

  enum CodingKeys: String, CodingKey {
    case how, uevent, sysfs, links, real, device
    case details = "ip_d_j"
    case message = "raw_newlink_b64"
  }

  /// The far end of a tunnel as ip(8) wrote it.
  var remote: String? { details.linkinfo?.data?.remote }

  static func all(in file: String) throws -> [String: RecordedLink] {
    struct Recording: Decodable { var interfaces: [String: RecordedLink] }
    return try JSONDecoder().decode(
      Recording.self, from: Data(contentsOf: fixtures.appendingPathComponent(file))
    ).interfaces
  }

  /// The netlink facts, through the C parser.
  func netlinkFacts() throws -> LinkFacts {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: message.count, alignment: 8)
    defer { bytes.deallocate() }
    message.copyBytes(to: bytes)
    var link = ls_link()
    var stat = ls_stat()
    var namespace: Int32 = 0
    try #require(ls_parse_message(bytes.baseAddress, bytes.count, &link, &stat, &namespace) == Int32(LS_LINK))
    return LinkSource.facts(of: link)
  }

  /// Lays the recorded files, folders and symlinks out below `root` as they were below /sys.
  func layOut(at root: URL) throws {
    let files = FileManager.default
    func place(_ path: String) -> URL { root.appendingPathComponent(String(path.dropFirst("/sys/".count))) }
    let folder = place(real)
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, content) in sysfs {
      guard let content else { continue }
      try Data((content + "\n").utf8).write(to: folder.appendingPathComponent(name))
    }
    try Data((uevent + "\n").utf8).write(to: folder.appendingPathComponent("uevent"))
    for (name, target) in links {
      try files.createSymbolicLink(atPath: folder.appendingPathComponent(name).path, withDestinationPath: target)
    }
    if let path = device?.path, let driver = device?.driver {
      try files.createDirectory(at: place(path), withIntermediateDirectories: true)
      try files.createSymbolicLink(
        atPath: place(path).appendingPathComponent("driver").path, withDestinationPath: "../bus/drivers/" + driver)
    }
    let classFolder = root.appendingPathComponent("class/net")
    try files.createDirectory(at: classFolder, withIntermediateDirectories: true)
    try files.createSymbolicLink(
      atPath: classFolder.appendingPathComponent(details.ifname).path,
      withDestinationPath: "../../" + real.dropFirst("/sys/".count))
  }

  /// What nl80211 would have said: the recording tells how the link was made.
  var wirelessMode: WirelessMode? {
    let words: [(String, WirelessMode)] = [
      ("managed", .station), ("virt_wifi", .station), ("__ap", .ap), ("type mp", .mesh), ("IBSS", .ibss),
      ("monitor", .monitor),
    ]
    return words.first { how.contains($0.0) }?.1
  }

  func facts(root: URL) throws -> LinkFacts {
    var facts = try netlinkFacts()
    #expect(Sysfs(root: root.path).complete(&facts))
    if facts.hasWirelessPhy { facts.wirelessMode = wirelessMode }
    return facts
  }
}

/// A folder that goes when the body ends.
func withTemporaryFolder<T>(_ body: (URL) throws -> T) throws -> T {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("iftally-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

@Suite("Kinds of recorded links")
struct KindsTests {
  static let recordings = ["kinds.json", "kinds-6.12.json"]

  @Test("every row of the table is matched, by kind, type, medium and reason", arguments: recordings)
  func everyRow(recording: String) throws {
    let recorded = try RecordedLink.all(in: recording)
    var matched = 0
    for row in Expectation.all {
      guard let link = recorded[row.fixture] else { continue }
      let found = try withTemporaryFolder { root in
        try link.layOut(at: root)
        return classify(try link.facts(root: root))
      }
      #expect(found == row.classification, "\(row.fixture) in \(recording)")
      matched += 1
    }
    #expect(matched == recorded.count, "a recorded link has no row")
  }

  @Test("every row of the table is of a link in one recording at least")
  func everyRowIsRecorded() throws {
    let recorded = try Self.recordings.flatMap { try RecordedLink.all(in: $0).keys }
    #expect(Expectation.all.count == 80)
    #expect(Set(Expectation.all.map(\.fixture)) == Set(recorded))
  }

  @Test("the same link under any other name is still the same", arguments: recordings)
  func nameDecidesNothing(recording: String) throws {
    for (fixture, link) in try RecordedLink.all(in: recording) {
      try withTemporaryFolder { root in
        try link.layOut(at: root)
        var facts = try link.facts(root: root)
        let before = classify(facts)
        for name in ["lo", "wlan7", "wwan7", "eth7", "tun7"] {
          facts.name = LinkName(escaped: name)
          #expect(classify(facts) == before, "\(fixture)")
        }
      }
    }
  }

  @Test("identities of links that live side by side differ, but for interfaces of one radio", arguments: recordings)
  func identities(recording: String) throws {
    var keys: [String: Set<String>] = [:]
    for (_, link) in try RecordedLink.all(in: recording) {
      let facts = try link.netlinkFacts()
      keys[identityKey(facts), default: []].insert(facts.name.escaped)
    }
    let shared = keys.filter { $0.value.count > 1 }
    #expect(shared.keys.allSatisfy { $0.hasPrefix("mac:02:00:00:00:0") || $0.hasPrefix("mac:02:aa:") }, "\(shared)")
    #expect(keys.values.contains(["wlan0", "mon0"]) || keys.values.contains(["wlan0", "mon0", "vsta1"]))
  }
}
