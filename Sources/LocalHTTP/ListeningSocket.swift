// Listening sockets: made here on a Unix path or a TCP port, or handed over by the service manager.

package import Glibc

/// A listening, non-blocking socket, closed with this object.
package final class ListeningSocket {
  package let descriptor: CInt
  /// What to call it: the path, or `host:port` with the port that was really taken.
  package let address: String
  /// Whether peers have credentials.
  package let isUnix: Bool
  /// The socket file that is ours to remove.
  private let file: (path: String, device: dev_t, inode: ino_t)?
  private var isOpen = true

  private init(descriptor: CInt, address: String, isUnix: Bool, file: (path: String, device: dev_t, inode: ino_t)?) {
    self.descriptor = descriptor
    self.address = address
    self.isUnix = isUnix
    self.file = file
  }

  deinit { close() }

  /// Stops listening, and removes the socket file unless another server has put its own there meanwhile.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    if let file {
      var now = stat()
      if lstat(file.path, &now) == 0, now.st_dev == file.device, now.st_ino == file.inode { unlink(file.path) }
    }
    _ = Glibc.close(descriptor)
  }

  /// Connections that the kernel holds ready while the server is at its limit.
  private static let backlog: CInt = 128

  /// Listens on a Unix socket file.
  ///
  /// `mode` and `group` (nil: the process's own) are in force before anybody can connect, since the file appears under
  /// its name only when all is done. A file left by a server that died is replaced; that of a live one never.
  package static func unix(path: String, mode: mode_t = 0o666, group: gid_t? = nil) throws(LocalHTTPError)
    -> ListeningSocket
  {
    func failure(_ problem: String, _ remedy: String) -> LocalHTTPError {
      .cannotListen(address: path, problem: problem, remedy: remedy)
    }
    func failure(_ code: CInt, _ remedy: String) -> LocalHTTPError { failure(systemMessage(code), remedy) }

    let draft = path + ".new"
    guard let draftAddress = UnixAddress(draft) else {
      let most = UnixAddress.longestPath - (draft.utf8.count - path.utf8.count)
      throw failure("a socket path is 1 to \(most) bytes long, without a zero byte", "choose a shorter path")
    }
    try refuseOccupied(path)

    let descriptor = socket(AF_UNIX, streamSocket | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw failure(errno, "raise the limit of open files") }
    var done = false
    defer { if !done { _ = Glibc.close(descriptor) } }

    // What a start that was killed half-way left behind; it never listened under its name.
    var old = stat()
    if lstat(draft, &old) == 0, isSocket(old) { unlink(draft) }
    guard draftAddress.call({ bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      let folder = folder(of: path)
      switch code {
      case ENOENT: throw failure("the directory \(folder) does not exist", "create it, or choose another path")
      case ENOTDIR: throw failure("\(folder) is no directory", "choose another path")
      case EACCES, EPERM, EROFS:
        throw failure(code, "make the directory \(folder) writable for this user, or choose another path")
      default: throw failure(code, "remove \(draft) or choose another path")
      }
    }
    defer { if !done { unlink(draft) } }
    if let group, lchown(draft, uid_t.max, group) != 0 {
      throw failure("group \(group): \(systemMessage(errno))", "choose a group that this user belongs to")
    }
    guard chmod(draft, mode) == 0 else { throw failure(errno, "check the file system of \(folder(of: path))") }
    guard listen(descriptor, backlog) == 0 else { throw failure(errno, "choose another path") }
    var made = stat()
    guard lstat(draft, &made) == 0, rename(draft, path) == 0 else {
      throw failure(errno, "check the directory \(folder(of: path))")
    }
    done = true
    return ListeningSocket(
      descriptor: descriptor, address: path, isUnix: true, file: (path, made.st_dev, made.st_ino))
  }

  /// Listens on `host:port`: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`. Port 0 takes a free one.
  ///
  /// An address that other machines can reach is refused unless `allowAnyAddress`.
  package static func tcp(_ text: String, allowAnyAddress: Bool = false) throws(LocalHTTPError) -> ListeningSocket {
    func failure(_ problem: String, _ remedy: String) -> LocalHTTPError {
      .cannotListen(address: text, problem: problem, remedy: remedy)
    }
    guard let address = TCPAddress(text) else {
      throw failure("this is no address and port", "write it like 127.0.0.1:8080 or [::1]:8080")
    }
    guard address.isLoopback || allowAnyAddress else {
      throw failure("other machines could reach it", "use 127.0.0.1 or [::1]")
    }
    let flags = streamSocket | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.family, flags, 0)
    guard descriptor >= 0 else { throw failure(systemMessage(errno), "is the protocol switched off here?") }
    var yes: CInt = 1
    let size = socklen_t(MemoryLayout<CInt>.size)
    // Old connections in TIME_WAIT must not keep a restarted server from its port.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    if address.family == AF_INET6 { setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    guard address.call({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, backlog) == 0 else {
      let code = errno
      _ = Glibc.close(descriptor)
      switch code {
      case EADDRINUSE: throw .anotherServer(text)
      case EACCES: throw failure(systemMessage(code), "use a port above 1023")
      default: throw failure(systemMessage(code), "is the address one of this machine's?")
      }
    }
    return ListeningSocket(
      descriptor: descriptor, address: address.text(port: boundPort(descriptor) ?? address.port), isUnix: false,
      file: nil)
  }

  /// Takes over a listening socket from the service manager, which keeps its file.
  package static func adopted(_ descriptor: CInt, name: String) throws(LocalHTTPError) -> ListeningSocket {
    let remedy = "list only ListenStream= addresses in the socket unit"
    var listening: CInt = 0
    var domain: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0,
      getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0
    else {
      throw .cannotListen(address: name, problem: systemMessage(errno), remedy: remedy)
    }
    guard listening != 0, [AF_UNIX, AF_INET, AF_INET6].contains(domain) else {
      throw .cannotListen(address: name, problem: "it is no listening stream socket", remedy: remedy)
    }
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else {
      throw .cannotListen(address: name, problem: systemMessage(errno), remedy: remedy)
    }
    return ListeningSocket(descriptor: descriptor, address: name, isUnix: domain == AF_UNIX, file: nil)
  }

  /// The id of a group by name or number.
  package static func group(named name: String) throws(LocalHTTPError) -> gid_t {
    if let number = gid_t(name), number != gid_t.max { return number }
    guard let entry = getgrnam(name) else {
      throw .cannotListen(
        address: "the socket", problem: "there is no group '\(name)'", remedy: "create it with 'groupadd --system'")
    }
    return entry.pointee.gr_gid
  }

  /// Throws unless the path is free, or holds a socket that nobody listens on.
  private static func refuseOccupied(_ path: String) throws(LocalHTTPError) {
    var found = stat()
    guard lstat(path, &found) == 0 else { return }
    guard isSocket(found) else {
      throw .cannotListen(
        address: path, problem: "there is a file that is no socket", remedy: "move it away, or choose another path")
    }
    guard let address = UnixAddress(path) else { return }
    let probe = socket(AF_UNIX, streamSocket | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
    guard probe >= 0 else {
      throw .cannotListen(address: path, problem: systemMessage(errno), remedy: "raise the limit of open files")
    }
    defer { _ = Glibc.close(probe) }
    if address.call({ connect(probe, $0, $1) }) == 0 { throw .anotherServer(path) }
    switch errno {
    case ECONNREFUSED, ENOENT: return
    // A full backlog is a live server, too.
    case EAGAIN: throw .anotherServer(path)
    default:
      throw .cannotListen(
        address: path, problem: "it cannot be told whether a server is alive there: \(systemMessage(errno))",
        remedy: "run as the user that owns it, or remove it")
    }
  }
}

private func isSocket(_ found: stat) -> Bool { found.st_mode & S_IFMT == S_IFSOCK }

private func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
