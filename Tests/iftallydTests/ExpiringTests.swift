// When links expire on the way to the store, and what questions see of it meanwhile.
import TallyCore
import Testing

@testable import TallyStore
@testable import iftallyd

struct ExpiringTests {
  /// A history whose first link has gone so many days ago, with all that was counted in the store.
  private func machine(days: Int64) -> Machine {
    let machine = Machine(isOpen: true)
    machine.minute()
    machine.store.answers = [.committed(sequence: 1)]
    machine.lose(days: days)
    machine.store.answers = [.committed(sequence: 2)]
    machine.history.collect()
    return machine
  }

  private func hasExpired(_ machine: Machine) -> Bool { machine.sampler.ledger.expiredCount == 1 }

  @Test("a link expires a year after it has gone, at the end of a day, and not where it never should")
  func due() {
    for (days, keeps, expected) in [(368, 366, true), (365, 366, false), (368, 400, false), (4000, nil, false)] {
      let machine = machine(days: Int64(days))
      machine.history.keepsGone = keeps.map { Int64($0) * 86400 }
      machine.minute()
      #expect(hasExpired(machine) == expected, "\(days) days")
    }
  }

  @Test("nothing expires while the clock is not trusted, a question is open or there is no store")
  func waits() {
    let machine = machine(days: 400)
    machine.history.commit(machine.sampler, clockStepped: true)
    #expect(!hasExpired(machine))
    machine.history.ask(UsageQuery(links: nil, tier: .day, from: 0, to: 1)) { _ in }
    machine.minute()
    #expect(!hasExpired(machine))
    let none = UsageRows(sequence: 2, watermarks: Machine.empty.watermarks, rows: [], gaps: [], incarnations: [])
    machine.store.answers = [.rows(token: 1, .success(none))]
    machine.minute()
    #expect(hasExpired(machine))
    let closed = Machine(isOpen: false)
    closed.lose(days: 400)
    closed.minute()
    #expect(!hasExpired(closed))
  }

  @Test("until a store has it, it is asked for the links too, and what it tells of them is the group's")
  func meanwhile() throws {
    let machine = machine(days: 400)
    machine.minute()
    let ledger = machine.sampler.ledger
    let slot = try #require(ledger.shown.first { ledger.records[$0].isExpiredGroup })
    let group = ledger.records[slot].id
    #expect(ledger.record(slot: slot).total.rxBytes == 100)
    #expect(machine.store.submitted.last?.expiries == [Expiry(link: 1, into: group)])
    func ask(_ answer: @escaping (UsageRows) -> Void) {
      machine.history.ask(UsageQuery(links: [group], tier: .minute, from: 0, to: .max)) { stored in
        guard case .success(let rows) = stored else { return }
        answer(machine.history.complete(rows, ledger: machine.sampler.ledger, from: 0, to: .max))
      }
    }
    var before: UInt64?
    ask { rows in before = rows.rows.filter { $0.link == group }.reduce(0) { $0 + $1.amounts.rxBytes } }
    #expect(machine.store.lastQuery?.links == [group, 1])
    var old = UsageRows(sequence: 2, watermarks: Machine.empty.watermarks, rows: [], gaps: [], incarnations: [])
    old.rows = [BucketRow(tier: .minute, start: 60, link: 1, amounts: Amounts(rxBytes: 100))]
    machine.store.answers = [.rows(token: 1, .success(old))]
    machine.history.collect()
    #expect(before == 100)

    machine.store.answers = [.committed(sequence: 3)]
    machine.history.collect()
    var after: UInt64?
    ask { rows in after = rows.rows.filter { $0.link == group }.reduce(0) { $0 + $1.amounts.rxBytes } }
    #expect(machine.store.lastQuery?.links == [group])
    var new = old
    new.sequence = 3
    new.rows[0].link = group
    machine.store.answers = [.rows(token: 2, .success(new))]
    machine.history.collect()
    #expect(after == 100)
  }

  @Test("a commit that fails keeps what expired for the next one")
  func failure() {
    let machine = machine(days: 400)
    machine.minute()
    machine.store.answers = [.failed(sequence: 3, StoreError(.full, "no space left"))]
    machine.minute()
    #expect(machine.store.submitted.last?.expiries.map(\.link) == [1])
    #expect(machine.store.submitted.map(\.sequence) == [1, 2, 3, 3])
  }
}
