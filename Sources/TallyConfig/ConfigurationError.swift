// What is wrong with a configuration: every problem, each with its place and its remedy.

/// Why there is no valid configuration: all problems that were found, in the order of reading.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  package var problems: [ConfigurationProblem]

  /// One line a problem.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong in one place.
package struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
  package var file: String
  /// Counted from 1; nil when the whole file is meant.
  package var line: Int?
  /// What is wrong, and what would be right.
  package var message: String

  /// `FILE:LINE: MESSAGE`.
  package var description: String {
    if let line { "\(file):\(line): \(message)" } else { "\(file): \(message)" }
  }
}
