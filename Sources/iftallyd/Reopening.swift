// When a store that could not be opened, or has failed, is opened again.
import TallyCore

/// The pauses between tries, which double from a second to five minutes. Moments are boot-clock nanoseconds.
struct Reopening {
  /// The store's threads are at it.
  private(set) var isUnderWay = false
  private var next = Int64.min
  private var pause = shortest

  private static let shortest = Moment.second
  private static let longest = 300 * Moment.second

  /// True when a try begins now.
  mutating func begins(at boot: Int64) -> Bool {
    guard !isUnderWay, isDue(at: boot) else { return false }
    isUnderWay = true
    next = boot &+ pause
    pause = min(2 * pause, Reopening.longest)
    return true
  }

  mutating func ended() { isUnderWay = false }

  /// The pause since the last try is over.
  func isDue(at boot: Int64) -> Bool { boot >= next }

  /// The next try need not wait.
  mutating func hurry() { next = .min }

  /// All is well: the next trouble is met soon.
  mutating func shortenPause() { pause = Reopening.shortest }

  /// The trouble is of a kind that comes back at once.
  mutating func lengthenPause() { pause = Reopening.longest }
}
