// The store's threads as the loop sees them: nothing waits for the disk, every result arrives once.
import Glibc
import TallyCore
import Testing

@testable import TallyStore

@Suite struct WorkerTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func start() throws -> StoreWorkers {
    let workers = try StoreWorkers(directory: folder.path, calendar: .utc)
    _ = try workers.waitUntilOpened().get()
    _ = workers.takeResults()
    return workers
  }

  private func isSignalled(_ workers: StoreWorkers, milliseconds: Int32 = 20_000) -> Bool {
    var entry = pollfd(fd: workers.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }

  /// Results until there are so many.
  private func results(_ workers: StoreWorkers, _ count: Int) throws -> [StoreResult] {
    var results: [StoreResult] = []
    while results.count < count {
      try #require(isSignalled(workers))
      results += workers.takeResults()
    }
    return results
  }

  private let everything = UsageQuery(links: nil, tier: .minute, from: .min, to: .max)

  @Test("commits are stored in order and counted; queries carry their token")
  func ordinary() throws {
    let workers = try start()
    for sequence in 1...3 as ClosedRange<UInt64> {
      workers.submit(commit(sequence, rows: [row(noon, rx: 10)]), wake: true)
    }
    #expect(try results(workers, 3).map(\.sequence) == [1, 2, 3])
    workers.query(everything, token: 42)
    let answers = try results(workers, 1)
    #expect(try received(#require(answers.first?.rows[42]).get().rows) == [30])
    let health = workers.health
    #expect(health.state == .ok && health.commits == 3 && health.failures == 0 && health.pendingCommits == 0)
    #expect(health.message == nil && health.sizeBytes > 8192 && health.path == folder.file("iftally.db"))
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)
  }

  @Test("an ordinary successful commit wakes nobody; a failed one does")
  func quiet() throws {
    let workers = try start()
    workers.submit(commit(1), wake: false)
    workers.submit(commit(2), wake: true)
    #expect(isSignalled(workers))
    var count: UInt64 = 0
    #expect(read(workers.descriptor, &count, 8) == 8)
    #expect(count == 1)
    #expect(workers.takeResults().map(\.sequence) == [1, 2])
    workers.submit(commit(9), wake: false)
    #expect(try results(workers, 1).first?.error?.kind == .refused)
    #expect(workers.health.state == .failing)
    #expect(workers.health.message?.hasPrefix("commit 9 does not follow on 2") == true)
    workers.submit(commit(3), wake: true)
    #expect(try results(workers, 1).map(\.sequence) == [3])
    #expect(workers.health.state == .ok && workers.health.message == nil)
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)
  }

  @Test("a writer that is stuck delays neither the loop nor the reader")
  func stuckWriter() throws {
    let workers = try start()
    workers.submit(commit(1, rows: [row(noon, rx: 10)]), wake: true)
    _ = try results(workers, 1)
    let other = try Database(path: folder.file("iftally.db"), mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    for sequence in 2...50 as ClosedRange<UInt64> { workers.submit(commit(sequence), wake: true) }
    #expect(workers.health.pendingCommits == 49)
    workers.query(everything, token: 1)
    let answers = try results(workers, 1)
    #expect(try answers.first?.rows[1]?.get().sequence == 1)
    #expect(workers.health.pendingCommits == 49)
    try other.execute("COMMIT")
    #expect(try results(workers, 49).map(\.sequence) == Array(2...50))
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)
  }

  @Test("stopping writes what is queued and the last commit, and closes the file in order")
  func stop() throws {
    let workers = try start()
    workers.submit(commit(1, rows: [row(noon, rx: 1)]), wake: false)
    workers.query(everything, token: 1)
    let (results, finished) = workers.stop(commit: commit(2, rows: [row(noon, rx: 2)]), deadlineSeconds: 20)
    #expect(finished)
    #expect(results.compactMap(\.sequence) == [1, 2])
    #expect(folder.names == ["iftally.db", "iftally.lock"])
    #expect(try received(Store.open(folder).usage(.minute).rows) == [3])
  }

  @Test("stopping does not wait for a stuck disk beyond its deadline")
  func stopDeadline() throws {
    let workers = try start()
    let other = try Database(path: folder.file("iftally.db"), mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let (results, finished) = workers.stop(commit: commit(1), deadlineSeconds: 0)
    #expect(!finished)
    #expect(results.isEmpty)
    try other.execute("COMMIT")
  }

  @Test("without a store commits and queries say why, and reopening brings it")
  func unavailable() throws {
    let holder = try Store.open(folder)
    let workers = try StoreWorkers(directory: folder.path, calendar: .utc)
    guard case .failure(let error) = workers.waitUntilOpened() else {
      Issue.record("opened a locked store")
      return
    }
    #expect(error.kind == .locked)
    #expect(workers.health.state == .memoryOnly)
    #expect(workers.health.message == error.message)
    workers.submit(commit(1), wake: false)
    workers.query(everything, token: 5)
    let failed = try results(workers, 2)
    #expect(failed.compactMap(\.error).map(\.kind) == [.unavailable])
    let refused = failed.compactMap { $0.rows[5] }.first
    let reason = try #require(failure { () throws(StoreError) in try refused?.get() })
    #expect(reason.kind == .unavailable)
    #expect(reason.message == "there is no history to read from the store: \(error.message)")
    holder.close()
    workers.reopen()
    let opened = try results(workers, 1)
    #expect(opened.first?.opening != nil)
    workers.submit(commit(1), wake: true)
    #expect(try results(workers, 1).map(\.sequence) == [1])
    #expect(workers.health.state == .ok)
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)
  }

  @Test("a store that was open and is gone has a past that is missed; one that never was has none")
  func gone() throws {
    let workers = try start()
    rename(folder.path, folder.path + ".away")
    close(open(folder.path, O_CREAT | O_WRONLY, 0o600))
    workers.reopen()
    _ = try results(workers, 1)
    workers.query(everything, token: 5)
    let missed = try results(workers, 1).compactMap { $0.rows[5] }.first
    let reason = try #require(failure { () throws(StoreError) in try missed?.get() })
    #expect(reason.kind == .unavailable)
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)

    let new = try StoreWorkers(directory: folder.path, calendar: .utc)
    _ = new.waitUntilOpened()
    new.query(everything, token: 6)
    let nothing = try results(new, 1).compactMap { $0.rows[6] }.first
    let rows = try #require(nothing).get().rows
    #expect(rows.isEmpty)
    #expect(new.stop(commit: nil, deadlineSeconds: 20).finished)
    unlink(folder.path)
    rename(folder.path + ".away", folder.path)
  }

  @Test("after the file was removed, reopening begins a new one that takes the known totals, and readers follow")
  func vanished() throws {
    let workers = try start()
    var first = commit(1, rows: [row(noon, rx: 10)])
    first.links = [link(1, total: 10)]
    workers.submit(first, wake: true)
    workers.query(everything, token: 1)
    _ = try results(workers, 2)
    for name in folder.names { unlink(folder.file(name)) }
    workers.submit(commit(2, rows: [row(noon + 60, rx: 5)]), wake: false)
    #expect(try results(workers, 1).first?.error?.kind == .vanished)
    workers.reopen()
    let state = try #require(try results(workers, 1).first?.opening).state
    #expect(state.sequence == 0)
    var full = commit(1, rows: [row(noon + 60, rx: 5)])
    full.links = [link(1, total: 15)]
    workers.submit(full, wake: true)
    _ = try results(workers, 1)
    workers.query(everything, token: 2)
    #expect(try received(#require(try results(workers, 1).first?.rows[2]).get().rows) == [5])
    #expect(workers.stop(commit: nil, deadlineSeconds: 20).finished)
    #expect(try stateAfterRestart(folder).links == [link(1, total: 15)])
  }
}

extension StoreResult {
  fileprivate var sequence: UInt64? {
    if case .committed(let sequence) = self { sequence } else { nil }
  }

  fileprivate var error: StoreError? {
    if case .failed(_, let error) = self { error } else { nil }
  }

  fileprivate var opening: StoreOpening? {
    if case .opened(.success(let opening)) = self { opening } else { nil }
  }

  /// The answer, by its token.
  fileprivate var rows: [UInt64: Result<UsageRows, StoreError>] {
    if case .rows(let token, let result) = self { [token: result] } else { [:] }
  }
}
