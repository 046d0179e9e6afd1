// The words of an explanation: how lives began and ended, what a gap means, and why a figure is what it is.
import LinkSource
import TallyCore
import TallyWire

/// What is said of the figures of one link.
struct ExplainWords {
  let record: LinkRecord
  /// Others were merged into it: of each life it is said whose it was.
  let isMerged: Bool
  /// UTC seconds.
  let watchedSince: Int64

  /// Sentences on why a figure has its completeness.
  ///
  /// `gaps` says of each whether bytes may have passed in it unseen; `kept` is from when on its periods are kept.
  func verdict(
    _ completeness: String, isTotal: Bool, _ asked: UsageRequest, _ flags: BucketFlags, _ gaps: [(Gap, Bool)],
    _ placements: [Explanation.Placed], kept: Int64?
  ) -> [String] {
    var sentences: [String] = []
    if completeness == TallyWire.Completeness.atLeast {
      for reason in GapReason.allCases {
        let count = gaps.count { $0.0.reason == reason && $0.1 }
        let often = count == 1 ? "once" : "\(count) times"
        if count > 0 { sentences.append("\(phrase(reason)) (\(often)): bytes may have passed unseen.") }
      }
      if flags.contains(.atLeast) {
        sentences.append("A counter fell, or a narrow one may have wrapped more often than can be seen.")
      }
      if !isTotal, asked.to <= watchedSince { sentences.append("The span ends before counting began here.") }
      if let kept, max(asked.from, record.firstSeen) < kept {
        sentences.append(
          "Periods as short as these are kept from \(rfc3339(seconds: kept)) on; older ones are dropped.")
      }
      if sentences.isEmpty {
        sentences.append("It was absent when the daemon began again, and may have come and gone meanwhile.")
      }
      sentences.insert("At least this much: something could not be observed.", at: 0)
    } else if completeness == TallyWire.Completeness.placed {
      let crossing = placements.filter(\.crossesPeriod)
      let rx = crossing.reduce(0) { saturatingSum($0, $1.rxBytes) }
      let tx = crossing.reduce(0) { saturatingSum($0, $1.txBytes) }
      sentences = [
        "Every byte that the counter showed, but \(rx) received and \(tx) sent were put into periods by proportion: "
          + "they passed while nobody looked."
      ]
    } else {
      sentences = ["Every byte that the counter showed, each in its period."]
    }
    if flags.contains(.implausible) {
      sentences.append("More was shown than the link should be able to move; it was shown twice and is counted.")
    }
    return sentences
  }

  func part(_ part: Explanation.Part, numbersFrom first: Int) -> ExplainReply.Part {
    let text =
      switch part.method {
      case .wholeLife: "all that was counted in a whole life"
      case .byTime: "what was counted in this span of a life"
      case .shared: "of these lives together; they lie in the same periods, and nothing tells how much is whose"
      case .unrecorded where record.isExpiredGroup:
        "of \(record.memberLives) links that were gone for long, which are not kept one by one"
      case .unrecorded where record.isGroup:
        "of links of the group, \(record.memberLives) lives in all, which are not kept one by one"
      case .unrecorded: "of a life that is not on record"
      case .earlierStore: "counted before the present store was begun"
      }
    return ExplainReply.Part(
      incarnations: part.lives.map { $0 + first }, earlier: part.hasEarlier, method: part.method.rawValue, text: text,
      amounts: amounts(part.amounts))
  }

  func incarnation(_ life: Incarnation, number: Int, _ asked: UsageRequest) -> ExplainReply.Incarnation {
    let isWhole = life.opened >= asked.from && life.closed.map { $0 < asked.to } ?? true
    return ExplainReply.Incarnation(
      number: number, interface: isMerged ? "id:\(life.link)" : nil, bootID: life.bootID.text, ifindex: life.ifindex,
      inode: life.inode == 0 ? nil : life.inode,
      opened: rfc3339(seconds: life.opened), birth: life.birth.rawValue,
      closed: life.closed.map { rfc3339(seconds: $0) }, death: life.death?.rawValue,
      text: phrase(life.birth) + "; " + (life.death.map(phrase) ?? "still there"), isWhole: isWhole,
      counted: life.booked?.amounts.map(amounts))
  }

  func gap(_ gap: Gap, hidesBytes: Bool) -> ExplainReply.Gap {
    let effect =
      if hidesBytes, gap.reason == .historyLost {
        "which minutes its bytes belong to is known no more"
      } else if hidesBytes {
        "bytes may have passed unseen"
      } else if gap.link == nil, gap.from <= record.firstSeen {
        "the interface was not known yet"
      } else {
        "its counter went on, so its bytes were counted afterwards"
      }
    return ExplainReply.Gap(
      from: rfc3339(seconds: gap.from), to: rfc3339(seconds: gap.to), reason: gap.reason.rawValue, lossy: hidesBytes,
      text: phrase(gap.reason) + ": " + effect)
  }

  func placement(_ placed: Explanation.Placed) -> ExplainReply.Placement {
    ExplainReply.Placement(
      from: rfc3339(seconds: placed.from), to: rfc3339(seconds: placed.to), rxBytes: placed.rxBytes,
      txBytes: placed.txBytes, crossesPeriod: placed.crossesPeriod)
  }

  func carrierNote(_ interface: Interface) -> String? {
    if let carrier = interface.carrier {
      return "\(carrier.name) carries this traffic and counts it again: never add the two."
    }
    if interface.kind == Kind.tunnel.rawValue {
      return "The interface that carries this traffic counts it again: never add the two."
    }
    return interface.touchesMedium
      ? nil : "This traffic stays inside the machine or passes another interface too: it is no part of a machine total."
  }

  private func amounts(_ amounts: Amounts) -> ExplainedAmounts {
    ExplainedAmounts(
      rxBytes: amounts.rxBytes, txBytes: amounts.txBytes, rxPackets: amounts.rxPackets, txPackets: amounts.txPackets)
  }

  private func phrase(_ reason: GapReason) -> String {
    switch reason {
    case .notRunning: "The daemon was not running"
    case .reboot: "The machine was off or being started"
    case .eventOverrun: "The kernel dropped link events"
    case .vanished: "The link was gone when it was looked at again, its last bytes with it"
    case .peerTail: "The link ended, and what it received last is not shown here"
    case .counterReset: "The counter went back and stayed there"
    case .historyLost: "The file that held this time is gone or was damaged; the totals were still known"
    }
  }

  private func phrase(_ birth: BirthCause) -> String {
    switch birth {
    case .firstSight: "there when counting began, counted from then on"
    case .born: "made while it was watched, counted from zero"
    case .movedIn: "came from another network namespace, counted from its first reading"
    case .bornUnseen: "made while nobody watched, counted from zero"
    case .counterReset: "its counter went back"
    case .relabelled: "a rule gave it this label, counted from there on"
    case .ignoredBefore: "ignored before, counted from its reading at that moment"
    }
  }

  private func phrase(_ death: DeathCause) -> String {
    switch death {
    case .deleted: "deleted, its last counters read"
    case .movedOut: "moved to another network namespace"
    case .vanished: "gone when it was looked at again"
    case .reboot: "ended with its boot"
    case .counterReset: "its counter went back"
    case .forgotten: "went on as another entry when the history until then was forgotten"
    case .relabelled: "a rule gave it another label or group, which has what followed"
    case .ignored: "a rule says to ignore it"
    }
  }
}
