// What is kept for ever of links: their identity, total and baseline; their incarnations; and the gaps.

/// The reading that the next difference is taken from, with all that proves it is the same incarnation.
package struct Baseline: Hashable, Sendable {
  package var at: Moment
  package var ifindex: UInt32
  /// sysfs inode; 0 when it was not readable.
  package var inode: UInt64
  package var counters: LinkCounters
  /// Of the readings that they stem from; narrow ones were extended to 64 bits by what passed.
  package var width: CounterWidth
  /// When and how its incarnation opened; stored with the incarnation. UTC seconds.
  package var opened: Int64
  package var birth: BirthCause
  /// As it was last told; stored with the incarnation too.
  package var booked: Booked?

  package init(
    at: Moment, ifindex: UInt32, inode: UInt64, counters: LinkCounters, width: CounterWidth = .bits64, opened: Int64,
    birth: BirthCause, booked: Booked? = nil
  ) {
    self.at = at
    self.ifindex = ifindex
    self.inode = inode
    self.counters = counters
    self.width = width
    self.opened = opened
    self.birth = birth
    self.booked = booked
  }
}

/// What a person means by "this interface", and its running total.
package struct LinkRecord: Hashable, Sendable {
  package var id: LinkID
  /// Identity: "mac:…" for hardware, else "KIND:NAME"; see `identityKey`.
  package var key: String
  package var name: LinkName
  package var kind: Kind
  /// Finer than kind, for example "wireguard"; from the classification.
  package var type: String
  /// UTC seconds of the first and last time it was seen present.
  package var firstSeen: Int64
  package var lastSeen: Int64
  package var total: Amounts
  /// True when some of the total's truth was unobservable.
  package var totalIsAtLeast: Bool
  /// Incarnations after the first, and resets judged within one.
  package var resets: UInt32
  /// nil when the link is not present.
  package var baseline: Baseline?
  /// Whether a machine total adds it, as it last was; nil when that was never found out.
  package var isAdded: Bool?
  /// What carried it last.
  package var carrier: LinkID?
  /// What a person calls it; empty: nothing.
  package var title = ""
  /// The record that its figures are shown with.
  package var mergedInto: LinkID?
  /// UTC seconds: since then its history is hidden; nil: it is shown.
  package var forgotten: Int64?
  /// By the rules; an identity has a record for each label that it was counted under.
  package var label: String?
  /// The rule that decided last; nil in stores of before rules.
  package var rule: String?
  /// The group that its bytes are booked to. Such a record holds a baseline, counts nothing and goes with its link.
  package var group: LinkID?
  /// It is not counted; as of a group's member, its record goes with its link.
  package var isIgnored = false
  /// Of a group: how many lives it is made of.
  package var memberLives: UInt32 = 0

  package init(
    id: LinkID, key: String, name: LinkName, kind: Kind, type: String, firstSeen: Int64, lastSeen: Int64,
    total: Amounts = .zero, totalIsAtLeast: Bool = false, resets: UInt32 = 0, baseline: Baseline? = nil
  ) {
    self.id = id
    // Files of earlier versions hold other characters.
    self.key = asciiKey(key)
    self.name = name
    self.kind = kind
    self.type = type
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
    self.total = total
    self.totalIsAtLeast = totalIsAtLeast
    self.resets = resets
    self.baseline = baseline
  }
}

/// Why one life of a link began.
package enum BirthCause: String, Sendable {
  /// Present when counting first began: its first reading is the baseline.
  case firstSight = "first_sight"
  /// Created while we watched: counts from zero.
  case born
  /// Came from another namespace with its counters: counts from its first reading.
  case movedIn = "moved_in"
  /// Created while nobody watched: counts from zero, placed.
  case bornUnseen = "born_unseen"
  /// The counter went back within one incarnation and stayed there: the driver reset it.
  case counterReset = "counter_reset"
  /// A rule gave it another label, or took it out of a group: counts from where the record before ended.
  case relabelled
  /// It was ignored until then: counts from its reading of that moment.
  case ignoredBefore = "ignored_before"
}

/// Why one life of a link ended.
package enum DeathCause: String, Sendable {
  case deleted
  case movedOut = "moved_out"
  /// Gone when we looked again: its last bytes were not seen.
  case vanished
  case reboot
  case counterReset = "counter_reset"
  /// Its history was forgotten: the link itself went on as another record.
  case forgotten
  /// A rule gave it another label or put it into a group, whose record goes on.
  case relabelled
  /// It is not counted any more.
  case ignored
}

/// What one life counted, and the minutes that it was put into.
package struct Booked: Hashable, Sendable {
  /// The total of its link when it began. Constant, so that a life that goes on costs no writing.
  package var before: Amounts
  /// All that it counted; nil while it goes on, when it is its link's total less `before`.
  package var amounts: Amounts?
  /// UTC seconds: nothing of it is in a minute that starts before `from` or after `until`. A placement can begin
  /// before the life was seen, and a clock that is set back leads there too.
  package var from: Int64
  package var until: Int64

  package init(before: Amounts, amounts: Amounts? = nil, from: Int64, until: Int64) {
    self.before = before
    self.amounts = amounts
    self.from = from
    self.until = until
  }

  /// Widens the bounds to these minutes.
  mutating func reach(from: Int64, until: Int64) {
    self.from = min(self.from, from)
    self.until = max(self.until, until)
  }
}

/// One life of one link.
package struct Incarnation: Hashable, Sendable {
  package var link: LinkID
  package var bootID: BootID
  package var ifindex: UInt32
  package var inode: UInt64
  /// UTC seconds.
  package var opened: Int64
  package var birth: BirthCause
  /// UTC seconds; nil while it lives.
  package var closed: Int64?
  package var death: DeathCause?
  /// nil when it began before this was kept.
  package var booked: Booked?

  package init(
    link: LinkID, bootID: BootID, ifindex: UInt32, inode: UInt64, opened: Int64, birth: BirthCause,
    closed: Int64? = nil, death: DeathCause? = nil, booked: Booked? = nil
  ) {
    self.link = link
    self.bootID = bootID
    self.ifindex = ifindex
    self.inode = inode
    self.opened = opened
    self.birth = birth
    self.closed = closed
    self.death = death
    self.booked = booked
  }
}

/// Why nobody watched for a while.
package enum GapReason: String, Sendable, CaseIterable {
  case notRunning = "not_running"
  /// The machine was off, or crashed, between the last commit and this boot.
  case reboot
  /// The kernel dropped link events because the event queue was full.
  case eventOverrun = "event_overrun"
  /// The link was gone when we looked again; or it was here then, and nobody could have told of others before it.
  case vanished
  /// The receive tail of a container end cannot be seen from here.
  case peerTail = "peer_tail"
  /// A counter went back and stayed there.
  case counterReset = "counter_reset"
  /// The file that held these minutes is gone or was damaged; the totals were still known.
  case historyLost = "history_lost"
}

/// A span that was not observed.
package struct Gap: Hashable, Sendable {
  /// nil: every link.
  package var link: LinkID?
  /// UTC seconds, from inclusive, to exclusive.
  package var from: Int64
  package var to: Int64
  package var reason: GapReason
  /// True when bytes may have passed that nobody will ever see; false when they were counted afterwards.
  package var lossy: Bool

  package init(link: LinkID?, from: Int64, to: Int64, reason: GapReason, lossy: Bool) {
    self.link = link
    self.from = from
    self.to = to
    self.reason = reason
    self.lossy = lossy
  }
}

/// A wall clock that moved against the boot clock.
package struct ClockStep: Hashable, Sendable {
  /// The moment after the step, UTC seconds on the new time.
  package var at: Int64
  /// By how much, nanoseconds, forward positive.
  package var by: Int64

  package init(at: Int64, by: Int64) {
    self.at = at
    self.by = by
  }

  /// It led into the span of UTC seconds or out of it.
  package func touches(from: Int64, to: Int64) -> Bool {
    let before = at &- floorDivide(by, Moment.second)
    return at >= from && at < to || before >= from && before < to
  }
}
