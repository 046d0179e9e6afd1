// Migrations: a file of every released schema opens, and holds what it held.
import TallyCore
import Testing

@testable import TallyStore

@Suite struct SchemaTests {
  @Test("a store of schema 1 opens with all that it holds")
  func schemaOne() throws {
    let folder = try Folder()
    try folder.write("iftally.db", [])
    try Database(path: folder.file("iftally.db"), mode: .readWrite).execute(schemaOneDump)
    let store = try Store.open(folder)
    #expect(store.opening.notice == nil)
    let state = store.opening.state
    #expect(state.sequence == 77)
    #expect(state.lastMoment == moment(noon))
    #expect(state.watermarks == Watermarks(fiveMinutes: noon, hour: noon, day: noon - 43_200))
    #expect(state.links == [link(1, total: .max - 9), link(3, total: 3000, present: false)])
    let usage = try store.usage(.day)
    #expect(
      usage.rows == [
        row(noon - 129_600, rx: 5000, tier: .day, flags: .atLeast),
        row(noon - 300, link: 3, tx: 700, tier: .fiveMinutes, placed: 9, flags: [.acrossFiveMinutes]),
        row(noon, rx: .max),
      ])
    #expect(
      usage.gaps == [
        Gap(link: nil, from: noon - 600, to: noon - 300, reason: .reboot, lossy: true),
        Gap(link: 3, from: noon, to: noon, reason: .counterReset, lossy: false),
      ])
    #expect(
      usage.incarnations == [
        Incarnation(
          link: 3, bootID: firstBoot, ifindex: 9, inode: .max, opened: noon - 900, birth: .bornUnseen, closed: noon,
          death: .vanished)
      ])
    #expect(try store.database.integer("PRAGMA user_version") == Schema.version)
    try store.quickCheck()
  }

  @Test("an incarnation of schema 1 says nothing of its amounts, one told since does, and each keeps what it has")
  func amountsSinceSchemaTwo() throws {
    let folder = try Folder()
    try folder.write("iftally.db", [])
    try Database(path: folder.file("iftally.db"), mode: .readWrite).execute(schemaOneDump)
    let store = try Store.open(folder)
    let old = try #require(store.usage(.day).incarnations.first)
    #expect(old.booked == nil)
    let before = Amounts(rxBytes: .max - 9, txBytes: 1 << 63, rxPackets: 0, txPackets: 1)
    var life = Incarnation(
      link: 1, bootID: firstBoot, ifindex: .max, inode: .max - 1, opened: noon + 60, birth: .born,
      booked: Booked(before: before, from: noon, until: noon - 1))
    var next = commit(78, at: noon + 60)
    next.links = [link(1, total: .max - 9)]
    next.incarnations = [life]
    try store.commit(next)
    #expect(try store.usage(.day).incarnations.contains(life))
    store.close()

    let again = try Store.open(folder)
    let baseline = try #require(again.opening.state.links.first { $0.id == 1 }?.baseline)
    #expect(baseline.booked == life.booked)
    #expect(baseline.opened == noon + 60)
    life.closed = noon + 90
    life.death = .deleted
    life.booked?.amounts = Amounts(rxBytes: 7, txBytes: .max, rxPackets: 1, txPackets: 2)
    life.booked?.until = noon + 120
    var last = commit(79, at: noon + 90)
    last.incarnations = [life]
    try again.commit(last)
    let told = try again.usage(.day).incarnations.sorted { $0.link < $1.link }
    #expect(told == [life, old])
  }

  @Test("a baseline's width comes back, and that of a file which did not know it is 64 bits")
  func widths() throws {
    let folder = try Folder()
    var narrow = link(1)
    narrow.baseline?.width = .bits32
    var commit = Commit(sequence: 1, at: moment(noon))
    commit.links = [narrow, link(2)]
    do {
      let store = try Store.open(folder)
      try store.commit(commit)
    }
    let links = try Store.open(folder).opening.state.links
    #expect(links == [narrow, link(2)])
  }

  @Test("the first schema is what it was when it was released")
  func unchanged() throws {
    let folder = try Folder()
    for name in ["old.db", "new.db"] { try folder.write(name, []) }
    let old = try Database(path: folder.file("old.db"), mode: .readWrite)
    try old.execute(schemaOneDump)
    let new = try Database(path: folder.file("new.db"), mode: .readWrite)
    try new.execute(try #require(Schema.migrations.first).sql)
    let tables = "SELECT name || ': ' || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
    #expect(try new.texts(tables) == old.texts(tables))
  }

  @Test("a step that fails leaves the file at its old version, and is named")
  func failingStep() throws {
    let folder = try Folder()
    try folder.write("iftally.db", [])
    let database = try Database(path: folder.file("iftally.db"), mode: .readWrite)
    try database.execute("CREATE TABLE clock_step (x)")
    let error = try #require(failure { () throws(StoreError) in try Schema.migrate(database, from: 0) })
    #expect(error.message.hasPrefix("schema step \"\(Schema.migrations[0].name)\": "))
    #expect(error.sql?.contains("CREATE TABLE clock_step") == true)
    #expect(try database.integer("PRAGMA user_version") == 0)
    #expect(try database.texts("SELECT name FROM sqlite_schema") == ["clock_step"])
  }
}
