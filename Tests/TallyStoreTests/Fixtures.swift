// What the store's tests share: folders, calendars, clocks and values with recognisable numbers.
import Foundation
import Glibc
import TallyCore
import Testing

@testable import TallyStore

/// A folder that goes with the value.
final class Folder {
  let path: String

  init() throws {
    var template = Array((FileManager.default.temporaryDirectory.path + "/iftally-store-XXXXXX").utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }

  /// Not through Foundation, which syncs every file to the disk.
  func write(_ name: String, _ bytes: [UInt8]) throws {
    let descriptor = open(file(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }
}

/// A small file system of its own, unmounted with the value.
final class SmallDisk {
  let folder: Folder

  static let isPossible: Bool = {
    if getenv("CI").map({ String(cString: $0) }) == "true" { return true }
    return (try? SmallDisk(kilobytes: 64)) != nil
  }()

  init(kilobytes: Int) throws {
    folder = try Folder()
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k") == 0, "mount: \(errorText(errno))")
  }

  deinit {
    umount2(folder.path, 2)  // MNT_DETACH
  }

  /// MS_REMOUNT and MS_RDONLY, whose imported type differs between toolchains.
  func remountReadOnly() throws {
    try #require(mount("tmpfs", folder.path, "tmpfs", 33, nil) == 0)
  }

  /// Takes all the space that is left.
  func fill() throws {
    let descriptor = open(folder.file("ballast"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let block = [UInt8](repeating: 7, count: 4096)
    while Glibc.write(descriptor, block, block.count) > 0 {}
  }

  func free() { unlink(folder.file("ballast")) }
}

extension LocalCalendar {
  static let utc = LocalCalendar(offset: { _ in 0 })

  /// Central Europe in 2026: summer time from 29 March to 25 October, 01:00 UTC.
  static let berlin = LocalCalendar(offset: { $0 >= 1_774_746_000 && $0 < 1_792_890_000 ? 7200 : 3600 })

  /// Days of 23 to 25 hours; hours and shorter periods at whole offsets.
  init(offset: @escaping @Sendable (Int64) -> Int64) {
    @Sendable func startOfDay(_ second: Int64) -> Int64 {
      let midnight = floorDivide(second + offset(second), 86_400) * 86_400
      let guess = midnight - offset(second)
      return midnight - offset(guess)
    }
    self.init(
      start: { resolution, second in
        switch resolution {
        case .minute: floorDivide(second, 60) * 60
        case .fiveMinutes: floorDivide(second, 300) * 300
        case .hour: floorDivide(second, 3600) * 3600
        default: startOfDay(second)
        }
      },
      next: { resolution, second in
        switch resolution {
        case .minute: floorDivide(second, 60) * 60 + 60
        case .fiveMinutes: floorDivide(second, 300) * 300 + 300
        case .hour: floorDivide(second, 3600) * 3600 + 3600
        default: startOfDay(startOfDay(second) + 25 * 3600)
        }
      })
  }
}

/// 2026-06-15 12:00:00 UTC, a Monday.
let noon: Int64 = 1_781_524_800
let firstBoot = BootID(high: 0xFEDC_BA98_7654_3210, low: 0x8000_0000_0000_0001)

func moment(_ second: Int64) -> Moment {
  Moment(utc: second * Moment.second + 5, boot: (second - noon + 100) * Moment.second, bootID: firstBoot)
}

func commit(_ sequence: UInt64, at second: Int64 = noon, rows: [BucketRow] = []) -> Commit {
  var commit = Commit(sequence: sequence, at: moment(second))
  commit.rows = rows
  return commit
}

func row(
  _ start: Int64, link: LinkID = 1, rx: UInt64 = 0, tx: UInt64 = 0, tier: Tier = .minute, placed: UInt64 = 0,
  flags: BucketFlags = []
) -> BucketRow {
  BucketRow(
    tier: tier, start: start, link: link,
    amounts: Amounts(rxBytes: rx, txBytes: tx, rxPackets: rx / 100, txPackets: tx / 100), placedRx: placed,
    flags: flags)
}

func link(_ id: LinkID, total: UInt64 = 0, at second: Int64 = noon, present: Bool = true) -> LinkRecord {
  var record = LinkRecord(
    id: id, key: "tunnel:tun\(id)", name: LinkName(bytes: [0x74, 0xFF, 0x00, UInt8(truncatingIfNeeded: id)]),
    kind: .tunnel, type: "wireguard", firstSeen: noon - 1000, lastSeen: second)
  record.total = Amounts(rxBytes: total, txBytes: total / 2, rxPackets: total / 100, txPackets: total / 200)
  if present {
    record.baseline = Baseline(
      at: moment(second), ifindex: .max, inode: .max - 1,
      counters: LinkCounters(rxBytes: total + 7, txBytes: total / 2 + 7, rxPackets: .max, txPackets: 1 << 63),
      opened: noon - 1000, birth: .born)
  }
  return record
}

extension Store {
  static func open(
    _ folder: Folder, calendar: LocalCalendar = .utc, now: Int64 = noon, suspect: Bool = false
  ) throws(StoreError) -> Store {
    try open(directory: folder.path, calendar: calendar, now: now, suspect: suspect)
  }

  func usage(_ tier: Tier, from: Int64 = .min, to: Int64 = .max, links: [LinkID]? = nil) throws(StoreError)
    -> UsageRows
  {
    let reader = try UsageReader(path: path)
    defer { reader.close() }
    return try reader.usage(UsageQuery(links: links, tier: tier, from: from, to: to))
  }

  /// Every stored row of one tier, folded or not.
  func stored(_ tier: Tier) throws(StoreError) -> [BucketRow] {
    let select = try database.statement(
      """
      SELECT start, link, rx_bytes, tx_bytes, rx_packets, tx_packets, placed_rx, placed_tx, flags FROM bucket
      WHERE tier = ? ORDER BY start, link
      """)
    defer { select.reset() }
    try select.start(.integer(Int64(tier.rawValue)))
    var rows: [BucketRow] = []
    while try select.step() { rows.append(select.bucket(tier)) }
    return rows
  }
}

/// The store's error that `body` throws; nil when it throws none.
func failure<R>(_ body: () throws(StoreError) -> R) -> StoreError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

func received(_ rows: [BucketRow]) -> [UInt64] { rows.map(\.amounts.rxBytes) }

/// SplitMix64: the same numbers everywhere for a seed.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
