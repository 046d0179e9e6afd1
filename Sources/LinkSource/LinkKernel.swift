// What the daemon asks of a source of links, whatever stands behind it.
package import TallyCore

/// Links, their counters and their events, of one network namespace. For one thread.
///
/// `KernelLinks` asks the kernel over netlink, `ProcfsLinks` reads /proc/net/dev; the simulation of the daemon's tests
/// answers as a kernel of its own.
package protocol LinkKernel: AnyObject {
  /// Where counters are read.
  var source: LinkCounterSource { get }
  /// Readable when link events wait; -1: this source has none.
  var eventDescriptor: Int32 { get }
  /// The event queue's limit in bytes as the kernel accounts it.
  var receiveBufferBytes: UInt32 { get }
  /// Whether the departures of veth ends in other namespaces are heard (CAP_NET_BROADCAST): they tell what the ends
  /// here received last.
  var hearsFarEnds: Bool { get }
  var health: KernelHealth { get }
  /// The queue of events may tell of times before this process.
  var inheritsEvents: Bool { get }
  /// How such a queue joins on to a store's last commit; nil when nobody knows. Call before it is read.
  func queueNote(from last: Moment) -> QueueNote?

  /// Every link with all its facts.
  func list() throws(LinkSourceError) -> LinkList
  /// The events that wait: for a wake-up, before a sample.
  func drainEvents() throws(LinkSourceError) -> DrainedEvents
  /// Reads the counters, then the events until none waits.
  func sample() throws(LinkSourceError) -> Sample
  /// Holds two independent ways to the same counters against each other.
  func crossCheck() throws(LinkSourceError) -> CrossCheck
}

extension LinkKernel {
  package var hearsFarEnds: Bool { false }
  package var inheritsEvents: Bool { false }
  package func queueNote(from last: Moment) -> QueueNote? { nil }
}

/// Links at one moment.
package struct LinkList: Sendable {
  package var links: [ListedLink]
  /// False when links came or went while they were listed: one that is not among them need not be gone.
  package var isWhole: Bool
}

/// Where counters are read. Lists and link events come from netlink with the first two, all 64 bits.
package enum LinkCounterSource: String, Sendable {
  /// 64-bit counters.
  case netlink
  /// 32-bit counters.
  case getifaddrs
  /// 64-bit counters of /proc/net/dev. There are no events: births and deaths show from one sample to the next.
  case procfs

  package var width: CounterWidth { self == .getifaddrs ? .bits32 : .bits64 }
  /// What comes and goes between two samples is not seen, nor are a link's last bytes.
  package var isPolled: Bool { self == .procfs }
}
