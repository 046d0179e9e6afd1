// The sampler on this machine's own links: whoever asks first, what the store knows is resumed.
import TallyCore
import Testing

@testable import LinkSource
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

  @Test("after lost events no reading is booked before the list has told whose it is")
  func behind() throws {
    let kernel = ScriptedKernel()
    let sampler = Sampler(kernel)
    kernel.links = [7: 0]
    try sampler.sample()
    kernel.links[7] = 1000
    try sampler.sample()
    // The link was made anew on its index, and nobody was told.
    kernel.links[7] = 5000
    kernel.life += 1
    kernel.overrun = true
    let isNews = sampler.drainEvents()
    #expect(isNews)
    try sampler.sample()
    let record = sampler.ledger.records[0]
    #expect(record.resets == 1)
    #expect(sampler.ledger.record(slot: 0).total.rxBytes == 6000)
    #expect(record.totalIsAtLeast)
  }

  @Test("without a store nothing that happened before the first list succeeded is counted, all that follows is")
  func firstList() throws {
    let kernel = ScriptedKernel()
    let sampler = Sampler(kernel)
    kernel.failures = 1
    let isListed = sampler.attemptSample()
    #expect(!isListed)
    // Until it is tried again one link is made and counts, one ends, and one is made anew on its index.
    kernel.links[3] = 0
    kernel.events = [
      .appeared(kernel.listed(3)), .departed(ifindex: 2, name: LinkName(escaped: "l2"), final: nil, movedOut: false),
    ]
    kernel.events += [.departed(ifindex: 1, name: LinkName(escaped: "l1"), final: nil, movedOut: false)]
    kernel.life += 1
    kernel.links[1] = 0
    kernel.events.append(.appeared(kernel.listed(1)))
    kernel.links = [1: 7000, 3: 5000]
    kernel.seconds += 600
    try sampler.sample()
    let totals = sampler.ledger.records.indices.map { sampler.ledger.record(slot: $0).total.rxBytes }
    let births = sampler.ledger.records.map { $0.baseline?.birth }
    #expect(totals == [0, 0])
    #expect(births == [.firstSight, .firstSight])
    kernel.links = [1: 7100, 3: 5030]
    kernel.seconds += 60
    try sampler.sample()
    let later = sampler.ledger.records.indices.map { sampler.ledger.record(slot: $0).total.rxBytes }
    #expect(later == [100, 30])
  }

  @Test("a link whose end no event told is found by its missing line, after two samples, and its end is labelled")
  func missingLine() throws {
    let kernel = ScriptedKernel()
    let sampler = Sampler(kernel)
    try sampler.sample()
    kernel.links[2] = nil
    kernel.seconds += 60
    try sampler.sample()
    #expect(kernel.lists == 1 && sampler.ledger.presentCount == 2)
    kernel.seconds += 60
    try sampler.sample()
    #expect(kernel.lists == 2 && sampler.ledger.presentCount == 1)
    #expect(
      sampler.ledger.slot(name: LinkName(escaped: "l2")).map { sampler.ledger.record(slot: $0).totalIsAtLeast } == true)
    for _ in 0..<5 { try sampler.sample() }
    #expect(kernel.lists == 2)
  }

  @Test("a link that is listed and shows no counters is listed for once, not again and again")
  func noCounters() throws {
    let kernel = ScriptedKernel()
    let sampler = Sampler(kernel)
    kernel.withoutLine = [2]
    for _ in 0..<10 { try sampler.sample() }
    #expect(kernel.lists == 2 && sampler.ledger.presentCount == 2)
    kernel.withoutLine = []
    try sampler.sample()
    kernel.links[2] = nil
    for _ in 0..<2 { try sampler.sample() }
    #expect(kernel.lists == 3 && sampler.ledger.presentCount == 1)
  }

  @Test("an interrupted dump, or a link that comes with each sample's events, is no reason to list again")
  func noReason() throws {
    let kernel = ScriptedKernel()
    let sampler = Sampler(kernel)
    try sampler.sample()
    kernel.withoutLine = [2]
    kernel.isComplete = false
    for _ in 0..<5 { try sampler.sample() }
    kernel.withoutLine = []
    kernel.isComplete = true
    for index in 3..<9 as Range<UInt32> {
      kernel.links[index] = 0
      kernel.events = [.appeared(kernel.listed(index))]
      try sampler.sample()
    }
    #expect(kernel.lists == 1 && sampler.ledger.presentCount == 8)
  }

  @Test(
    "a polled link that has gone is at least what was seen, so is a new one, from zero; one that stayed is complete")
  func polled() throws {
    let kernel = ScriptedKernel(source: .procfs)
    let sampler = Sampler(kernel)
    try sampler.sample()
    kernel.seconds += 60
    kernel.links = [1: 1500, 3: 700]
    kernel.overrun = true
    try sampler.sample()
    func record(_ name: String) throws -> LinkRecord {
      let slot = sampler.ledger.slot(name: LinkName(escaped: name))
      return sampler.ledger.record(slot: try #require(slot))
    }
    let (stayed, gone, new) = (try record("l1"), try record("l2"), try record("l3"))
    #expect(stayed.total.rxBytes == 500 && !stayed.totalIsAtLeast)
    #expect(gone.totalIsAtLeast && gone.baseline == nil)
    #expect(new.total.rxBytes == 700 && new.totalIsAtLeast)
    #expect(sampler.ledger.uncommittedGaps.map(\.link) == [gone.id, new.id])
    #expect(sampler.resyncs == 0)

    // What comes back may have been here between any two samples.
    kernel.seconds += 600
    kernel.links[2] = 50
    kernel.overrun = true
    try sampler.sample()
    let gap = try #require(sampler.ledger.uncommittedGaps.last)
    #expect(try record("l2").total.rxBytes == 50)
    #expect(gap.link == gone.id && gap.to - gap.from >= 600 && gap.lossy && gap.reason == .vanished)
  }
}
