// A prepared statement: values bound by position, columns read by position, unsigned counters as their bit pattern.
import CSQLite

/// A value to bind.
enum SQLValue {
  case null
  case integer(Int64)
  /// A 64-bit counter: SQLite's integers are signed, so it is stored as the same 64 bits.
  case counter(UInt64)
  case text(String)
  case blob([UInt8])

  static func small(_ value: UInt32) -> SQLValue { .integer(Int64(value)) }
  static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
  static func optional(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
}

/// A prepared statement of one connection.
final class Statement {
  private let handle: OpaquePointer
  private unowned let database: Database
  private let sql: String
  private var isLive = true

  init(_ handle: OpaquePointer, of database: Database, sql: String) {
    self.handle = handle
    self.database = database
    self.sql = sql
  }

  /// Frees it; the connection does this before it closes.
  func finalize() {
    guard isLive else { return }
    isLive = false
    csqlite_finalize(handle)
  }

  /// Runs it to its end with these values; rows are discarded.
  func run(_ values: SQLValue...) throws(StoreError) {
    defer { reset() }
    try bind(values)
    while try step() {}
  }

  /// Binds the values of a query, whose rows `step` then gives. `reset` must follow.
  func start(_ values: SQLValue...) throws(StoreError) {
    try start(values)
  }

  func start(_ values: [SQLValue]) throws(StoreError) {
    reset()
    try bind(values)
  }

  /// True when there is a row to read.
  func step() throws(StoreError) -> Bool {
    let code = csqlite_step(handle)
    switch code {
    case csqlite_row: return true
    case csqlite_done: return false
    default: throw database.failure(code, sql: sql)
    }
  }

  /// Ends the run, and with it the locks that it holds.
  func reset() {
    csqlite_reset(handle)
  }

  func isNull(_ column: Int32) -> Bool { csqlite_column_type(handle, column) == csqlite_type_null }

  func integer(_ column: Int32) -> Int64 { csqlite_column_integer(handle, column) }

  func optional(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  func counter(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// The low 32 bits; a file that holds more was not written by us, and must not trap us.
  func small(_ column: Int32) -> UInt32 { UInt32(truncatingIfNeeded: integer(column)) }

  func flag(_ column: Int32) -> Bool { integer(column) != 0 }

  func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }

  func blob(_ column: Int32) -> [UInt8] {
    var length: Int32 = 0
    guard let bytes = csqlite_column_bytes(handle, column, &length), length > 0 else { return [] }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(length)))
  }

  private func bind(_ values: [SQLValue]) throws(StoreError) {
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      let code: Int32
      switch value {
      case .null: code = csqlite_bind_null(handle, position)
      case .integer(let value): code = csqlite_bind_integer(handle, position, value)
      case .counter(let value): code = csqlite_bind_integer(handle, position, Int64(bitPattern: value))
      case .text(var value):
        code = value.withUTF8 { utf8 in
          utf8.withMemoryRebound(to: CChar.self) {
            csqlite_bind_text(handle, position, $0.baseAddress, Int32($0.count))
          }
        }
      case .blob(let bytes): code = csqlite_bind_blob(handle, position, bytes, Int32(bytes.count))
      }
      guard code == csqlite_ok else { throw database.failure(code, sql: sql) }
    }
  }
}
