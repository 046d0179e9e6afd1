// Copies of a store in use, what they are examined for, and their way back into the place of a store.
import Foundation
import Glibc
import TallyCore
import Testing

@testable import TallyStore

@Suite struct CopyTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func results(_ workers: StoreWorkers, until isLast: (StoreResult) -> Bool) throws -> [StoreResult] {
    var results: [StoreResult] = []
    while !results.contains(where: isLast) {
      var entry = pollfd(fd: workers.descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&entry, 1, 20_000) == 1)
      results += workers.takeResults()
    }
    return results
  }

  /// The copy that the workers report, as a file in the folder; and what came before it.
  private func copied(_ workers: StoreWorkers, as name: String) throws -> [StoreResult] {
    let results = try results(workers) { if case .copied = $0 { true } else { false } }
    for case .copied(let outcome) in results {
      let copy = try outcome.get()
      defer { close(copy.descriptor) }
      var bytes = [UInt8](repeating: 0, count: Int(copy.length))
      let count = pread(copy.descriptor, &bytes, bytes.count, 0)
      #expect(count == bytes.count)
      try folder.write(name, bytes)
    }
    return results
  }

  private func start() throws -> StoreWorkers {
    let workers = try StoreWorkers(directory: folder.file("store"), calendar: .utc)
    _ = try workers.waitUntilOpened().get()
    _ = workers.takeResults()
    return workers
  }

  private func begin(commits: ClosedRange<UInt64>) throws {
    let store = try Store.open(directory: folder.file("store"), calendar: .utc)
    for sequence in commits { try store.commit(commit(sequence, rows: [row(noon, rx: 10)])) }
    store.close()
  }

  private func names(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.file(directory))) ?? []).sorted()
  }

  @Test("a copy holds the commits that were queued before it, and leaves no file behind")
  func queued() throws {
    let workers = try start()
    for sequence in 1...20 as ClosedRange<UInt64> {
      workers.submit(commit(sequence, rows: [row(noon, rx: 10)]), wake: false)
    }
    workers.copy()
    _ = try copied(workers, as: "copy.db")
    let copy = try Database(path: folder.file("copy.db"), mode: .untouched)
    let sequence = try copy.integer("SELECT sequence FROM meta")
    #expect(sequence == 20)
    #expect(!names(in: "store").contains("iftally.db.copy"))
    let rest = workers.stop(commit: nil, deadlineSeconds: 20)
    #expect(rest.finished)
    let summary = try StoreSummary(ofFile: folder.file("copy.db"))
    #expect(summary.schema == Schema.version)
  }

  @Test("queries are answered and commits stored while a copy is made, and it is of the moment of its beginning")
  func meanwhile() throws {
    try begin(commits: 1...1)
    // 8 MB: steps enough for something to happen in between.
    let filler = try Database(path: folder.file("store/iftally.db"), mode: .readWrite)
    try filler.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
      INSERT INTO bucket SELECT 3, i * 86400, 7, 1, 1, 1, 1, 0, 0, 0 FROM n
      """)
    filler.close()
    let workers = try start()
    workers.copy()
    for token in 1...5 as ClosedRange<UInt64> {
      workers.query(UsageQuery(links: nil, tier: .minute, from: .min, to: .max), token: token)
    }
    workers.submit(commit(2, rows: [row(noon, rx: 10)]), wake: true)
    let seen = try copied(workers, as: "copy.db")
    let answers = seen.filter { if case .rows = $0 { true } else { false } }
    #expect(answers.count == 5)
    let summary = try StoreSummary(ofFile: folder.file("copy.db"))
    #expect(summary.size > 4 << 20)
    let copy = try Database(path: folder.file("copy.db"), mode: .untouched)
    let total = try copy.integer("SELECT sum(rx_bytes) FROM bucket WHERE tier = 0")
    let sequence = try copy.integer("SELECT sequence FROM meta")
    let expected = sequence.map { $0 * 10 }
    #expect(total == expected)
    let rest = workers.stop(commit: nil, deadlineSeconds: 20)
    #expect(rest.finished)
  }

  @Test(
    "without room for it a copy fails with what to do, leaves nothing, and the store goes on",
    .enabled(if: SmallDisk.isPossible))
  func full() throws {
    let disk = try SmallDisk(kilobytes: 256)
    let workers = try StoreWorkers(directory: disk.folder.path, calendar: .utc)
    _ = try workers.waitUntilOpened().get()
    workers.submit(commit(1, rows: [row(noon, rx: 10)]), wake: true)
    _ = try results(workers) { if case .committed = $0 { true } else { false } }
    try disk.fill()
    workers.copy()
    var error: StoreError?
    for case .copied(.failure(let found)) in try results(
      workers, until: { if case .copied = $0 { true } else { false } })
    {
      error = found
    }
    #expect(error?.kind == .full)
    #expect(!disk.folder.names.contains("iftally.db.copy"))
    unlink(disk.folder.file("ballast"))
    workers.submit(commit(2), wake: true)
    let next = try results(workers) { if case .committed = $0 { true } else { false } }
    #expect(next.count == 1)
    _ = workers.stop(commit: nil, deadlineSeconds: 20)
  }

  @Test("an examination reads every page, and tells of a sound file and of a damaged one")
  func examined() throws {
    try begin(commits: 1...200)
    func finding() throws -> StoreError? {
      let workers = try start()
      workers.check()
      defer { _ = workers.stop(commit: nil, deadlineSeconds: 20) }
      for case .checked(let error) in try results(workers, until: { if case .checked = $0 { true } else { false } }) {
        return error
      }
      return nil
    }
    let sound = try finding()
    #expect(sound == nil)
    let path = folder.file("store/iftally.db")
    let database = try Database(path: path, mode: .untouched)
    let page = try database.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'bucket'")
    database.close()
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    let offset = (try #require(page) - 1) * Int64(Schema.pageSize)
    let written = pwrite(descriptor, [UInt8](repeating: 0xA5, count: 512), 512, off_t(offset))
    #expect(written == 512)
    let damaged = try finding()
    #expect(damaged?.kind == .corrupt)
  }

  @Test("a file that is empty, foreign, newer or no database is told from a store")
  func summaries() throws {
    try begin(commits: 1...3)
    let store = folder.file("store/iftally.db")
    let summary = try StoreSummary(ofFile: store)
    #expect(summary.schema == Schema.version)
    #expect(summary.to == commit(3).at.utc)
    func changed(_ name: String, _ sql: String) throws -> StoreError.Kind? {
      try FileManager.default.copyItem(atPath: store, toPath: folder.file(name))
      let database = try Database(path: folder.file(name), mode: .readWrite)
      try database.execute("PRAGMA journal_mode = DELETE; \(sql)")
      database.close()
      return failure { () throws(StoreError) in try StoreSummary(ofFile: folder.file(name)) }?.kind
    }
    let newer = try changed("newer", "PRAGMA user_version = \(Schema.version + 1)")
    #expect(newer == .newer)
    let foreign = try changed("foreign", "PRAGMA application_id = 1")
    #expect(foreign == .foreign)
    let older = try changed("older", "PRAGMA user_version = 1")
    #expect(older == nil)
    try folder.write("empty", [])
    let empty = failure { () throws(StoreError) in try StoreSummary(ofFile: folder.file("empty")) }?.kind
    #expect(empty == .corrupt)
    try folder.write("text", Array("no database at all".utf8))
    let text = failure { () throws(StoreError) in try StoreSummary(ofFile: folder.file("text")) }?.kind
    #expect(text == .corrupt)
    let missing = failure { () throws(StoreError) in try StoreSummary(ofFile: folder.file("missing")) }?.kind
    #expect(missing != nil)
    let isFolder = failure { () throws(StoreError) in try StoreSummary(ofFile: folder.path) }?.kind
    #expect(isFolder == .corrupt)
  }

  @Test("a restored store goes on from its own sequence, and the one before keeps its bytes under a dated name")
  func restored() throws {
    try begin(commits: 1...3)
    try FileManager.default.copyItem(atPath: folder.file("store/iftally.db"), toPath: folder.file("backup.db"))
    try begin(commits: 4...9)
    let before = try folder.read("store/iftally.db")
    let kept = try StoreRestore(from: folder.file("backup.db")).put(into: folder.file("store"), now: noon)
    #expect(kept?.hasSuffix("/iftally.db.replaced-20260615T120000Z") == true)
    let after = try folder.read("store/iftally.db.replaced-20260615T120000Z")
    #expect(after == before)
    let store = try Store.open(directory: folder.file("store"), calendar: .utc)
    #expect(store.opening.state.sequence == 3)
    store.close()
    #expect(names(in: "store") == ["iftally.db", "iftally.db.replaced-20260615T120000Z", "iftally.lock"])
  }

  @Test("a store in use, the store itself and a damaged copy are refused, and nothing is changed")
  func refused() throws {
    try begin(commits: 1...3)
    let backup = folder.file("backup.db")
    try FileManager.default.copyItem(atPath: folder.file("store/iftally.db"), toPath: backup)
    let store = try Store.open(directory: folder.file("store"), calendar: .utc)
    let locked = failure { () throws(StoreError) in try StoreRestore(from: backup).put(into: folder.file("store")) }?
      .kind
    #expect(locked == .locked)
    store.close()
    let itself = failure { () throws(StoreError) in
      try StoreRestore(from: folder.file("store/iftally.db")).put(into: folder.file("store"))
    }?.kind
    #expect(itself == .refused)
    truncate(backup, 3000)
    let cut = failure { () throws(StoreError) in try StoreRestore(from: backup).put(into: folder.file("store")) }?.kind
    #expect(cut == .corrupt)
    #expect(names(in: "store") == ["iftally.db", "iftally.lock"])
  }
}
