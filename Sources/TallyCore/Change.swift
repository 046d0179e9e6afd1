// Changes that people make to what is shown, each of one interface, so that it can be told and undone.

/// One change as it is kept.
package struct Change: Hashable, Sendable {
  package enum Action: String, Sendable {
    /// Gave the interface a title of a person's own.
    case rename
    /// Has its figures shown with another's.
    case merge
    /// Hid its history.
    case forget
  }

  package struct Undoing: Hashable, Sendable {
    /// UTC seconds.
    package var at: Int64
    package var uid: UInt32

    package init(at: Int64, uid: UInt32) {
      self.at = at
      self.uid = uid
    }
  }

  /// Positive, never reused.
  package var id: Int64
  /// UTC seconds.
  package var at: Int64
  /// The user who asked for it.
  package var uid: UInt32
  package var action: Action
  package var link: LinkID
  /// Of a rename the title before and after; of a merge `after` is the other's id as text. When a device of several labels
  /// is forgotten, `after` has the ids of its other records, joined with a plus sign.
  package var before: String
  package var after: String
  package var undone: Undoing?

  package init(
    id: Int64, at: Int64, uid: UInt32, action: Action, link: LinkID, before: String = "", after: String = "",
    undone: Undoing? = nil
  ) {
    self.id = id
    self.at = at
    self.uid = uid
    self.action = action
    self.link = link
    self.before = before
    self.after = after
    self.undone = undone
  }

  /// Of a merge the other record.
  package var target: LinkID? { action == .merge ? LinkID(after.dropFirst(3)) : nil }

  /// The newest so many are kept.
  package static let kept = 1000

  /// All records that it alters, `link` first.
  package var links: [LinkID] {
    guard action == .forget else { return [link] }
    return [link] + after.split(separator: "+").compactMap { LinkID($0.dropFirst(3)) }
  }
}

/// What somebody asks for; interfaces by the slot of their own record.
package enum ChangeRequest: Sendable {
  case rename(Int, title: String)
  case merge(Int, into: Int)
  /// `with`: records of the same device that are forgotten with it.
  case forget(Int, with: [Int] = [])
  /// By the number of the change.
  case undo(Int64)
}

/// Why a change is not made.
package enum ChangeError: Error, Hashable, Sendable {
  /// With what is wrong about it.
  case badTitle(String)
  /// An interface cannot be merged into itself.
  case sameInterface
  /// One is a group of expired interfaces, which more are added to as they expire.
  case expiredGroup
  /// Two links that are there at once are two interfaces.
  case bothPresent
  /// A machine total adds the bytes of one alone.
  case sharesDiffer
  /// The record is shown with the one of this id, and is no interface of its own.
  case merged(into: LinkID)
  /// Its history is hidden.
  case forgotten
  case unknownChange
  case alreadyUndone
  /// A later one of the same sort has to be undone first.
  case superseded(by: Int64)
  /// Its history is deleted.
  case deleted
}

/// The most bytes of a title.
package let longestTitle = 64

/// What is wrong with a title; nil: nothing. An empty one stands for none.
package func problem(ofTitle title: String) -> String? {
  if title.utf8.count > longestTitle { return "it is longer than \(longestTitle) bytes" }
  if title.unicodeScalars.first?.properties.isWhitespace == true
    || title.unicodeScalars.last?.properties.isWhitespace == true
  {
    return "it begins or ends with white space"
  }
  if let scalar = unshowable(in: title) {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "it holds a control or format character, U+" + String(repeating: "0", count: max(0, 4 - digits.count))
      + digits
  }
  return title.hasPrefix("id:") ? "it looks like an id" : nil
}

/// The first character that cannot be shown as it is: controls, and what hides, reorders or breaks the text around it.
package func unshowable(in text: String) -> Unicode.Scalar? {
  text.unicodeScalars.first { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    default: false
    }
  }
}
