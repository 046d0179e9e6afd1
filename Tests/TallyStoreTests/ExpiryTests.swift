// Links that expire, in the store: every row, mark and gap of theirs is their group's, at once or not at all.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct ExpiryTests {
  private func group(_ id: LinkID, total: UInt64) -> LinkRecord {
    var record = link(id, total: total, present: false)
    record.key = "group:expired:tunnel"
    record.type = "group"
    record.memberLives = 1
    return record
  }

  private func life(_ link: LinkID) -> Incarnation {
    Incarnation(link: link, bootID: firstBoot, ifindex: 3, inode: 4, opened: noon, birth: .born, closed: noon + 9)
  }

  /// Links 1, 2 and 3 with a row a minute each for four hours, some marked and placed, folded up to three.
  private func lived(_ store: Store) throws {
    var first = commit(1)
    first.links = [link(1), link(2, total: 480, present: false), link(3, total: 2400, present: false)]
    for minute in 0..<240 as Range<Int64> {
      let at = noon + minute * 60
      first.rows += [
        row(at, link: 1, rx: 1), row(at, link: 2, rx: 2, placed: 2, flags: [.acrossMinute, .acrossHour]),
        row(at, link: 3, rx: 10, flags: minute == 70 ? .atLeast : []),
      ]
    }
    first.incarnations = [life(1), life(2), life(3)]
    first.gaps = [1, 3, nil].map { Gap(link: $0, from: noon, to: noon + 60, reason: .vanished, lossy: true) }
    try store.commit(first)
    var second = commit(2, at: noon + 14_400)
    second.folds = [
      Fold(tier: .fiveMinutes, start: noon, end: noon + 12_000), Fold(tier: .hour, start: noon, end: noon + 10_800),
    ]
    try store.commit(second)
  }

  private func expiring(_ sequence: UInt64) -> Commit {
    var third = commit(sequence, at: noon + 14_460)
    third.links = [group(9, total: 2880)]
    third.expiries = [Expiry(link: 2, into: 9), Expiry(link: 3, into: 9)]
    return third
  }

  /// By tier and start, all links but the first together: what must not change.
  private func sums(_ store: Store) throws -> [[Int64: BucketRow]] {
    try Tier.allCases.map { tier in
      try store.stored(tier).filter { $0.link != 1 }.reduce(into: [:]) { sums, row in
        guard var sum = sums[row.start] else {
          sums[row.start] = row
          sums[row.start]?.link = 9
          return
        }
        sum.amounts += row.amounts
        sum.placedRx += row.placedRx
        sum.flags.formUnion(row.flags)
        sums[row.start] = sum
      }
    }
  }

  @Test("rows of every tier, placed parts, marks and gaps are the group's, and the links are gone")
  func moved() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    try lived(store)
    let (before, others) = (try sums(store), try Tier.allCases.map { try store.stored($0).filter { $0.link == 1 } })
    try store.commit(expiring(3))
    let after = try sums(store)
    #expect(after == before)
    let same = try Tier.allCases.map { try store.stored($0).filter { $0.link == 1 } }
    #expect(same == others)
    for tier in Tier.allCases {
      let links = Set(try store.stored(tier).map(\.link))
      #expect(links.isSubset(of: [1, 9]))
    }
    let usage = try store.usage(.hour)
    let bytes = usage.rows.filter { $0.link == 9 }.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == UInt64(2880))
    #expect(usage.gaps.map(\.link) == [1, 9, nil])
    #expect(usage.incarnations.map(\.link) == [1])
    store.close()
    let state = try Store.open(folder).opening.state
    #expect(state.links.map(\.id) == [1, 9])
    #expect(state.links.last?.memberLives == 1)
    #expect(state.highestLink == 3)
  }

  @Test("folds in the same commit and later ones read the rows from where they are")
  func folds() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    try lived(store)
    var third = expiring(3)
    third.rows = [row(noon + 14_400, link: 2, rx: 5)]
    third.folds = [
      Fold(tier: .fiveMinutes, start: noon + 12_000, end: noon + 14_400),
      Fold(tier: .hour, start: noon + 10_800, end: noon + 14_400),
    ]
    try store.commit(third)
    var hours = received(try store.stored(.hour).filter { $0.link == 9 })
    #expect(hours == [720, 720, 720, 720])
    var fourth = commit(4, at: noon + 86_400)
    fourth.folds = [
      Fold(tier: .fiveMinutes, start: noon + 14_400, end: noon + 18_000),
      Fold(tier: .hour, start: noon + 14_400, end: noon + 18_000),
    ]
    try store.commit(fourth)
    hours = received(try store.stored(.hour).filter { $0.link == 9 })
    #expect(hours == [720, 720, 720, 720, 5])
  }

  @Test("rows are moved in steps of any size", arguments: [1, 7, 239, 240, 241])
  func steps(size: Int) throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    try lived(store)
    let before = try sums(store)
    try BucketTable(database: store.database, calendar: .utc).move([2: 9, 3: 9], step: size)
    let after = try sums(store)
    #expect(after == before)
    let links = Set(try store.stored(.minute).map(\.link))
    #expect(links == [1, 9])
  }

  @Test("the same links expire again without effect, and those that are not there are no error")
  func again() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    try lived(store)
    try store.commit(expiring(3))
    let before = try sums(store)
    var fourth = expiring(4)
    fourth.expiries.append(Expiry(link: 77, into: 9))
    try store.commit(fourth)
    let after = try sums(store)
    #expect(after == before)
  }

  @Test("a WAL cut at the end of every frame has the links as they were, or the group with all that they had")
  func cut() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    try lived(store)
    try store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try folder.read("iftally.db")
    try store.commit(expiring(3))
    let wal = try folder.read("iftally.db-wal")
    var seen: Set<[LinkID]> = []
    for length in stride(from: 0, through: wal.count, by: 24 + Schema.pageSize).map({ $0 + 32 }) + [wal.count] {
      let crashed = try Folder()
      try crashed.write("iftally.db", file)
      try crashed.write("iftally.db-wal", Array(wal.prefix(length)))
      let survivor = try Store.open(crashed)
      let ids = survivor.opening.state.links.map(\.id)
      seen.insert(ids)
      let isMoved = survivor.opening.state.sequence == 3
      #expect(ids == (isMoved ? [1, 9] : [1, 2, 3]))
      let minutes = try survivor.stored(.minute)
      let links = Set(minutes.map(\.link))
      #expect(links == Set(ids))
      let bytes = minutes.reduce(0) { $0 + $1.amounts.rxBytes }
      #expect(bytes == UInt64(240 * 13))
    }
    #expect(seen.count == 2)
  }
}
