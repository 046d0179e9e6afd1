// A program of the user's, run once for an event: its input, its environment, and how long it may take.
import Glibc
import TallyRender
import TallyWire

/// One at a time: while it runs nothing is read from the daemon, whose memory of events is the queue.
struct EventCommand {
  private let arguments: [String]
  private let secondsAllowed: Double

  /// From being asked to end to being killed.
  private static let secondsToEnd = 5.0

  /// `arguments`: the program, found as a shell would, and what it is given.
  init(_ arguments: [String], seconds: Double) {
    self.arguments = arguments
    secondsAllowed = seconds
  }

  /// Runs it through no shell, with the event's JSON and a line break on its standard input; returns what went wrong.
  ///
  /// It has a process group of its own, so that what it starts ends with it when it takes too long. Signals that end us
  /// end it first.
  func run(_ event: StreamEvent, json: [UInt8]) -> String? {
    var pipes: [CInt] = [-1, -1]
    guard pipe(&pipes) == 0 else { return failed(String(cString: strerror(errno))) }
    for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(pipes[1], F_SETFL, O_NONBLOCK)
    defer { if pipes[1] >= 0 { close(pipes[1]) } }

    var expected = sigset_t()
    var before = sigset_t()
    sigemptyset(&expected)
    for signal in [SIGCHLD, SIGINT, SIGTERM, SIGHUP] { sigaddset(&expected, signal) }
    pthread_sigmask(SIG_BLOCK, &expected, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    var pid = pid_t()
    let code = spawn(&pid, input: pipes[0], mask: &before, event)
    close(pipes[0])
    guard code == 0 else { return failed("it cannot be run: \(String(cString: strerror(code)))") }

    var rest = (json + [UInt8(ascii: "\n")])[...]
    var deadline = monotonicSeconds() + secondsAllowed
    var isLate = false
    while true {
      var status: CInt = 0
      if waitpid(pid, &status, WNOHANG) == pid { return isLate ? late : verdict(status) }
      if pipes[1] >= 0, !feed(&rest, to: pipes[1]) {
        close(pipes[1])
        pipes[1] = -1
      }
      let left = deadline - monotonicSeconds()
      if left <= 0 {
        kill(-pid, isLate ? SIGKILL : SIGTERM)
        isLate = true
        deadline = monotonicSeconds() + EventCommand.secondsToEnd
        continue
      }
      // A program that does not read a long event is looked after now and then.
      let wait = pipes[1] >= 0 ? min(left, 0.05) : left
      var time = timespec(tv_sec: Int(wait), tv_nsec: Int((wait - wait.rounded(.down)) * 1e9))
      let signal = sigtimedwait(&expected, nil, &time)
      if signal > 0, signal != SIGCHLD {
        kill(-pid, SIGTERM)
        // Delivered when the mask is what it was.
        kill(getpid(), signal)
        return nil
      }
    }
  }

  private func spawn(_ pid: inout pid_t, input: CInt, mask: inout sigset_t, _ event: StreamEvent) -> CInt {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETPGROUP))
    var arguments: [UnsafeMutablePointer<CChar>?] = arguments.map { text in strdup(text) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment(of: event).map { text in strdup(text) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    return posix_spawnp(&pid, self.arguments[0], &actions, &attributes, &arguments, &variables)
  }

  /// False when there is nothing more to write, or nobody reads it.
  private func feed(_ rest: inout ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno == EAGAIN
      }
    }
    return false
  }

  private func verdict(_ status: CInt) -> String? {
    if status == 0 { return nil }
    let signal = status & 0x7F
    return failed(signal == 0 ? "it ended with status \(status >> 8 & 0xFF)" : "signal \(signal) ended it")
  }

  private var late: String { failed("it took more than \(writtenDuration(secondsAllowed)) and was ended") }

  private func failed(_ problem: String) -> String { "\(displayed(arguments[0])): \(problem)" }
}

/// Our own environment and what is said of the event; what is not said of it is not set.
private func environment(of event: StreamEvent) -> [String] {
  let variables: [(String, String?)] = [
    ("EVENT", event.event), ("ID", "\(event.id)"), ("AT", event.at), ("INTERFACE", event.interface?.name),
    ("INTERFACE_ID", event.interface?.id), ("KIND", event.interface?.kind), ("CHANGE", event.change),
    ("CAUSE", event.cause), ("FORMER_NAME", event.formerName), ("FROM", event.from), ("TO", event.to),
    ("REASON", event.reason), ("LOSSY", event.lossy.map { $0 ? "true" : "false" }), ("STATE", event.state),
    ("CODE", event.code), ("MESSAGE", event.message), ("REMEDY", event.remedy),
  ]
  let ours = variables.map { ("IFTALLY_\($0.0)=", $0.1) }
  let inherited = inheritedEnvironment().filter { entry in !ours.contains { entry.hasPrefix($0.0) } }
  return inherited + ours.compactMap { name, value in value.map { name + $0 } }
}

private func inheritedEnvironment() -> [String] {
  guard let file = fopen("/proc/self/environ", "re") else { return [] }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  while bytes.count < 1 << 21 {
    let count = fread(&chunk, 1, chunk.count, file)
    if count == 0 { break }
    bytes += chunk.prefix(count)
  }
  return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
}

private func monotonicSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
