// A store in memory: additions, folds and replies by the same rules as the real one, and every entry beside them.
@testable import TallyCore

struct ToyStore {
  struct Key: Hashable {
    var tier: Tier
    var start: Int64
    var link: LinkID
  }
  struct LifeKey: Hashable {
    var link: LinkID
    var bootID: BootID
    var ifindex: UInt32
    var opened: Int64
  }

  var calendar = utcCalendar
  /// nil while it is new.
  private(set) var state: StoredState?
  private(set) var buckets: [Key: Amounts] = [:]
  /// All rows ever committed.
  private(set) var entries: [BucketRow] = []
  private(set) var gaps: [Gap] = []
  private(set) var steps: [ClockStep] = []
  private(set) var incarnations: [LifeKey: Incarnation] = [:]

  mutating func commit(_ commit: Commit) {
    var watermarks = state?.watermarks ?? .new(at: commit.at.utcSeconds, calendar: calendar)
    var links: [LinkID: LinkRecord] = [:]
    for link in (state?.links ?? []) + commit.links { links[link.id] = link }
    entries += commit.rows
    for row in commit.rows { add(row, watermarks) }
    for life in commit.incarnations {
      let key = LifeKey(link: life.link, bootID: life.bootID, ifindex: life.ifindex, opened: life.opened)
      incarnations[key] = life
    }
    gaps += commit.gaps
    steps += commit.clockSteps
    for fold in commit.folds {
      precondition(fold.start == watermarks[fold.tier] && fold.end > fold.start, "a fold leaves a hole")
      precondition(fold.end <= watermarks[fold.tier.source!], "a fold reads what is not folded yet")
      self.fold(fold)
      watermarks[fold.tier] = fold.end
    }
    for (tier, bound) in commit.retention { buckets = buckets.filter { $0.key.tier != tier || $0.key.start >= bound } }
    state = StoredState(
      sequence: commit.sequence, lastMoment: commit.at, links: links.values.sorted { $0.id < $1.id },
      watermarks: watermarks)
  }

  /// To the minute, and to every coarser tier that is folded past the row and will not look there again.
  private mutating func add(_ row: BucketRow, _ watermarks: Watermarks) {
    for tier in Tier.allCases where tier == .minute || row.start < watermarks[tier] {
      let start = tier == .minute ? row.start : calendar.start(tier.resolution, row.start)
      buckets[Key(tier: tier, start: start, link: row.link), default: .zero] += row.amounts
    }
  }

  private mutating func fold(_ fold: Fold) {
    for (key, amounts) in buckets
    where key.tier == fold.tier.source && key.start >= fold.start && key.start < fold.end {
      let start = max(fold.start, calendar.start(fold.tier.resolution, key.start))
      buckets[Key(tier: fold.tier, start: start, link: key.link), default: .zero] += amounts
    }
  }

  /// What a question at this resolution is answered with.
  func sums(_ tier: Tier, from: Int64 = .min, to: Int64 = .max) -> [LinkID: Amounts] {
    let spans = state?.watermarks.spans(tier: tier, from: from, to: to) ?? []
    var sums: [LinkID: Amounts] = [:]
    for (key, amounts) in buckets {
      if spans.contains(where: { $0.tier == key.tier && $0.from <= key.start && key.start < $0.to }) {
        sums[key.link, default: .zero] += amounts
      }
    }
    return sums
  }
}

extension Tier {
  var resolution: Resolution {
    switch self {
    case .minute: .minute
    case .fiveMinutes: .fiveMinutes
    case .hour: .hour
    case .day: .day
    }
  }
}
