// The newest events of the stream in memory, by increasing id, and how far one client has come with them.
import TallyCore
import TallyWire

/// Events that clients may still ask for; older ones are forgotten, and that is known.
struct StreamRing {
  static let capacity = 256

  /// Ids up to this one are other processes'.
  let origin: UInt64
  /// The last id that was given away.
  private(set) var lastID: UInt64
  /// The id of the newest event.
  private(set) var newest: UInt64
  /// Events with ids up to this one are not all here any more.
  private(set) var forgotten: UInt64
  private(set) var events: [StreamEvent] = []

  /// Ids count on from the time of the start in units of 2^-20 s, so that those of earlier processes, which told fewer than
  /// a million events a second, are lower. Whole numbers in every reader of JSON until 2242.
  init(startedAt utcNanoseconds: Int64) {
    let (seconds, nanoseconds) = max(0, utcNanoseconds).quotientAndRemainder(dividingBy: Moment.second)
    origin = UInt64(seconds) << 20 + UInt64(nanoseconds << 20 / Moment.second)
    (lastID, newest, forgotten) = (origin, origin, origin)
  }

  /// An id for something that is not kept.
  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Keeps an event under the next id.
  mutating func add(_ event: StreamEvent) -> StreamEvent {
    var event = event
    event.id = nextID()
    newest = event.id
    events.append(event)
    if events.count > StreamRing.capacity { forgotten = max(forgotten, events.removeFirst().id) }
    return event
  }

  /// Something happened here that nobody can tell any more.
  mutating func noteLoss() { forgotten = nextID() }

  func first(after id: UInt64) -> StreamEvent? {
    // The next one is mostly the newest.
    guard id < newest else { return nil }
    return events.first { $0.id > id }
  }
}

/// What a client wants to hear of.
struct StreamFilter {
  /// Of `StreamEvent.Kind`.
  var events = Set(StreamEvent.Kind.all)
  /// Names, which need not be there yet, and ids as "id:3"; both empty: all.
  var names: Set<LinkName> = []
  var ids: Set<String> = []
  /// Empty: all.
  var kinds: Set<String> = []

  /// What is of no single interface is of each of them.
  func admits(_ event: StreamEvent) -> Bool {
    guard events.contains(event.event) else { return false }
    return event.interface.map { selects($0, formerName: event.formerName) } ?? true
  }

  func selects(_ interface: StreamEvent.Interface, formerName: String? = nil) -> Bool {
    let isNamed =
      names.isEmpty && ids.isEmpty || ids.contains(interface.id)
      || [interface.name, formerName].contains { $0.map { names.contains(LinkName(escaped: $0)) } ?? false }
    return isNamed && (kinds.isEmpty || kinds.contains(interface.kind))
  }
}

/// One client's way through the ring. Nothing is queued for it: it is asked what comes next when it can take more, so
/// the ring bounds what a slow client costs, and what it comes too late for it is told to have missed.
struct StreamReader {
  let filter: StreamFilter
  /// Everything up to this id that the filter admits was given.
  private(set) var position: UInt64
  /// Given before anything of the ring.
  private var first: [StreamEvent] = []

  /// `id`: the last that the client saw; nil: it begins. `standing`: problems that stand; who does not know what came
  /// before is told of them.
  init(_ filter: StreamFilter, after id: UInt64?, in ring: StreamRing, standing: [StreamEvent], at time: String) {
    self.filter = filter
    switch id {
    case nil:
      position = ring.lastID
      first = stand(standing)
    case let id? where id >= ring.origin && id <= ring.lastID:
      position = id
    default:
      // What this process told is told from its beginning.
      position = ring.origin
      first = [missed(StreamEvent.Missed.restarted, at: time)]
    }
  }

  /// The next event; nil when there is none yet.
  mutating func next(in ring: StreamRing, standing: [StreamEvent], at time: String) -> StreamEvent? {
    if !first.isEmpty { return first.removeFirst() }
    if position < ring.forgotten {
      position = ring.forgotten
      first = stand(standing)
      return missed(StreamEvent.Missed.tooOld, at: time)
    }
    while let event = ring.first(after: position) {
      position = event.id
      if filter.admits(event) { return event }
    }
    return nil
  }

  /// An event was added to a ring whose newest was `before`. True when there is something to give; else who has nothing to
  /// catch up with has passed it by.
  mutating func isConcerned(by event: StreamEvent, after before: UInt64) -> Bool {
    if filter.admits(event) { return true }
    if position >= before, first.isEmpty { position = max(position, event.id) }
    return false
  }

  private func missed(_ reason: String, at time: String) -> StreamEvent {
    var event = StreamEvent(event: StreamEvent.Kind.missed, id: position, at: time)
    event.reason = reason
    return event
  }

  /// Under the id of this place: to resume there is right, and their own would go back.
  private func stand(_ problems: [StreamEvent]) -> [StreamEvent] {
    problems.filter { $0.id <= position && filter.admits($0) }.map {
      var event = $0
      event.id = position
      return event
    }
  }
}
