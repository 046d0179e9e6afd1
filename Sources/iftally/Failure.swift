// How the command ends: its exit codes, and errors that name the thing and the remedy.

/// Exit codes, documented in iftally(1); scripts decide by them.
enum ExitCode: Int32 {
  case ok = 0
  case failed = 1
  case usage = 2
  case unreachable = 3
  case forbidden = 4
  case noDataYet = 5
  case unknownInterface = 6
}

/// Why a command could not do what it was asked.
struct Failure: Error {
  var exit: ExitCode
  /// Names the thing that is wrong; no final period.
  var message: String
  /// What to do; a sentence.
  var remedy: String?
  /// The daemon's problem code, where it was the daemon that refused.
  var problemCode: String?

  init(_ exit: ExitCode, _ message: String, remedy: String? = nil, problemCode: String? = nil) {
    self.exit = exit
    self.message = message
    self.remedy = remedy
    self.problemCode = problemCode
  }

  var text: String { "iftally: \(message)." + (remedy.map { " \($0)" } ?? "") }
}

/// The word that is meant by a mistyped one; nil when none is near.
func nearest(to word: String, among candidates: [String]) -> String? {
  let distances = candidates.map { ($0, editDistance(word, $0)) }
  guard let best = distances.min(by: { $0.1 < $1.1 }), best.1 <= max(1, word.count / 3) else { return nil }
  return best.0
}

/// "Did you mean X?", when something is near.
func suggestion(for word: String, among candidates: [String]) -> String? {
  nearest(to: word, among: candidates).map { "Did you mean \($0)?" }
}

/// Insertions, deletions, replacements and swaps of neighbours between two short words.
private func editDistance(_ a: String, _ b: String) -> Int {
  let a = Array(a.utf8.prefix(64))
  let b = Array(b.utf8.prefix(64))
  guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
  var rows = [Array(0...b.count)]
  for i in 1...a.count {
    var row = [i]
    for j in 1...b.count {
      var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, rows[i - 2][j - 2] + 1) }
      row.append(cost)
    }
    rows.append(row)
  }
  return rows[a.count][b.count]
}
