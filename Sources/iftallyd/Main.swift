// The daemon's entry: arguments and configuration, then the loop.
import Glibc
import TallyConfig
import TallyWire

@main
enum Main {
  /// Exit codes: 0 as asked, 1 could not run, 2 wrong arguments, 78 (EX_CONFIG) a configuration that is refused.
  static func main() {
    switch Options.parse(Array(arguments().dropFirst())) {
    case .failure(let error):
      complain("\(error.message)\n\(Options.usage)")
      exit(2)
    case .success(.help): print(Options.usage)
    case .success(.version): print("iftallyd \(iftallyVersion)")
    case .success(.checkConfig(let file)):
      _ = configuration(file)
      print("the configuration is valid")
    case .success(.run(let file)): exit(run(file))
    }
  }

  /// The arguments with the program's name. Swift finds none when a preloaded library has moved the environment, beside
  /// which it looks for them (libfaketime does); the kernel still knows.
  private static func arguments() -> [String] {
    guard CommandLine.arguments.isEmpty, let file = fopen("/proc/self/cmdline", "re") else {
      return CommandLine.arguments
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = fread(&bytes, 1, bytes.count, file)
    // Each of them ends with a zero.
    return bytes.prefix(count).split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static func run(_ file: String?) -> Int32 {
    let configuration = configuration(file)
    do {
      let daemon = try Daemon(configuration, file: file)
      return try daemon.run()
    } catch {
      complain("\(error)")
      return 1
    }
  }

  private static func configuration(_ file: String?) -> Configuration {
    do {
      return try Configuration.load(file: file, environment: environment())
    } catch {
      complain(error.description)
      exit(78)
    }
  }

  /// The variables that say where state and sockets live.
  static func environment() -> [String: String] {
    var found: [String: String] = [:]
    for name in ["STATE_DIRECTORY", "RUNTIME_DIRECTORY"] {
      if let value = getenv(name) { found[name] = String(cString: value) }
    }
    return found
  }

  private static func complain(_ text: String) {
    let line = Array("iftallyd: \(text)\n".utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }
}
