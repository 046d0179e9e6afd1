// One event of /v1/stream: what happened, to which interface, as the stream and the programs that follow it say it.

/// The data of an event. Which fields are there depends on `event`; a reader passes over words that it does not know.
package struct StreamEvent: Codable, Hashable, Sendable {
  /// The values of `event`.
  package enum Kind {
    package static let rates = "rates"
    package static let link = "link"
    package static let reset = "reset"
    package static let gap = "gap"
    package static let problem = "problem"
    package static let missed = "missed"

    /// Those that can be asked for; `missed` comes with any of them.
    package static let all = [rates, link, reset, gap, problem]
  }

  /// The values of `change`.
  package enum Change {
    package static let came = "came"
    package static let went = "went"
    package static let renamed = "renamed"
  }

  /// The values of `state`.
  package enum State {
    package static let raised = "raised"
    package static let cleared = "cleared"
  }

  /// The values of `reason` of a `missed`.
  package enum Missed {
    /// The daemon was started since: what its last process told later is gone.
    package static let restarted = "restarted"
    /// More happened than is kept.
    package static let tooOld = "too_old"
  }

  /// An interface as it was at the moment of the event.
  package struct Interface: Codable, Hashable, Sendable {
    /// "id:3".
    package var id: String
    /// Escaped: no control bytes, valid UTF-8.
    package var name: String
    package var kind: String

    package init(id: String, name: String, kind: String) {
      self.id = id
      self.name = name
      self.kind = kind
    }
  }

  /// The speed of one interface.
  package struct Speed: Codable, Hashable, Sendable {
    package var interface: Interface
    /// null until there are two readings.
    @NullWhenNil package var rate: Rate?

    package init(interface: Interface, rate: Rate?) {
      self.interface = interface
      self._rate = NullWhenNil(wrappedValue: rate)
    }
  }

  package var nature = natureEstimate
  /// One of `Kind`, or a word of a newer daemon.
  package var event: String
  /// Never lower than that of an event before; where a stream is resumed.
  package var id: UInt64
  /// RFC 3339: when it happened, or was found to have happened.
  package var at: String
  /// Absent: every interface, or none.
  package var interface: Interface?

  /// link: one of `Change`.
  package var change: String?
  /// link: how its life began or ended, in the words of /v1/explain.
  package var cause: String?
  /// link, came: the number of this life of the interface.
  package var incarnation: Int?
  /// link, renamed.
  package var formerName: String?

  /// reset, gap: RFC 3339, the span that was not observed.
  package var from: String?
  package var to: String?
  /// gap: as in /v1/status; missed: one of `Missed`.
  package var reason: String?
  /// reset, gap: bytes may have passed that nobody will ever see.
  package var lossy: Bool?

  /// problem: one of `State`.
  package var state: String?
  /// problem: as the warnings of /v1/status.
  package var code: String?
  package var message: String?
  package var remedy: String?

  /// rates: the present interfaces.
  package var interfaces: [Speed]?

  package init(event: String, id: UInt64, at: String, interface: Interface? = nil) {
    self.event = event
    self.id = id
    self.at = at
    self.interface = interface
  }

  private enum CodingKeys: String, CodingKey {
    case nature, event, id, at, interface, change, cause, incarnation, from, to, reason, lossy, state, code, message
    case remedy, interfaces
    case formerName = "former_name"
  }
}
