// The real store in a folder, its WAL cut at any byte; a model beside it says what each commit should have made of it.
import Foundation
import Glibc
import TallyCore
import Toys

@testable import TallyStore

/// SQLite in a folder that goes with the value.
final class FileDisk: SimulatedDisk {
  private let folder: String
  private let calendar: LocalCalendar
  private var store: Store?
  private var reader: UsageReader?
  private var content: Content?
  private var away: Content?

  init(calendar: LocalCalendar) {
    self.calendar = calendar
    // Memory where there is some: a kill does not need a disk that turns.
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path
    var template = Array("\(parent)/iftally-simulation-XXXXXX".utf8CString)
    folder = mkdtemp(&template).map { String(cString: $0) } ?? parent
  }

  deinit {
    reader = nil
    store = nil
    try? FileManager.default.removeItem(atPath: folder)
  }

  var origin: Origin? {
    get { content?.origin }
    set { content?.origin = newValue }
  }
  var model: ToyStore? { content?.store }

  private var path: String { folder + "/iftally.db" }
  private var wal: String { path + "-wal" }

  func open(at second: Int64) throws(StoreError) -> StoreOpening {
    close(checkpointing: false)
    let isNew = content == nil
    let store = try Store.open(directory: folder, calendar: calendar, now: second)
    self.store = store
    if isNew { content = Content(calendar: calendar, at: second, isForgetful: true) }
    content?.rewind(to: store.opening.state.sequence)
    return store.opening
  }

  func commit(_ commit: Commit) throws(StoreError) {
    guard let store else { throw StoreError(.unavailable, "not open") }
    try store.commit(commit)
    content?.add(commit)
  }

  func read(_ query: UsageQuery) throws(StoreError) -> UsageRows {
    if reader == nil { reader = try UsageReader(path: path) }
    guard let reader else { throw StoreError(.unavailable, "not open") }
    return try reader.usage(query)
  }

  func close() { close(checkpointing: true) }

  private func close(checkpointing: Bool) {
    reader?.close()
    reader = nil
    // Without an end in order the WAL stays as it lies.
    if checkpointing { store?.close() }
    store = nil
  }

  func kill(during commit: Commit?, _ dice: inout Seeded) {
    let before = length(wal)
    if let commit { try? self.commit(commit) }
    close(checkpointing: false)
    let after = length(wal)
    if commit != nil, after > before, Bool.random(using: &dice) {
      truncate(wal, Int.random(in: before...after, using: &dice))
    }
  }

  func losePower(_ dice: inout Seeded) {
    let whole = length(wal)
    if whole > 0 { truncate(wal, Int.random(in: 0...whole, using: &dice)) }
  }

  func vanish() {
    guard length(path) > 0 else { return }
    for suffix in ["", "-wal", "-shm"] {
      unlink(path + suffix + ".away")
      rename(path + suffix, path + suffix + ".away")
    }
    (away, content) = (content, nil)
  }

  func comeBack() -> Bool {
    guard away != nil else { return false }
    for suffix in ["", "-wal", "-shm"] {
      unlink(path + suffix)
      rename(path + suffix + ".away", path + suffix)
    }
    (content, away) = (away, nil)
    return true
  }

  /// The file and the model of it hold the same rows.
  func contradiction() -> String? {
    guard let model, length(path) > 0 else { return nil }
    for tier in Tier.allCases {
      guard let rows = try? read(UsageQuery(links: nil, tier: tier, from: -farAway, to: farAway)) else {
        return "the store cannot be read"
      }
      let expected = model.usage(UsageQuery(links: nil, tier: tier, from: -farAway, to: farAway))
      func sorted(_ rows: UsageRows) -> [BucketRow] {
        rows.rows.sorted { ($0.tier, $0.start, $0.link) < ($1.tier, $1.start, $1.link) }
      }
      guard sorted(rows) == sorted(expected), rows.watermarks == expected.watermarks else {
        return "tier \(tier) of the store is not what its commits make"
      }
    }
    return nil
  }

  private func length(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// UTC seconds, further than any clock of a history goes.
let farAway: Int64 = 1 << 40
