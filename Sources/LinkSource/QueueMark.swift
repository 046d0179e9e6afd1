// What a process leaves beside its queue of link events for the next one: up to which commit it was read.
import CLinkStats
import Glibc
package import TallyCore

/// What is known of a kept queue when its next reader starts.
package struct QueueNote: Hashable, Sendable {
  /// Everything that was read from it is in the store's last commit.
  package var isWhole: Bool
  /// The veths of that commit.
  package var vethEnds: [VethEnd]
}

/// A few words in memory that the service manager keeps together with the event socket (FDSTORE=1), so that they outlive
/// a kill and end with the queue.
///
/// A queue alone does not tell what was read from it and never committed, nor which store it belongs to. Here stands the
/// last commit, known by its moment, and whether events were read since: that is noted before they are read.
package final class QueueMark {
  package let descriptor: Int32
  private var committed = Mark()
  /// Handed to the store, which may or may not have it.
  private var submitted = Mark()
  private var vethEnds: [VethEnd] = []
  /// Events were read that the ledger may not have yet.
  private var isReading = false

  /// A commit by the boot clock, in nanoseconds, and whether it holds all that was read; 0: none.
  private struct Mark: Equatable {
    var boot: Int64 = 0
    var isWhole = false
  }

  private static let format: Int64 = 1
  private static let headerBytes = 64
  private static let endBytes = 12
  /// Further veths are not noted: what such a one received last is then labelled instead.
  private static let mostEnds = 65536

  /// New and empty; nil where the kernel has no such memory for us.
  package init?() {
    let descriptor = ls_memory_create("iftallyd-queue")
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    writeHeader()
  }

  /// That of an earlier process, which is closed with this object; nil, and not closed, when it is something else.
  package init?(adopting descriptor: Int32) {
    var header = [Int64](repeating: 0, count: QueueMark.headerBytes / 8)
    let length = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard length == QueueMark.headerBytes, header[0] == QueueMark.format, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { return nil }
    self.descriptor = descriptor
    committed = Mark(boot: header[1], isWhole: header[2] == 1)
    submitted = Mark(boot: header[3], isWhole: header[4] == 1)
    vethEnds = readEnds(count: header[5])
  }

  deinit { close(descriptor) }

  /// What it says of the queue to one that goes on from the store's last commit; nil when that is another commit.
  package func note(from last: Moment) -> QueueNote? {
    for mark in [submitted, committed] where mark.boot != 0 && mark.boot == last.boot {
      return QueueNote(isWhole: mark.isWhole, vethEnds: mark.isWhole ? vethEnds : [])
    }
    return nil
  }

  // MARK: What happens to the queue

  /// Events are about to be read; `read` follows when they are handed on.
  func reads(_ read: () throws(LinkSourceError) -> DrainedEvents) throws(LinkSourceError) -> DrainedEvents {
    let before = (committed, submitted)
    isReading = true
    committed.isWhole = false
    submitted.isWhole = false
    if (committed, submitted) != before { writeHeader() }
    let drained = try read()
    isReading = false
    if !drained.overrun, !drained.events.contains(where: \.isFleeting), (committed, submitted) != before {
      (committed, submitted) = before
      writeHeader()
    }
    return drained
  }

  /// A commit of everything that the ledger has is on its way to the store.
  package func submits(_ at: Moment, vethEnds ends: [VethEnd]) {
    submitted = Mark(boot: at.boot, isWhole: !isReading)
    if ends != vethEnds {
      vethEnds = []
      writeHeader()
      vethEnds = writeEnds(ends) ? ends : []
    }
    writeHeader()
  }

  /// The store has it.
  package func commits(_ at: Moment) {
    guard submitted.boot == at.boot else { return }
    committed = submitted
    writeHeader()
  }

  // MARK: The words

  private func writeHeader() {
    let header: [Int64] = [
      QueueMark.format, committed.boot, committed.isWhole ? 1 : 0, submitted.boot, submitted.isWhole ? 1 : 0,
      Int64(vethEnds.count), 0, 0,
    ]
    _ = header.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  private func writeEnds(_ ends: [VethEnd]) -> Bool {
    guard ends.count <= QueueMark.mostEnds else { return false }
    let words = ends.flatMap { [$0.ifindex, $0.peer, UInt32(bitPattern: $0.namespace ?? -1)] }
    return words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(QueueMark.headerBytes)) }
      == words.count * 4
  }

  private func readEnds(count: Int64) -> [VethEnd] {
    guard count > 0, count <= QueueMark.mostEnds else { return [] }
    var words = [UInt32](repeating: 0, count: Int(count) * 3)
    let length = words.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress, $0.count, off_t(QueueMark.headerBytes))
    }
    guard length == Int(count) * QueueMark.endBytes else { return [] }
    return stride(from: 0, to: words.count, by: 3).map { at in
      let namespace = Int32(bitPattern: words[at + 2])
      return VethEnd(ifindex: words[at], peer: words[at + 1], namespace: namespace < 0 ? nil : namespace)
    }
  }
}
