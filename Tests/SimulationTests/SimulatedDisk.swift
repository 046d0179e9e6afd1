// What lies on the machine's disk and outlives its processes: a store of toys, whole, torn, taken away and put back.
import TallyCore
import Toys

@testable import TallyStore

/// The truth that a store does not owe: what had passed when its first baseline was taken.
struct Origin {
  var truth: [Amounts] = []
  /// Passages before these are not owed either.
  var passages = 0
  /// Rows of the time before were in a file that is gone.
  var isFractured = false
}

/// A place for a store. One process at a time has it open.
protocol SimulatedDisk: AnyObject {
  /// Where the store in place began; nil before its first baseline.
  var origin: Origin? { get set }
  /// Opens what lies there, or begins anew.
  func open(at second: Int64) throws(StoreError) -> StoreOpening
  func commit(_ commit: Commit) throws(StoreError)
  func read(_ query: UsageQuery) throws(StoreError) -> UsageRows
  func close()
  /// The process is dead. A commit that was being written is stored or not.
  func kill(during commit: Commit?, _ dice: inout Seeded)
  /// The machine is without power: of the last commits any number is gone.
  func losePower(_ dice: inout Seeded)
  /// The file is taken away.
  func vanish()
  /// The file that was taken away lies there again; false when none was.
  func comeBack() -> Bool
  /// What is stored now, if there is a store: by a model of it, and what the disk itself says differs in, or nil.
  var model: ToyStore? { get }
  func contradiction() -> String?
}

/// A file's content: how it was when all was safe, and every commit since.
struct Content {
  private(set) var store: ToyStore
  private var safe: ToyStore
  private var commits: [Commit] = []
  /// Without, no power is lost: a life of months needs no copies.
  private let isForgetful: Bool
  var origin: Origin?

  init(calendar: LocalCalendar, at second: Int64, isForgetful: Bool) {
    store = ToyStore(calendar: calendar, watermarks: .new(at: second, calendar: calendar))
    safe = store
    self.isForgetful = isForgetful
  }

  mutating func add(_ commit: Commit) {
    store.commit(commit)
    if isForgetful { commits.append(commit) }
  }

  /// Back to the state after this commit: replaying what led to it.
  mutating func rewind(to sequence: UInt64) {
    guard sequence != store.sequence else { return }
    store = safe
    commits.removeAll { $0.sequence > sequence }
    for commit in commits { store.commit(commit) }
  }

  mutating func losePower(_ dice: inout Seeded) {
    rewind(to: UInt64.random(in: min(safe.sequence, store.sequence)...store.sequence, using: &dice))
  }
}

/// A disk in memory.
final class MemoryDisk: SimulatedDisk {
  private final class File {
    var content: Content
    init(_ content: Content) { self.content = content }
  }

  private let calendar: LocalCalendar
  private let isForgetful: Bool
  private var file: File?
  private var opened: File?
  private var away: File?

  init(calendar: LocalCalendar, isForgetful: Bool = true) {
    self.calendar = calendar
    self.isForgetful = isForgetful
  }

  var origin: Origin? {
    get { file?.content.origin }
    set { file?.content.origin = newValue }
  }
  var model: ToyStore? { file?.content.store }

  func open(at second: Int64) -> StoreOpening {
    let file = file ?? File(Content(calendar: calendar, at: second, isForgetful: isForgetful))
    (self.file, opened) = (file, file)
    let store = file.content.store
    return StoreOpening(
      state: store.state
        ?? StoredState(
          sequence: 0, lastMoment: nil, links: [], watermarks: store.watermarks ?? .new(at: second, calendar: calendar)),
      notice: nil)
  }

  func commit(_ commit: Commit) throws(StoreError) {
    guard let opened, opened === file else { throw .vanished(path: "toy") }
    if let refusal = opened.content.store.refusal(of: commit) { throw StoreError(.refused, refusal) }
    opened.content.add(commit)
  }

  func read(_ query: UsageQuery) throws(StoreError) -> UsageRows {
    guard let opened else { throw StoreError(.unavailable, "not open") }
    return opened.content.store.usage(query)
  }

  func close() { opened = nil }

  func kill(during commit: Commit?, _ dice: inout Seeded) {
    if let commit, Bool.random(using: &dice) { try? self.commit(commit) }
    opened = nil
  }

  func losePower(_ dice: inout Seeded) { file?.content.losePower(&dice) }

  func vanish() {
    away = file ?? away
    file = nil
  }

  func comeBack() -> Bool {
    guard let away else { return false }
    (file, self.away) = (away, nil)
    return true
  }

  func contradiction() -> String? { nil }
}
