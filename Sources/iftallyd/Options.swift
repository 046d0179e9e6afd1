// The daemon's few command-line options.

/// What was asked on the command line.
enum Options: Equatable {
  case run(config: String?)
  case checkConfig(config: String?)
  case version
  case help

  static let usage = """
    usage: iftallyd [--config FILE] [--check-config]
      -c, --config FILE    read FILE and FILE.d/*.conf instead of /etc/iftally/iftally.conf
          --check-config   read the configuration, say what is wrong with it, and exit
      -V, --version        print the version
      -h, --help           print this
    """

  /// Reads the arguments after the program's name; the error says what is wrong.
  static func parse(_ arguments: [String]) -> Result<Options, OptionsError> {
    var config: String?
    var check = false
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": return .success(.help)
      case "--version", "-V": return .success(.version)
      case "--check-config": check = true
      case "--config", "-c":
        guard let file = rest.popFirst() else { return .failure(OptionsError("\(argument) needs a file")) }
        config = file
      default:
        if argument.hasPrefix("--config=") {
          config = String(argument.dropFirst("--config=".count))
        } else {
          return .failure(OptionsError("unknown argument '\(argument)'"))
        }
      }
    }
    if let config, config.isEmpty { return .failure(OptionsError("--config needs a file")) }
    return .success(check ? .checkConfig(config: config) : .run(config: config))
  }
}

struct OptionsError: Error, Equatable {
  var message: String

  init(_ message: String) {
    self.message = message
  }
}
