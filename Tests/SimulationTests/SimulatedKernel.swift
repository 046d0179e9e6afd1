// The toy kernel behind the daemon's door to the kernel: calls that fail, lists that are cut, events that come meanwhile.
import TallyCore
import Toys

@testable import LinkSource

/// Answers as `KernelLinks` does, from a toy kernel, which is also the machine's clock.
final class SimulatedKernel: LinkKernel {
  var toy = ToyKernel()
  /// False where sysfs is not readable.
  var hasInodes = true
  /// What happens after the next dump or list was read and before its events are.
  var meanwhile: ((inout ToyKernel) -> Void)?
  /// So many of the next calls fail.
  var failures = 0
  /// The next dump and the next list were interrupted and lack these links.
  var omitted: Set<UInt32> = []
  /// What the present process notes beside a queue that outlives it; nil: its queue is its own.
  var mark: QueueMark?
  /// Called when a list is taken.
  var listed: () -> Void = {}

  private var lines = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 0)

  deinit { lines.deallocate() }

  var source: LinkCounterSource { toy.width == .bits64 ? .netlink : .getifaddrs }
  let eventDescriptor: Int32 = -1
  let receiveBufferBytes: UInt32 = 0
  let health = KernelHealth()

  func list() throws(LinkSourceError) -> LinkList {
    try fail(.listLinks(code: 12))
    listed()
    defer { happen() }
    let isWhole = omitted.isEmpty
    let links = toy.present.filter { !isOmitted($0) }.map { index in
      var link = toy.listed(index)
      if !hasInodes { link.facts = withoutSysfs(link.facts) }
      return link
    }
    omitted = []
    return LinkList(links: links, isWhole: isWhole)
  }

  var inheritsEvents: Bool { mark != nil }

  func queueNote(from last: Moment) -> QueueNote? { mark?.note(from: last) }

  func drainEvents() throws(LinkSourceError) -> DrainedEvents {
    guard let mark else { return drain() }
    return try mark.reads { () throws(LinkSourceError) in drain() }
  }

  private func drain() -> DrainedEvents {
    let overrun = toy.overrun
    toy.overrun = false
    return DrainedEvents(events: completed(toy.drain()), overrun: overrun)
  }

  func sample() throws(LinkSourceError) -> Sample {
    try fail(.readCounters(code: 12))
    let dump = toy.dump().filter { !isOmitted($0.ifindex) }
    let at = toy.now
    happen()
    let drained = try drainEvents()
    let touched = Set(drained.events.compactMap(\.bornOrDead))
    let readings = drained.overrun ? [] : dump.filter { !touched.contains($0.ifindex) }
    lines.deallocate()
    lines = .allocate(capacity: readings.count)
    _ = lines.initialize(from: readings)
    return Sample(
      at: at, events: drained.events, readings: UnsafeBufferPointer(lines), width: toy.width, overrun: drained.overrun)
  }

  func crossCheck() throws(LinkSourceError) -> CrossCheck { CrossCheck(checkedLinks: 0, disagreements: []) }

  private func fail(_ error: LinkSourceError) throws(LinkSourceError) {
    guard failures > 0 else { return }
    failures -= 1
    throw error
  }

  private func happen() {
    let what = meanwhile
    meanwhile = nil
    what?(&toy)
  }

  private func isOmitted(_ index: UInt32) -> Bool { omitted.remove(index) != nil }

  /// Sysfs is read in the present, by the last name that the events tell: a link that has gone since has nothing there.
  private func completed(_ events: [LinkEvent]) -> [LinkEvent] {
    var gone: Set<UInt32> = []
    var names: [UInt32: LinkName] = [:]
    func complete(_ link: ListedLink) -> ListedLink {
      let index = link.facts.ifindex
      if names[index] == nil { names[index] = link.facts.name }
      let present = toy.links[index].flatMap { $0.isHere && $0.facts.name == names[index] ? $0.facts : nil }
      var link = link
      if !hasInodes || gone.contains(index) || present == nil { link.facts = withoutSysfs(link.facts) }
      return link
    }
    var completed = events
    for place in events.indices.reversed() {
      switch events[place] {
      case .departed(let index, _, _, _): gone.insert(index)
      case .appeared(let link):
        completed[place] = .appeared(complete(link))
        gone.insert(link.facts.ifindex)
      case .changed(let link): completed[place] = .changed(complete(link))
      case .farEndDeparted, .namespaceEnded: break
      }
    }
    return completed
  }

  private func withoutSysfs(_ facts: LinkFacts) -> LinkFacts {
    var facts = facts
    facts.inode = 0
    facts.hasDevice = false
    facts.speedMbit = nil
    return facts
  }
}
