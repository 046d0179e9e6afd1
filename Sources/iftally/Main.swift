// The command: reads the arguments, runs what they name, and ends with a code that scripts can decide by.
import Glibc
import TallyCore

@main
enum Main {
  static func main() {
    occupyStandardDescriptors()
    // A reader that goes away is seen as an error of write instead.
    signal(SIGPIPE, SIG_IGN)
    let arguments = typedArguments()
    // What everyone tries first.
    exit(run(arguments == ["--version"] ? ["version"] : arguments).rawValue)
  }

  private static func run(_ arguments: [String]) -> ExitCode {
    do throws(Failure) {
      let settings = try parse(arguments)
      let session = Session(settings)
      let command = try Command.named(settings.command)
      let code: ExitCode
      if settings.help {
        try session.output.print(settings.command.isEmpty ? overview() : help(command))
        code = .ok
      } else {
        code = try command.run(session)
      }
      try session.output.finish()
      return code
    } catch {
      if error.exit != .ok { complain(error.text) }
      return error.exit
    }
  }

  /// What holds bytes that are no UTF-8, as a link's name may, in the form in which names are written.
  private static func typedArguments() -> [String] {
    UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap {
      argument in
      guard let argument else { return nil }
      return String(validatingCString: argument)
        ?? LinkName(bytes: Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))).escaped
    }
  }

  /// Where the caller closed the output, the socket to the daemon must not take its number and get the table.
  private static func occupyStandardDescriptors() {
    for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  static func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }
}
