// Incarnations and gaps are dropped with the hours; what they said of days and totals stays.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct RecordRetentionTests {
  let folder: Folder
  let store: Store
  private let day: Int64 = 86_400
  private var midnight: Int64 { noon - 43_200 }

  init() throws {
    folder = try Folder()
    store = try Store.open(folder, now: noon - 50 * 86_400)
  }

  private func life(_ link: LinkID, opened: Int64, closed: Int64?) -> Incarnation {
    Incarnation(
      link: link, bootID: firstBoot, ifindex: UInt32(link), inode: 1, opened: opened, birth: .born, closed: closed,
      death: closed == nil ? nil : .deleted)
  }

  /// Everything is folded up to today.
  private func fold(_ commit: inout Commit) {
    let watermarks = store.opening.state.watermarks
    for (tier, end) in [(Tier.fiveMinutes, noon), (.hour, noon), (.day, midnight)] {
      commit.folds.append(Fold(tier: tier, start: watermarks[tier], end: end))
    }
  }

  private func kept() throws -> UsageRows { try store.usage(.day) }

  @Test("what ended before the bound is dropped, what lives or ended later stays")
  func byAge() throws {
    var first = commit(1)
    first.incarnations = [
      life(1, opened: noon - 40 * day, closed: noon - 31 * day), life(1, opened: noon - 31 * day, closed: nil),
      life(2, opened: noon - 40 * day, closed: noon - 29 * day),
    ]
    first.gaps = [
      Gap(link: nil, from: noon - 35 * day, to: noon - 34 * day, reason: .notRunning, lossy: false),
      Gap(link: nil, from: noon - 35 * day, to: noon - 34 * day, reason: .reboot, lossy: true),
      Gap(link: 1, from: noon - 35 * day, to: noon - 35 * day + 60, reason: .vanished, lossy: true),
      Gap(link: 1, from: noon - 20 * day, to: noon - 20 * day + 60, reason: .vanished, lossy: true),
    ]
    fold(&first)
    first.retention = [.hour: noon - 30 * day]
    try store.commit(first)
    let rows = try kept()
    #expect(rows.incarnations.map(\.opened) == [noon - 31 * day, noon - 40 * day])
    #expect(rows.gaps.map(\.reason) == [.reboot, .vanished])
    #expect(rows.gaps.map(\.link) == [nil, 1])
  }

  @Test("a day keeps the label that a dropped gap gave it, and every day that the gap touched")
  func labels() throws {
    var first = commit(1)
    first.links = [link(1)]
    first.rows = [row(noon - 40 * day, rx: 700), row(noon - 39 * day, rx: 30)]
    first.gaps = [Gap(link: 1, from: noon - 40 * day, to: noon - 39 * day + 5, reason: .reboot, lossy: true)]
    fold(&first)
    try store.commit(first)
    var second = commit(2, at: noon + 60)
    second.retention = [.hour: noon - 30 * day]
    try store.commit(second)
    let rows = try kept()
    #expect(rows.gaps == [])
    let days = rows.rows.sorted { $0.start < $1.start }
    #expect(days.map(\.start) == [midnight - 40 * day, midnight - 39 * day])
    #expect(received(days) == [700, 30])
    #expect(days.allSatisfy { $0.flags == .atLeast })
  }

  @Test("of a link with very many the oldest are dropped, and their labels stay in every tier")
  func byCount() throws {
    var first = commit(1)
    for second in 0..<50 as Range<Int64> {
      let start = noon - 7200 + second * 60
      first.incarnations.append(life(1, opened: start, closed: start + 1))
      first.gaps.append(Gap(link: 1, from: start, to: start + 1, reason: .vanished, lossy: true))
      first.gaps.append(Gap(link: nil, from: start, to: start + 1, reason: .eventOverrun, lossy: second == 3))
    }
    fold(&first)
    try store.commit(first)
    try RecordRetention(database: store.database, calendar: .utc)
      .drop(before: noon - 30 * day, watermarks: kept().watermarks, retention: [:], most: 20)
    let rows = try kept()
    #expect(rows.incarnations.map(\.opened) == (30..<50).map { noon - 7200 + $0 * 60 })
    let own = rows.gaps.filter { $0.link == 1 }
    #expect(own.map(\.from) == (30..<50).map { noon - 7200 + $0 * 60 })
    let common = rows.gaps.filter { $0.link == nil }
    #expect(common.count == 20)
    #expect(
      common.first == Gap(link: nil, from: noon - 7200, to: noon - 5399, reason: .eventOverrun, lossy: true))
    let hours = try store.stored(.hour)
    #expect(hours.map(\.start) == [noon - 7200])
    #expect(hours.allSatisfy { $0.flags == .atLeast })
  }
}
