// A kernel that shows what a test says, for the sampler's own decisions.
import TallyCore

@testable import LinkSource
@testable import iftallyd

/// Links with counters by index; lines and events may be withheld.
final class ScriptedKernel: LinkKernel {
  let source: LinkCounterSource
  let eventDescriptor: Int32 = -1
  let receiveBufferBytes: UInt32 = 0
  let health = KernelHealth()
  var links: [UInt32: UInt64] = [1: 1000, 2: 2000]
  var withoutLine: Set<UInt32> = []
  var events: [LinkEvent] = []
  /// The next events that are read are preceded by a loss.
  var overrun = false
  /// Part of every inode.
  var life: UInt64 = 0
  var isComplete = true
  var seconds: Int64 = 1000
  /// So many of the next lists fail.
  var failures = 0
  private(set) var lists = 0
  private var lines = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 16)

  init(source: LinkCounterSource = .netlink) { self.source = source }
  deinit { lines.deallocate() }

  var now: Moment {
    Moment(utc: seconds * Moment.second, boot: seconds * Moment.second, bootID: BootID(high: 1, low: 1))
  }

  func listed(_ index: UInt32) -> ListedLink {
    var facts = LinkFacts()
    facts.ifindex = index
    facts.name = LinkName(escaped: "l\(index)")
    facts.inode = UInt64(index) + 100 * (life + 1)
    return ListedLink(facts: facts, counters: links[index].map { LinkCounters(rxBytes: $0) })
  }

  func list() throws(LinkSourceError) -> LinkList {
    guard failures == 0 else {
      failures -= 1
      throw .listLinks(code: 12)
    }
    lists += 1
    return LinkList(links: links.keys.sorted().map(listed), isWhole: true)
  }

  func drainEvents() -> DrainedEvents {
    defer { (events, overrun) = ([], false) }
    return DrainedEvents(events: events, overrun: overrun)
  }

  func sample() -> Sample {
    let drained = drainEvents()
    let told = drained.events
    var count = 0
    for (index, bytes) in links where !withoutLine.contains(index) && !told.contains(where: { $0.bornOrDead == index })
    {
      lines.initializeElement(at: count, to: Reading(ifindex: index, counters: LinkCounters(rxBytes: bytes)))
      count += 1
    }
    return Sample(
      at: now, events: told, readings: UnsafeBufferPointer(rebasing: lines[..<(drained.overrun ? 0 : count)]),
      width: .bits64, overrun: drained.overrun, isComplete: isComplete)
  }

  func crossCheck() -> CrossCheck { CrossCheck(checkedLinks: 0, disagreements: []) }
}

extension Sampler {
  convenience init(_ kernel: ScriptedKernel) {
    self.init(kernel: kernel, now: { kernel.now }, calendar: localCalendar(), restoring: nil)
  }
}
