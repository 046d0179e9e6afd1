// A throw-away folder for configuration files.

import Foundation

/// Removed with all that is in it when the value is given up.
final class Folder {
  let path: String

  init() throws {
    var template = Array("\(NSTemporaryDirectory())/iftally-config-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file, with the folders above it, and answers its path.
  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    try write(name, bytes: Array(text.utf8))
  }

  @discardableResult
  func write(_ name: String, bytes: [UInt8]) throws -> String {
    let url = URL(fileURLWithPath: "\(path)/\(name)")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return url.path
  }
}
