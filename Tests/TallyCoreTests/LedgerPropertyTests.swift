// Random histories of links, crashes and clocks, judged by the law of the ledger.
@testable import TallyCore
import Testing

@Suite("The law of the ledger, over random histories")
struct LedgerPropertyTests {
  static let seeds = (0..<8).map { UInt64($0) }

  /// Runs one history and returns what broke, or nil.
  static func run(seed: UInt64, lossless: Bool) -> String? {
    var dice = Seeded(seed)
    var kernel = ToyKernel()
    var daemon = ToyDaemon()
    var log: [String] = []
    func pick(_ n: Int) -> Int { Int.random(in: 0..<n, using: &dice) }
    for i in 0..<pick(4) { kernel.create("eth\(i)", kind: "") }
    for index in Array(kernel.links.keys.sorted()) { kernel.push(index, rx: 5000, tx: 7000) }
    kernel.truth = kernel.truth.map { _ in .zero }  // what was there before the first start is a baseline
    daemon.start(&kernel)
    for _ in 0..<80 {
      kernel.pass(Int64.random(in: 1_000_000...40_000_000_000, using: &dice))
      let here = kernel.links.values.filter(\.isHere).map(\.facts.ifindex).sorted()
      let any = here.isEmpty ? 0 : here[pick(here.count)]
      let choice = pick(lossless ? 12 : 17)
      log.append("\(choice)@\(any)=\(kernel.links[any].map { nameKey($0.facts) } ?? "-")")
      switch choice {
      case 0, 1, 2:
        if any != 0 {
          kernel.push(
            any, rx: UInt64.random(in: 0...3_000_000, using: &dice), tx: UInt64.random(in: 0...9_000, using: &dice))
        }
      case 3: kernel.create("tun\(pick(3))-\(kernel.links.count)", kind: "tun")
      case 4: _ = kernel.createPair("va\(kernel.nextIndex)", "vb\(kernel.nextIndex)")
      case 5: if any != 0, daemon.isRunning || !lossless { kernel.delete(any) }
      case 6: if any != 0 { kernel.rename(any, to: "ren\(pick(4))") }
      case 7: if any != 0, daemon.isRunning { kernel.moveOut(any) }
      case 8:
        let away = kernel.links.values.filter { !$0.isHere }.map(\.facts.ifindex).sorted()
        if let back = away.first, daemon.isRunning, !kernel.overrun {
          kernel.push(back, rx: 1_000_000, tx: 1)
          kernel.moveBack(back)
          // A link that moved in while nobody watched is taken for one that was born here: a known limit.
          daemon.wake(&kernel)
          daemon.commit()
        }
      case 9: daemon.sample(&kernel)
      case 10: daemon.commit()
      case 11:
        daemon.wake(&kernel)
        if pick(3) == 0 { kernel.utc += Int64.random(in: -90_000...90_000, using: &dice) * Moment.second }
      case 12: daemon.crash(&kernel)
      case 13: if !daemon.isRunning { daemon.start(&kernel) }
      case 14: if daemon.isRunning { daemon.stop(&kernel) }
      case 15: if daemon.isRunning, kernel.links.values.allSatisfy(\.isHere) { kernel.overrun = true }
      default:
        daemon.crash(&kernel)
        kernel.reboot()
      }
    }
    if !daemon.isRunning { daemon.start(&kernel) }
    kernel.pass(Moment.second)
    daemon.sample(&kernel)
    kernel.pass(Moment.second)
    daemon.sample(&kernel)
    daemon.commit()
    return check(kernel, daemon, lossless: lossless).map { "\($0) after \(log)" }
  }

  /// The law at the end of a history; by identity where none of it went unseen, else over all links.
  static func check(_ kernel: ToyKernel, _ daemon: ToyDaemon, lossless: Bool) -> String? {
    let ledger = daemon.ledger
    let groups = lossless ? Array(Set(kernel.keys)).sorted() : [""]
    for key in groups {
      var truth = Amounts.zero
      for history in kernel.truth.indices where !lossless || kernel.keys[history] == key {
        truth += kernel.truth[history]
      }
      var counted = Amounts.zero
      var labelled = false
      for slot in ledger.records.indices where !lossless || ledger.records[slot].key == key {
        counted += ledger.record(slot: slot).total
        if ledger.records[slot].totalIsAtLeast { labelled = true }
      }
      labelled = labelled || (daemon.gaps + ledger.uncommittedGaps).contains(where: \.lossy)
      if counted.rxBytes > truth.rxBytes || counted.txBytes > truth.txBytes {
        return "invented: \(key) counted \(counted) of \(truth)"
      }
      if lossless ? labelled : false { return "labelled without a loss: \(key)" }
      if !labelled, counted.rxBytes != truth.rxBytes || counted.txBytes != truth.txBytes {
        return "lost without a label: \(key) counted \(counted) of \(truth)"
      }
    }
    var sums: [LinkID: Amounts] = [:]
    for row in daemon.rows + ledger.uncommittedRows { sums[row.link, default: .zero] += row.amounts }
    for slot in ledger.records.indices {
      let record = ledger.record(slot: slot)
      if sums[record.id, default: .zero] != record.total {
        return "rows of \(record.name) add up to \(sums[record.id, default: .zero]), its total is \(record.total)"
      }
    }
    return nil
  }

  @Test("counted never exceeds the truth, and a loss is never without its label", arguments: seeds)
  func law(block: UInt64) {
    for seed in (block * 500)..<(block * 500 + 500) {
      if let broken = Self.run(seed: seed, lossless: false) {
        Issue.record("seed \(seed): \(broken)")
        return
      }
    }
  }

  @Test("without crashes and overruns counted equals the truth and nothing is labelled", arguments: seeds)
  func equality(block: UInt64) {
    for seed in (block * 500)..<(block * 500 + 500) {
      if let broken = Self.run(seed: seed, lossless: true) {
        Issue.record("seed \(seed): \(broken)")
        return
      }
    }
  }
}
