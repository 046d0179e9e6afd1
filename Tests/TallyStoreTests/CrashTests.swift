// A daemon killed at any moment, and a WAL cut anywhere: the store is always some committed sequence, whole.
import Foundation
import TallyCore
import Testing

@testable import TallyStore

@Suite struct CrashTests {
  /// What the store holds after a commit.
  private struct Held: Equatable {
    var links: [LinkRecord]
    var rows: [BucketRow]
    var gaps: [Gap]
    var incarnations: [Incarnation]
    var watermarks: Watermarks
  }

  private func held(_ store: Store) throws -> Held {
    let usage = try store.usage(.day)
    return Held(
      links: store.opening.state.links, rows: usage.rows, gaps: usage.gaps, incarnations: usage.incarnations,
      watermarks: usage.watermarks)
  }

  /// Commits of a few links, a minute each, with folds and now and then a gap and a new life of a link.
  private func makeCommit(
    _ sequence: UInt64, _ watermarks: inout Watermarks, _ links: inout [LinkID: LinkRecord],
    _ random: inout SeededGenerator
  ) -> Commit {
    let now = noon + Int64(sequence) * 60
    var commit = commit(sequence, at: now)
    for id in 1...4 as ClosedRange<LinkID> where Int.random(in: 0...2, using: &random) > 0 {
      let bytes = UInt64.random(in: 1...1_000_000, using: &random)
      let record = link(id, total: (links[id]?.total.rxBytes ?? 0) + bytes, at: now)
      links[id] = record
      commit.links.append(record)
      commit.rows.append(row(now, link: id, rx: bytes))
    }
    if sequence % 7 == 0 {
      commit.gaps.append(Gap(link: nil, from: now - 60, to: now, reason: .eventOverrun, lossy: true))
      commit.incarnations.append(
        Incarnation(link: 2, bootID: firstBoot, ifindex: 3, inode: sequence, opened: now, birth: .born))
    }
    for tier in [Tier.fiveMinutes, .hour, .day] {
      let end = LocalCalendar.utc.start(Resolution.allCases[Int(tier.rawValue)], now)
      guard end > watermarks[tier] else { continue }
      commit.folds.append(Fold(tier: tier, start: watermarks[tier], end: end))
      watermarks[tier] = end
    }
    return commit
  }

  @Test("a kill between commits, and a WAL cut at any byte, give back a committed sequence whole", arguments: 1...3)
  func cut(seed: Int) throws {
    var random = SeededGenerator(state: UInt64(seed))
    let folder = try Folder()
    let store = try Store.open(folder)
    try store.database.execute("PRAGMA wal_autocheckpoint = 150")
    var watermarks = store.opening.state.watermarks
    var links: [LinkID: LinkRecord] = [:]
    // Index is the sequence. Of each commit the reference is what a reader saw, with the links as committed.
    var expected = [try held(store)]
    var file = try folder.read("iftally.db")
    var checkpoints = 0
    for sequence in 1...150 as ClosedRange<UInt64> {
      try store.commit(makeCommit(sequence, &watermarks, &links, &random))
      let usage = try store.usage(.day)
      expected.append(
        Held(
          links: links.values.sorted { $0.id < $1.id }, rows: usage.rows, gaps: usage.gaps,
          incarnations: usage.incarnations, watermarks: watermarks))
      let after = try folder.read("iftally.db")
      let wal = try folder.read("iftally.db-wal")
      // Just after a checkpoint the file holds what the WAL holds; a WAL that was synced before it cannot be cut.
      let cuts = after == file ? (0..<2).map { _ in Int.random(in: 0...wal.count, using: &random) } : []
      if after != file { checkpoints += 1 }
      file = after
      guard sequence % 5 == 0 || !cuts.isEmpty || after != file else { continue }
      for length in [wal.count] + (sequence % 3 == 0 ? cuts : []) {
        let crashed = try Folder()
        try crashed.write("iftally.db", after)
        try crashed.write("iftally.db-wal", Array(wal.prefix(length)))
        let survivor = try Store.open(crashed)
        let at = survivor.opening.state.sequence
        #expect(survivor.opening.notice == nil)
        #expect(length < wal.count || at == sequence)
        try #require(at <= sequence)
        #expect(try held(survivor) == expected[Int(at)], "seed \(seed), commit \(sequence), cut at \(length)")
      }
    }
    #expect(checkpoints > 0)
  }

  @Test("a WAL cut at the end of every frame gives back the last commit that is whole in it")
  func everyFrame() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    let file = try folder.read("iftally.db")
    var ends = [0]
    for sequence in 1...6 as ClosedRange<UInt64> {
      var next = commit(sequence, rows: [row(noon + Int64(sequence) * 60, rx: 10)])
      next.links = [link(1, total: sequence * 10)]
      try store.commit(next)
      ends.append(try folder.read("iftally.db-wal").count)
    }
    let wal = try folder.read("iftally.db-wal")
    for length in stride(from: 32, through: wal.count, by: 24 + Schema.pageSize) {
      let crashed = try Folder()
      try crashed.write("iftally.db", file)
      try crashed.write("iftally.db-wal", Array(wal.prefix(length)))
      let survivor = try Store.open(crashed)
      let whole = ends.lastIndex { $0 <= length } ?? 0
      #expect(survivor.opening.state.sequence == UInt64(whole))
      let counted = received(try survivor.usage(.minute).rows).reduce(0, +)
      #expect(counted == UInt64(whole) * 10)
      #expect(survivor.opening.state.links.first?.total.rxBytes ?? 0 == counted)
    }
  }

  @Test("flipped bytes in the WAL lose the commits from there on, and mix nothing")
  func flipped() throws {
    var random = SeededGenerator(state: 99)
    let folder = try Folder()
    let store = try Store.open(folder)
    let file = try folder.read("iftally.db")
    for sequence in 1...10 as ClosedRange<UInt64> {
      var next = commit(sequence, rows: [row(noon + Int64(sequence) * 60, rx: 10)])
      next.links = [link(1, total: sequence * 10)]
      try store.commit(next)
    }
    let wal = try folder.read("iftally.db-wal")
    for _ in 0..<40 {
      var damaged = wal
      damaged[Int.random(in: 0..<wal.count, using: &random)] ^= 0x10
      let crashed = try Folder()
      try crashed.write("iftally.db", file)
      try crashed.write("iftally.db-wal", damaged)
      let survivor = try Store.open(crashed)
      let counted = received(try survivor.usage(.minute).rows).reduce(0, +)
      #expect(counted == survivor.opening.state.sequence * 10)
      #expect(survivor.opening.state.links.first?.total.rxBytes ?? 0 == counted)
    }
  }
}
