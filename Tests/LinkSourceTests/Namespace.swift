// A network namespace of its own for a test: a thread that lives in it, with its own /sys, and the ip command there.
import CNetlink  // whose module holds the socket types where it is loaded before Glibc's
import Foundation
import Glibc

/// A thread in a network and mount namespace of its own; sockets that it opens stay bound to that namespace.
final class NetworkNamespace: @unchecked Sendable {
  /// The kernel's id of the thread: what `ip link set X netns ID` takes.
  private(set) var threadID: Int32 = 0
  private let condition = NSCondition()
  private var jobs: [() -> Void] = []
  private var stopped = false

  /// Whether this process may make one. Where CI says so it must, and its tests fail instead of being skipped.
  static let isAvailable =
    ProcessInfo.processInfo.environment["CI"] == "true" || (try? NetworkNamespace().stop()) != nil
  static let whyNot = "needs root, or user namespaces: run as root or under `unshare -Urnm`"

  init() throws {
    Thread.detachNewThread { [self] in serve() }
    do {
      try run {
        try enter()
        self.threadID = gettid()
      }
    } catch {
      stop()
      throw error
    }
  }

  /// Runs the body on the thread and waits. Checks belong outside: the thread is no part of the test's task.
  func run<Result>(_ body: @escaping () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    condition.lock()
    jobs.append { result = Swift.Result { try body() } }
    condition.broadcast()
    while result == nil { condition.wait() }
    condition.unlock()
    guard let result else { throw NamespaceError(what: "the body did not run") }
    return try result.get()
  }

  /// Ends the thread, and with it the namespace.
  func stop() {
    condition.lock()
    stopped = true
    condition.broadcast()
    condition.unlock()
  }

  /// Makes a namespace, runs the body in it and ends it.
  static func withOne<Result>(_ body: @escaping (NetworkNamespace) throws -> Result) throws -> Result {
    let namespace = try NetworkNamespace()
    defer { namespace.stop() }
    return try namespace.run { try body(namespace) }
  }

  private func serve() {
    condition.lock()
    while !stopped {
      if jobs.isEmpty {
        condition.wait()
        continue
      }
      let job = jobs.removeFirst()
      condition.unlock()
      job()
      condition.lock()
      condition.broadcast()
    }
    condition.unlock()
  }
}

struct NamespaceError: Error, CustomStringConvertible {
  var what: String
  var description: String { what }
}

/// The C library's function by its name: Swift's Glibc module leaves these out.
private func unshare(_ flags: Int32) -> Int32 {
  typealias Unshare = @convention(c) (Int32) -> Int32
  guard let symbol = dlsym(nil, "unshare") else { return -1 }
  return unsafeBitCast(symbol, to: Unshare.self)(flags)
}

private func gettid() -> Int32 {
  typealias GetTID = @convention(c) () -> Int32
  guard let symbol = dlsym(nil, "gettid") else { return 0 }
  return unsafeBitCast(symbol, to: GetTID.self)()
}

/// Leaves the thread's namespaces for new ones. IPv6 is off there, so that no link sends anything by itself.
private func enter() throws {
  let newNetwork: Int32 = 0x4000_0000
  let newMounts: Int32 = 0x0002_0000
  guard unshare(newNetwork | newMounts) == 0 else { throw NamespaceError(what: "unshare: \(lastError())") }
  let recursivePrivate: UInt = 0x4000 | 0x40000
  guard mount("none", "/", nil, recursivePrivate, nil) == 0, mount("sysfs", "/sys", "sysfs", 0, nil) == 0 else {
    throw NamespaceError(what: "mount: \(lastError())")
  }
  for which in ["all", "default"] {
    try? "1".write(toFile: "/proc/sys/net/ipv6/conf/\(which)/disable_ipv6", atomically: false, encoding: .ascii)
  }
}

func lastError() -> String { String(cString: strerror(errno)) }

/// Runs `ip` with these words in the calling thread's namespace.
@discardableResult
func ip(_ words: String) throws -> String { try runCommand("ip", words.split(separator: " ").map(String.init)) }

/// Runs many `ip` commands, one a line, in one process.
func ipBatch(_ lines: [String]) throws {
  try runBatch(lines) { child in
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return status
  }
}

/// Runs many `ip` commands in one process, and meanwhile the body over and over.
func whileBatchRuns(_ lines: [String], _ body: () throws -> Void) throws {
  try runBatch(lines) { child in
    var status: Int32 = 0
    while waitpid(child, &status, WNOHANG) == 0 { try body() }
    return status
  }
}

private func runBatch(_ lines: [String], _ wait: (pid_t) throws -> Int32) throws {
  let path = NSTemporaryDirectory() + "iftally-ip-\(UUID().uuidString)"
  defer { unlink(path) }
  try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
  let status = try wait(try spawn("ip", ["-batch", path], output: 2))
  guard status == 0 else { throw NamespaceError(what: "ip -batch: status \(status)") }
}

/// Runs a command in the calling thread's namespace; its output, or an error with it.
private func runCommand(_ name: String, _ arguments: [String]) throws -> String {
  var ends: [Int32] = [0, 0]
  // No pipe: a child of another test could inherit its end and hold it open.
  guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
    throw NamespaceError(what: "socketpair: \(lastError())")
  }
  defer { close(ends[0]) }
  let child: pid_t
  do {
    defer { close(ends[1]) }
    child = try spawn(name, arguments, output: ends[1])
  }
  let output = FileHandle(fileDescriptor: ends[0]).readDataToEndOfFile()
  var status: Int32 = 0
  waitpid(child, &status, 0)
  let text = String(decoding: output, as: UTF8.self)
  guard status == 0 else { throw NamespaceError(what: "\(name) \(arguments.joined(separator: " ")): \(text)") }
  return text
}

/// Starts a command with both its outputs to a descriptor: a child of the calling thread, so in its namespaces.
private func spawn(_ name: String, _ arguments: [String], output: Int32) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, output, 1)
  posix_spawn_file_actions_adddup2(&actions, output, 2)
  var vector = ([name] + arguments).map { strdup($0) }
  defer { for word in vector { free(word) } }
  vector.append(nil)
  var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
  defer { free(environment[0]) }
  var child: pid_t = 0
  let code = posix_spawnp(&child, name, &actions, nil, &vector, &environment)
  guard code == 0 else { throw NamespaceError(what: "\(name): \(String(cString: strerror(code)))") }
  return child
}
