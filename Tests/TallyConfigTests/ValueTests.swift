// Every key's values: what is taken, what is refused, and what the message then says.

import Testing

@testable import TallyConfig

/// The configuration that the lines give, or its problems without the file's name.
private func outcome(_ text: String) throws -> (Configuration?, [String]) {
  let folder = try Folder()
  let file = try folder.write("iftally.conf", text)
  do {
    return (try Configuration.load(file: file, environment: [:]), [])
  } catch {
    return (nil, error.problems.map { "\($0.line ?? 0): \($0.message)" })
  }
}

private func value<Value>(_ path: KeyPath<Configuration, Value>, _ text: String) throws -> Value? {
  try outcome(text).0?[keyPath: path]
}

@Test("Each key sets its value")
func everyKey() throws {
  let (configuration, problems) = try outcome(
    """
    # all of them
    [Store]
    Directory=/srv/tally
    [Api]
    Socket = /tmp/s.sock
    SocketMode=0660
    SocketGroup=root
    Tcp=127.0.0.1:8080
    AllowedHosts=router.lan 192.0.2.1
    ; the cross-check's own source
    [Sampling]
    Source=getifaddrs
    """)
  #expect(problems == [])
  var expected = Configuration(environment: [:])
  expected.store.directory = "/srv/tally"
  expected.api.socket = "/tmp/s.sock"
  expected.api.socketMode = 0o660
  expected.api.socketGroup = Configuration.Group(name: "root", id: 0)
  expected.api.tcp = Configuration.TCPAddress(host: "127.0.0.1", port: 8080)
  expected.api.allowedHosts = ["router.lan", "192.0.2.1"]
  expected.sampling.source = .getifaddrs
  #expect(configuration == expected)
}

@Test(
  "A TCP address is numeric and loopback, and a port alone means 127.0.0.1",
  arguments: [
    ("8080", "127.0.0.1", 8080), ("127.0.0.1:1", "127.0.0.1", 1), ("localhost:80", "127.0.0.1", 80),
    ("[::1]:65535", "::1", 65535), ("127.9.8.7:9000", "127.9.8.7", 9000),
  ] as [(String, String, UInt16)])
func addresses(text: String, host: String, port: UInt16) throws {
  #expect(try value(\.api.tcp, "[Api]\nTcp=\(text)") == Configuration.TCPAddress(host: host, port: port))
}

@Test(
  "A bad value names itself, its line and what is allowed",
  arguments: [
    ("[Api]\nTcp=example.com:80", "Tcp=example.com:80"), ("[Api]\nTcp=127.0.0.1:0", "Tcp=127.0.0.1:0"),
    ("[Api]\nTcp=127.0.0.1:65536", "Tcp=127.0.0.1:65536"), ("[Api]\nTcp=::1:80", "Tcp=::1:80"),
    ("[Api]\nTcp=[127.0.0.1]:80", "Tcp=[127.0.0.1]:80"), ("[Api]\nTcp=127.0.0.1:+80", "Tcp=127.0.0.1:+80"),
    ("[Api]\nTcp=0.0.0.0:80", "Tcp=0.0.0.0:80"), ("[Api]\nTcp=192.0.2.1:80", "Tcp=192.0.2.1:80"),
    ("[Api]\nTcp=[::]:80", "Tcp=[::]:80"), ("[Api]\nTcp=[2001:db8::1]:80", "Tcp=[2001:db8::1]:80"),
    ("[Api]\nSocketMode=0668", "SocketMode=0668"), ("[Api]\nSocketMode=4755", "SocketMode=4755"),
    ("[Api]\nSocketMode=rw", "SocketMode=rw"), ("[Api]\nSocketMode=+66", "SocketMode=+66"),
    ("[Api]\nSocketGroup=no-such-group-here", "SocketGroup=no-such-group-here"),
    ("[Api]\nSocketGroup=4294967295", "SocketGroup=4294967295"), ("[Api]\nSocket=run/s", "Socket=run/s"),
    ("[Api]\nSocket=/run/", "Socket=/run/"), ("[Api]\nAllowedHosts=ok http://no", "AllowedHosts=ok http://no"),
    ("[Api]\nAllowedHosts=a:80", "AllowedHosts=a:80"), ("[Store]\nDirectory=here", "Directory=here"),
    ("[Sampling]\nSource=proc", "Source=proc"), ("[Store]\nForgottenDays=-1", "ForgottenDays=-1"),
    ("[Links]\nExpireDays=0", "ExpireDays=0"), ("[Links]\nExpireDays=36501", "ExpireDays=36501"),
    ("[Store]\nForgottenDays=36501", "ForgottenDays=36501"), ("[Store]\nForgottenDays=x", "ForgottenDays=x"),
    ("[Api]\nChangeGroup=no-such-group-here", "ChangeGroup=no-such-group-here"),
  ])
func badValues(text: String, named: String) throws {
  let (configuration, problems) = try outcome(text)
  #expect(configuration == nil)
  #expect(problems.count == 1)
  #expect(problems.first?.hasPrefix("2: \(named) is not valid; allowed: ") == true)
}

@Test("A socket path of 107 bytes fits, one of 108 does not")
func longestSocket() throws {
  let path = "/" + String(repeating: "s", count: 106)
  #expect(try value(\.api.socket, "[Api]\nSocket=\(path)") == path)
  #expect(try outcome("[Api]\nSocket=\(path)s").1.count == 1)
}

@Test("The last of repeated values wins, lists add up, and an empty value takes the default back")
func repetition() throws {
  #expect(try value(\.api.socketMode, "[Api]\nSocketMode=0600\nSocketMode=0640") == 0o640)
  #expect(try value(\.api.allowedHosts, "[Api]\nAllowedHosts=a B\nAllowedHosts=b ::1") == ["a", "b", "::1"])
  #expect(try value(\.api.allowedHosts, "[Api]\nAllowedHosts=a\nAllowedHosts=\nAllowedHosts=c") == ["c"])
  #expect(try value(\.store.directory, "[Store]\nDirectory=/x\nDirectory=") == "/var/lib/iftally")
  #expect(try outcome("[Api]\nTcp=80\nTcp=").0?.api.tcp == nil)
}

@Test("Who may change things is a group by name or number, iftally by default")
func changeGroup() throws {
  #expect(try value(\.api.changeGroup.name, "[Api]\nChangeGroup=54321") == "54321")
  #expect(try value(\.api.changeGroup.id, "[Api]\nChangeGroup=54321") == 54321)
  #expect(try value(\.api.changeGroup.id, "[Api]\nChangeGroup=root") == 0)
  #expect(try value(\.api.changeGroup.name, "[Api]\nChangeGroup=") == "iftally")
  #expect(try value(\.store.forgottenDays, "[Store]\nForgottenDays=0") == 0)
  #expect(try value(\.links.expireDays, "[Links]\nExpireDays=1") == 1)
  let never = try value(\.links.expireDays, "[Links]\nExpireDays=never")
  #expect(never == .some(nil))
}

@Test("A host list is bounded")
func hostBound() throws {
  let lines = (0..<65).map { "AllowedHosts=h\($0)" }.joined(separator: "\n")
  let (_, problems) = try outcome("[Api]\n\(lines)")
  #expect(problems.count == 1 && problems[0].hasPrefix("66: AllowedHosts=h64 is not valid"))
}

@Test("The edit distance is Levenshtein's")
func distance() {
  #expect(editDistance("", "abc") == 3)
  #expect(editDistance("sokcet", "socket") == 2)
  #expect(editDistance("kitten", "sitting") == 3)
  #expect(editDistance("tcp", "tcp") == 0)
}
