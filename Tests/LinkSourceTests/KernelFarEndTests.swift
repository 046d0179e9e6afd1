// Veths whose other end is in another namespace of a real kernel: its departure, its moves, and the namespace's end.
import Foundation
import Glibc
import Testing

@testable import LinkSource
@testable import TallyCore

/// A veth from a namespace of its own, `va`, to another, `vb`, with known bytes sent from there.
private final class Across: @unchecked Sendable {
  let here: NetworkNamespace
  let there: NetworkNamespace
  var links: KernelLinks?

  init() throws {
    here = try NetworkNamespace()
    there = try NetworkNamespace()
  }

  func end() {
    links = nil
    here.stop()
    there.stop()
  }

  func open(_ events: @escaping () throws -> EventSocket = { .usual }) throws {
    try here.run { self.links = try openLinks(events: try events()) }
  }

  func ipHere(_ words: String) throws { _ = try here.run { try ip(words) } }

  func ipThere(_ words: String) throws { _ = try there.run { try ip(words) } }

  func connect() throws {
    try ipHere("link add va type veth peer name vb netns \(there.threadID)")
    try ipHere("link set va up")
  }

  /// Sends from there; what `vb` has sent in all is what `va` has received.
  func push() throws -> LinkCounters {
    try there.run {
      try prepareToSend("vb", number: 5)
      try sendDatagrams(3, of: 1000, number: 5)
      return try sysfsCounters("vb")
    }
  }

  func nextEvents() throws -> [LinkEvent] {
    try here.run { try self.links.map(LinkSourceTests.nextEvents) ?? [] }
  }

  func events() throws -> [LinkEvent] { try here.run { try self.links?.drainEvents().events ?? [] } }

  var texts: [String] { get throws { try events().map(\.text) } }
}

private func withAcross<Result>(_ body: (Across) throws -> Result) throws -> Result {
  let across = try Across()
  defer { across.end() }
  return try body(across)
}

@Suite(
  "Kernel far ends", .serialized,
  .enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.whyNot)))
struct KernelFarEndTests {
  @Test("a veth that is deleted from either side tells the final counters of its other end", arguments: ["va", "vb"])
  func deleted(_ side: String) throws {
    let (hears, farEnd, finals, sent, texts) = try withAcross { across in
      try across.open()
      let hears = across.links?.hearsFarEnds
      try across.connect()
      let sent = try across.push()
      let facts = try across.events().compactMap { $0.link?.facts }.last { $0.name.escaped == "va" }
      try side == "va" ? across.ipHere("link del va") : across.ipThere("link del vb")
      let events = try across.events()
      let finals = events.filter { $0.farEnd == facts?.farEnd && $0.farEnd != nil }.map(\.counters)
      return (hears, facts?.farEnd, finals, sent, events.map(\.text))
    }
    #expect(hears == true)
    #expect(farEnd != nil)
    let told = finals.map { $0?.txBytes }
    #expect(told == [sent.txBytes])
    #expect(sent.txBytes == 3 * 1042)
    #expect(texts.contains("departed va"))
  }

  @Test("links of other namespaces are not taken for ours, whatever their index")
  func collision() throws {
    let texts = try withAcross { across in
      try across.open()
      try across.connect()
      let index = try across.here.run { linkIndex("va") }
      _ = try across.events()
      try across.ipThere("link del vb")  // frees the index
      try across.ipThere("link add twin index \(index) type veth peer name other")
      try across.ipThere("link set twin name renamed")
      try across.ipThere("link del renamed")
      try across.ipThere("link add bridge type bridge")
      try across.ipThere("link del bridge")
      return try across.texts
    }
    #expect(texts.last == "departed va")
    let others = texts.filter { $0.contains("twin") || $0.contains("renamed") || $0.contains("bridge") }
    #expect(others == [])
    let far = texts.filter { $0.hasPrefix("far") }
    #expect(far.count == 1)
  }

  @Test("a far end that moves on is followed through what the near end shows, and comes home as a link of ours")
  func moves() throws {
    let third = try NetworkNamespace()
    defer { third.stop() }
    let (moved, far, home) = try withAcross { across in
      try across.open()
      try across.connect()
      _ = try across.push()
      _ = try across.events()
      try across.ipThere("link set vb netns \(third.threadID)")
      // The end that stays tells of it when the kernel sees that its carrier is gone.
      var moved: [LinkEvent] = []
      while moved.last?.name != "va" { moved += try across.nextEvents() }
      let far = moved.compactMap { $0.link?.facts.farEnd }.last
      let here = across.here.threadID
      try third.run { _ = try ip("link set vb netns \(here)") }
      return (moved.map(\.text), far, try across.events())
    }
    let first = moved.first { $0.hasPrefix("far moved") }
    #expect(first != nil)
    #expect(far != nil)
    let second = far.map { "far moved \($0.ifindex) in \($0.namespace)" }
    #expect(first != second)
    let isHome = home.contains { $0.text == "appeared vb" && $0.link?.facts.lowerIsElsewhere == false }
    #expect(isHome)
    let hasLeft = home.contains { $0.text.hasPrefix("far moved") && $0.farEnd == far }
    #expect(hasLeft)
  }

  @Test("the end of a namespace is told before its links go, and our sockets keep none alive")
  func ended() throws {
    let (namespace, texts) = try withAcross { across in
      try across.open()
      try across.connect()
      let namespace = try across.events().compactMap { $0.link?.facts.farEnd?.namespace }.last
      _ = try across.here.run { try across.links?.sample().at }
      across.there.stop()
      var texts: [String] = []
      while texts.last != "departed va" {
        texts += try across.nextEvents().map(\.text)
      }
      return (namespace, texts)
    }
    let ended = try #require(namespace.flatMap { texts.firstIndex(of: "ended \($0)") })
    let departed = try #require(texts.firstIndex(of: "departed va"))
    #expect(ended < departed)
    let far = texts.filter { $0.hasPrefix("far") }
    #expect(far == [])
  }

  @Test("ids that other namespaces give are none of ours")
  func foreignIDs() throws {
    let third = try NetworkNamespace()
    defer { third.stop() }
    let texts = try withAcross { across in
      try across.open()
      try across.connect()
      // Known to the namespace there alone.
      try across.ipThere("link add vc type veth peer name vd netns \(third.threadID)")
      let witness = try across.there.run { try openLinks() }
      third.stop()
      while try across.there.run({ try LinkSourceTests.nextEvents(witness).last?.text }) != "departed vc" {}
      return try across.texts
    }
    let ended = texts.filter { $0.hasPrefix("ended") }
    #expect(ended == [])
  }

  @Test("a namespace that has given an id to itself hears its own events as its own")
  func ownID() throws {
    let name = "own\(getpid())"
    let texts = try withAcross { across in
      try across.open()
      try across.connect()
      try across.ipHere("netns attach \(name) \(across.here.threadID)")
      defer { try? across.ipHere("netns del \(name)") }
      try across.ipHere("netns set \(name) 77")
      try across.ipHere("link add t0 type ifb")
      let texts = try across.texts
      // One that is opened after it asks for the id.
      try across.open()
      try across.ipHere("link del t0")
      return texts + (try across.texts)
    }
    #expect(texts.contains("appeared t0"))
    #expect(texts.contains("departed t0"))
  }

  @Test("an event socket that was opened by another hears far ends too")
  func inherited() throws {
    let texts = try withAcross { across in
      try across.open { .inherited(try boundEventSocket()) }
      try across.connect()
      _ = try across.push()
      try across.ipHere("link del va")
      return try across.texts
    }
    let far = texts.filter { $0.hasPrefix("far departed") }
    #expect(far.count == 1)
  }

  @Test("the other end of a veth that was there before is let in once the links were listed")
  func listed() throws {
    let texts = try withAcross { across in
      try across.connect()
      try across.open()
      _ = try across.here.run { try across.links?.list().links.count }
      try across.ipThere("link del vb")
      return try across.texts
    }
    let far = texts.filter { $0.hasPrefix("far departed") }
    #expect(texts.contains("departed va") && far.count == 1)
  }

  @Test("after an overrun nothing is let in of other namespaces until the links were listed")
  func overrun() throws {
    let (lost, before, after) = try withAcross { across in
      try across.open { .own(receiveBuffer: 4096) }
      try across.connect()
      _ = try across.events()
      try across.here.run { try ipBatch((0..<40).map { "link add t\($0) type ifb" }) }
      let drained = try across.here.run { try across.links?.drainEvents() }
      try across.ipThere("link del vb")
      let before = try across.texts
      try across.connect()
      _ = try across.here.run { try across.links?.list().links.count }
      _ = try across.events()
      try across.ipThere("link del vb")
      return (drained?.overrun, before, try across.texts)
    }
    #expect(lost == true)
    let (farBefore, farAfter) = (before.filter { $0.hasPrefix("far") }, after.filter { $0.hasPrefix("far departed") })
    #expect(before.contains("departed va") && farBefore == [])
    #expect(after.contains("departed va") && farAfter.count == 1)
  }
}
