// The sampler on this machine's own links: whoever asks first, what the store knows is resumed.
import LinkSource
import TallyCore
import Testing

@testable import iftallyd

struct SamplerTests {
  private func sampler(restoring stored: StoredState?) throws -> Sampler {
    let clocks = Clocks()
    let kernel = try KernelLinks(now: clocks.now, complete: { _ in })
    return Sampler(kernel: kernel, now: clocks.now, calendar: localCalendar(), restoring: stored)
  }

  @Test("a question, an event or a tick that comes before the start was managed resumes the stored links all the same")
  func early() throws {
    let before = try sampler(restoring: nil)
    try before.sample()
    let taken = before.ledger.takeCommit(sequence: 1)
    let commit = try #require(taken)
    let stored = StoredState(
      sequence: 1, lastMoment: commit.at, links: commit.links,
      watermarks: Watermarks(fiveMinutes: 0, hour: 0, day: 0))

    let after = try sampler(restoring: stored)
    _ = after.drainEvents()
    after.sampleForQuery()
    after.attemptSample()
    #expect(after.ledger.presentCount > 0)
    #expect(after.ledger.records.count == before.ledger.records.count)
    for slot in after.ledger.records.indices {
      #expect(after.ledger.records[slot].resets == 0)
    }
  }
}
