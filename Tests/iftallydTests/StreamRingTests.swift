// The ring of events and the ways of clients through it: in order, resumed, too late, choosy and slow.
import TallyCore
import TallyWire
import Testing

@testable import iftallyd

private func link(_ name: String, kind: String = "tunnel") -> StreamEvent {
  StreamEvent(
    event: StreamEvent.Kind.link, id: 0, at: "then",
    interface: StreamEvent.Interface(id: "id:1", name: name, kind: kind))
}

private func problem(_ code: String) -> StreamEvent {
  var event = StreamEvent(event: StreamEvent.Kind.problem, id: 0, at: "then")
  event.code = code
  return event
}

/// What a client is given until there is no more.
private func all(_ reader: inout StreamReader, _ ring: StreamRing, standing: [StreamEvent] = []) -> [StreamEvent] {
  var events: [StreamEvent] = []
  while let event = reader.next(in: ring, standing: standing, at: "now") { events.append(event) }
  return events
}

private func words(_ events: [StreamEvent]) -> [String] {
  events.map { $0.interface?.name ?? $0.code ?? "\($0.event) \($0.reason ?? "")" }
}

struct StreamRingTests {
  private var ring = StreamRing(startedAt: 1_796_000_000_000_000_000)

  private func reader(
    _ filter: StreamFilter = StreamFilter(), after id: UInt64? = nil, standing: [StreamEvent] = []
  ) -> StreamReader {
    StreamReader(filter, after: id, in: ring, standing: standing, at: "now")
  }

  @Test("ids grow from process to process, and every reader of JSON holds them")
  mutating func ids() {
    var earlier = StreamRing(startedAt: 1_795_999_999_900_000_000)
    for _ in 0..<1000 { _ = earlier.add(link("earlier")) }
    let first = ring.add(link("a")).id
    let second = ring.add(link("b")).id
    #expect(earlier.lastID < first && first < second)
    #expect(second < 1 << 53)
    #expect(StreamRing(startedAt: -5).lastID == 0)
  }

  @Test("a client hears of what comes after it, once and in order")
  mutating func order() {
    _ = ring.add(link("before"))
    var client = reader()
    for name in ["a", "b", "c"] { _ = ring.add(link(name)) }
    #expect(words(all(&client, ring)) == ["a", "b", "c"])
    #expect(all(&client, ring).isEmpty)
  }

  @Test("one that comes back gets what it has not seen")
  mutating func resumed() {
    let seen = ring.add(link("a")).id
    for name in ["b", "c"] { _ = ring.add(link(name)) }
    var client = reader(after: seen)
    #expect(words(all(&client, ring)) == ["b", "c"])
    var unaware = reader(after: ring.lastID)
    #expect(all(&unaware, ring).isEmpty)
  }

  @Test("an id that rates bore is a place to resume from")
  mutating func rates() {
    _ = ring.add(link("a"))
    let id = ring.nextID()
    _ = ring.add(link("b"))
    var client = reader(after: id)
    #expect(words(all(&client, ring)) == ["b"])
  }

  @Test("one that comes too late is told so, and of the problems that stand, before what is left")
  mutating func tooLate() {
    let standing = ring.add(problem("store_failing"))
    let seen = standing.id - 1
    for number in 0..<StreamRing.capacity + 10 { _ = ring.add(link("\(number)")) }
    #expect(ring.events.count == StreamRing.capacity)
    var client = reader(after: seen)
    let events = all(&client, ring, standing: [standing])
    #expect(words(Array(events.prefix(3))) == ["missed too_old", "store_failing", "10"])
    #expect(events.count == StreamRing.capacity + 2)
    let isGrowing = zip(events, events.dropFirst()).allSatisfy { $0.id <= $1.id }
    #expect(isGrowing)
  }

  @Test("the id of another process is followed by a word on that, and all that this one told")
  mutating func otherProcess() {
    for name in ["a", "b"] { _ = ring.add(link(name)) }
    for id in [0, 7, ring.origin - 1, ring.lastID + 1, .max] as [UInt64] {
      var client = reader(after: id)
      #expect(words(all(&client, ring)) == ["missed restarted", "a", "b"])
    }
  }

  @Test("a slow client costs nothing, and is told once what it missed")
  mutating func slow() {
    var client = reader()
    var given: [StreamEvent] = []
    for number in 0..<5 * StreamRing.capacity {
      _ = ring.add(link("\(number)"))
      // It takes one in five.
      if number % 5 == 0, let event = client.next(in: ring, standing: [], at: "now") { given.append(event) }
    }
    given += all(&client, ring)
    let missed = given.filter { $0.event == StreamEvent.Kind.missed }
    let names = given.compactMap { $0.interface.flatMap { Int($0.name) } }
    #expect(!missed.isEmpty)
    #expect(names == names.sorted() && names.last == 5 * StreamRing.capacity - 1)
    // Between two words of loss nothing is missing.
    var last = -1
    for event in given {
      if event.event == StreamEvent.Kind.missed {
        last = -1
      } else if let number = event.interface.flatMap({ Int($0.name) }) {
        #expect(last == -1 || number == last + 1)
        last = number
      }
    }
  }

  @Test("what cannot be told any more is missed by everybody")
  mutating func lost() {
    var client = reader()
    ring.noteLoss()
    _ = ring.add(link("a"))
    #expect(words(all(&client, ring)) == ["missed too_old", "a"])
  }

  @Test("a choosy client that is up to date misses nothing when the others fill the ring")
  mutating func choosy() {
    var filter = StreamFilter()
    filter.events = [StreamEvent.Kind.problem]
    var client = reader(filter)
    for number in 0..<2 * StreamRing.capacity {
      let before = ring.newest
      let event = ring.add(link("\(number)"))
      let isConcerned = client.isConcerned(by: event, after: before)
      #expect(!isConcerned)
    }
    let before = ring.newest
    let event = ring.add(problem("disk"))
    let isConcerned = client.isConcerned(by: event, after: before)
    #expect(isConcerned)
    #expect(words(all(&client, ring)) == ["disk"])
  }

  @Test("a new client is told of the problems that stand, under its own place")
  mutating func standing() {
    let standing = ring.add(problem("disk"))
    _ = ring.add(link("a"))
    var client = reader(standing: [standing])
    let events = all(&client, ring, standing: [standing])
    #expect(words(events) == ["disk"])
    #expect(events.map(\.id) == [ring.lastID])
    var deaf = StreamFilter()
    deaf.events = [StreamEvent.Kind.link]
    var other = reader(deaf, standing: [standing])
    #expect(all(&other, ring, standing: [standing]).isEmpty)
  }

  @Test("interfaces are chosen by name, former name, id and kind; what is of all of them is of each")
  func filter() {
    var renamed = link("lan0", kind: "wired")
    renamed.formerName = "e\u{301}th0"
    let choices: [(names: [String], ids: [String], isAdmitted: Bool)] = [
      (["lan0"], [], true), (["e\u{301}th0"], [], true), ([], ["id:1"], true), (["wg0"], [], false),
      ([], ["id:2"], false),
      (["\u{E9}th0"], [], false), (["wg0"], ["id:1"], true), ([], [], true),
    ]
    for (names, ids, isAdmitted) in choices {
      var filter = StreamFilter()
      filter.names = Set(names.map { LinkName(escaped: $0) })
      filter.ids = Set(ids)
      #expect(filter.admits(renamed) == isAdmitted)
      #expect(filter.admits(problem("disk")))
    }
    var filter = StreamFilter()
    filter.kinds = ["wifi"]
    #expect(!filter.admits(renamed))
    filter.kinds = ["wired"]
    #expect(filter.admits(renamed))
  }
}
