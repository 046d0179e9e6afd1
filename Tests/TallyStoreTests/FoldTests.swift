// Tiers: folding closed periods, rows that come late, retention, and that every tier sums to the entries.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct FoldTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test("a closed period becomes one row a link, and each byte is answered from one tier alone")
  func fold() throws {
    let store = try Store.open(folder)
    var first = commit(1)
    first.rows = [
      row(noon, rx: 100), row(noon + 240, rx: 200), row(noon + 60, link: 2, tx: 9), row(noon + 300, rx: 1000),
    ]
    first.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 300)]
    try store.commit(first)
    #expect(try received(store.stored(.fiveMinutes)) == [300, 0])
    let usage = try store.usage(.day)
    #expect(usage.watermarks == Watermarks(fiveMinutes: noon + 300, hour: noon, day: noon - 12 * 3600))
    #expect(usage.rows.map(\.tier) == [.fiveMinutes, .fiveMinutes, .minute])
    #expect(received(usage.rows) == [300, 0, 1000])
  }

  @Test("a fold counts as placed only what was placed across its own boundaries")
  func placed() throws {
    let store = try Store.open(folder)
    var first = commit(1)
    first.rows = [
      row(noon, rx: 100, placed: 40, flags: .acrossMinute),
      row(noon + 60, rx: 100, placed: 30, flags: [.acrossMinute, .acrossFiveMinutes, .atLeast]),
      row(
        noon + 120, link: 2, rx: 100, placed: 20, flags: [.acrossMinute, .acrossFiveMinutes, .acrossHour, .acrossMonth]),
    ]
    first.folds = [
      Fold(tier: .fiveMinutes, start: noon, end: noon + 3600), Fold(tier: .hour, start: noon, end: noon + 3600),
    ]
    try store.commit(first)
    let fives = try store.stored(.fiveMinutes)
    #expect(fives.map(\.placedRx) == [30, 20])
    #expect(fives.map(\.flags) == [[.acrossFiveMinutes, .atLeast], [.acrossFiveMinutes, .acrossHour, .acrossMonth]])
    let hours = try store.stored(.hour)
    #expect(hours.map(\.placedRx) == [0, 20])
    #expect(hours.map(\.flags) == [[.atLeast], [.acrossHour, .acrossMonth]])
  }

  @Test("one fold over several periods makes one row for each")
  func wide() throws {
    let store = try Store.open(folder)
    var first = commit(1)
    first.rows = [row(noon, rx: 1), row(noon + 299, rx: 2), row(noon + 900, rx: 4), row(noon + 86_400, rx: 8)]
    first.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 90_000)]
    try store.commit(first)
    #expect(try store.stored(.fiveMinutes).map(\.start) == [noon, noon + 900, noon + 86_400])
    #expect(try received(store.stored(.fiveMinutes)) == [3, 4, 8])
  }

  @Test("local days begin at local midnight, also where they have 23 and 25 hours")
  func days() throws {
    // Midnight of 25 October in Central Europe, and of the 26th, 25 hours later.
    let day: Int64 = 1_792_879_200
    let store = try Store.open(folder, calendar: .berlin, now: day)
    #expect(store.opening.state.watermarks.day == day)
    let end = LocalCalendar.berlin.next(.day, day)
    #expect(end == day + 25 * 3600)
    var first = commit(1)
    first.rows = [row(day, rx: 1), row(end - 60, rx: 2), row(end, rx: 4)]
    first.folds = [
      Fold(tier: .fiveMinutes, start: day, end: end + 300), Fold(tier: .day, start: day, end: end),
    ]
    try store.commit(first)
    #expect(try store.stored(.day).map(\.start) == [day])
    #expect(try received(store.stored(.day)) == [3])
    #expect(try received(store.usage(.day, from: day).rows) == [3, 4])
  }

  @Test("a fold that its source does not reach is refused, since its rows would be lost")
  func beyondSource() throws {
    let store = try Store.open(folder)
    var first = commit(1)
    first.folds = [Fold(tier: .hour, start: noon, end: noon + 3600)]
    let error = try #require(failure { () throws(StoreError) in try store.commit(first) })
    #expect(error.kind == .refused)
    #expect(error.message.contains("reads tier fiveMinutes, which is folded only up to \(noon)"))
    first.folds = [Fold(tier: .minute, start: noon, end: noon + 60)]
    #expect(failure { () throws(StoreError) in try store.commit(first) }?.kind == .refused)
  }

  @Test("a late row is added to every tier that is folded past it")
  func late() throws {
    let store = try Store.open(folder)
    var first = commit(1, rows: [row(noon, rx: 100)])
    first.folds = [
      Fold(tier: .fiveMinutes, start: noon, end: noon + 3900), Fold(tier: .hour, start: noon, end: noon + 3600),
    ]
    try store.commit(first)
    try store.commit(
      commit(
        2,
        rows: [
          row(noon + 60, rx: 7, placed: 7, flags: [.acrossMinute, .acrossFiveMinutes]), row(noon + 3600, rx: 50),
          row(noon + 3900, rx: 900),
        ]))
    #expect(try received(store.stored(.minute)) == [100, 7, 50, 900])
    #expect(try received(store.stored(.fiveMinutes)) == [107, 50])
    #expect(try store.stored(.fiveMinutes).map(\.placedRx) == [7, 0])
    #expect(try received(store.stored(.hour)) == [107])
    #expect(try store.stored(.hour).map(\.placedRx) == [0])
    #expect(try store.stored(.day) == [])
  }

  @Test("a row of a coarser tier goes there when that is folded, else to the finest that is still to be folded")
  func coarserRows() throws {
    let store = try Store.open(folder)
    var first = commit(1)
    first.folds = [
      Fold(tier: .fiveMinutes, start: noon, end: noon + 7200), Fold(tier: .hour, start: noon, end: noon + 3600),
    ]
    try store.commit(first)
    try store.commit(
      commit(
        2,
        rows: [
          row(noon, rx: 1, tier: .hour), row(noon + 3600, rx: 2, tier: .hour), row(noon + 7200, rx: 4, tier: .hour),
          row(noon, rx: 8, tier: .fiveMinutes),
        ]))
    #expect(try received(store.stored(.hour)) == [9])
    #expect(try received(store.stored(.fiveMinutes)) == [8, 2])
    #expect(try received(store.stored(.minute)) == [4])
    #expect(try received(store.usage(.hour).rows).reduce(0, +) == 15)
  }

  @Test("retention drops what is folded and old, never what a fold is still to read, and no day")
  func retention() throws {
    let store = try Store.open(folder, now: noon - 86_400)
    var first = commit(1)
    first.rows = [row(noon - 80_000, rx: 1), row(noon - 3600, rx: 2), row(noon, rx: 4)]
    first.folds = [Fold(tier: .fiveMinutes, start: noon - 86_400, end: noon)]
    first.retention = [.minute: noon + 7200, .fiveMinutes: noon, .hour: noon, .day: noon]
    try store.commit(first)
    #expect(try store.stored(.minute) == [row(noon, rx: 4)])
    #expect(try received(store.stored(.fiveMinutes)) == [1, 2])
    var second = commit(2)
    second.folds = [
      Fold(tier: .hour, start: noon - 86_400, end: noon - 3600),
      Fold(tier: .day, start: noon - 86_400 - 12 * 3600, end: noon - 12 * 3600),
    ]
    second.retention = [.fiveMinutes: noon, .day: noon + 86_400]
    try store.commit(second)
    #expect(try received(store.stored(.fiveMinutes)) == [2])
    #expect(try received(store.stored(.day)) == [1])
    #expect(try received(store.usage(.day).rows).reduce(0, +) == 7)
  }

  @Test("a late row that retention would drop at once is written to the coarser tiers alone")
  func lateBeyondRetention() throws {
    let store = try Store.open(folder)
    var first = commit(1, rows: [row(noon - 3600, rx: 5)])
    first.retention = [.minute: noon - 60]
    try store.commit(first)
    #expect(try store.stored(.minute) == [])
    #expect(try received(store.stored(.fiveMinutes)) == [5])
    #expect(try received(store.stored(.hour)) == [5])
  }

  @Test("one commit drops a bounded number of old rows, and the next ones the rest without being asked again")
  func boundedRetention() throws {
    let store = try Store.open(folder)
    var filling = commit(1)
    for minute in 0..<60 as Range<Int64> {
      for id in 1...200 as ClosedRange<LinkID> { filling.rows.append(row(noon + minute * 60, link: id, rx: 1)) }
    }
    filling.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 3600)]
    try store.commit(filling)
    var left: [Int] = []
    for sequence in 2...4 as ClosedRange<UInt64> {
      var dropping = commit(sequence)
      if sequence == 2 { dropping.retention = [.minute: noon + 3600] }
      try store.commit(dropping)
      left.append(try store.stored(.minute).count)
    }
    #expect(left == [7000, 2000, 0])
    #expect(try received(store.usage(.fiveMinutes).rows).reduce(0, +) == 12_000)
  }

  @Test("every tier sums to the entries, period by period, with late rows and odd days", arguments: 1...12)
  func property(seed: Int) throws {
    var random = SeededGenerator(state: UInt64(seed))
    let calendar = seed % 3 == 0 ? LocalCalendar.utc : .berlin
    // Three days around a change of the clocks: in March a day of 23 hours, in October one of 25.
    let beginning: Int64 = (seed % 2 == 0 ? 1_774_746_000 : 1_792_890_000) - 30 * 3600
    let store = try Store.open(folder, calendar: calendar, now: beginning)
    var watermarks = store.opening.state.watermarks
    var entries: [BucketRow] = []
    var now = beginning
    for sequence in 1...120 as ClosedRange<UInt64> {
      var next = commit(sequence, at: now)
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let isLate = Int.random(in: 0...4, using: &random) == 0
        let second = isLate ? Int64.random(in: beginning - 90_000...now, using: &random) : now
        next.rows.append(
          row(
            floorDivide(second, 60) * 60, link: .random(in: 1...4, using: &random),
            rx: .random(in: 0...1_000_000, using: &random), tx: .random(in: 0...9, using: &random)))
      }
      entries += next.rows
      for tier in [Tier.fiveMinutes, .hour, .day] where Int.random(in: 0...3, using: &random) > 0 {
        // Folded up to the period that is open, or to an earlier one, at once or period by period.
        let resolution = Resolution.allCases[Int(tier.rawValue)]
        let end = min(calendar.start(resolution, now), watermarks[tier.source ?? .minute])
        if Bool.random(using: &random) {
          let aligned = calendar.start(resolution, end)
          if aligned > watermarks[tier] {
            next.folds.append(Fold(tier: tier, start: watermarks[tier], end: aligned))
            watermarks[tier] = aligned
          }
        } else {
          while calendar.next(resolution, watermarks[tier]) <= end {
            let until = calendar.next(resolution, watermarks[tier])
            next.folds.append(Fold(tier: tier, start: watermarks[tier], end: until))
            watermarks[tier] = until
          }
        }
      }
      try store.commit(next)
      now += .random(in: 30...5000, using: &random)
      if sequence % 40 == 0 {
        for tier in Tier.allCases {
          let resolution = Resolution.allCases[Int(tier.rawValue)]
          let usage = try store.usage(tier)
          #expect(usage.watermarks == watermarks)
          #expect(sums(usage.rows, resolution, calendar) == sums(entries, resolution, calendar), "tier \(tier)")
        }
      }
    }
  }

  private struct Period: Hashable {
    var start: Int64
    var link: LinkID
  }

  private func sums(_ rows: [BucketRow], _ resolution: Resolution, _ calendar: LocalCalendar) -> [Period: Amounts] {
    var sums: [Period: Amounts] = [:]
    for row in rows where !row.amounts.isZero {
      sums[Period(start: calendar.start(resolution, row.start), link: row.link), default: .zero] += row.amounts
    }
    return sums
  }
}
