// Changes of what is shown: what they do to figures, who is refused, and what a restart finds.
import Testing
import Toys

@testable import TallyCore

private struct Machine {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init(_ names: String...) {
    daemon.start(&kernel)
    for name in names { kernel.create(name, kind: "tun") }
    daemon.wake(&kernel)
    sample()
  }

  mutating func sample() { daemon.sample(&kernel, after: 10) }

  mutating func push(_ name: String, _ rx: UInt64) {
    kernel.push(name, rx: rx, tx: rx / 2)
    sample()
  }

  mutating func delete(_ name: String) {
    if let index = kernel.index(of: name) { kernel.delete(index) }
    daemon.wake(&kernel)
  }

  @discardableResult
  mutating func make(_ request: ChangeRequest) -> Bool { daemon.change(request, fate: .isMade, &kernel) }

  mutating func restart() {
    daemon.crash(&kernel)
    daemon.start(&kernel)
  }

  func slot(_ name: String) -> Int { daemon.slot(name) ?? -1 }
  func received(_ slot: Int) -> UInt64 { daemon.ledger.sum(daemon.ledger.parts(of: slot)).total.rxBytes }

  func refusal(_ request: ChangeRequest) -> ChangeError? {
    do throws(ChangeError) {
      _ = try daemon.ledger.plan(request, at: kernel.now.utcSeconds, uid: 0)
      return nil
    } catch {
      return error
    }
  }
}

struct LedgerChangesTests {
  @Test("a planned change has no effect until it is made")
  func planned() {
    let machine = Machine("a", "b")
    let ledger = machine.daemon.ledger
    #expect(machine.refusal(.forget(machine.slot("a"))) == nil)
    #expect(ledger.shown.count == 2)
    #expect(ledger.changes.isEmpty)
  }

  @Test("merged records are added up to the byte, live or gone, and come apart again")
  func merge() {
    var machine = Machine("a", "b")
    machine.push("a", 1000)
    machine.push("b", 200)
    machine.delete("a")
    let (a, b) = (machine.slot("a"), machine.slot("b"))
    machine.make(.merge(a, into: b))
    #expect(machine.received(b) == 1200)
    #expect(machine.daemon.ledger.shown == [b])
    #expect(machine.daemon.ledger.sum(machine.daemon.ledger.parts(of: b)).resets == 1)
    machine.kernel.create("a", kind: "tun")
    machine.daemon.wake(&machine.kernel)
    machine.push("a", 30)
    #expect(machine.received(b) == 1230)
    machine.restart()
    #expect(machine.received(machine.slot("b")) == 1230)
    machine.make(.undo(1))
    let (first, second) = (machine.received(machine.slot("a")), machine.received(machine.slot("b")))
    #expect(first == 1030)
    #expect(second == 200)
  }

  @Test("a chain of merges is one interface, and undoing one in the middle parts it there")
  func chain() {
    var machine = Machine("a", "b", "c")
    for name in ["a", "b", "c"] { machine.push(name, 100) }
    machine.delete("a")
    machine.delete("b")
    let (a, b, c) = (machine.slot("a"), machine.slot("b"), machine.slot("c"))
    machine.make(.merge(a, into: b))
    machine.make(.merge(b, into: c))
    #expect(machine.received(c) == 300)
    #expect(machine.daemon.ledger.root(of: a) == c)
    machine.make(.undo(2))
    #expect(machine.received(b) == 200)
    #expect(machine.received(c) == 100)
  }

  @Test("what cannot be merged is refused with its reason")
  func refusals() {
    var machine = Machine("a", "b", "c")
    machine.delete("c")
    let (a, b, c) = (machine.slot("a"), machine.slot("b"), machine.slot("c"))
    #expect(machine.refusal(.merge(a, into: a)) == .sameInterface)
    #expect(machine.refusal(.merge(a, into: b)) == .bothPresent)
    machine.make(.merge(c, into: a))
    let id = machine.daemon.ledger.records[a].id
    #expect(machine.refusal(.merge(a, into: c)) == .merged(into: id))
    #expect(machine.refusal(.rename(c, title: "x")) == .merged(into: id))
    machine.make(.forget(b))
    #expect(machine.refusal(.merge(b, into: a)) == .forgotten)
    #expect(machine.refusal(.forget(b)) == .forgotten)
    #expect(machine.refusal(.undo(9)) == .unknownChange)
    machine.make(.undo(1))
    #expect(machine.refusal(.undo(1)) == .alreadyUndone)
  }

  @Test("a live link whose history is forgotten goes on from nothing, not a byte twice and none left out")
  func forget() {
    var machine = Machine("a")
    machine.push("a", 1000)
    let old = machine.slot("a")
    machine.kernel.push("a", rx: 50, tx: 0)
    machine.sample()
    machine.make(.forget(old))
    let new = machine.slot("a")
    #expect(new != old)
    #expect(machine.received(new) == 0)
    machine.push("a", 7)
    #expect(machine.received(new) == 7)
    #expect(machine.received(old) == 1050)
    machine.restart()
    #expect(machine.received(machine.slot("a")) == 7)
    machine.make(.undo(1))
    #expect(machine.daemon.ledger.shown.count == 2)
    machine.make(.merge(machine.slot("a"), into: machine.daemon.ledger.shown.first { $0 != machine.slot("a") } ?? -1))
    let only = machine.daemon.ledger.shown.map(machine.received)
    #expect(only == [1057])
  }

  @Test("a kill between the storing of a change and its making leaves it made")
  func cut() {
    var machine = Machine("a")
    machine.push("a", 1000)
    machine.daemon.change(.forget(machine.slot("a")), fate: .isCut, &machine.kernel)
    machine.push("a", 7)
    let shown = machine.daemon.ledger.shown.map(machine.received)
    #expect(shown == [7])
    let hidden = machine.daemon.ledger.records.indices.filter(machine.daemon.ledger.isHidden).map(machine.received)
    #expect(hidden == [1000])
    machine.daemon.change(.rename(machine.slot("a"), title: "x"), fate: .isCut, &machine.kernel)
    #expect(machine.daemon.record("a")?.title == "x")
  }

  @Test("a link that comes back after its history was forgotten is a new one, also when that history is shown again")
  func reborn() {
    var machine = Machine("a")
    machine.push("a", 1000)
    machine.delete("a")
    machine.make(.forget(machine.slot("a")))
    #expect(machine.daemon.slot("a") == nil)
    machine.kernel.create("a", kind: "tun")
    machine.daemon.wake(&machine.kernel)
    machine.push("a", 5)
    #expect(machine.received(machine.slot("a")) == 5)
    machine.make(.undo(1))
    machine.delete("a")
    machine.kernel.create("a", kind: "tun")
    machine.daemon.wake(&machine.kernel)
    machine.push("a", 1)
    let totals = machine.daemon.ledger.shown.map(machine.received).sorted()
    #expect(totals == [6, 1000])
  }

  @Test("forgotten history is deleted after its time, cannot be brought back then, and its id is not used again")
  func deletion() {
    var machine = Machine("a", "b")
    machine.push("b", 1000)
    machine.delete("b")
    let b = machine.slot("b")
    let id = machine.daemon.ledger.records[b].id
    machine.make(.forget(b))
    machine.kernel.pass(100 * Moment.second)
    machine.sample()
    machine.daemon.ledger.deleteForgotten(before: machine.kernel.now.utcSeconds - 200)
    #expect(machine.refusal(.undo(1)) == nil)
    machine.daemon.ledger.deleteForgotten(before: machine.kernel.now.utcSeconds - 50)
    #expect(machine.refusal(.undo(1)) == .deleted)
    machine.daemon.commit()
    let isStored = machine.daemon.store.state?.links.contains { $0.id == id }
    #expect(isStored == false)
    let rows = machine.daemon.store.rows(.minute).filter { $0.link == id }
    #expect(rows.isEmpty)
    machine.restart()
    #expect(machine.refusal(.undo(1)) == .deleted)
    machine.kernel.create("c", kind: "tun")
    machine.daemon.wake(&machine.kernel)
    let next = machine.daemon.record("c")?.id ?? 0
    #expect(next > id)
  }

  @Test(
    "a group whose history is forgotten goes on with the links that are there, as they were counted",
    arguments: [false, true])
  func group(isCut: Bool) {
    var machine = Machine()
    var rule = LinkRule(name: "all")
    rule.match[.name] = LinkRule.Patterns(globs: [Glob("m*")])
    rule.set.group = "many"
    machine.daemon.reload([rule], &machine.kernel)
    for name in ["m1", "m2"] { machine.kernel.create(name, kind: "tun") }
    machine.daemon.wake(&machine.kernel)
    machine.push("m1", 1000)
    machine.push("m2", 10)
    let old = machine.slot("many")
    machine.daemon.change(.forget(old), fate: isCut ? .isCut : .isMade, &machine.kernel)
    machine.push("m1", 7)
    machine.push("m2", 5)
    machine.delete("m1")
    let shown = machine.daemon.ledger.shown.map(machine.received)
    #expect(shown == [12])
    let hidden = machine.daemon.ledger.shownSlots.filter(machine.daemon.ledger.isHidden).map(machine.received)
    #expect(hidden == [1010])
    let members = machine.daemon.ledger.members(slot: machine.slot("many"))
    #expect(members?.present == 1)
    machine.make(.undo(1))
    let all = machine.daemon.ledger.shown.map(machine.received).sorted()
    #expect(all == [12, 1010])
  }

  @Test("a store whose merges run in a circle is read all the same")
  func circle() {
    var records = (1...3).map { number in
      LinkRecord(
        id: LinkID(number), key: "tun:t\(number)", name: LinkName(escaped: "t\(number)"), kind: .tunnel, type: "tun",
        firstSeen: 0, lastSeen: 0)
    }
    for place in records.indices { records[place].mergedInto = records[(place + 1) % 3].id }
    records[0].mergedInto = 99
    var ledger = Ledger(calendar: utcCalendar)
    ledger.restore(
      StoredState(
        sequence: 1, lastMoment: Moment(utc: 0, boot: 0, bootID: BootID(high: 1, low: 1)), links: records,
        watermarks: .new(at: 0, calendar: utcCalendar)))
    let parts = ledger.shown.flatMap(ledger.parts(of:)).sorted()
    #expect(parts == [0, 1, 2])
  }

  @Test(
    "titles are short text that can be shown as it is",
    arguments: [
      ("Office", true), ("", true), ("Büro ☎ 1", true), (String(repeating: "x", count: 64), true),
      (String(repeating: "x", count: 65), false), ("a\u{0}", false), ("a\nb", false), ("a\u{202E}b", false),
      ("a\u{85}", false), ("a\u{200D}b", false), ("a\u{2028}b", false), (" a", false), ("a\u{3000}", false),
      ("id:7", false), ("\u{E000}", true),
    ])
  func titles(title: String, isGood: Bool) {
    let problem = problem(ofTitle: title)
    #expect((problem == nil) == isGood)
  }

  @Test("a thousand changes are kept, and numbers go on")
  func bound() {
    var machine = Machine("a")
    for number in 0..<1010 { machine.make(.rename(machine.slot("a"), title: "\(number)")) }
    let changes = machine.daemon.ledger.changes
    #expect(changes.count == 1000)
    #expect(changes.first?.id == 11)
    #expect(changes.last?.id == 1010)
  }

  @Test("a new store is told all changes again")
  func newStore() {
    var machine = Machine("a")
    machine.make(.rename(machine.slot("a"), title: "x"))
    machine.daemon.store = ToyStore()
    machine.daemon.ledger.markAllChanged()
    machine.daemon.commit()
    #expect(machine.daemon.store.state?.changes.map(\.after) == ["x"])
    let hasTitle = machine.daemon.store.state?.links.contains { $0.title == "x" }
    #expect(hasTitle == true)
  }
}
