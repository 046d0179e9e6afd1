// What systemd says of our units: asked through systemctl, which knows the way to it.
import Glibc

/// The properties of units by the name of the unit, as `systemctl show` writes them.
struct SystemdUnits {
  static let service = "iftallyd.service"
  static let links = "iftallyd-links.socket"
  static let tcp = "iftallyd-tcp.socket"
  static let alert = "iftally-alert.service"

  private var properties: [String: [String: String]] = [:]

  private static let names = [
    "Id", "LoadState", "ActiveState", "UnitFileState", "MainPID", "NeedDaemonReload", "DropInPaths", "User",
    "NoNewPrivileges", "ProtectSystem", "PrivateDevices", "PrivateNetwork", "PrivateUsers", "ProcSubset",
    "MemoryDenyWriteExecute", "CapabilityBoundingSet", "RestrictAddressFamilies", "Listen", "ConditionResult", "Result",
  ]

  /// nil where no systemd is running, or it does not answer.
  static func ask() -> SystemdUnits? {
    let command = ["systemctl", "show", "--property=" + names.joined(separator: ","), service, links, tcp, alert]
    guard let text = output(of: command) else { return nil }
    let units = SystemdUnits(text)
    return units.properties.isEmpty ? nil : units
  }

  /// Units one after the other with an empty line between them.
  init(_ text: String) {
    for block in text.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "") {
      var unit: [String: String] = [:]
      for line in block {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { unit[String(parts[0])] = String(parts[1]) }
      }
      if let id = unit["Id"] { properties[id] = unit }
    }
  }

  /// Empty when systemd has nothing to say of it.
  func value(_ property: String, of unit: String) -> String { properties[unit]?[property] ?? "" }

  func isInstalled(_ unit: String) -> Bool { value("LoadState", of: unit) == "loaded" }
  func isActive(_ unit: String) -> Bool { value("ActiveState", of: unit) == "active" }
  func isEnabled(_ unit: String) -> Bool { value("UnitFileState", of: unit) == "enabled" }

  /// Units that were changed on the disk since systemd read them.
  var outdated: [String] {
    properties.keys.filter { value("NeedDaemonReload", of: $0) == "yes" }.sorted()
  }
}

private let longestOutput = 1 << 20
private let patienceMilliseconds: CInt = 5000

/// What a program writes to its standard output; nil when it cannot be run, fails or takes too long.
private func output(of command: [String]) -> String? {
  var pipes: [CInt] = [-1, -1]
  guard pipe(&pipes) == 0 else { return nil }
  for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  defer { close(pipes[0]) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
  let settings: [String] = ["PATH=" + (environment("PATH") ?? "/usr/bin:/bin"), "LC_ALL=C"]
  var arguments: [UnsafeMutablePointer<CChar>?] = command.map { text in strdup(text) } + [nil]
  var variables: [UnsafeMutablePointer<CChar>?] = settings.map { text in strdup(text) } + [nil]
  defer { for text in arguments + variables { free(text) } }
  var pid = pid_t()
  let code = posix_spawnp(&pid, command[0], &actions, nil, &arguments, &variables)
  close(pipes[1])
  guard code == 0 else { return nil }
  let written = read(pipes[0])
  if written == nil { kill(pid, SIGKILL) }
  var status: CInt = 0
  while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
  return status == 0 ? written.map { String(decoding: $0, as: UTF8.self) } : nil
}

/// All that comes until the other end is closed; nil when that takes too long or is too much.
private func read(_ descriptor: CInt) -> [UInt8]? {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  while bytes.count < longestOutput {
    let ready = poll(&watched, 1, patienceMilliseconds)
    if ready < 0 && errno == EINTR { continue }
    guard ready > 0 else { return nil }
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    if count == 0 { return bytes }
    if count < 0 && errno != EINTR { return nil }
    bytes += chunk.prefix(max(0, count))
  }
  return nil
}
