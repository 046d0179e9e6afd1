// What the service manager hands over at the start: sockets to listen on, and the queue of link events that it keeps.
import Glibc
import LinkSource
import LocalHTTP

/// Descriptors of the service manager, sorted by what they are.
struct HandedOver {
  private(set) var listeners: [ListeningSocket] = []
  /// The queue of an earlier process where the manager kept one, else a new one that it opened.
  private(set) var queue: CInt?
  private(set) var mark: QueueMark?
  private var keepsQueue = false

  /// Names in the manager's store, where they tell what was kept from what it opens anew.
  private static let keptQueue = "link-events-kept"
  private static let keptMark = "link-events-mark"

  /// Takes over what there is. A descriptor that nobody asked for is an error: it would be listened to by nobody.
  init(_ descriptors: [(name: String, descriptor: CInt)]) throws(LocalHTTPError) {
    for (name, descriptor) in descriptors {
      if name == HandedOver.keptMark {
        mark = QueueMark(adopting: descriptor)
        if mark == nil { close(descriptor) }
      } else if isEventQueue(descriptor) {
        take(descriptor, isKept: name == HandedOver.keptQueue)
      } else {
        listeners.append(try ListeningSocket.adopted(descriptor, name: name))
      }
    }
    if !keepsQueue { mark = nil }
  }

  private mutating func take(_ descriptor: CInt, isKept: Bool) {
    guard !keepsQueue, isKept || queue == nil else { return refuse(descriptor, for: queue) }
    if let queue { refuse(queue, for: descriptor) }
    queue = descriptor
    keepsQueue = isKept
  }

  /// Until a crash the socket unit's queue and the kept one are the same.
  private func refuse(_ descriptor: CInt, for better: CInt?) {
    var (one, other) = (stat(), stat())
    if let better, fstat(descriptor, &one) == 0, fstat(better, &other) == 0, one.st_dev == other.st_dev,
      one.st_ino == other.st_ino
    {
      close(descriptor)
    } else {
      refuseEventQueue(descriptor)
    }
  }

  /// Lets go of a queue that is of no use here.
  mutating func refuse() {
    guard let queue else { return }
    refuseEventQueue(queue)
    for name in [HandedOver.keptQueue, HandedOver.keptMark] { ServiceNotify.forget(name: name) }
    self.queue = nil
    mark = nil
  }

  /// Has the manager keep the queue and a mark beside it for the next process, where that is not so already.
  mutating func keep() {
    guard let queue else { return }
    if !keepsQueue { ServiceNotify.keep(queue, name: HandedOver.keptQueue) }
    guard mark == nil, let new = QueueMark() else { return }
    ServiceNotify.forget(name: HandedOver.keptMark)
    ServiceNotify.keep(new.descriptor, name: HandedOver.keptMark)
    mark = new
  }
}
