// What a person may want to hear of as soon as the ledger knows it: told once, beside the booking, and kept by nobody here.

/// One thing that happened to a link or to its being observed. No figure is made of it.
package struct LinkNews: Hashable, Sendable {
  package enum What: Hashable, Sendable {
    /// The n-th life of this link that is known.
    case came(BirthCause, incarnation: UInt32)
    case went(DeathCause)
    /// A live link, or one that bore another name when it was seen last.
    case renamed(from: LinkName)
    /// The counter of a link that stayed, or that went, was lower than before: what passed in between is not known.
    case reset(Gap)
    case gap(Gap)
  }

  /// A link as it was when it happened.
  package struct Subject: Hashable, Sendable {
    package var id: LinkID
    package var name: LinkName
    package var kind: Kind
  }

  package var at: Moment
  /// nil: every link.
  package var subject: Subject?
  package var what: What
}

extension Ledger {
  /// At least so many of the newest are kept for who takes them late.
  static let keptNews = 256

  /// Takes what happened since the last call, oldest first. `lost`: so many older ones are not among it.
  package mutating func takeNews() -> (news: [LinkNews], lost: Int) {
    guard !news.isEmpty else { return ([], 0) }
    defer { (news, lostNews) = ([], 0) }
    return (news, lostNews)
  }

  /// Nothing is told of members of groups, which are a crowd, and of ignored links.
  mutating func tell(_ what: LinkNews.What, slot: Int?, at now: Moment) {
    if let slot, !records[slot].isShown { return }
    if news.count >= 2 * Ledger.keptNews {
      news.removeFirst(Ledger.keptNews)
      lostNews += Ledger.keptNews
    }
    let subject = slot.map {
      LinkNews.Subject(id: records[$0].id, name: records[$0].name, kind: records[$0].kind)
    }
    news.append(LinkNews(at: now, subject: subject, what: what))
  }

  /// Books a gap of every link, and tells of it.
  mutating func recordGap(_ gap: Gap, at now: Moment) {
    pending.gaps.append(gap)
    tell(.gap(gap), slot: nil, at: now)
  }
}
