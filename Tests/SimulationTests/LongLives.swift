// Months of a machine, minute by minute: days of every length, retention, and a disk that is away for days.
import TallyCore
import Toys

@testable import TallyStore
@testable import iftallyd

/// A machine whose days go by with a little traffic in most minutes.
final class LongLife {
  private let machine: Machine
  private var dice: Seeded
  private let links: Int
  private(set) var mostRowsWaiting = 0

  init(zone: LocalCalendar, links: Int, seed: UInt64) {
    let zone = SimulatedZone(zone)
    machine = Machine(disk: MemoryDisk(calendar: zone.current, isForgetful: false), zone: zone, seed: seed)
    dice = Seeded(seed)
    self.links = links
    for link in 0..<links { machine.kernel.toy.create("eth\(link)", kind: "") }
    machine.start()
    machine.pass(Moment.second)
  }

  /// `busy` of a hundred minutes have traffic on each link.
  func live(days: Int, busy: Int) {
    let end = machine.now.boot + Int64(days) * 86400 * Moment.second
    while machine.now.boot < end {
      // In the middle of the minute, so that no tick that is late can tell it into another.
      machine.pass(Moment.minute - machine.now.utc % Moment.minute + 30 * Moment.second)
      for link in 0..<links where Int.random(in: 0..<100, using: &dice) < busy {
        machine.kernel.toy.push("eth\(link)", rx: UInt64.random(in: 1...1000, using: &dice), tx: 1)
      }
      mostRowsWaiting = max(mostRowsWaiting, machine.process?.counting.history.pendingRows ?? 0)
    }
  }

  func stallDisk(days: Int64) { machine.weather.writesStallUntil = machine.now.boot + days * 86400 * Moment.second }
  func kill(minutes: Int64) {
    machine.kill()
    machine.pass(minutes * Moment.minute)
    machine.start()
  }

  /// What a client sees of all time at this resolution, in periods, and what passed in them.
  func periods(_ tier: Tier) -> (shown: [Int64: UInt64], passed: [Int64: UInt64]) {
    machine.pass(200 * Moment.second)
    guard let process = machine.process else { return ([:], [:]) }
    let history = process.counting.history
    let calendar = machine.zone.calendar
    var shown: [Int64: UInt64] = [:]
    let query = UsageQuery(links: nil, tier: tier, from: -farAway, to: farAway, maximumRows: .max)
    history.ask(query) { answer in
      guard case .success(let stored) = answer else { return }
      for row in history.complete(stored, ledger: process.ledger, from: -farAway, to: farAway).rows {
        shown[calendar.start(tier.resolution, row.start), default: 0] += row.amounts.rxBytes
      }
    }
    machine.pass(20 * Moment.second)
    var passed: [Int64: UInt64] = [:]
    for passage in machine.kernel.toy.passages {
      passed[calendar.start(tier.resolution, passage.utc / Moment.second), default: 0] += passage.amounts.rxBytes
    }
    return (shown, passed)
  }

  var now: Int64 { machine.now.utcSeconds }
  var total: UInt64 {
    guard let ledger = machine.process?.ledger else { return 0 }
    return ledger.records.indices.reduce(0) { $0 + ledger.record(slot: $1).total.rxBytes }
  }
  var truth: UInt64 { machine.kernel.toy.truth.reduce(0) { $0 + $1.rxBytes } }
}
