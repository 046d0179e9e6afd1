// What people changed, in the store: it comes back, is bounded, and what was forgotten is deleted in steps.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct ChangeTests {
  private func change(_ id: Int64, undone: Change.Undoing? = nil) -> Change {
    Change(
      id: id, at: noon + id, uid: .max, action: .rename, link: 1, before: "a'\"\u{0}", after: "☎ \(id)", undone: undone)
  }

  @Test("titles, merges and forgetting come back with the changes that made them so")
  func roundTrip() throws {
    let folder = try Folder()
    var first = commit(1)
    first.links = [link(1), link(2, present: false), link(3)]
    first.links[0].title = "☎"
    first.links[1].mergedInto = 1
    first.links[2].forgotten = noon
    first.changes = [change(1), change(2)]
    var second = commit(2)
    second.changes = [change(1, undone: Change.Undoing(at: noon + 9, uid: 0))]
    do {
      let store = try Store.open(folder)
      try store.commit(first)
      try store.commit(second)
    }
    let state = try Store.open(folder).opening.state
    #expect(state.links == first.links)
    #expect(state.changes == second.changes + [change(2)])
    #expect(state.highestLink == 0)
  }

  @Test("the newest thousand changes are kept")
  func bound() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    for sequence in 1...11 as ClosedRange<UInt64> {
      var next = commit(sequence)
      let from = Int64(sequence - 1) * 100 + 1
      next.changes = (from..<from + 100).map { change($0) }
      try store.commit(next)
    }
    let kept = try ChangeTable(database: store.database).all().map(\.id)
    #expect(kept == Array(101...1100))
  }

  @Test("a deleted link takes all of its rows along, whatever folds, and others keep theirs")
  func deletion() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    var first = commit(1)
    first.links = [link(1), link(9)]
    for place in 0..<200 as Range<Int64> {
      first.rows += [row(noon + place * 60, link: 9, rx: 7), row(noon + place * 60, link: 1, rx: 5)]
    }
    first.incarnations = [9, 1].map {
      Incarnation(link: $0, bootID: firstBoot, ifindex: 3, inode: 4, opened: noon, birth: .born)
    }
    first.gaps = [9, 1, nil].map { Gap(link: $0, from: noon, to: noon + 5, reason: .vanished, lossy: true) }
    try store.commit(first)
    var second = commit(2, at: noon + 14_400)
    second.deletions = [9]
    second.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 12_000)]
    try store.commit(second)
    #expect(store.purge.tier == .minute)
    for tier in Tier.allCases {
      let links = Set(try store.stored(tier).map(\.link))
      #expect(!links.contains(9))
    }
    let left = try store.database.integer("SELECT count(*) FROM deleted_link")
    #expect(left == 1)
    try store.commit(commit(3, at: noon + 14_460))
    let after = try store.database.integer("SELECT count(*) FROM deleted_link")
    #expect(after == 0)
    let usage = try store.usage(.minute)
    let bytes = usage.rows.reduce(0) { $0 + $1.amounts.rxBytes }
    #expect(bytes == 1000)
    #expect(usage.incarnations.map(\.link) == [1])
    #expect(usage.gaps.map(\.link) == [1, nil])
    store.close()
    let state = try Store.open(folder).opening.state
    #expect(state.links.map(\.id) == [1])
    #expect(state.highestLink == 9)
  }

  @Test("many buckets are looked through over several commits")
  func steps() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    var first = commit(1)
    first.links = [link(1), link(9)]
    for place in 0..<25_000 as Range<Int64> {
      first.rows += [row(noon + place * 60, link: 9, rx: 7), row(noon + place * 60, link: 1, rx: 5)]
    }
    try store.commit(first)
    var sequence: UInt64 = 2
    var next = commit(sequence)
    next.deletions = [9]
    try store.commit(next)
    var counts = [try store.database.integer("SELECT count(*) FROM bucket WHERE link = 9") ?? -1]
    while try store.database.integer("SELECT count(*) FROM deleted_link") == 1, sequence < 20 {
      sequence += 1
      try store.commit(commit(sequence))
      counts.append(try store.database.integer("SELECT count(*) FROM bucket WHERE link = 9") ?? -1)
    }
    #expect(counts.first == 15_000)
    #expect(counts.last == 0)
    #expect(sequence < 20)
    let others = try store.database.integer("SELECT count(*) FROM bucket WHERE link = 1")
    #expect(others == 25_000)
  }

  @Test("a failed commit stores nothing of a change")
  func failure() throws {
    let folder = try Folder()
    let store = try Store.open(folder)
    var wrong = commit(7)
    wrong.changes = [change(1)]
    wrong.links = [link(1)]
    let error = TallyStoreTests.failure { () throws(StoreError) in try store.commit(wrong) }
    #expect(error?.kind == .refused)
    let changes = try ChangeTable(database: store.database).all()
    #expect(changes.isEmpty)
  }
}
