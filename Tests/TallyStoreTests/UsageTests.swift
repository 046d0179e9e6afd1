// Questions to the store: spans, links, limits, and an answer from one committed state.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct UsageTests {
  let folder: Folder
  let store: Store

  init() throws {
    folder = try Folder()
    store = try Store.open(folder)
    var first = commit(1)
    for minute in 0..<10 as Range<Int64> {
      for id in 1...3 as ClosedRange<LinkID> {
        first.rows.append(row(noon + minute * 60, link: id, rx: UInt64(id) * 100))
      }
    }
    first.gaps = [
      Gap(link: nil, from: noon - 100, to: noon - 50, reason: .notRunning, lossy: false),
      Gap(link: 1, from: noon + 60, to: noon + 120, reason: .vanished, lossy: true),
      Gap(link: 2, from: noon + 90, to: noon + 90, reason: .counterReset, lossy: true),
    ]
    first.incarnations = [
      Incarnation(
        link: 1, bootID: firstBoot, ifindex: 2, inode: 5, opened: noon - 500, birth: .firstSight, closed: noon + 30,
        death: .deleted),
      Incarnation(link: 1, bootID: firstBoot, ifindex: 3, inode: 6, opened: noon + 40, birth: .born),
      Incarnation(link: 2, bootID: firstBoot, ifindex: 4, inode: 7, opened: noon + 500, birth: .bornUnseen),
    ]
    try store.commit(first)
  }

  @Test("the span is from inclusive, to exclusive")
  func span() throws {
    let rows = try store.usage(.minute, from: noon + 60, to: noon + 180).rows
    #expect(rows.map(\.start) == [noon + 60, noon + 60, noon + 60, noon + 120, noon + 120, noon + 120])
    #expect(try store.usage(.minute, from: noon, to: noon).rows == [])
    #expect(try store.usage(.day, from: noon + 60, to: noon).rows == [])
  }

  @Test("only the links asked for are answered; none asked for is none")
  func links() throws {
    #expect(try received(store.usage(.minute, links: [3, 1]).rows).reduce(0, +) == 4000)
    #expect(try store.usage(.minute, links: []).rows == [])
    #expect(try store.usage(.minute, links: [77]).rows == [])
  }

  @Test("gaps that overlap the span are told, those of every link with any")
  func gaps() throws {
    #expect(try store.usage(.minute, from: noon - 60, to: noon).gaps.map(\.reason) == [.notRunning])
    #expect(try store.usage(.minute, from: noon - 50, to: noon + 60).gaps == [])
    #expect(try store.usage(.minute, from: noon - 60, to: noon + 100, links: [1]).gaps.map(\.link) == [nil, 1])
    #expect(try store.usage(.minute, from: noon + 90, to: noon + 91, links: [2]).gaps.map(\.reason) == [.counterReset])
  }

  @Test("incarnations that were open in the span are told")
  func incarnations() throws {
    #expect(try store.usage(.minute, from: noon, to: noon + 40).incarnations.map(\.ifindex) == [2])
    #expect(try store.usage(.minute, from: noon + 31, to: noon + 600).incarnations.map(\.ifindex) == [3, 4])
    #expect(try store.usage(.minute, links: [2]).incarnations.map(\.birth) == [.bornUnseen])
  }

  @Test("an incarnation whose bytes lie in the span is told, whenever it was open")
  func bookedElsewhere() throws {
    var next = commit(2)
    next.incarnations = [
      Incarnation(
        link: 5, bootID: firstBoot, ifindex: 9, inode: 9, opened: noon + 7000, birth: .bornUnseen, closed: noon + 7100,
        death: .deleted, booked: Booked(before: .zero, amounts: .zero, from: noon + 3000, until: noon + 6960))
    ]
    try store.commit(next)
    #expect(try store.usage(.minute, from: noon + 3600, to: noon + 4000, links: [5]).incarnations.map(\.ifindex) == [9])
    #expect(try store.usage(.minute, from: noon, to: noon + 3000, links: [5]).incarnations == [])
  }

  @Test("rows of a finer tier and the steps of the clock are told when they are asked for")
  func detail() throws {
    var next = commit(2)
    next.clockSteps = [
      ClockStep(at: noon + 10, by: Moment.second), ClockStep(at: noon + 9000, by: 8400 * Moment.second),
      ClockStep(at: noon - 5000, by: -100 * Moment.second),
    ]
    next.folds = [Fold(tier: .fiveMinutes, start: noon, end: noon + 600)]
    try store.commit(next)
    let reader = try UsageReader(path: store.path)
    var query = UsageQuery(links: [2], tier: .fiveMinutes, from: noon, to: noon + 900)
    let plain = try reader.usage(query)
    #expect(plain.detail.isEmpty)
    #expect(plain.clockSteps.isEmpty)
    query.detail = .minute
    let answer = try reader.usage(query)
    #expect(answer.rows.map(\.start) == [noon, noon + 300])
    let minutes = (0..<10).map { noon + $0 * 60 }
    #expect(answer.detail.map(\.start) == minutes)
    #expect(answer.clockSteps.map(\.at) == [noon + 10, noon + 9000])
  }

  @Test("too many rows are an error with the remedy, and no cut answer")
  func limit() throws {
    let reader = try UsageReader(path: store.path)
    let query = UsageQuery(links: nil, tier: .minute, from: noon, to: noon + 600, maximumRows: 29)
    let error = try #require(failure { () throws(StoreError) in try reader.usage(query) })
    #expect(error.kind == .tooManyRows)
    #expect(
      error.message
        == "the answer would have more than 29 rows: ask for a shorter span, a coarser resolution or fewer interfaces")
    var enough = query
    enough.maximumRows = 30
    #expect(try reader.usage(enough).rows.count == 30)
  }

  @Test("a reader that is open sees each commit once it is done")
  func fresh() throws {
    let reader = try UsageReader(path: store.path)
    let query = UsageQuery(links: [9], tier: .day, from: noon, to: noon + 60)
    #expect(try reader.usage(query).rows == [])
    try store.commit(commit(2, rows: [row(noon, link: 9, rx: 1)]))
    #expect(try received(reader.usage(query).rows) == [1])
    #expect(try reader.usage(query).sequence == 2)
  }

  @Test("a value that no version wrote is an error that names the column")
  func unknownValue() throws {
    try store.database.execute("UPDATE gap SET reason = 'moon' WHERE link = 1")
    let error = try #require(failure { () throws(StoreError) in try store.usage(.minute) })
    #expect(error.kind == .corrupt)
    #expect(error.message.contains("gap.reason holds the unknown value \"moon\""))
  }
}
