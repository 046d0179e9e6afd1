// How much a running store writes: what decides the wear of a flash card.
import Foundation
import Glibc
import TallyCore
import Testing

@testable import TallyStore

@Suite struct WriteVolumeTests {
  @Test("ten busy links and a commit a minute write less than 1 MB an hour, folds, retention and checkpoints included")
  func tenLinks() throws {
    let folder = try Folder()
    let twoDays: Int64 = 2 * 86_400
    let store = try Store.open(folder, now: noon - twoDays)
    var watermarks = store.opening.state.watermarks
    var sequence: UInt64 = 0

    func run(until end: Int64, from start: Int64, afterEach: () throws -> Void) throws {
      for now in stride(from: start, to: end, by: 60) {
        sequence += 1
        var next = commit(sequence, at: now)
        for id in 1...10 as ClosedRange<LinkID> {
          next.links.append(link(id, total: sequence * 1_000_003 * UInt64(id), at: now))
          next.rows.append(row(now - 60, link: id, rx: 1_000_003 * UInt64(id), tx: 70_001))
        }
        for tier in [Tier.fiveMinutes, .hour, .day] {
          let open = LocalCalendar.utc.start(Resolution.allCases[Int(tier.rawValue)], now)
          guard open > watermarks[tier] else { continue }
          next.folds.append(Fold(tier: tier, start: watermarks[tier], end: open))
          watermarks[tier] = open
        }
        next.retention = [.minute: now - twoDays]
        try store.commit(next)
        try afterEach()
      }
    }

    // Two days make the minute tier as long as it gets.
    try run(until: noon, from: noon - twoDays) {}
    let wal = open(store.path + "-wal", O_RDONLY | O_CLOEXEC)
    defer { close(wal) }
    let before = try written()
    let hours: Int64 = 6
    // The kernel writes back what is dirty every 30 s: without that, rewritten pages would count once for all commits.
    try run(until: noon + hours * 3600, from: noon) { fsync(wal) }
    let after = try written()
    let perHour = (
      passed: (after.passed - before.passed) / Int(hours), toDisk: (after.toDisk - before.toDisk) / Int(hours)
    )
    print(
      "ten busy links: \(perHour.passed) bytes an hour written, \(perHour.toDisk) to the disk; \(store.sizeBytes) kept")
    #expect(perHour.passed < 1_000_000)
    #expect(perHour.toDisk < 1_000_000)
  }

  /// What this thread passed to write calls, and what pages of files it made dirty.
  private func written() throws -> (passed: Int, toDisk: Int) {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    var values: [Substring: Int] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":")
      if parts.count == 2 { values[parts[0]] = Int(parts[1].dropFirst()) }
    }
    return (try #require(values["wchar"]), try #require(values["write_bytes"]))
  }
}
