// Placing amounts: shares that add up, the minutes they go to, and the boundaries they are said to cross.

import Testing
import Toys

@testable import TallyCore

private let minute: Int64 = 60 * Moment.second
private let oneDay: Int64 = 86400
/// 2023-11-15 00:00 UTC, a multiple of a day.
private let midnight: Int64 = 19676 * oneDay

private func placement(
  _ from: Int64, _ to: Int64, calendar: LocalCalendar = utcCalendar, offset: Int64 = midnight
) -> Placement {
  Placement(from: (offset + from) * Moment.second, to: (offset + to) * Moment.second, calendar: calendar)
}

@Suite("Placing amounts")
struct PlacementTests {
  @Test("what passed within a minute is in it, unlabelled")
  func within() {
    let span = placement(61, 119)
    #expect(span.slices.map(\.start) == [midnight + 60])
    #expect(span.flags == [])
  }

  @Test("the tick comes a moment after the minute, and what it shows is the closed minute's")
  func tick() {
    let late = Placement(
      from: midnight * Moment.second + 3_000_000, to: midnight * Moment.second + minute + 4_000_000,
      calendar: utcCalendar)
    #expect(late.slices.map(\.start) == [midnight])
    #expect(late.flags == [])
  }

  @Test("a span that begins a moment before a minute is that minute's")
  func early() {
    let early = Placement(
      from: midnight * Moment.second - 3_000_000, to: midnight * Moment.second + minute - 1, calendar: utcCalendar)
    #expect(early.slices.map(\.start) == [midnight])
    #expect(early.flags == [])
  }

  @Test("a span over a boundary is cut there by proportion, and says so")
  func cut() {
    let span = placement(30, 150)
    #expect(span.slices.map(\.start) == ([0, 60, 120] as [Int64]).map { midnight + $0 })
    #expect(span.slices.map { $0.weight / Moment.second } == [30, 60, 30])
    #expect(span.flags == .acrossMinute)
    #expect(span.shares(of: Amounts(rxBytes: 4, txBytes: 3)).map(\.rxBytes) == [1, 2, 1])
  }

  @Test(
    "long spans are cut in minutes, five minutes, hours and days", arguments: [7200, oneDay, 35 * oneDay, 400 * oneDay])
  func lengths(seconds: Int64) {
    let slice: Int64 = [7200: 60, oneDay: 300, 35 * oneDay: 3600][seconds] ?? oneDay
    let span = placement(0, seconds)
    #expect(span.slices.count == Int(seconds / slice))
    #expect(zip(span.slices, span.slices.dropFirst()).allSatisfy { $1.start - $0.start == slice })
  }

  @Test(
    "the flags name every boundary that was crossed, and no other",
    arguments: [
      (30, 90, BucketFlags.acrossMinute),
      (290, 310, [.acrossMinute, .acrossFiveMinutes]),
      (3590, 3610, [.acrossMinute, .acrossFiveMinutes, .acrossHour]),
      (-10, 10, [.acrossMinute, .acrossFiveMinutes, .acrossHour, .acrossDay]),
    ] as [(Int64, Int64, BucketFlags)])
  func boundaries(from: Int64, to: Int64, flags: BucketFlags) {
    #expect(placement(from, to).flags == flags)
  }

  @Test("days and months are local ones")
  func localDay() {
    let calendar = zoneCalendar([(.min, 7200)])
    let localMidnight = -2 * Int64(3600)
    #expect(placement(-10, 10, calendar: calendar).flags.contains(.acrossHour))
    #expect(!placement(-10, 10, calendar: calendar).flags.contains(.acrossDay))
    #expect(placement(localMidnight - 10, localMidnight + 10, calendar: calendar).flags.contains(.acrossDay))
    let month = 30 * oneDay * 700 - 2 * 3600
    #expect(placement(-10, 10, calendar: calendar, offset: month).flags.contains(.acrossMonth))
    #expect(!placement(-10, 10, calendar: calendar, offset: month + oneDay).flags.contains(.acrossMonth))
  }

  @Test("in a zone of half hours an hour's boundary is at half past in UTC")
  func halfHours() {
    let calendar = zoneCalendar([(.min, 19800)])
    #expect(placement(1790, 1810, calendar: calendar).flags.contains(.acrossHour))
    #expect(!placement(3590, 3610, calendar: calendar).flags.contains(.acrossHour))
    // Hours of a long span begin where the zone's do, else half of each would be put in the one before.
    let hours = placement(-7 * oneDay, Int64(0), calendar: calendar).slices.dropFirst()
    #expect(hours.allSatisfy { calendar.start(.hour, $0.start) == $0.start })
  }

  @Test("days of a very long span are local ones, so that each share is in its own")
  func localDays() {
    let calendar = zoneCalendar([(Int64.min, -28800)])
    let days = placement(-100 * oneDay, 0, calendar: calendar).slices.dropFirst()
    #expect(days.allSatisfy { calendar.start(.day, $0.start) == $0.start })
  }

  @Test("shares add up to the amount, to the last of 2^64 bytes, whatever the span", arguments: 0..<8)
  func sums(seed: UInt64) {
    var dice = Seeded(seed)
    let zones: [Int64] = [0, 19800, -8 * 3600, 20700]
    for _ in 0..<40 {
      let calendar = zoneCalendar([(.min, zones.randomElement(using: &dice)!)])
      let from = Int64.random(in: -5_000_000_000_000_000_000...5_000_000_000_000_000_000, using: &dice)
      let length = Int64.random(in: 0...(1 << Int64.random(in: 0...55, using: &dice)), using: &dice)
      let span = Placement(from: from, to: from + length, calendar: calendar)
      #expect(span.slices.allSatisfy { $0.weight > 0 && floorDivide($0.start, 60) * 60 == $0.start })
      #expect(zip(span.slices, span.slices.dropFirst()).allSatisfy { $0.start < $1.start })
      #expect((span.flags == []) == (span.slices.count == 1))
      if span.slices.count > 1 { #expect(span.slices.reduce(0) { $0 + $1.weight } == length) }
      for amounts in [
        Amounts(rxBytes: .max, txBytes: 1, rxPackets: .max - 1, txPackets: 0),
        Amounts(rxBytes: dice.next(), txBytes: dice.next(), rxPackets: dice.next(), txPackets: dice.next()),
      ] {
        var sum = Amounts.zero
        for share in span.shares(of: amounts) {
          #expect(share.rxBytes <= amounts.rxBytes && share.txBytes <= amounts.txBytes)
          sum += share
        }
        #expect(sum == amounts)
      }
    }
  }

  @Test("what is placed is labelled in its row, with the bytes that were")
  func rows() {
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    kernel.create("tun0", kind: "tun")
    kernel.utc = midnight * Moment.second + 30 * Moment.second
    daemon.start(&kernel)
    kernel.push("tun0", rx: 400, tx: 40)
    daemon.sample(&kernel, after: 120)
    let rows = daemon.rows("tun0")
    #expect(rows.map(\.start) == ([0, 60, 120] as [Int64]).map { midnight + $0 })
    #expect(rows.map(\.placedRx) == [100, 200, 100])
    #expect(rows.map(\.placedTx) == [10, 20, 10])
    #expect(rows.allSatisfy { $0.flags == .acrossMinute })
  }
}
