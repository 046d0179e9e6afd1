// The kinds of links and the form of a classification.

/// What sort of link it is; the finer `type` beside it is free text.
package enum Kind: String, Sendable, CaseIterable {
  case wired, wifi, cellular, tunnel, bridge, bond, vlan, virtual, loopback, other
}

/// What a link is, and why we say so.
package struct Classification: Hashable, Sendable {
  package var kind: Kind
  package var type: String
  /// Its bytes cross a medium here (radio, modem, cable): the only ones a machine total may add.
  package var touchesMedium: Bool
  /// The rule that decided, in words.
  package var why: String

  package init(kind: Kind, type: String, touchesMedium: Bool, why: String) {
    self.kind = kind
    self.type = type
    self.touchesMedium = touchesMedium
    self.why = why
  }
}
