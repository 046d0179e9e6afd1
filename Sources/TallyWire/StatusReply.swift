// The reply of /v1/status: how the daemon itself is doing.

/// GET /v1/status
package struct StatusReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  package var version: String
  /// RFC 3339: start of the daemon.
  package var since: String
  package var bootID: String?
  package var namespace: Namespace
  package var source: Source
  package var crossCheck: CrossCheck
  package var sample: Sample
  package var commit: Commit
  package var clock: Clock
  package var gaps: [Gap]
  package var events: Events
  package var store: Store
  package var links: Links
  package var warnings: [Warning]
  /// Absent: an older daemon.
  package var service: Service?

  package init(
    asOf: String, version: String, since: String, bootID: String?, namespace: Namespace, source: Source,
    crossCheck: CrossCheck, sample: Sample, commit: Commit, clock: Clock, gaps: [Gap], events: Events, store: Store,
    links: Links, warnings: [Warning], service: Service? = nil
  ) {
    self.asOf = asOf
    self.version = version
    self.since = since
    self.bootID = bootID
    self.namespace = namespace
    self.source = source
    self.crossCheck = crossCheck
    self.sample = sample
    self.commit = commit
    self.clock = clock
    self.gaps = gaps
    self.events = events
    self.store = store
    self.links = links
    self.warnings = warnings
    self.service = service
  }

  private enum CodingKeys: String, CodingKey {
    case nature, version, since, namespace, source, sample, commit, clock, gaps, events, store, links, warnings, service
    case asOf = "as_of"
    case bootID = "boot_id"
    case crossCheck = "cross_check"
  }
}

extension StatusReply {
  /// The network namespace that is counted.
  package struct Namespace: Codable, Hashable, Sendable {
    /// Inode of /proc/self/ns/net; 0 when it was not readable.
    package var inode: UInt64
    package var note: String

    package init(inode: UInt64, note: String = "other network namespaces are not counted") {
      self.inode = inode
      self.note = note
    }
  }

  /// Where counters come from.
  package struct Source: Codable, Hashable, Sendable {
    /// netlink, getifaddrs or procfs.
    package var name: String
    /// 64 or 32.
    package var counterBits: Int
    /// Whose the socket for link events is, in words: `own`, or `inherited from systemd` when its queue outlives the
    /// daemon; `polled`: there are no events.
    package var events: String

    package static let own = "own"
    package static let inherited = "inherited from systemd"
    package static let polled = "polled"

    /// Effective size of the event socket's receive buffer; 0 without one.
    package var receiveBufferBytes: Int
    /// Whether the departures of veths' other ends in other namespaces are heard; nil: an older daemon.
    package var peerEvents: Bool?

    package init(name: String, counterBits: Int, events: String, receiveBufferBytes: Int, peerEvents: Bool?) {
      self.name = name
      self.counterBits = counterBits
      self.events = events
      self.receiveBufferBytes = receiveBufferBytes
      self.peerEvents = peerEvents
    }

    private enum CodingKeys: String, CodingKey {
      case name, events
      case counterBits = "counter_bits"
      case receiveBufferBytes = "receive_buffer_bytes"
      case peerEvents = "peer_events"
    }
  }

  /// Whether getifaddrs' 32-bit counters agree with the source's low 32 bits.
  package struct CrossCheck: Codable, Hashable, Sendable {
    package var agree: Bool
    package var checkedLinks: Int
    /// Absent before the first check.
    package var at: String?
    /// Names of links that disagreed in the last check.
    package var disagreements: [String]

    package init(agree: Bool, checkedLinks: Int, at: String?, disagreements: [String]) {
      self.agree = agree
      self.checkedLinks = checkedLinks
      self.at = at
      self.disagreements = disagreements
    }

    private enum CodingKeys: String, CodingKey {
      case agree, at, disagreements
      case checkedLinks = "checked_links"
    }
  }

  /// The last sample of the kernel's counters.
  package struct Sample: Codable, Hashable, Sendable {
    package var at: String
    package var ageSeconds: Double
    /// Samples since the start.
    package var count: UInt64
    package var durationMicroseconds: UInt64

    package init(at: String, ageSeconds: Double, count: UInt64, durationMicroseconds: UInt64) {
      self.at = at
      self.ageSeconds = ageSeconds
      self.count = count
      self.durationMicroseconds = durationMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case at, count
      case ageSeconds = "age_seconds"
      case durationMicroseconds = "duration_us"
    }
  }

  /// The last commit to the store.
  package struct Commit: Codable, Hashable, Sendable {
    /// Absent, with the age, before the first commit.
    package var at: String?
    package var ageSeconds: Double?
    /// Commits since the start.
    package var count: UInt64
    package var failures: UInt64
    /// Rows that wait in memory.
    package var pendingRows: Int

    package init(at: String?, ageSeconds: Double?, count: UInt64, failures: UInt64, pendingRows: Int) {
      self.at = at
      self.ageSeconds = ageSeconds
      self.count = count
      self.failures = failures
      self.pendingRows = pendingRows
    }

    private enum CodingKeys: String, CodingKey {
      case at, count, failures
      case ageSeconds = "age_seconds"
      case pendingRows = "pending_rows"
    }
  }

  /// The wall clock as the daemon sees it.
  package struct Clock: Codable, Hashable, Sendable {
    package struct Step: Codable, Hashable, Sendable {
      /// RFC 3339, on the new time.
      package var at: String
      /// Forward positive.
      package var bySeconds: Double

      package init(at: String, bySeconds: Double) {
        self.at = at
        self.bySeconds = bySeconds
      }

      private enum CodingKeys: String, CodingKey {
        case at
        case bySeconds = "by_seconds"
      }
    }

    /// Name of the local zone.
    package var timezone: String
    package var steps: [Step]
    /// The kernel calls its clock synchronised; absent when it cannot be asked.
    package var synchronized: Bool?

    package init(timezone: String, steps: [Step], synchronized: Bool?) {
      self.timezone = timezone
      self.steps = steps
      self.synchronized = synchronized
    }
  }

  /// A span that was not observed.
  package struct Gap: Codable, Hashable, Sendable {
    /// Absent: every interface.
    package var interface: String?
    package var from: String
    package var to: String
    /// not_running, reboot, event_overrun, vanished, peer_tail, counter_reset, history_lost.
    package var reason: String
    /// Bytes may have passed that nobody will ever see.
    package var lossy: Bool

    package init(interface: String?, from: String, to: String, reason: String, lossy: Bool) {
      self.interface = interface
      self.from = from
      self.to = to
      self.reason = reason
      self.lossy = lossy
    }
  }

  /// Odd things on the netlink sockets, counted since the start.
  package struct Events: Codable, Hashable, Sendable {
    package var overruns: UInt64
    package var dumpRetries: UInt64
    /// Messages thrown away because the kernel did not send them.
    package var droppedSenders: UInt64

    package init(overruns: UInt64, dumpRetries: UInt64, droppedSenders: UInt64) {
      self.overruns = overruns
      self.dumpRetries = dumpRetries
      self.droppedSenders = droppedSenders
    }

    private enum CodingKeys: String, CodingKey {
      case overruns
      case dumpRetries = "dump_retries"
      case droppedSenders = "dropped_senders"
    }
  }

  /// The database file.
  package struct Store: Codable, Hashable, Sendable {
    package static let ok = "ok"
    package static let memoryOnly = "memory_only"
    package static let failing = "failing"
    package static let loading = "loading"

    package var path: String
    /// One of the words above.
    package var state: String
    package var message: String?
    package var sizeBytes: UInt64
    /// Room for more on its file system, as of the last commit; absent when it is not known.
    package var freeBytes: UInt64?
    /// Of the whole file, when `check=store` asked for it: "ok", or what is wrong.
    package var integrity: String?

    package init(
      path: String, state: String, message: String?, sizeBytes: UInt64, freeBytes: UInt64? = nil,
      integrity: String? = nil
    ) {
      self.path = path
      self.state = state
      self.message = message
      self.sizeBytes = sizeBytes
      self.freeBytes = freeBytes
      self.integrity = integrity
    }

    private enum CodingKeys: String, CodingKey {
      case path, state, message, integrity
      case sizeBytes = "size_bytes"
      case freeBytes = "free_bytes"
    }
  }

  /// The daemon as a process.
  package struct Service: Codable, Hashable, Sendable {
    package static let systemd = "systemd"

    package var pid: Int32
    /// Who is told when it is ready, and starts it again: `systemd`; absent when nobody is.
    package var manager: String?
    /// Paths of Unix sockets, addresses with ports, and of sockets that were handed over their names.
    package var listeners: [String]

    package init(pid: Int32, manager: String?, listeners: [String]) {
      self.pid = pid
      self.manager = manager
      self.listeners = listeners
    }
  }

  /// How many interfaces there are.
  package struct Links: Codable, Hashable, Sendable {
    package var present: Int
    /// Interfaces and groups with a history, present or not.
    package var known: Int
    /// Links that are there now and not counted, by the rule that says so; nil: an older daemon.
    package var ignored: [Ignored]?
    /// Links that are there now and counted together because there are too many; nil: an older daemon.
    package var folded: Int?
    /// Links that were gone for long and are counted together in groups; nil: an older daemon.
    package var expired: Int?

    package struct Ignored: Codable, Hashable, Sendable {
      package var rule: String
      package var links: Int

      package init(rule: String, links: Int) {
        self.rule = rule
        self.links = links
      }
    }

    package init(present: Int, known: Int, ignored: [Ignored]? = nil, folded: Int? = nil, expired: Int? = nil) {
      self.present = present
      self.known = known
      self.ignored = ignored
      self.folded = folded
      self.expired = expired
    }
  }

  /// Something that a person should know.
  package struct Warning: Codable, Hashable, Sendable {
    package var code: String
    package var message: String
    package var remedy: String

    package init(code: String, message: String, remedy: String) {
      self.code = code
      self.message = message
      self.remedy = remedy
    }
  }
}
