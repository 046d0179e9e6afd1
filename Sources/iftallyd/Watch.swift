// Whether somebody is watching, and when the next sample is due for it.
import TallyCore

/// Somebody watches who asks for the present again and again: samples are then taken between the questions too, so that
/// rates are of the last second and an end that nobody reports loses no more than that second's bytes.
///
/// One question, or several at once, are no watching: a program that asks once a minute leaves the daemon asleep.
struct Watch {
  /// The first and the last of questions that follow each other closely.
  private var first: Moment?
  private var last: Moment?

  /// Questions further apart than this have nothing to do with each other: 10 seconds, and what timers are late by.
  static let patience: Int64 = 10 * Moment.second + Moment.second / 2
  /// Questions that come within this are one.
  static let atOnce: Int64 = Moment.second / 2
  /// Between samples. A little more than a second, so that who asks every second is not made to wait for the next one.
  static let interval: Int64 = Moment.second + Moment.second / 10

  /// A question for the present came.
  mutating func asked(at now: Moment) {
    if let last, let pause = now.elapsed(since: last), pause <= Watch.patience {
      self.last = now
    } else {
      (first, last) = (now, now)
    }
  }

  /// Nanoseconds until a sample is due, 0: now; nil when nobody watches.
  func nanosecondsUntilSample(at now: Moment, lastSample: Moment?) -> Int64? {
    guard let first, let last, let run = last.elapsed(since: first), run >= Watch.atOnce,
      let pause = now.elapsed(since: last), pause <= Watch.patience
    else { return nil }
    guard let lastSample, let age = now.elapsed(since: lastSample) else { return 0 }
    return max(0, Watch.interval - age)
  }
}
