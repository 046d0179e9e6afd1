// What the file system says of the daemon's socket, and what it takes to be let in.
import Glibc
import TallyRender

/// The socket file as this user sees it.
struct SocketFacts {
  enum Presence {
    case socket
    case anotherKind(String)
    /// With the system's words.
    case absent(String)
  }

  let presence: Presence
  /// "root:iftally, mode 0660"; nil when it could not be read.
  let ownership: String?
  /// Who may connect, and how to become one of them; a sentence.
  let remedy: String
  /// The mode lets this user connect.
  let isWritable: Bool

  init(_ path: String) {
    var facts = stat()
    guard stat(path, &facts) == 0 else {
      let code = errno
      presence = .absent(String(cString: strerror(code)))
      ownership = nil
      remedy = "The folder that holds it cannot be entered by this user; ask for its mode: namei -l \(displayed(path))."
      isWritable = false
      return
    }
    switch facts.st_mode & S_IFMT {
    case S_IFSOCK: presence = .socket
    case S_IFDIR: presence = .anotherKind("a folder")
    case S_IFREG: presence = .anotherKind("a file")
    default: presence = .anotherKind("no socket")
    }
    let owner = getpwuid(facts.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(facts.st_uid)"
    let group = getgrgid(facts.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(facts.st_gid)"
    let digits = String(facts.st_mode & 0o7777, radix: 8)
    let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    ownership = "\(owner):\(group), mode \(mode)"
    isWritable = access(path, W_OK) == 0
    remedy =
      facts.st_mode & S_IWGRP != 0
      ? "It is open to \(owner) and the group \(group): usermod -aG \(group) USER, then log in again."
      : "It is open to \(owner) alone (mode \(mode)): run as that user, or set another mode for the socket."
  }
}

/// The groups of this process, by name where they have one.
func ownGroups() -> [String] {
  var groups = [gid_t](repeating: 0, count: 65536)
  let count = getgroups(CInt(groups.count), &groups)
  return Set(groups.prefix(max(0, Int(count))) + [getegid()]).sorted().map { group in
    getgrgid(group).map { String(cString: $0.pointee.gr_name) } ?? "\(group)"
  }
}
