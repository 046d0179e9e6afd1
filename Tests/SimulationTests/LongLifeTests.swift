// Long lives: what months of minutes add up to.
import TallyCore
import Testing
import Toys

private let hour: Int64 = 3600
private let day: Int64 = 86400
/// 2023-11-15 00:00 UTC, the midnight after the beginning of a life.
private let midnight: Int64 = 1_700_006_400

/// Zones with a change some days after the beginning.
private let zones: [(name: String, table: [(from: Int64, offset: Int64)])] = [
  ("25 hours, then 23", [(.min, 2 * hour), (midnight + 5 * day + hour, hour), (midnight + 40 * day + hour, 2 * hour)]),
  ("half an hour back, then forward", [(.min, 39600), (midnight + 3 * day, 37800), (midnight + 20 * day, 39600)]),
  ("a day skipped", [(.min, -10 * hour), (midnight + 9 * day + 10 * hour, 14 * hour)]),
]

@Suite("The whole daemon, over months")
struct LongLifeTests {
  @Test("every day, hour and minute that is kept shows what passed in it", arguments: zones.indices)
  func months(zone: Int) {
    let life = LongLife(zone: zoneCalendar(zones[zone].table), links: 2, seed: UInt64(zone))
    life.live(days: 45, busy: 30)
    for (tier, kept) in [(Tier.minute, 2 * day), (.fiveMinutes, 35 * day), (.hour, 366 * day), (.day, .max)] {
      let (shown, passed) = life.periods(tier)
      // From the first period on that is kept whole; dropping goes by the hour.
      let bound = kept == .max ? .min : life.now - kept + day
      let kept = passed.filter { $0.key >= bound }
      let same = shown.filter { $0.key >= bound }
      #expect(kept == same, "\(zones[zone].name), \(tier)")
      #expect(!kept.isEmpty)
      let isDropped = kept.count == passed.count || shown.keys.min() ?? 0 >= life.now - 36 * day
      #expect(isDropped, "\(tier)s are dropped when they are old")
    }
    #expect(life.total == life.truth)
    print("45 days of minutes: \(zones[zone].name)")
  }

  @Test("a disk that stalls for days costs bounded memory and no byte")
  func stall() {
    let life = LongLife(zone: utcCalendar, links: 30, seed: 7)
    life.live(days: 1, busy: 100)
    life.stallDisk(days: 2)
    life.live(days: 3, busy: 100)
    let (shown, _) = life.periods(.day)
    let sum = shown.values.reduce(0, +)
    #expect(life.total == life.truth)
    #expect(sum == life.truth)
    #expect(life.mostRowsWaiting > 40_000)
    #expect(life.mostRowsWaiting <= Commit.rowBound + 100)
  }

  @Test("a daemon that is killed every few days loses no byte of links that live on")
  func kills() {
    let life = LongLife(zone: zoneCalendar(zones[0].table), links: 2, seed: 8)
    for day in 1...10 {
      life.live(days: 2, busy: 20)
      life.kill(minutes: Int64(day * day * 13))
    }
    let (shown, _) = life.periods(.day)
    let sum = shown.values.reduce(0, +)
    #expect(life.total == life.truth)
    #expect(sum == life.truth)
  }
}
