// Who counts as watching, and that nobody's sleep is disturbed otherwise.
import TallyCore
import Testing

@testable import iftallyd

private func at(_ milliseconds: Int64) -> Moment {
  Moment(utc: milliseconds * 1_000_000, boot: milliseconds * 1_000_000, bootID: BootID(high: 1, low: 1))
}

struct WatchTests {
  /// Milliseconds at which samples are due, when every one is taken and so is one for each question.
  private func samples(questions: [Int64], until end: Int64) -> [Int64] {
    var watch = Watch()
    var taken: [Int64] = []
    var last: Int64 = 0
    for now in stride(from: Int64(0), through: end, by: 100) {
      if questions.contains(now) {
        watch.asked(at: at(now))
        last = now
      }
      if watch.nanosecondsUntilSample(at: at(now), lastSample: at(last)) == 0 {
        taken.append(now)
        last = now
      }
    }
    return taken
  }

  @Test("whoever asks every few seconds has samples taken every second in between, until 10 s after the last question")
  func page() {
    let taken = samples(questions: [0, 3000, 6000], until: 60_000)
    #expect(taken == [4100, 5200, 7100, 8200, 9300, 10_400, 11_500, 12_600, 13_700, 14_800, 15_900])
  }

  @Test("whoever asks every second is answered by samples of his own")
  func live() {
    let questions = (0..<20).map { Int64($0) * 1000 }
    #expect(samples(questions: questions, until: 19_900) == [])
  }

  @Test("a single question, several at once, and one in 11 seconds or in a minute are no watching")
  func asleep() {
    for questions in [[0], [0, 100, 200], [0, 11_000, 22_000, 33_000], [0, 60_000]] as [[Int64]] {
      #expect(samples(questions: questions, until: 120_000) == [])
    }
  }

  @Test("a clock of another boot is no watching")
  func otherBoot() {
    var watch = Watch()
    watch.asked(at: at(1000))
    watch.asked(at: at(3000))
    var other = at(4000)
    other.bootID.low = 2
    #expect(watch.nanosecondsUntilSample(at: other, lastSample: nil) == nil)
  }
}
