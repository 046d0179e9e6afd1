// Histories from seeds, and of one that breaks something the shortest part that still does, told as steps.
import TallyCore
import Toys

extension World {
  /// Plays a history; what broke, or nil.
  func play(_ steps: [Step], seed: UInt64) -> String? { played(steps, seed: seed).broken }

  private func played(_ steps: [Step], seed: UInt64, isTold: Bool = false) -> Playing {
    let playing = Playing(self, seed: seed, isTold: isTold)
    for step in steps where playing.broken == nil { playing.play(step) }
    if playing.broken == nil { playing.end() }
    return playing
  }

  /// Plays the history of a seed; on failure what broke, and how it comes about.
  func failure(seed: UInt64) -> String? {
    var steps = steps(seed: seed)
    guard let first = play(steps, seed: seed) else { return nil }
    // Long runs first, then step by step.
    var run = steps.count / 2
    while run > 0 {
      var isShorter = false
      for start in stride(from: steps.count - run, through: 0, by: -run) where start + run <= steps.count {
        var fewer = steps
        fewer.removeSubrange(start..<start + run)
        guard play(fewer, seed: seed) != nil else { continue }
        (steps, isShorter) = (fewer, true)
      }
      if !isShorter || run > 1 { run /= 2 }
    }
    let told = played(steps, seed: seed, isTold: true)
    return """
      \(name), seed \(seed): \(told.broken ?? "not again, but at first: \(first)")
        \(told.machine.diary?.joined(separator: "\n  ") ?? "")
      as a test: [\(steps.map { "Step(.\($0.operation), \($0.seed))" }.joined(separator: ", "))]
      again: IFTALLY_SEED=\(seed) IFTALLY_HISTORIES=1 swift test --filter SimulationTests
      """
  }
}
