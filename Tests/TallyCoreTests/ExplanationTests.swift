// What a figure is made of: lives that are known whole, lives told apart by time, and what stays shared.
import Testing
import Toys

@testable import TallyCore

private let day: Int64 = 86_400
private let start = 20_000 * day

private func life(
  _ ifindex: UInt32, _ from: Int64, _ until: Int64, counted: UInt64?, birth: BirthCause = .born, isOld: Bool = false
) -> Incarnation {
  let booked = Booked(
    before: .zero, amounts: counted.map { Amounts(rxBytes: $0) }, from: floorDivide(from, 60) * 60,
    until: floorDivide(until, 60) * 60)
  return Incarnation(
    link: 1, bootID: BootID(high: 1, low: 1), ifindex: ifindex, inode: 1, opened: from, birth: birth, closed: until,
    death: .deleted, booked: isOld ? nil : booked)
}

private func row(
  _ tier: Tier, _ at: Int64, _ bytes: UInt64, placed: UInt64 = 0, flags: BucketFlags = []
) -> BucketRow {
  BucketRow(tier: tier, start: at, link: 1, amounts: Amounts(rxBytes: bytes), placedRx: placed, flags: flags)
}

private func explain(
  _ lives: [Incarnation], days: [BucketRow], detail: [BucketRow] = [], from: Int64 = start, figure: UInt64? = nil,
  crossing: BucketFlags = .acrossDay, gaps: [Gap] = [], mostLives: Int = 100
) -> Explanation {
  let sum = days.reduce(0) { $0 + $1.amounts.rxBytes }
  return Explanation(
    figure: Amounts(rxBytes: figure ?? sum), rows: days, detail: detail, tier: .day, crossing: crossing, from: from,
    to: from + day, incarnations: lives, gaps: gaps, calendar: utcCalendar, mostLives: mostLives)
}

extension Explanation {
  fileprivate var told: [String] {
    parts.map { "\($0.hasEarlier ? "earlier" : "")\($0.lives) \($0.method.rawValue) \($0.amounts.rxBytes)" }
  }
}

@Suite("What a figure is made of") struct ExplanationTests {
  @Test("of a device under several labels each row is of a life of its own record, also in one and the same period")
  func labels() {
    var lives = [life(1, start - 9000, start + 100, counted: 900), life(1, start + 100, start + 2 * day, counted: 900)]
    lives[1].link = 2
    var days = [row(.day, start, 60), row(.day, start, 7)]
    days[1].link = 2
    let told = explain(lives, days: days).told
    #expect(told == ["[0] by_time 60", "[1] by_time 7"])
  }

  @Test("whole lives have what they counted, and the one that crosses the beginning has the rest")
  func whole() {
    let lives = [
      life(1, start - 5000, start + 3000, counted: 900), life(2, start + 3000, start + 6000, counted: 50),
      life(3, start + 6000, start + 9000, counted: 7),
    ]
    let told = explain(lives, days: [row(.day, start, 157)]).told
    #expect(told == ["[0] by_time 100", "[1] whole_life 50", "[2] whole_life 7"])
  }

  @Test("two lives that cross the ends are told apart by finer buckets, but for the bucket that holds both")
  func byTime() {
    let lives = [
      life(1, start - 5000, start + 3000, counted: 900), life(2, start + 3000, start + 2 * day, counted: 900),
    ]
    let days = [row(.day, start, 60)]
    let fine = [row(.hour, start - 0, 30), row(.hour, start + 3600, 30)]
    #expect(explain(lives, days: days).told == ["[0, 1] shared 60"])
    #expect(explain(lives, days: days, detail: fine).told == ["[0, 1] shared 30", "[1] by_time 30"])
    let minutes = [row(.minute, start, 20), row(.minute, start + 3000, 10), row(.minute, start + 3060, 30)]
    let told = explain(lives, days: days, detail: minutes).told
    #expect(told == ["[0] by_time 20", "[0, 1] shared 10", "[1] by_time 30"])
  }

  @Test("finer buckets that tell other amounts than the figure's are not used")
  func contradiction() {
    let lives = [
      life(1, start - 5000, start + 3000, counted: 900), life(2, start + 3000, start + 2 * day, counted: 900),
    ]
    let told = explain(lives, days: [row(.day, start, 60)], detail: [row(.minute, start, 59)]).told
    #expect(told == ["[0, 1] shared 60"])
  }

  @Test("what no life explains is said to be nobody's, and what only the total knows to be of an earlier store")
  func nobodys() {
    let lives = [life(1, start + 60, start + 600, counted: 40)]
    let told = explain(
      lives, days: [row(.day, start, 100)], detail: [row(.minute, start + 60, 50), row(.minute, start + 7200, 50)],
      figure: 105
    ).told
    #expect(told == ["[] earlier_store 5", "[0] whole_life 40", "[] unrecorded 10", "[] unrecorded 50"])
  }

  @Test("a total that is less than its buckets is one part of all lives")
  func lessThanBuckets() {
    let lives = [life(1, start, start + 600, counted: 40), life(2, start + 600, start + 700, counted: 60)]
    #expect(explain(lives, days: [row(.day, start, 100)], figure: 99).told == ["[0, 1] shared 99"])
  }

  @Test("lives from before amounts were kept are told apart by time alone; one born unseen reaches over the absence")
  func old() {
    let lives = [
      life(1, start, start + 3000, counted: nil, isOld: true),
      life(2, start + 9000, start + 12_000, counted: nil, birth: .bornUnseen, isOld: true),
    ]
    let absence = Gap(link: nil, from: start + 6000, to: start + 9000, reason: .notRunning, lossy: true)
    let minutes = [row(.minute, start + 60, 10), row(.minute, start + 7200, 20), row(.minute, start + 9060, 30)]
    let told = explain(lives, days: [row(.day, start, 60)], detail: minutes, gaps: [absence]).told
    #expect(told == ["[0] by_time 10", "[1] by_time 50"])
  }

  @Test("lives beyond the limit are put together, and add up all the same")
  func bounded() {
    let lives = (0..<500).map { (number: Int64) in
      let opened = start + number * 60
      return life(UInt32(number), opened, opened + 59, counted: UInt64(number))
    }
    let sum = lives.reduce(0) { $0 + ($1.booked?.amounts?.rxBytes ?? 0) }
    let explanation = explain(lives, days: [row(.day, start, sum)], mostLives: 3)
    #expect(explanation.earlierLives == 497)
    #expect(explanation.lives.map(\.ifindex) == [497, 498, 499])
    let told = explanation.told
    #expect(told == ["earlier[] whole_life 123256", "[0] whole_life 497", "[1] whole_life 498", "[2] whole_life 499"])
  }

  @Test("placements next to each other are one, with what they say about the figure's periods")
  func placements() {
    let minutes = [
      row(.minute, start, 10, placed: 10, flags: [.acrossMinute]),
      row(.minute, start + 600, 10, placed: 4, flags: [.acrossMinute, .acrossFiveMinutes]),
      row(.minute, start + 660, 10, placed: 5, flags: [.acrossMinute, .acrossFiveMinutes]),
      row(.minute, start + 7200, 10, placed: 6, flags: [.acrossMinute, .acrossDay]),
    ]
    let placed = explain([], days: [row(.day, start, 40)], detail: minutes).placements
    let expected = [
      Explanation.Placed(from: start + 600, to: start + 720, rxBytes: 9, txBytes: 0, crossesPeriod: false),
      Explanation.Placed(from: start + 7200, to: start + 7260, rxBytes: 6, txBytes: 0, crossesPeriod: true),
    ]
    #expect(placed == expected)
    let within = explain([], days: [row(.day, start, 40)], detail: minutes, crossing: []).placements
    #expect(within.count == 2)
  }

  @Test("a dead veth end's last bytes are its own, also when its name is another's by then")
  func lateHalf() {
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    daemon.start(&kernel)
    let (one, _) = kernel.createPair("va", "vb")
    daemon.sample(&kernel, after: 5)
    kernel.push("va", rx: 4000, tx: 1000)
    // The dying ends say nothing of what they received.
    kernel.delete(one)
    let events = kernel.drain()
    kernel.create("va", kind: "veth")
    daemon.ledger.apply([events[0]], at: kernel.now)
    daemon.ledger.apply(kernel.drain(), at: kernel.now)
    kernel.push("va", rx: 70, tx: 0)
    daemon.ledger.apply([events[1]], at: kernel.now)
    daemon.sample(&kernel, after: 5)
    daemon.commit()
    let slot = daemon.slot("va")!
    let id = daemon.record("va")!.id
    let dead = daemon.incarnations.filter { $0.link == id && $0.closed != nil }
    let counted = dead.map { $0.booked?.amounts?.rxBytes }
    #expect(counted == [4000])
    let open = daemon.ledger.openIncarnation(slot: slot)
    #expect(open?.booked?.amounts?.rxBytes == 70)
  }

  @Test("lives of one link and index within a second are told apart")
  func sameSecond() {
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    daemon.start(&kernel)
    for round in 1...3 as ClosedRange<UInt64> {
      kernel.create("tun0", kind: "tun", index: 50)
      kernel.push("tun0", rx: round * 100, tx: 0)
      kernel.delete(50)
    }
    daemon.sample(&kernel)
    daemon.commit()
    let counted = daemon.incarnations.sorted { $0.opened < $1.opened }.map { $0.booked?.amounts?.rxBytes }
    #expect(counted == [100, 200, 300])
  }
}
