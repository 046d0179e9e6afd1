// The note beside a kept queue: what the next process is told after each way in which this one can end.
import Glibc
import TallyCore
import Testing

@testable import LinkSource

@Suite("The note beside a kept queue of link events")
struct QueueMarkTests {
  private let mark: QueueMark
  private let quiet = DrainedEvents(events: [], overrun: false)
  private let death = DrainedEvents(
    events: [.departed(ifindex: 7, name: LinkName(escaped: "tun0"), final: nil, movedOut: false)], overrun: false)
  private let ends = [
    VethEnd(ifindex: 3, peer: 4, namespace: nil), VethEnd(ifindex: 4, peer: 3, namespace: nil),
    VethEnd(ifindex: 5, peer: 9, namespace: 2),
  ]

  init() throws { mark = try #require(QueueMark()) }

  private func moment(_ seconds: Int64) -> Moment {
    Moment(utc: seconds * Moment.second, boot: seconds * Moment.second, bootID: BootID(high: 1, low: 1))
  }

  /// What a process reads that starts now, from a store whose last commit is of that second.
  private func note(_ second: Int64) throws -> QueueNote? {
    let next = try #require(QueueMark(adopting: dup(mark.descriptor)))
    return next.note(from: moment(second))
  }

  @Test("after a commit the queue is whole, with the veths of that commit, for that commit alone")
  func committed() throws {
    let none = try note(1)
    #expect(none == nil)
    mark.submits(moment(1), vethEnds: ends)
    mark.commits(moment(1))
    let first = try note(1)
    #expect(first == QueueNote(isWhole: true, vethEnds: ends))
    let other = try note(2)
    #expect(other == nil)
  }

  @Test("a commit of which nobody knows whether the store took it is told either way")
  func inFlight() throws {
    mark.submits(moment(1), vethEnds: [])
    mark.commits(moment(1))
    mark.submits(moment(2), vethEnds: ends)
    let before = try note(1)
    let after = try note(2)
    #expect(before?.isWhole == true)
    #expect(after == QueueNote(isWhole: true, vethEnds: ends))
  }

  @Test(
    "events that were read and not committed make a hole, also while they are being read; the next commit closes it")
  func hole() throws {
    mark.submits(moment(1), vethEnds: ends)
    mark.commits(moment(1))
    var during: QueueNote?
    _ = try mark.reads { [self] () throws(LinkSourceError) in
      during = try? note(1)
      return quiet
    }
    #expect(during == QueueNote(isWhole: false, vethEnds: []))
    let quietly = try note(1)
    #expect(quietly?.isWhole == true)
    _ = try mark.reads { [self] () throws(LinkSourceError) in death }
    let holed = try note(1)
    #expect(holed?.isWhole == false)
    mark.submits(moment(2), vethEnds: [])
    mark.commits(moment(2))
    let closed = try note(2)
    #expect(closed?.isWhole == true)
  }

  @Test("events that an error kept from being handed on are in no commit")
  func failedRead() throws {
    _ = try? mark.reads { () throws(LinkSourceError) in throw .readEvents(code: EIO) }
    mark.submits(moment(1), vethEnds: [])
    mark.commits(moment(1))
    let after = try note(1)
    #expect(after?.isWhole == false)
  }

  @Test("anything else that is handed over under its name is refused")
  func garbage() throws {
    let other = somethingElse()
    #expect(QueueMark(adopting: other) == nil)
    #expect(close(other) == 0)
  }

  private func somethingElse() -> Int32 { open("/dev/zero", O_RDONLY | O_CLOEXEC) }
}
