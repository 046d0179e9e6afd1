// The file's syntax: systemd's style, and the messages for everything that is not it.

import Testing

@testable import TallyConfig

private func problems(_ bytes: [UInt8]) throws -> [String] {
  let folder = try Folder()
  let file = try folder.write("f.conf", bytes: bytes)
  do {
    _ = try Configuration.load(file: file, environment: [:])
    return []
  } catch {
    return error.problems.map { "\($0.line ?? 0): \($0.message)" }
  }
}

private func problems(_ text: String) throws -> [String] { try problems(Array(text.utf8)) }

@Test("Comments, blank lines, margins, CRLF, a byte order mark and a missing last line end are fine")
func lenient() throws {
  let reader = EntryReader.read(
    Array("\u{FEFF}# one\r\n\r\n  ; two\r\n\t[Api]\t\r\n  Tcp = 80  \r\n    Socket=/a b".utf8))
  #expect(reader.problems.isEmpty)
  #expect(
    reader.entries == [
      ConfigurationEntry(line: 5, section: "Api", key: "Tcp", value: "80"),
      ConfigurationEntry(line: 6, section: "Api", key: "Socket", value: "/a b"),
    ])
}

@Test("A comment of any length is passed over")
func longComment() throws {
  #expect(try problems("#" + String(repeating: "x", count: 5000) + "\n[Api]\nTcp=80\n") == [])
}

@Test("Sections of one name are one section")
func mergedSections() throws {
  #expect(try problems("[Api]\nTcp=80\n[Store]\nDirectory=/x\n[Api]\nSocketMode=0600\n") == [])
}

@Test("An empty file is a configuration")
func empty() throws {
  #expect(try problems("") == [])
}

@Test(
  "Each mistake is named with its line and its remedy",
  arguments: [
    (
      "[Api]\nSokcet=/x",
      "2: unknown key Sokcet= in [Api] (did you mean Socket=?); "
        + "allowed: Socket=, SocketMode=, SocketGroup=, Tcp=, AllowedHosts=, ChangeGroup="
    ),
    (
      "[Store]\nsocket=/x",
      "2: unknown key socket= in [Store] (Socket= belongs to [Api]); allowed: Directory=, ForgottenDays="
    ),
    ("[Store]\nRetention=1", "2: unknown key Retention= in [Store]; allowed: Directory=, ForgottenDays="),
    (
      "\n[api]\nx=1",
      "2: unknown section [api] (did you mean [Api]?); allowed: [Store], [Api], [Sampling], [Links], [Rule NAME]"
    ),
    (
      "[Home]\nx=1", "1: unknown section [Home]; allowed: [Store], [Api], [Sampling], [Links], [Rule NAME]"
    ),
    ("Tcp=80\n[Api]", "1: 'Tcp=80' stands before any section; put [Store] or another above it"),
    ("[Api\nTcp=80", "1: section header is malformed; write [Name] alone on its line"),
    ("[Api] # x\nTcp=80", "1: section header is malformed; write [Name] alone on its line"),
    ("[]\n", "1: section header is malformed; write [Name] alone on its line"),
    ("[Api]\nTcp", "2: line is neither [Section], Key=value nor a comment (# or ;)"),
    ("[Api]\nTcp: 80", "2: line is neither [Section], Key=value nor a comment (# or ;)"),
    ("[Api]\n=80", "2: no key before '='; write Key=value"),
    ("[Api]\nTcp=80 ; web", "2: a comment cannot follow a value; put it on a line of its own"),
    ("[Api]\nTcp=80 # web", "2: a comment cannot follow a value; put it on a line of its own"),
    ("[Api]\nTcp=\\\n80", "2: lines cannot be continued with '\\'; repeat the key if it is a list"),
    ("[Api]\nTcp=8\u{0}0", "2: line holds a NUL byte; is this a text file?"),
    ("[Api]\nTcp=80\u{1B}[31m", "2: line holds a control character; remove it"),
    ("[Api]\nTcp=80\u{9B}31m", "2: line holds a control character; remove it"),
  ])
func mistakes(text: String, message: String) throws {
  #expect(try problems(text).first == message)
}

@Test("Bytes that are no UTF-8 are refused")
func notUTF8() throws {
  #expect(
    try problems(Array("[Store]\nDirectory=/".utf8) + [0xFF]) == ["2: line is not UTF-8; save the file as UTF-8"])
}

@Test("The longest line is taken whole and one byte more is refused, at any length up to many buffers")
func lineLength() throws {
  let longest = "Directory=/" + String(repeating: "d", count: EntryReader.longestLine - 11)
  let reader = EntryReader.read(Array("[Store]\n\(longest)\n".utf8))
  #expect(reader.problems.isEmpty)
  #expect(reader.entries.first?.value.utf8.count == EntryReader.longestLine - 10)
  for extra in [1, 8, 9, 10, 11, 200, 400, 4096] {
    let found = try problems("[Store]\n\(longest)\(String(repeating: "x", count: extra))\nDirectory=/y\n")
    #expect(
      found == ["2: line is longer than 190 bytes; shorten it, or repeat the key if it is a list"], "\(extra) more")
  }
}

@Test("All mistakes are reported, in the order of their lines, and those of an unknown section once")
func all() throws {
  let text = "[Api]\nTcp=x\nnonsense\nBad=1\n[Nope]\na=1\nb\n[Store]\nDirectory=y\n"
  #expect(try problems(text).map { String($0.prefix(2)) } == ["2:", "3:", "4:", "5:", "9:"])
}

@Test("A file of nothing but mistakes gives a bounded list")
func bounded() throws {
  let found = try problems("[Api]\n" + String(repeating: "x\n", count: 5000))
  #expect(found.count == 51)
  #expect(found.last == "52: more is wrong from here on; mend the above first")
}

@Test("Random bytes never trap, and lines are never miscounted", arguments: 0..<40 as Range<UInt64>)
func fuzz(seed: UInt64) {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
  func next(_ below: UInt64) -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state % below
  }
  let pieces = ["[Api]", "[", "]", "Tcp", "=", ":", ";", "#", " ", "\t", "\n", "\r\n", "\\", "\u{0}", "é", "Socket=/x"]
  var bytes: [UInt8] = []
  for _ in 0..<400 {
    if next(4) == 0 { bytes.append(UInt8(next(256))) } else { bytes += Array(pieces[Int(next(16))].utf8) }
  }
  let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
  let reader = EntryReader.read(bytes)
  for entry in reader.entries {
    let line = lines[entry.line - 1]
    #expect(line.contains(UInt8(ascii: "=")))
    #expect(
      String(decoding: line, as: UTF8.self).hasSuffix(entry.value) || line.last == 0x0D || line.last == 0x20
        || line.last == 0x09)
  }
  for problem in reader.problems { #expect((1...lines.count).contains(problem.line)) }
}
