// The link events that wait, in order, each link with the facts that fit its place in the queue.
import CLinkStats
package import TallyCore

/// Where the socket for link events comes from.
package enum EventSocket: Sendable {
  /// Opened here, with room for this many bytes if we may.
  case own(receiveBuffer: UInt32)
  /// Opened and bound by the service manager; its queue may tell of times before this process.
  case inherited(Int32)

  /// 32 MiB: about 15 000 events. A limit, not memory in use.
  package static let usual = EventSocket.own(receiveBuffer: 32 << 20)
}

/// Link events alone.
package struct DrainedEvents: Sendable {
  /// In the kernel's order.
  package var events: [LinkEvent]
  /// The kernel dropped events, or one could not be read: apply these, then list all links.
  package var overrun: Bool
}

/// The event socket and what was read from it but not yet handed on: an error later in a sample loses no event.
final class KernelEvents {
  private(set) var overruns: UInt64 = 0
  private(set) var foreign: UInt64 = 0
  private(set) var malformed: UInt64 = 0
  /// The other ends, elsewhere, of the veths here: all that is let in of what other namespaces tell.
  private var farEnds: Set<FarEnd> = []
  private let socket: OpaquePointer
  private let complete: (inout LinkFacts) -> Void
  private var waiting = DrainedEvents(events: [], overrun: false)
  private let mark: QueueMark?

  init(_ origin: EventSocket, mark: QueueMark?, complete: @escaping (inout LinkFacts) -> Void)
    throws(LinkSourceError)
  {
    var socket: OpaquePointer?
    switch origin {
    case .own(let receiveBuffer):
      let code = ls_events_open(receiveBuffer, &socket)
      guard code >= 0, let socket else { throw .openEvents(code: -code) }
      self.socket = socket
    case .inherited(let descriptor):
      let code = ls_events_adopt(descriptor, &socket)
      guard code >= 0, let socket else { throw .adoptEvents(descriptor: descriptor, code: -code) }
      self.socket = socket
    }
    self.complete = complete
    self.mark = mark
  }

  deinit { ls_events_close(socket) }

  var descriptor: Int32 { ls_events_descriptor(socket) }
  var receiveBufferBytes: UInt32 { ls_events_receive_buffer(socket) }
  var hearsFarEnds: Bool { ls_events_hear_others(socket) != 0 }

  /// Lets in what concerns the other ends of these links, and nothing else until an event tells of more.
  func watchFarEnds(of links: [ListedLink]) { farEnds = Set(links.compactMap(\.facts.farEnd)) }

  /// Lets in what concerns these, of a time before the first list.
  func watchFarEnds(of ends: [VethEnd]) {
    farEnds = Set(ends.compactMap { end in end.namespace.map { FarEnd(namespace: $0, ifindex: end.peer) } })
  }

  /// Reads until no event waits, and hands all on.
  func drain() throws(LinkSourceError) -> DrainedEvents {
    guard let mark else { return try read() }
    return try mark.reads(read)
  }

  private func read() throws(LinkSourceError) -> DrainedEvents {
    let first = waiting.events.count
    var report = ls_drain_report()
    let code = ls_events_drain(
      socket,
      { context, what, namespace, link in
        guard let context else { return }
        let owner = Unmanaged<KernelEvents>.fromOpaque(context).takeUnretainedValue()
        owner.take(what, namespace, link?.pointee)
      }, Unmanaged.passUnretained(self).toOpaque(), &report)
    completeFacts(from: first)
    // What could not be read may have been a birth or a death.
    if code < 0 || report.overrun != 0 || report.malformed != 0 { noteOverrun() }
    guard code >= 0 else { throw .readEvents(code: -code) }

    overruns &+= UInt64(report.overrun)
    foreign &+= UInt64(report.foreign)
    malformed &+= UInt64(report.malformed)
    defer { waiting = DrainedEvents(events: [], overrun: false) }
    return waiting
  }

  private func take(_ what: Int32, _ namespace: Int32, _ link: ls_link?) {
    guard let link else {
      farEnds = farEnds.filter { $0.namespace != namespace }
      waiting.events.append(.namespaceEnded(namespace))
      return
    }
    if namespace == LS_HERE {
      let event = event(what, link)
      if let farEnd = event.link?.facts.farEnd { farEnds.insert(farEnd) }
      waiting.events.append(event)
    } else if farEnds.remove(FarEnd(namespace: namespace, ifindex: link.ifindex)) != nil {
      waiting.events.append(farEvent(namespace, link))
    }
  }

  /// What was lost may have told that another link has the place of a far end by now.
  private func noteOverrun() {
    waiting.overrun = true
    farEnds = []
    waiting.events.removeAll { $0.farEnd != nil }
  }

  /// Adds facts that are read by name in the present, while an event tells of a past: a link that has gone since gets
  /// none (its name may be another's by now), and a link that was renamed since is looked up by its last name.
  private func completeFacts(from first: Int) {
    var gone: Set<UInt32> = []
    var lastNames: [UInt32: LinkName] = [:]
    for index in waiting.events.indices[first...].reversed() {
      switch waiting.events[index] {
      case .departed(let ifindex, _, _, _):
        gone.insert(ifindex)
      case .appeared(let link):
        waiting.events[index] = .appeared(completed(link))
        gone.insert(link.facts.ifindex)
      case .changed(let link):
        waiting.events[index] = .changed(completed(link))
      case .farEndDeparted, .namespaceEnded: break
      }
    }

    func completed(_ link: ListedLink) -> ListedLink {
      let ifindex = link.facts.ifindex
      if gone.contains(ifindex) { return link }
      var completed = link
      let lastName = lastNames[ifindex] ?? link.facts.name
      lastNames[ifindex] = lastName
      completed.facts.name = lastName
      complete(&completed.facts)
      completed.facts.name = link.facts.name
      return completed
    }
  }
}

/// True when a descriptor of the service manager is a socket for link events.
package func isEventQueue(_ descriptor: Int32) -> Bool { ls_events_is_queue(descriptor) != 0 }

/// Closes one that is not used, and keeps its queue from filling up while the service manager holds it.
package func refuseEventQueue(_ descriptor: Int32) { ls_events_refuse(descriptor) }
