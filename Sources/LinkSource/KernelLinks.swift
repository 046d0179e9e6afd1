// The kernel as the ledger sees it: links, counters and link events, read so that each byte is told once.
import CLinkStats
package import TallyCore

/// The counters of all links at one moment, and the link events before them.
package struct Sample {
  /// Taken right after the counters were read: reading them waits for the kernel's lock, at times for long.
  package var at: Moment
  /// In the kernel's order; to be applied before the readings.
  package var events: [LinkEvent]
  /// Without the links that came or went in `events`, and none after an overrun: theirs may be another incarnation's.
  /// Valid until the next call.
  package var readings: UnsafeBufferPointer<Reading>
  package var width: CounterWidth
  /// The kernel dropped events, or one could not be read, or there are none and other links are here than before: apply
  /// this sample, then list all links.
  package var overrun: Bool
  /// Every link that was there has a line, unless it came or went in `events`: the kernel did not mark the dump as
  /// interrupted.
  package var isComplete = true
}

/// What went wrong without being an error, counted since the start.
package struct KernelHealth: Hashable, Sendable {
  /// Times that the kernel dropped events because the queue was full.
  package var overruns: UInt64 = 0
  /// Event messages that did not parse.
  package var malformedEvents: UInt64 = 0
  /// Dumps that the kernel marked as interrupted and that were asked for again.
  package var dumpRetries: UInt64 = 0
  /// Dumps that were still interrupted after the last retry, and used as they were.
  package var interruptedDumps: UInt64 = 0
  /// Messages dropped because the kernel was not their sender.
  package var droppedSenders: UInt64 = 0
}

/// The links of one network namespace, that of the thread which made this. For one thread.
package final class KernelLinks: LinkKernel {
  package let source: LinkCounterSource
  private let events: KernelEvents
  private let requests: OpaquePointer
  package let inheritsEvents: Bool
  private let mark: QueueMark?
  private let now: () -> Moment
  private let complete: (inout LinkFacts) -> Void
  private var dumpHealth = KernelHealth()
  private var stats = ls_stats()
  private var readings = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 0)

  /// Joins the link events before anything else is read, so that nothing between a list and the events is missed.
  /// `complete` adds the facts that netlink does not tell, by the link's name. An inherited descriptor is closed with
  /// this object. `mark` is told before events are read.
  package init(
    source: LinkCounterSource = .netlink, events: EventSocket = .usual, mark: QueueMark? = nil,
    now: @escaping () -> Moment, complete: @escaping (inout LinkFacts) -> Void
  ) throws(LinkSourceError) {
    self.events = try KernelEvents(events, mark: mark, complete: complete)
    if case .inherited = events { inheritsEvents = true } else { inheritsEvents = false }
    self.mark = mark
    var requests: OpaquePointer?
    let code = ls_requests_open(&requests)
    guard code >= 0, let requests else { throw .openRequests(code: -code) }
    self.requests = requests
    self.source = source
    self.now = now
    self.complete = complete
  }

  deinit {
    ls_requests_close(requests)
    ls_stats_free(&stats)
    readings.deallocate()
  }

  /// Readable when link events wait.
  package var eventDescriptor: Int32 { events.descriptor }

  /// The event queue's limit in bytes as the kernel accounts it: twice what was asked for when all was granted.
  package var receiveBufferBytes: UInt32 { events.receiveBufferBytes }

  package var hearsFarEnds: Bool { events.hearsFarEnds }

  package var health: KernelHealth {
    var health = dumpHealth
    health.overruns = events.overruns
    health.malformedEvents = events.malformed
    health.droppedSenders &+= events.foreign
    return health
  }

  /// Every link with all its facts. Costs several system calls a link: for the start and after an overrun.
  package func list() throws(LinkSourceError) -> LinkList {
    var links = ls_links()
    defer { ls_links_free(&links) }
    var report = ls_dump_report()
    let code = ls_list_links(requests, &links, &report)
    guard code >= 0 else { throw .listLinks(code: -code) }
    account(report)
    let listed = UnsafeBufferPointer(start: links.items, count: links.count).map { link in
      var listed = ListedLink(facts: facts(of: link), counters: counters(of: link))
      complete(&listed.facts)
      return listed
    }
    events.watchFarEnds(of: listed)
    return LinkList(links: listed, isWhole: report.interrupted == 0)
  }

  package func queueNote(from last: Moment) -> QueueNote? {
    let note = mark?.note(from: last)
    if let note { events.watchFarEnds(of: note.vethEnds) }
    return note
  }

  /// The events that wait: for a wake-up by `eventDescriptor`, before a sample.
  package func drainEvents() throws(LinkSourceError) -> DrainedEvents { try events.drain() }

  /// Reads the counters, then the events until none waits.
  ///
  /// In this order no reading is of a link whose appearance is still in the queue. Leaving out what came or went
  /// meanwhile loses nothing: counters are cumulative, and RTM_DELLINK tells the last ones.
  package func sample() throws(LinkSourceError) -> Sample {
    let interrupted = dumpHealth.interruptedDumps
    switch source {
    case .netlink: try dumpCounters(into: &stats)
    case .getifaddrs, .procfs: try dumpNarrowCounters(into: &stats)
    }
    let at = now()
    let drained = try events.drain()
    if drained.overrun { stats.count = 0 }
    let (count, width) = fillReadings(leavingOut: doubtful(after: drained.events, source))
    return Sample(
      at: at, events: drained.events, readings: UnsafeBufferPointer(rebasing: readings[..<count]), width: width,
      overrun: drained.overrun, isComplete: dumpHealth.interruptedDumps == interrupted)
  }

  /// 64-bit counters of every link (32-bit ones where the kernel has no others).
  func dumpCounters(into stats: inout ls_stats) throws(LinkSourceError) {
    var report = ls_dump_report()
    let code = ls_dump_counters(requests, &stats, &report)
    guard code >= 0 else { throw .readCounters(code: -code) }
    account(report)
  }

  /// 32-bit counters of every link.
  func dumpNarrowCounters(into stats: inout ls_stats) throws(LinkSourceError) {
    let code = ls_dump_counters32(&stats)
    guard code >= 0 else { throw .readNarrowCounters(code: -code) }
  }

  private func fillReadings(leavingOut changed: Set<UInt32>) -> (count: Int, width: CounterWidth) {
    if readings.count < stats.count {
      readings.deallocate()
      readings = .allocate(capacity: stats.capacity)
    }
    var count = 0
    var width = CounterWidth.bits64
    for stat in UnsafeBufferPointer(start: stats.items, count: stats.count) {
      if !changed.isEmpty && changed.contains(stat.ifindex) { continue }
      if stat.width == 32 { width = .bits32 }
      readings.initializeElement(at: count, to: Reading(ifindex: stat.ifindex, counters: LinkCounters(stat.counters)))
      count += 1
    }
    return (count, width)
  }

  private func account(_ report: ls_dump_report) {
    dumpHealth.dumpRetries &+= UInt64(report.retries)
    dumpHealth.interruptedDumps &+= UInt64(report.interrupted)
    dumpHealth.droppedSenders &+= UInt64(report.foreign)
  }
}

/// The indices of links that came or went: their readings may be another incarnation's. getifaddrs tells some links by
/// their name alone, so there a changed link's reading may be that of another, which has its name now.
private func doubtful(after events: [LinkEvent], _ source: LinkCounterSource) -> Set<UInt32> {
  Set(
    events.compactMap { event in
      if case .changed(let link) = event, source == .getifaddrs { return link.facts.ifindex }
      return event.bornOrDead
    })
}
