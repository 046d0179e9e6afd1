// Expiry in the ledger: what is folded, what is not, and that no byte is lost or counted twice by it.
import Testing
import Toys

@testable import TallyCore

private let day: Int64 = 86400

@Suite("Links that are gone for long")
struct LedgerExpiryTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  /// A second start: the first is without a store.
  init() {
    daemon.start(&kernel)
    daemon.crash(&kernel)
    daemon.start(&kernel)
  }

  private mutating func live(_ name: String, rx: UInt64, kind: String = "tun") {
    kernel.create(name, kind: kind)
    daemon.wake(&kernel)
    kernel.push(name, rx: rx, tx: rx / 2)
    daemon.sample(&kernel, after: 10)
  }

  private mutating func die(_ name: String) {
    if let index = kernel.index(of: name) { kernel.delete(index) }
    daemon.wake(&kernel)
    daemon.sample(&kernel, after: 10)
  }

  /// A link that came, counted and went.
  private mutating func gone(_ name: String, rx: UInt64, kind: String = "tun") {
    live(name, rx: rx, kind: kind)
    die(name)
  }

  /// What is done with a commit, so many days later.
  private mutating func expire(after days: Int64 = 400, keeping: Int64 = 366, early: Int64 = 400_000) {
    daemon.sample(&kernel, after: days * day)
    let now = kernel.now.utcSeconds
    daemon.ledger.expire(before: now - keeping * day, early: now - early * day)
    daemon.commit()
  }

  private var names: Set<String> { Set(daemon.ledger.shown.map { daemon.ledger.records[$0].name.escaped }) }
  private var truth: Amounts { kernel.truth.reduce(into: .zero) { $0 += $1 } }
  private var counted: Amounts { daemon.totals.values.reduce(into: .zero) { $0 += $1 } }

  /// Of the store, by name: all that is known by a tier.
  private func stored(_ tier: Tier, _ name: String) -> Amounts {
    daemon.record(name).map { daemon.store.sums(tier)[$0.id] ?? .zero } ?? .zero
  }

  @Test("what expired links counted is their group's, in total, by every tier and after a restart")
  mutating func folded() {
    gone("tun-a", rx: 1000)
    gone("tun-b", rx: 20)
    live("tun-c", rx: 3)
    daemon.commit()
    expire()
    #expect(names == ["expired-tunnel", "tun-c"])
    for _ in 0..<2 {
      #expect(
        daemon.record("expired-tunnel")?.total == Amounts(rxBytes: 1020, txBytes: 510, rxPackets: 2, txPackets: 2))
      #expect(daemon.record("expired-tunnel")?.memberLives == 2)
      #expect(daemon.ledger.expiredCount == 2)
      for tier in Tier.allCases { #expect(stored(tier, "expired-tunnel").rxBytes == 1020, "\(tier)") }
      #expect(counted == truth)
      daemon.crash(&kernel)
      daemon.start(&kernel)
    }
    let ids = Set(daemon.store.rows(.minute).map(\.link))
    #expect(ids.count == 2)
  }

  @Test("what is counted and not stored yet expires too")
  mutating func uncommitted() {
    gone("tun-a", rx: 1000)
    expire()
    #expect(names == ["expired-tunnel"])
    #expect(stored(.day, "expired-tunnel").rxBytes == 1000)
    #expect(counted == truth)
  }

  @Test("a crash before the commit brings the links back, each byte once")
  mutating func crash() {
    gone("tun-a", rx: 1000)
    daemon.commit()
    daemon.sample(&kernel, after: 400 * day)
    daemon.ledger.expire(before: kernel.now.utcSeconds - day, early: 0)
    #expect(names == ["expired-tunnel"])
    daemon.crash(&kernel)
    daemon.start(&kernel)
    #expect(names == ["tun-a"])
    #expect(counted == truth)
  }

  @Test("a link that comes back under an expired name begins a record of its own")
  mutating func comesBack() {
    gone("tun-a", rx: 1000)
    let old = daemon.record("tun-a")?.id
    expire()
    live("tun-a", rx: 7)
    #expect(daemon.total("tun-a")?.rxBytes == 7)
    #expect(daemon.record("tun-a")?.resets == 0)
    let new = daemon.record("tun-a")?.id
    #expect(new != old)
    #expect(daemon.total("expired-tunnel")?.rxBytes == 1000)
    #expect(counted == truth)
    die("tun-a")
    expire()
    #expect(daemon.total("expired-tunnel")?.rxBytes == 1007)
    #expect(daemon.record("expired-tunnel")?.memberLives == 2)
  }

  @Test("there is a group for each kind and label, and what is unobserved stays labelled")
  mutating func groups() {
    var rule = LinkRule(name: "office")
    rule.match[.name] = LinkRule.Patterns(globs: [Glob("o*")])
    rule.set.label = "office"
    daemon.reload([rule], &kernel)
    gone("tun-a", rx: 1)
    gone("br-a", rx: 20, kind: "bridge")
    gone("office-a", rx: 300)
    let slot = daemon.slot("br-a") ?? 0
    daemon.ledger.records[slot].totalIsAtLeast = true
    expire()
    let groups = daemon.ledger.shown.map { daemon.ledger.record(slot: $0) }
    let facts = groups.map { "\($0.kind) \($0.label ?? "-") \($0.total.rxBytes) \($0.totalIsAtLeast)" }
    #expect(Set(facts) == ["tunnel - 1 false", "bridge - 20 true", "tunnel office 300 false"])
    #expect(daemon.ledger.expiredCount == 3)
  }

  @Test("what is present, hardware, a group or too young stays, and so does what a total adds or may have to add")
  mutating func stays() {
    gone("eth0", rx: 1, kind: "")
    gone("strange0", rx: 1, kind: "unheard-of")
    live("tun-here", rx: 1)
    gone("tun-medium", rx: 1)
    let slot = daemon.slot("tun-medium") ?? 0
    daemon.ledger.records[slot].isAdded = true
    gone("veth1a2b3c4", rx: 1, kind: "veth")
    daemon.sample(&kernel, after: 366 * day)
    gone("tun-young", rx: 1)
    let before = names
    expire(after: 1)
    #expect(names == before)
    #expect(daemon.ledger.expiredCount == 0)
  }

  @Test("what a person or a rule speaks of by name stays")
  mutating func spokenOf() {
    for name in ["tun-titled", "tun-merged", "tun-target", "tun-undone", "tun-named", "tun-other"] { gone(name, rx: 5) }
    func slot(_ name: String) -> Int { daemon.slot(name) ?? -1 }
    let requests: [ChangeRequest] = [
      .rename(slot("tun-titled"), title: "Office"), .merge(slot("tun-merged"), into: slot("tun-target")),
      .rename(slot("tun-undone"), title: "x"), .undo(3),
    ]
    for request in requests {
      let isMade = daemon.change(request, fate: .isMade, &kernel)
      #expect(isMade)
    }
    var rule = LinkRule(name: "named")
    rule.match[.name] = LinkRule.Patterns(globs: [Glob("tun-named")])
    daemon.reload([rule], &kernel)
    expire()
    #expect(names == ["tun-titled", "tun-target", "tun-undone", "tun-named", "expired-tunnel"])
    #expect(daemon.total("expired-tunnel")?.rxBytes == 5)
  }

  /// A link that counted 100 without a label and 30 with one, and went.
  private mutating func goneLabelled(_ name: String) {
    live(name, rx: 100)
    var rule = LinkRule(name: "office")
    rule.match[.name] = LinkRule.Patterns(globs: [Glob("*")])
    rule.set.label = "office"
    daemon.reload([rule], &kernel)
    kernel.push(name, rx: 30, tx: 0)
    daemon.sample(&kernel, after: 10)
    daemon.reload([], &kernel)
    die(name)
  }

  @Test(
    "a device of which one label has to stay keeps what it counted under the others",
    arguments: ["titled", "merged", "added"])
  mutating func device(how: String) {
    goneLabelled("tun-a")
    let slot = daemon.ledger.shown.first { daemon.ledger.records[$0].label == "office" } ?? -1
    switch how {
    case "titled": daemon.change(.rename(slot, title: "Phone"), fate: .isMade, &kernel)
    case "merged":
      gone("tun-b", rx: 1)
      daemon.change(.merge(daemon.slot("tun-b") ?? -1, into: slot), fate: .isMade, &kernel)
    default: daemon.ledger.records[slot].isAdded = true
    }
    let before = daemon.ledger.shown.count
    expire()
    #expect(daemon.ledger.expiredCount == 0)
    #expect(daemon.ledger.shown.count == before)
  }

  @Test("a device expires with all its labels at once, also where only some are to make room")
  mutating func wholeDevice() {
    daemon.ledger.mostInterfaces = 10
    goneLabelled("tun-a")
    for number in 0..<8 { gone("tun\(number)", rx: 1) }
    expire(after: 31, early: 30)
    let left = daemon.ledger.shown.filter { daemon.ledger.records[$0].name.escaped == "tun-a" }
    #expect(left.isEmpty)
    #expect(daemon.ledger.expiredCount == 2)
    #expect(counted == truth)
  }

  @Test("a rule names a link in full however it writes the name, and a pattern names none")
  mutating func namedByRule() {
    for name in ["tun-a", "tun-*", "tun-b"] { gone(name, rx: 5) }
    var rule = LinkRule(name: "named")
    rule.match[.name] = LinkRule.Patterns(globs: [Glob(ofName: "tun%2Da"), Glob(ofName: "tun-*")])
    daemon.reload([rule], &kernel)
    expire()
    #expect(names == ["tun-a", "expired-tunnel"])
  }

  @Test("where there are too many, the oldest of those that are gone for some days make room for a tenth")
  mutating func crowded() {
    daemon.ledger.mostInterfaces = 20
    for number in 0..<20 { gone("tun\(number)", rx: 1) }
    expire(after: 31, early: 30)
    #expect(daemon.ledger.expiredCount == 2)
    let left = [daemon.slot("tun0"), daemon.slot("tun1")].compactMap { $0 }
    #expect(left.isEmpty)
    expire(after: 1, early: 30)
    #expect(daemon.ledger.expiredCount == 2)
    #expect(counted == truth)
  }

  @Test("a group of expired links is not merged, and a forgotten one is begun anew")
  mutating func changes() {
    gone("tun-a", rx: 1)
    live("tun-b", rx: 1)
    expire()
    let (group, other) = (daemon.slot("expired-tunnel") ?? -1, daemon.slot("tun-b") ?? -1)
    for request in [ChangeRequest.merge(group, into: other), .merge(other, into: group)] {
      var refusal: ChangeError?
      do throws(ChangeError) { _ = try daemon.ledger.plan(request, at: 0, uid: 0) } catch { refusal = error }
      #expect(refusal == .expiredGroup)
    }
    daemon.change(.forget(group), fate: .isMade, &kernel)
    #expect(daemon.ledger.expiredCount == 0)
    gone("tun-c", rx: 30)
    expire()
    #expect(daemon.total("expired-tunnel")?.rxBytes == 30)
    #expect(daemon.ledger.expiredCount == 1)
  }

  @Test("an older file that still has the links loses none of their rows")
  mutating func olderFile() throws {
    gone("tun-a", rx: 1000)
    daemon.commit()
    let old = daemon.store
    expire()
    let committed = try #require(daemon.store.lastMoment)
    let taken = daemon.ledger.takeOver(try #require(old.state), waiting: nil, committed: committed)
    #expect(taken.outcome == .continued)
    var store = old
    var commit = try #require(taken.waiting)
    commit.sequence = old.sequence + 1
    store.commit(commit)
    let group = try #require(daemon.record("expired-tunnel")).id
    #expect(store.sums(.day) == [group: Amounts(rxBytes: 1000, txBytes: 500, rxPackets: 1, txPackets: 1)])
    #expect(store.state?.links.map(\.id) == [group])
  }

  @Test("figures asked of a store that still has the links are their groups'")
  func asked() {
    let expiries = [Expiry(link: 3, into: 9), Expiry(link: 4, into: 9), Expiry(link: 5, into: 8)]
    let query = UsageQuery(links: [9, 1], tier: .day, from: 0, to: 1).reaching(expiries)
    let links = Set(query.links ?? [])
    #expect(links == [9, 1, 3, 4])
    #expect(UsageQuery(links: nil, tier: .day, from: 0, to: 1).reaching(expiries).links == nil)
    let life = Incarnation(
      link: 3, bootID: BootID(high: 1, low: 1), ifindex: 1, inode: 1, opened: 0, birth: .born, closed: 1)
    var rows = UsageRows(
      sequence: 1, watermarks: Watermarks(fiveMinutes: 0, hour: 0, day: 0),
      rows: [1, 3, 5].map { BucketRow(tier: .day, start: 0, link: $0, amounts: Amounts(rxBytes: 7)) },
      gaps: [nil, 4].map { Gap(link: $0, from: 0, to: 1, reason: .vanished, lossy: true) }, incarnations: [life])
    rows.move(expiries)
    #expect(rows.rows.map(\.link) == [1, 9, 8])
    #expect(rows.gaps.map(\.link) == [nil, 9])
    #expect(rows.incarnations.isEmpty)
  }
}
