// Changes on the socket: what is asked for, what was made of it, and the list of them.

/// POST /v1/interfaces/{name or id}/title
package struct TitleRequest: Codable, Hashable, Sendable {
  /// Empty: take the title away.
  package var title: String

  package init(title: String) {
    self.title = title
  }
}

/// POST /v1/interfaces/{name or id}/merge
package struct MergeRequest: Codable, Hashable, Sendable {
  /// Name, title or id of the interface that is to show the figures of both.
  package var into: String

  package init(into: String) {
    self.into = into
  }
}

/// One change.
package struct ChangeEntry: Codable, Hashable, Sendable {
  /// Who took it back, and when.
  package struct Undoing: Codable, Hashable, Sendable {
    /// RFC 3339.
    package var at: String
    package var uid: UInt32

    package init(at: String, uid: UInt32) {
      self.at = at
      self.uid = uid
    }
  }

  /// Its number, for undo.
  package var id: Int64
  /// RFC 3339.
  package var at: String
  /// The user who asked for it.
  package var uid: UInt32
  /// rename, merge or forget.
  package var action: String
  /// The interface as it was named in its last life; the name is empty when its history is deleted.
  package var interface: InterfaceReference
  /// Other records of the same device that were forgotten with it; absent without any.
  package var others: [InterfaceReference]?
  /// Of a rename the title before and after; of a merge `after` is the id of the interface that shows both.
  @NullWhenNil package var before: String?
  @NullWhenNil package var after: String?
  /// null while it stands.
  @NullWhenNil package var undone: Undoing?

  package init(
    id: Int64, at: String, uid: UInt32, action: String, interface: InterfaceReference,
    others: [InterfaceReference]? = nil, before: String?, after: String?, undone: Undoing?
  ) {
    self.id = id
    self.at = at
    self.uid = uid
    self.action = action
    self.interface = interface
    self.others = others
    self._before = NullWhenNil(wrappedValue: before)
    self._after = NullWhenNil(wrappedValue: after)
    self._undone = NullWhenNil(wrappedValue: undone)
  }
}

/// The answer to a change that is stored.
package struct ChangeReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the reply was made from.
  package var asOf: String
  package var change: ChangeEntry
  /// As it is shown now: the renamed one, the one that another was merged into, or what a link that is there goes on as
  /// after its history was forgotten; null when nothing is left to show.
  @NullWhenNil package var interface: Interface?

  package init(asOf: String, change: ChangeEntry, interface: Interface?) {
    self.asOf = asOf
    self.change = change
    self._interface = NullWhenNil(wrappedValue: interface)
  }

  private enum CodingKeys: String, CodingKey {
    case nature, change, interface
    case asOf = "as_of"
  }
}

/// GET /v1/changes
package struct ChangesReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339.
  package var asOf: String
  /// The newest thousand, newest first.
  package var changes: [ChangeEntry]

  package init(asOf: String, changes: [ChangeEntry]) {
    self.asOf = asOf
    self.changes = changes
  }

  private enum CodingKeys: String, CodingKey {
    case nature, changes
    case asOf = "as_of"
  }
}
