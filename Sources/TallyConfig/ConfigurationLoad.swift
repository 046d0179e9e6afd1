// Finding and reading the configuration files: the main file, then its drop-ins by name, all or nothing.

import Glibc
import TallyCore

extension Configuration {
  /// The file that is read when none is named; it may be missing.
  package static let defaultFile = "/etc/iftally/iftally.conf"

  /// Reads `file` and the files `*.conf` of the folder `FILE.d` in the order of their names; later values win.
  ///
  /// - Parameters:
  ///   - file: must exist when it is named; nil means `defaultFile`, which may be missing.
  ///   - environment: for the defaults, see `init(environment:)`.
  /// - Throws: everything that is wrong in all files; then nothing of them holds.
  package static func load(
    file: String?, environment: [String: String]
  ) throws(ConfigurationError) -> Configuration {
    try load(main: file ?? defaultFile, isRequired: file != nil, environment: environment)
  }

  static func load(
    main: String, isRequired: Bool, environment: [String: String]
  ) throws(ConfigurationError) -> Configuration {
    var reading = Reading(environment: environment)
    reading.read(main, isRequired: isRequired)
    for file in reading.dropIns(in: main + ".d") { reading.read(file, isRequired: true) }
    guard reading.problems.isEmpty else { throw ConfigurationError(problems: reading.problems) }
    return reading.configuration
  }
}

/// The configuration as far as it has been read, and what was wrong on the way.
private struct Reading {
  let defaults: Configuration
  var configuration: Configuration
  var problems: [ConfigurationProblem] = []

  /// A file of nothing but mistakes must not fill the journal.
  private static let mostProblems = 50
  private static let mostRules = 256
  private static let largestFile = 1 << 20

  init(environment: [String: String]) {
    defaults = Configuration(environment: environment)
    configuration = defaults
  }

  mutating func read(_ file: String, isRequired: Bool) {
    let bytes: [UInt8]
    do {
      bytes = try contents(of: file)
    } catch {
      if error.code == ENOENT && !isRequired { return }
      return report(file, nil, error.message)
    }
    let reader = EntryReader.read(bytes)
    var found = reader.problems
    for entry in reader.entries {
      if let message = apply(entry) { found.append((entry.line, message)) }
    }
    for problem in found.sorted(by: { $0.line < $1.line }) { report(file, problem.line, problem.message) }
  }

  /// Sets one value; answers what is wrong with it, if anything is.
  private mutating func apply(_ entry: ConfigurationEntry) -> String? {
    if let rule = ConfigurationKey.ruleName(ofSection: entry.section) { return apply(entry, toRule: rule) }
    guard let key = ConfigurationKey.named(entry.key, in: entry.section) else {
      return ConfigurationKey.unknownKey(entry.key, in: entry.section)
    }
    if entry.value.isEmpty {
      key.reset(&configuration, defaults)
    } else if !key.set(entry.value, &configuration) {
      return "\(key.name)=\(entry.value) is not valid; allowed: \(key.allowed)"
    }
    return nil
  }

  /// The same for a rule; one that an earlier file has is changed where it stands.
  private mutating func apply(_ entry: ConfigurationEntry, toRule name: String) -> String? {
    guard let key = RuleKey.named(entry.key) else {
      return ConfigurationKey.unknownKey(entry.key, in: entry.section)
    }
    var place = configuration.rules.firstIndex { $0.name == name }
    if place == nil {
      guard configuration.rules.count < Self.mostRules else { return "more than \(Self.mostRules) rules; join some" }
      configuration.rules.append(LinkRule(name: name))
      place = configuration.rules.count - 1
    }
    guard let place, key.set(entry.value, &configuration.rules[place]) else {
      return "\(key.name)=\(entry.value) is not valid; allowed: \(key.allowed)"
    }
    return nil
  }

  /// Paths of the drop-ins, sorted by the bytes of their names. A missing folder has none.
  mutating func dropIns(in folder: String) -> [String] {
    guard let directory = opendir(folder) else {
      if errno != ENOENT { report(folder, nil, FileError(code: errno).message) }
      return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".conf") && !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(folder)/\($0)" }
  }

  private mutating func report(_ file: String, _ line: Int?, _ message: String) {
    if problems.count < Self.mostProblems {
      problems.append(ConfigurationProblem(file: file, line: line, message: message))
    } else if problems.count == Self.mostProblems {
      problems.append(
        ConfigurationProblem(file: file, line: line, message: "more is wrong from here on; mend the above first"))
    }
  }

  /// The bytes of a file of bounded size. A pipe or socket is refused: it could keep the daemon waiting.
  private func contents(of file: String) throws(FileError) -> [UInt8] {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw FileError(code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(code: errno) }
    let type = status.st_mode & S_IFMT
    guard type == S_IFREG || type == S_IFCHR else { throw FileError(code: type == S_IFDIR ? EISDIR : EINVAL) }

    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw FileError(code: errno)
      }
      bytes += chunk[..<count]
      guard bytes.count <= Self.largestFile else { throw FileError(code: EFBIG) }
    }
  }
}

/// Why a file could not be read.
private struct FileError: Error {
  var code: Int32

  var message: String {
    switch code {
    case ENOENT: "no such file; create it or name another with --config"
    case EACCES: "permission denied; make the file readable for the user that runs iftallyd"
    case EISDIR: "is a folder; name a file"
    case EINVAL: "is not a regular file"
    case EFBIG: "is larger than 1 MiB; is this a configuration file?"
    default: "cannot be read: \(String(cString: strerror(code)))"
    }
  }
}
