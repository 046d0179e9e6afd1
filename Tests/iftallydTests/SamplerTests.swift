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
    let sampler = Sampler(kernel: kernel, now: { kernel.now }, calendar: localCalendar(), restoring: nil)
    try sampler.sample()
    kernel.show(inode: 10, rxBytes: 1_000)
    try sampler.sample()
    // The link was made anew on its index, and nobody was told.
    kernel.show(inode: 11, rxBytes: 5_000)
    kernel.overrun = true
    let isNews = sampler.drainEvents()
    #expect(isNews)
    try sampler.sample()
    let record = sampler.ledger.records[0]
    #expect(record.resets == 1)
    #expect(sampler.ledger.record(slot: 0).total.rxBytes == 6_000)
    #expect(record.totalIsAtLeast)
  }
}

/// One link on one index, as it is shown.
private final class ScriptedKernel: LinkKernel {
  let source = LinkCounterSource.netlink
  let eventDescriptor: Int32 = -1
  let receiveBufferBytes: UInt32 = 0
  let health = KernelHealth()
  /// Each look at the clock is a second later.
  var now: Moment {
    seconds += 1
    return Moment(
      utc: (1_700_000_000 + seconds) * Moment.second, boot: (100 + seconds) * Moment.second,
      bootID: BootID(high: 1, low: 1))
  }
  /// The next events that are read are preceded by a loss.
  var overrun = false
  private var seconds: Int64 = 0
  private var link = ListedLink(facts: LinkFacts(), counters: .zero)
  private let readings = UnsafeMutableBufferPointer<Reading>.allocate(capacity: 1)

  init() {
    link.facts.ifindex = 7
    link.facts.name = LinkName(escaped: "tun0")
    show(inode: 10, rxBytes: 0)
  }

  deinit { readings.deallocate() }

  func show(inode: UInt64, rxBytes: UInt64) {
    link.facts.inode = inode
    link.counters = LinkCounters(rxBytes: rxBytes)
  }

  func list() -> LinkList { LinkList(links: [link], isWhole: true) }

  func drainEvents() -> DrainedEvents {
    defer { overrun = false }
    return DrainedEvents(events: [], overrun: overrun)
  }

  func sample() -> Sample {
    readings.initializeElement(at: 0, to: Reading(ifindex: 7, counters: link.counters ?? .zero))
    defer { overrun = false }
    let shown = UnsafeBufferPointer(rebasing: readings[..<(overrun ? 0 : 1)])
    return Sample(at: now, events: [], readings: shown, width: .bits64, overrun: overrun)
  }

  func crossCheck() -> CrossCheck { CrossCheck(checkedLinks: 0, disagreements: []) }
}
