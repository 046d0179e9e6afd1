// Socket files: whose they are, who may use them, and what each failure says.

import Foundation
import Glibc
import Testing

@testable import LocalHTTP

private func status(_ path: String) throws -> stat {
  var found = stat()
  try #require(lstat(path, &found) == 0)
  return found
}

/// The words of the error that a call throws.
private func message(_ call: () throws -> ListeningSocket) -> String {
  do {
    _ = try call()
    return "no error"
  } catch {
    return "\(error)"
  }
}

struct ListeningSocketTests {
  @Test("the file has the mode asked for, whatever the umask", arguments: [0o666, 0o660, 0o600] as [mode_t])
  func mode(_ mode: mode_t) throws {
    let folder = try Folder()
    let listener = try ListeningSocket.unix(path: folder.path + "/s", mode: mode)
    #expect(try status(folder.path + "/s").st_mode & 0o7777 == mode)
    listener.close()
    #expect(access(folder.path + "/s", F_OK) != 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test("the file has the group asked for", .enabled(if: isRoot, "needs root"))
  func group() throws {
    let folder = try Folder()
    let listener = try ListeningSocket.unix(path: folder.path + "/s", group: 65533)
    #expect(try status(listener.address).st_gid == 65533)
    #expect(try ListeningSocket.group(named: "root") == 0)
    #expect(try ListeningSocket.group(named: "65533") == 65533)
    #expect(throws: LocalHTTPError.self) { try ListeningSocket.group(named: "no-such-group") }
  }

  @Test("a socket left by a dead server is replaced, and so is a half-made one")
  func stale() throws {
    let folder = try Folder()
    for name in ["/s", "/s.new"] {
      let descriptor = socket(AF_UNIX, streamSocket, 0)
      let address = try #require(UnixAddress(folder.path + name))
      #expect(address.call { bind(descriptor, $0, $1) } == 0)
      close(descriptor)
    }
    let listener = try ListeningSocket.unix(path: folder.path + "/s")
    _ = try RawClient(listener.address)
  }

  @Test("a live server is left alone, even one that is too busy to accept")
  func live() throws {
    let folder = try Folder()
    let path = folder.path + "/s"
    let first = try ListeningSocket.unix(path: path)
    #expect(message { try .unix(path: path) } == "another server answers on \(path)")
    var clients: [RawClient] = []
    while let client = try? RawClient(path) { clients.append(client) }
    #expect(message { try .unix(path: path) } == "another server answers on \(path)")
    #expect(try status(path).st_ino != 0)
    first.close()
  }

  @Test("a successor's file is not removed by the predecessor")
  func successor() throws {
    let folder = try Folder()
    let path = folder.path + "/s"
    let first = try ListeningSocket.unix(path: path)
    unlink(path)
    let second = try ListeningSocket.unix(path: path)
    first.close()
    _ = try RawClient(path)
    second.close()
    #expect(access(path, F_OK) != 0)
  }

  @Test("what is no socket is not touched, and every failure says what to do")
  func failures() throws {
    let folder = try Folder()
    let file = folder.path + "/file"
    try Data([1]).write(to: URL(fileURLWithPath: file))
    symlink(file, folder.path + "/link")
    for path in [file, folder.path + "/link", folder.path] {
      #expect(
        message { try .unix(path: path) }
          == "cannot listen on \(path): there is a file that is no socket; move it away, or choose another path")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data([1]))
    let missing = folder.path + "/none/s"
    #expect(
      message { try .unix(path: missing) }
        == "cannot listen on \(missing): the directory \(folder.path)/none does not exist; create it, or choose another path"
    )
    let long = folder.path + "/" + String(repeating: "x", count: 100)
    #expect(
      message { try .unix(path: long) }
        == "cannot listen on \(long): a socket path is 1 to 103 bytes long, without a zero byte; choose a shorter path")
    let longest = folder.path + "/" + String(repeating: "x", count: 102 - folder.path.utf8.count)
    _ = try ListeningSocket.unix(path: longest)
  }

  @Test("TCP keeps to loopback unless told otherwise")
  func tcp() throws {
    #expect(try ListeningSocket.tcp("127.0.0.1:0").address.hasPrefix("127.0.0.1:"))
    #expect(try ListeningSocket.tcp("localhost:0").address.hasPrefix("127.0.0.1:"))
    #expect(
      message { try .tcp("0.0.0.0:0") }
        == "cannot listen on 0.0.0.0:0: other machines could reach it; use 127.0.0.1 or [::1]")
    #expect(message { try .tcp("[::]:0") }.contains("other machines"))
    #expect(message { try .tcp("[::ffff:127.0.0.1]:0") }.contains("other machines"))
    _ = try ListeningSocket.tcp("0.0.0.0:0", allowAnyAddress: true)
    for text in ["", "8080", "localhost", "box:80", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "[::1]80", "127.1:80"]
    {
      #expect(
        message { try .tcp(text) }
          == "cannot listen on \(text): this is no address and port; write it like 127.0.0.1:8080 or [::1]:8080")
    }
    let first = try ListeningSocket.tcp("127.0.0.1:0")
    #expect(message { try .tcp(first.address) } == "another server answers on \(first.address)")
  }

  @Test("IPv6 loopback is served", .enabled(if: access("/proc/net/if_inet6", F_OK) == 0, "IPv6 is off here"))
  func tcp6() throws {
    #expect(try ListeningSocket.tcp("[::1]:0").address.hasPrefix("[::1]:"))
  }

  @Test("a socket of the service manager is taken over, its file stays, and anything else is refused")
  func adopted() throws {
    let folder = try Folder()
    let path = folder.path + "/s"
    let descriptor = socket(AF_UNIX, streamSocket, 0)
    let address = try #require(UnixAddress(path))
    #expect(address.call { bind(descriptor, $0, $1) } == 0)
    #expect(message { try .adopted(descriptor, name: "api") }.contains("it is no listening stream socket"))
    listen(descriptor, 1)
    let listener = try ListeningSocket.adopted(descriptor, name: "api")
    #expect(listener.isUnix)
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    listener.close()
    #expect(access(path, F_OK) == 0)
    let file = open("/dev/null", O_RDONLY)
    #expect(message { try .adopted(file, name: "api") }.contains("list only ListenStream="))
    close(file)
  }
}
