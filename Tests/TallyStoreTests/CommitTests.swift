// One commit: what it adds, replaces and refuses, and that it is all or nothing.
import Glibc
import TallyCore
import Testing

@testable import TallyStore

@Suite struct CommitTests {
  let folder: Folder
  let store: Store

  init() throws {
    folder = try Folder()
    store = try Store.open(folder)
  }

  @Test("rows are added to what is stored under their key, flags united")
  func adding() throws {
    try store.commit(
      commit(
        1,
        rows: [
          row(noon, rx: 1000, tx: 10, placed: 400, flags: .acrossMinute), row(noon, link: 2, tx: 7),
          row(noon, rx: 1, flags: .atLeast),
        ]))
    try store.commit(commit(2, rows: [row(noon, rx: 500, placed: 100, flags: [.acrossMinute, .acrossHour])]))
    #expect(
      try store.usage(.minute).rows == [
        BucketRow(
          tier: .minute, start: noon, link: 1,
          amounts: Amounts(rxBytes: 1501, txBytes: 10, rxPackets: 15, txPackets: 0), placedRx: 500,
          flags: [.acrossMinute, .acrossHour, .atLeast]),
        row(noon, link: 2, tx: 7),
      ])
  }

  @Test("counters use all 64 bits, and sums stay at the largest number instead of overflowing")
  func saturation() throws {
    let most = UInt64.max
    let half = most / 2 + 1
    try store.commit(commit(1, rows: [row(noon, rx: most - 10, tx: half), row(noon, link: 2, rx: half)]))
    try store.commit(commit(2, rows: [row(noon, rx: 9, tx: half, placed: most), row(noon, link: 2, rx: 5)]))
    let rows = try store.usage(.minute).rows
    #expect(received(rows) == [most - 1, half + 5])
    #expect(rows.first?.amounts.txBytes == most)
    var folding = commit(3)
    folding.rows = [row(noon + 60, rx: most)]
    folding.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 300)]
    try store.commit(folding)
    #expect(try received(store.stored(.fiveMinutes)) == [most, half + 5])
  }

  @Test("a row that adds nothing is not written")
  func nothing() throws {
    try store.commit(commit(1, rows: [row(noon)]))
    #expect(try store.stored(.minute) == [])
    try store.commit(commit(2, rows: [row(noon, flags: .atLeast)]))
    #expect(try store.stored(.minute).count == 1)
  }

  @Test("links are replaced by id, incarnations by link, boot, ifindex and opening")
  func replacing() throws {
    var first = commit(1)
    first.links = [link(1, total: 1000), link(2, total: 50)]
    var life = Incarnation(link: 1, bootID: firstBoot, ifindex: 4, inode: 77, opened: noon, birth: .firstSight)
    first.incarnations = [life]
    try store.commit(first)

    var second = commit(2, at: noon + 60)
    var renamed = link(1, total: 2000, present: false)
    renamed.name = LinkName(bytes: Array("wg0".utf8))
    renamed.resets = 3
    renamed.totalIsAtLeast = true
    second.links = [renamed]
    life.closed = noon + 30
    life.death = .deleted
    let next = Incarnation(link: 1, bootID: firstBoot, ifindex: 4, inode: 78, opened: noon + 40, birth: .movedIn)
    second.incarnations = [life, next]
    try store.commit(second)

    #expect(try store.usage(.minute).incarnations == [life, next])
    store.close()
    #expect(try stateAfterRestart(folder).links == [renamed, link(2, total: 50)])
  }

  @Test("a commit that is repeated, or that does not follow on, adds nothing")
  func sequence() throws {
    let first = commit(1, rows: [row(noon, rx: 10)])
    try store.commit(first)
    try store.commit(first)
    let later = try #require(
      failure { () throws(StoreError) in try store.commit(commit(3, rows: [row(noon, rx: 10)])) })
    #expect(later.kind == .refused)
    #expect(
      later.message == "commit 3 does not follow on 1, the last one in the store \(store.path): give what it holds to "
        + "commit 2")
    let other = failure { () throws(StoreError) in try store.commit(commit(1, at: noon + 1, rows: [row(noon, rx: 10)]))
    }
    #expect(other?.kind == .refused)
    #expect(try store.usage(.minute).rows == [row(noon, rx: 10)])
    #expect(try store.usage(.minute).sequence == 1)
  }

  @Test("a commit whose last part is refused leaves nothing of its first")
  func atomic() throws {
    var bad = commit(1, rows: [row(noon, rx: 10)])
    bad.links = [link(1, total: 10)]
    bad.gaps = [Gap(link: 1, from: noon, to: noon + 5, reason: .vanished, lossy: true)]
    bad.folds = [Fold(tier: .hour, start: noon - 3600, end: noon)]
    let error = try #require(failure { () throws(StoreError) in try store.commit(bad) })
    #expect(error.kind == .refused)
    #expect(
      error.message == "the fold [\(noon - 3600), \(noon)) into tier hour does not follow on its watermark \(noon) in "
        + "the store \(store.path)")
    let usage = try store.usage(.minute)
    #expect(usage.rows == [] && usage.gaps == [] && usage.sequence == 0)
    bad.folds = []
    try store.commit(bad)
    #expect(try store.usage(.minute).rows == [row(noon, rx: 10)])
  }

  @Test("clock steps are kept")
  func clockSteps() throws {
    var stepped = commit(1)
    stepped.clockSteps = [ClockStep(at: noon, by: -5_000_000_000)]
    try store.commit(stepped)
    #expect(try store.database.integer("SELECT by_nanoseconds FROM clock_step WHERE at = \(noon)") == -5_000_000_000)
  }

  @Test("a commit of a moment alone writes one page")
  func empty() throws {
    try store.commit(commit(1))
    let before = try folder.read("iftally.db-wal").count
    try store.commit(commit(2, at: noon + 60))
    #expect(try folder.read("iftally.db-wal").count == before + 24 + Schema.pageSize)
    #expect(try store.usage(.minute).sequence == 2)
  }

  @Test(
    "a full disk refuses the commit whole; once there is space the same commit is stored once",
    .enabled(if: SmallDisk.isPossible, "needs the right to mount a tmpfs"))
  func diskFull() throws {
    let disk = try SmallDisk(kilobytes: 600)
    let store = try Store.open(disk.folder)
    try store.commit(commit(1, rows: [row(noon, rx: 1)]))
    try disk.fill()
    var second = commit(2)
    second.rows = (1...200).map { row(noon, link: $0, rx: 100) }
    second.links = [link(1, total: 100)]
    for _ in 0..<3 {
      let error = try #require(failure { () throws(StoreError) in try store.commit(second) })
      #expect(error.kind == .full)
      #expect(
        error.message.hasPrefix("no space left to write the store \(store.path) (")
          && error.message.hasSuffix(
            "): free space on its file system")
      )
      #expect(try store.usage(.minute).rows == [row(noon, rx: 1)])
    }
    disk.free()
    try store.commit(second)
    #expect(try received(store.usage(.minute).rows) == [101] + Array(repeating: 100, count: 199))
    store.close()
    #expect(try stateAfterRestart(disk.folder).links == [link(1, total: 100)])
  }

  @Test(
    "a store that cannot be made for want of space says so, and leaves no half of one",
    .enabled(if: SmallDisk.isPossible, "needs the right to mount a tmpfs"))
  func diskFullAtFirst() throws {
    let disk = try SmallDisk(kilobytes: 400)
    try disk.fill()
    let error = try #require(failure { () throws(StoreError) in try Store.open(disk.folder) })
    #expect(error.kind == .full)
    #expect(error.message.contains("iftally.db"))
    disk.free()
    #expect(try Store.open(disk.folder).opening.notice == nil)
  }
}

/// What a store gives back to a daemon that starts.
func stateAfterRestart(_ folder: Folder) throws -> StoredState {
  let store = try Store.open(folder)
  defer { store.close() }
  return store.opening.state
}
