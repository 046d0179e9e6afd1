// What a person asked for: the settings, and the table of options that fill them.
import TallyRender
import TallyWire

/// The command line as values.
struct Settings {
  var command = ""
  /// What follows the command and is no option.
  var operands: [String] = []
  var help = false

  /// Names, titles or ids, several joined with plus signs; empty: all.
  var interfaces: [String] = []
  /// Empty: all.
  var kinds: [String] = []
  var labels: [String] = []
  var json = false
  /// nil: $IFTALLY_SOCKET or the default.
  var socket: String?
  /// Seconds for the daemon to answer; nil: as the command needs.
  var timeout: Double?
  var units = Units()
  var noColor = false
  var verbose = false
  /// Nothing but names.
  var namesAlone = false
  /// Ask for no confirmation.
  var yes = false
  /// Interfaces too that would be left out.
  var all = false
  /// A file that is there already is replaced.
  var force = false
  /// Folder of the store; nil: as configured.
  var directory: String?

  /// A period that an option of its own names.
  var period: String?
  var from: String?
  var to: String?
  var resolution: String?
  var limit: Int?

  /// Frames to show; nil: without end.
  var count: Int?
  /// Seconds from reading to reading; nil: as the command has it.
  var interval: Double?
  /// Kinds of events to hear of; nil: as the command has it.
  var events: [String]?
  /// The operands are a command to run.
  var exec = false
  /// Seconds that the command may take for one event.
  var execTimeout = 60.0
}

/// One option: how it is written, what it means, what it does.
struct Option: Sendable {
  var long: String
  var short: Character?
  /// Name of its value in the help; nil: it takes none.
  var value: String?
  var help: String
  var apply: @Sendable (inout Settings, String) throws(Failure) -> Void
}

extension Option {
  /// What every command takes.
  static let common = [
    Option(long: "json", help: "Print the daemon's reply as JSON") { settings, _ in settings.json = true },
    Option(long: "socket", value: "PATH", help: "The daemon's socket, before $IFTALLY_SOCKET") {
      settings, value throws(Failure) in
      guard !value.isEmpty else { throw Failure(.usage, "--socket needs a path, not an empty text") }
      settings.socket = value
    },
    Option(long: "timeout", value: "SECONDS", help: "Time for an answer, 0.1 to 600") {
      settings, value throws(Failure) in
      settings.timeout = try seconds(value, of: "--timeout", in: 0.1...600)
    },
    Option(long: "no-color", help: "No colour on a terminal either") { settings, _ in settings.noColor = true },
    Option(long: "help", short: "h", help: "Describe the command and its options") { settings, _ in
      settings.help = true
    },
  ]

  /// How figures are written.
  static let figures =
    units + [
      Option(long: "bits", help: "Rates in bit/s (default)") { settings, _ in settings.units.ratesInBits = true },
      Option(long: "bytes", help: "Rates in bytes a second") { settings, _ in settings.units.ratesInBits = false },
    ]

  /// How amounts are written.
  static let units = [
    Option(long: "unit", value: "UNIT", help: "iec: KiB (default); si: kB; bytes: unscaled") {
      settings, value throws(Failure) in
      settings.units.scale = try word(value, of: "--unit", in: ByteScale.allCases.map(\.rawValue), ByteScale.init)
    },
    Option(long: "decimals", value: "N", help: "Digits after the point, 0 to 3 (default 2)") {
      settings, value throws(Failure) in
      settings.units.decimals = try number(value, of: "--decimals", in: 0...3)
    },
  ]

  /// Which interfaces.
  static let selection = [
    Option(
      long: "interface", short: "i", value: "NAME", help: "Only this one, by name or id:N; a+b, or repeat"
    ) { settings, value throws(Failure) in
      guard !value.isEmpty else { throw emptyName(in: value) }
      settings.interfaces.append(value)
    },
    Option(long: "kind", value: "KIND", help: "Only this kind, for example wifi; repeat for more") {
      settings, value throws(Failure) in
      settings.kinds.append(try word(value, of: "--kind", in: kinds) { $0 })
    },
    label,
  ]

  static let label = Option(long: "label", value: "LABEL", help: "Only what rules call so; repeat for more") {
    settings, value in settings.labels.append(value)
  }

  static let all = Option(long: "all", short: "a", help: "Interfaces that are gone too") { settings, _ in
    settings.all = true
  }

  static let yes = Option(long: "yes", short: "y", help: "Ask for no confirmation") { settings, _ in
    settings.yes = true
  }

  static let verbose = Option(long: "verbose", short: "v", help: "Everything that is known") { settings, _ in
    settings.verbose = true
  }

  static let names = Option(long: "names", help: "Names alone, one a line, as any shell takes them") { settings, _ in
    settings.namesAlone = true
  }

  static let force = Option(long: "force", short: "f", help: "Replace a file that is there already") { settings, _ in
    settings.force = true
  }

  static let directory = Option(
    long: "directory", value: "PATH", help: "Folder of the store (default: as configured)"
  ) { settings, value throws(Failure) in
    guard !value.isEmpty else { throw Failure(.usage, "--directory needs a path, not an empty text") }
    settings.directory = value
  }

  /// Periods by name.
  static let periods = [
    period("today", "today", "Today"), period("yesterday", "yesterday", "Yesterday"),
    period("month", "this-month", "This month"), period("year", "this-year", "This year"),
  ]

  private static func period(_ long: String, _ word: String, _ help: String) -> Option {
    Option(long: long, help: help) { settings, _ throws(Failure) in
      guard settings.period == nil || settings.period == word else {
        throw Failure(.usage, "--\(long) is a second period", remedy: "Name one, or write --from and --to.")
      }
      settings.period = word
    }
  }

  /// The span of a table.
  static let span =
    bounds + [
      Option(long: "limit", short: "l", value: "N", help: "At most the last N periods") {
        settings, value throws(Failure) in
        settings.limit = try number(value, of: "--limit", in: 1...1_000_000)
      }
    ]

  /// Where a span begins and ends.
  static let bounds = [
    Option(
      long: "from", value: "TIME", help: "Start: today, this-month, 24h, all, 2026-11-30 ..."
    ) {
      settings, value in settings.from = value
    },
    Option(long: "to", value: "TIME", help: "End, in the same forms (default: of the period, or now)") {
      settings, value in settings.to = value
    },
  ]

  static let resolution = Option(
    long: "resolution", short: "r", value: "PERIOD", help: "minute, five_minutes, hour (default), day ..."
  ) { settings, value throws(Failure) in
    let known = ["minute", "five_minutes", "hour", "day", "month", "year"]
    settings.resolution = try word(value, of: "--resolution", in: known) { $0 }
  }

  static let repetition = [
    Option(long: "count", short: "n", value: "COUNT", help: "Stop after COUNT readings") {
      settings, value throws(Failure) in
      settings.count = try number(value, of: "--count", in: 1...1_000_000_000)
    },
    Option(long: "interval", value: "SECONDS", help: "Time between readings, 0.2 to 3600 (default 1)") {
      settings, value throws(Failure) in
      settings.interval = try seconds(value, of: "--interval", in: 0.2...3600)
    },
  ]
}

extension Option {
  /// Which events, and what becomes of them. Those that `live` has too are read as they are there.
  static let following = [
    Option(long: "on", value: "EVENTS", help: "rates,link,reset,gap,problem; some of these") {
      settings, value throws(Failure) in
      var events = settings.events ?? []
      for event in value.split(separator: ",", omittingEmptySubsequences: false) {
        events.append(try word(String(event), of: "--on", in: StreamEvent.Kind.all) { $0 })
      }
      settings.events = events
    },
    Option(long: "exec", help: "For each run what follows --, its JSON on stdin") { settings, _ in
      settings.exec = true
    },
    Option(long: "exec-timeout", value: "SECONDS", help: "End it after so long, 0.1 to 3600 (default 60)") {
      settings, value throws(Failure) in
      settings.execTimeout = try seconds(value, of: "--exec-timeout", in: 0.1...3600)
    },
    Option(long: "count", short: "n", value: "COUNT", help: "Stop after COUNT events") { _, _ in },
    Option(long: "interval", value: "SECONDS", help: "Time between rates, 1 to 3600 (default 10)") { _, _ in },
  ]
}

/// The kinds of interfaces.
private let kinds = [
  "wired", "wifi", "cellular", "tunnel", "bridge", "bond", "vlan", "virtual", "loopback", "other",
]

func emptyName(in value: String) -> Failure {
  Failure(.usage, "-i \(quoted(value)) has an empty name in it", remedy: "Write -i NAME or -i NAME+NAME.")
}

/// What a person typed, safe to show in an error.
func quoted(_ text: String) -> String { "\"\(displayed(text))\"" }

private func word<Value>(
  _ text: String, of option: String, in known: [String], _ make: (String) -> Value?
) throws(Failure) -> Value {
  if known.contains(text), let value = make(text) { return value }
  throw Failure(
    .usage, "\(option) \(quoted(text)) is none of \(known.joined(separator: ", "))",
    remedy: suggestion(for: text, among: known))
}

private func number(_ text: String, of option: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
  guard let number = Int(text), range.contains(number) else {
    throw Failure(.usage, "\(option) \(quoted(text)) is no number from \(range.lowerBound) to \(range.upperBound)")
  }
  return number
}

private func seconds(_ text: String, of option: String, in range: ClosedRange<Double>) throws(Failure) -> Double {
  guard let seconds = Double(text), range.contains(seconds) else {
    throw Failure(
      .usage, "\(option) \(quoted(text)) is no number of seconds from \(range.lowerBound) to \(range.upperBound)")
  }
  return seconds
}
