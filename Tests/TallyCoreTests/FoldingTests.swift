// Folds and retention: over days of every length and clocks that leap, no row is folded twice, left out or dropped early.

import Testing
import Toys

@testable import TallyCore

private let hour: Int64 = 3600
private let day: Int64 = 86400
/// 2023-11-15 00:00 UTC.
private let midnight: Int64 = 19676 * day

/// Zones around `midnight`: one that is set back an hour at 03:00 UTC, one ahead, of half hours, and one that skips a day.
private let zones: [(name: String, table: [(from: Int64, offset: Int64)])] = [
  ("utc", [(.min, 0)]),
  ("25 hours", [(.min, 2 * hour), (midnight + 3 * hour, hour)]),
  ("23 hours", [(.min, hour), (midnight + 3 * hour, 2 * hour)]),
  ("half hours", [(.min, 19800)]),
  ("quarter hours", [(.min, -20700), (midnight + 3 * hour, -17100)]),
  ("a day skipped", [(.min, -10 * hour), (midnight + 10 * hour, 14 * hour)]),
  ("set back over midnight", [(.min, -3 * hour), (midnight + 3 * hour, -4 * hour)]),
]

@Suite("Folding")
struct FoldingTests {
  /// Commits a row of one byte at each time, with the folds that are due then.
  private func play(_ times: [Int64], _ calendar: LocalCalendar, retention: Retention? = nil) -> ToyStore {
    var store = ToyStore()
    store.calendar = calendar
    for (number, time) in times.enumerated() {
      var commit = Commit(
        sequence: UInt64(number + 1), at: Moment(utc: time * Moment.second, boot: 0, bootID: BootID(high: 1, low: 1)))
      commit.rows = [
        BucketRow(tier: .minute, start: floorDivide(time, 60) * 60, link: 1, amounts: Amounts(rxBytes: 1))
      ]
      var watermarks = store.state?.watermarks ?? .new(at: time, calendar: calendar)
      commit.folds = watermarks.dueFolds(at: time, calendar: calendar)
      for fold in commit.folds { watermarks[fold.tier] = fold.end }
      if let retention { commit.retention = retention.bounds(at: time, watermarks: watermarks) }
      store.commit(commit)
    }
    return store
  }

  @Test("every tier adds up, over days of 23 and 25 hours, half hours and a day that is not", arguments: zones.indices)
  func sums(zone: Int) {
    let calendar = zoneCalendar(zones[zone].table)
    let times = Array(stride(from: midnight - 30 * hour, to: midnight + 60 * hour, by: 420))
    let store = play(times, calendar)
    for tier in Tier.allCases { #expect(store.sums(tier)[1]?.rxBytes == UInt64(times.count)) }
    // Each day by itself: what its rows say is what passed between its bounds.
    var start = calendar.start(.day, midnight - 20 * hour)
    while start < midnight + 30 * hour {
      let end = calendar.next(.day, start)
      let passed = times.count { $0 >= start && $0 < end }
      #expect(store.sums(.day, from: start, to: end)[1]?.rxBytes ?? 0 == UInt64(passed), "\(zones[zone].name)")
      #expect(store.rows(.day, from: start, to: end).count <= 1)
      start = end
    }
    for tier in [Tier.fiveMinutes, .hour, .day] {
      let isAligned = store.rows(tier).allSatisfy { calendar.start(tier.resolution, $0.start) == $0.start }
      #expect(isAligned)
    }
  }

  @Test("the day of a clock set back has 25 hours, that of one set forward 23")
  func lengths() {
    for (zone, hours) in [(1, 25), (2, 23)] as [(Int, Int64)] {
      let calendar = zoneCalendar(zones[zone].table)
      let start = calendar.start(.day, midnight + 3 * hour)
      #expect(calendar.next(.day, start) - start == hours * hour)
    }
  }

  @Test("a clock that leaps decades and comes back folds once, and what comes late is in every tier")
  func leap() {
    let far = midnight + 30 * 365 * day
    let times = [midnight, midnight + 60, far, far + 90000, midnight + 600, midnight + 2 * day, 0, midnight + 3 * day]
    let store = play(times, utcCalendar)
    for tier in Tier.allCases { #expect(store.sums(tier)[1]?.rxBytes == 8) }
    #expect(store.state?.watermarks.day == far + day)
    #expect(store.state!.watermarks.dueFolds(at: midnight, calendar: utcCalendar) == [])
  }

  @Test("random clocks: every tier adds up", arguments: 0..<12 as Range<UInt64>)
  func random(seed: UInt64) {
    var dice = Seeded(seed)
    let calendar = zoneCalendar(zones[Int(seed) % zones.count].table)
    var time = midnight
    let times = (0..<150).map { _ in
      time += Int64.random(in: 0..<20, using: &dice) == 0 ? Int64.random(in: -3 * day...3 * day, using: &dice) : 200
      return time
    }
    let store = play(times, calendar)
    for tier in Tier.allCases { #expect(store.sums(tier)[1]?.rxBytes == 150) }
  }

  @Test("nothing is due twice, and finer tiers come first")
  func order() {
    var watermarks = Watermarks.new(at: midnight, calendar: utcCalendar)
    let folds = watermarks.dueFolds(at: midnight + 2 * day + 7, calendar: utcCalendar)
    #expect(folds.map(\.tier) == [.fiveMinutes, .hour, .day])
    #expect(folds.allSatisfy { $0.start == midnight && $0.end == midnight + 2 * day })
    for fold in folds { watermarks[fold.tier] = fold.end }
    #expect(watermarks.dueFolds(at: midnight + 2 * day + 8, calendar: utcCalendar) == [])
  }

  @Test("retention drops nothing that is not folded, however far the clock is ahead of the folds")
  func retention() {
    let watermarks = Watermarks(fiveMinutes: midnight, hour: midnight - hour, day: midnight - day)
    let bounds = Retention().bounds(at: midnight + 4000 * day, watermarks: watermarks)
    #expect(bounds == [.minute: midnight, .fiveMinutes: midnight - day, .hour: midnight - day])
  }

  @Test("with retention the days keep every byte", arguments: zones.indices)
  func daysStay(zone: Int) {
    let times = Array(stride(from: midnight - 50 * day, to: midnight + 2 * day, by: 7000))
    let store = play(times, zoneCalendar(zones[zone].table), retention: Retention())
    #expect(store.sums(.day)[1]?.rxBytes == UInt64(times.count))
    #expect(store.rows(.minute).count < 40)
  }
}
