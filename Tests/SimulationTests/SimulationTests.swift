// The daemon over random histories: a kernel, a clock and a disk that do everything to it.
import Foundation
import TallyCore
import Testing
import Toys

private func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

/// How many histories are played in all, and from which seed on.
private let histories = setting("IFTALLY_HISTORIES") ?? 10_500
private let firstSeed = setting("IFTALLY_SEED") ?? 0

@Suite("The whole daemon, over random histories")
struct SimulationTests {
  static let worlds = World.all

  @Test(
    "counted never exceeds the truth, a loss is never without its label, and the store agrees with what is told",
    arguments: SimulationTests.worlds)
  func law(world: World) {
    let shares = World.all.reduce(0) { $0 + $1.share }
    let count = max(1, histories * world.share / shares)
    let seeds = UInt64(firstSeed)..<UInt64(firstSeed + count)
    for seed in seeds {
      if let broken = world.failure(seed: seed) {
        Issue.record("\(broken)")
        return
      }
    }
    print("\(count) histories of seeds \(seeds): \(world.name)")
  }
}
