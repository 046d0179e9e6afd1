// Which files are read and in which order, and what is said of files that cannot be.

import Foundation
import Testing

@testable import TallyConfig

@Test("With no file, systemd's folders hold, else the fixed ones")
func defaults() throws {
  let plain = try Configuration.load(main: "/nonexistent/iftally.conf", isRequired: false, environment: [:])
  #expect(plain.store.directory == "/var/lib/iftally")
  #expect(plain.api.socket == "/run/iftally/iftally.sock")
  #expect(plain.api.socketMode == 0o666)
  #expect(plain.api.tcp == nil && plain.api.socketGroup == nil && plain.api.allowedHosts.isEmpty)
  #expect(plain.sampling.source == .netlink)

  let service = Configuration(environment: ["STATE_DIRECTORY": "/s/a:/s/b", "RUNTIME_DIRECTORY": "/r/a:/r/b"])
  #expect(service.store.directory == "/s/a")
  #expect(service.api.socket == "/r/a/iftally.sock")
  #expect(Configuration(environment: ["STATE_DIRECTORY": ""]).store.directory == "/var/lib/iftally")
}

@Test("A named file must exist")
func missing() {
  #expect {
    try Configuration.load(file: "/nonexistent/x.conf", environment: [:])
  } throws: {
    "\($0)" == "/nonexistent/x.conf: no such file; create it or name another with --config"
  }
}

@Test("Drop-ins are read in the order of their names after the main file; others beside them are not")
func dropIns() throws {
  let folder = try Folder()
  let file = try folder.write("f.conf", "[Api]\nSocketMode=0600\nTcp=1\n[Store]\nDirectory=/main\n")
  try folder.write("f.conf.d/20-b.conf", "[Api]\nTcp=3\n")
  try folder.write("f.conf.d/10-a.conf", "[Api]\nTcp=2\n[Store]\nDirectory=/a\n")
  try folder.write("f.conf.d/30-c.conf.bak", "rubbish")
  try folder.write("f.conf.d/.40.conf", "rubbish")
  let configuration = try Configuration.load(file: file, environment: [:])
  #expect(configuration.api.socketMode == 0o600)
  #expect(configuration.api.tcp?.port == 3)
  #expect(configuration.store.directory == "/a")
}

@Test("Drop-ins hold without a main file where that may be missing")
func dropInsAlone() throws {
  let folder = try Folder()
  try folder.write("f.conf.d/a.conf", "[Api]\nTcp=2\n")
  let configuration = try Configuration.load(main: "\(folder.path)/f.conf", isRequired: false, environment: [:])
  #expect(configuration.api.tcp?.port == 2)
}

@Test("A mistake in any file refuses all, with the path of each")
func atomic() throws {
  let folder = try Folder()
  let file = try folder.write("f.conf", "[Api]\nTcp=x\n")
  try folder.write("f.conf.d/a.conf", "[Api]\nSocketMode=0600\n")
  try folder.write("f.conf.d/b.conf", "\nx\n")
  #expect {
    try Configuration.load(file: file, environment: [:])
  } throws: { error in
    let lines = "\(error)".split(separator: "\n")
    return lines.count == 2 && lines[0].hasPrefix("\(file):2: Tcp=x is not valid")
      && lines[1].hasPrefix("\(file).d/b.conf:2: 'x' stands before any section")
  }
}

@Test("A folder, a pipe and a file of more than 1 MiB are refused, without waiting; /dev/null is an empty file")
func oddFiles() throws {
  let folder = try Folder()
  mkfifo("\(folder.path)/pipe", 0o600)
  let large = try folder.write("large", bytes: [UInt8](repeating: 0x0A, count: 1 << 20 + 1))
  let said = [
    (folder.path, "is a folder; name a file"), ("\(folder.path)/pipe", "is not a regular file"),
    (large, "is larger than 1 MiB; is this a configuration file?"),
  ]
  for (file, message) in said {
    #expect {
      try Configuration.load(file: file, environment: [:])
    } throws: { "\($0)" == "\(file): \(message)" }
  }
  #expect(try Configuration.load(file: "/dev/null", environment: [:]) == Configuration(environment: [:]))
}

@Test("The largest file is read")
func largestFile() throws {
  let folder = try Folder()
  var bytes = [UInt8](repeating: 0x0A, count: 1 << 20)
  bytes.replaceSubrange(0..<13, with: Array("[Api]\nTcp=80\n".utf8))
  #expect(try Configuration.load(file: folder.write("f", bytes: bytes), environment: [:]).api.tcp?.port == 80)
}
