// The loop with real descriptors and timers, and what the log lets through.

import Glibc
import Testing

@testable import iftallyd

struct EventLoopTests {
  @Test("a timer fires once, again when armed again, and not when disarmed")
  func timer() throws {
    let loop = try EventLoop()
    var fired: [String] = []
    var again: TimerSource?
    let never = try TimerSource(loop, .monotonic) { fired.append("never") }
    try never.arm(afterMilliseconds: 1)
    try never.disarm()
    again = try TimerSource(loop, .boot) {
      fired.append("again")
      if fired.count == 2 { try? again?.arm(afterMilliseconds: 0) }
    }
    let end = try TimerSource(loop, .monotonic) { loop.stop() }
    let first = try TimerSource(loop, .monotonic) {
      fired.append("first")
      try? again?.arm(afterMilliseconds: 1)
      try? end.arm(afterMilliseconds: 100)
    }
    try first.arm(at: 0)
    try loop.run()
    #expect(fired == ["first", "again", "again"])
    #expect(loop.turns == 4)
  }

  @Test("a readable descriptor calls until it is read, and a source may let go of itself in its handler")
  func descriptor() throws {
    let loop = try EventLoop()
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    var received: [UInt8] = []
    var reader: DescriptorSource?
    reader = try DescriptorSource(loop, ends[0]) {
      var byte: UInt8 = 0
      if read(ends[0], &byte, 1) == 1 { received.append(byte) }
      if received.count == 3 {
        reader = nil
        loop.stop()
      }
    }
    let sent: [UInt8] = [1, 2, 3, 4]
    #expect(write(ends[1], sent, sent.count) == 4)
    try loop.run()
    #expect(received == [1, 2, 3])
    #expect(reader == nil)
    let timer = try TimerSource(loop, .monotonic) { loop.stop() }
    try timer.arm(afterMilliseconds: 1)
    try loop.run()
    #expect(received == [1, 2, 3])
    close(ends[0])
    close(ends[1])
  }

  @Test("a descriptor that cannot be watched is an error that names the call")
  func badDescriptor() throws {
    let loop = try EventLoop()
    #expect {
      _ = try DescriptorSource(loop, 1_000_000) {}
    } throws: {
      "\($0)" == "sd_event_add_io: Bad file descriptor"
    }
  }
}

struct RepetitionLimitTests {
  @Test("a code that repeats is held back until its window ends, and the number held back is told")
  func heldBack() {
    var limit = RepetitionLimit()
    let admitted = (0..<20).map { limit.admit("a", atSecond: $0) }
    #expect(admitted == [Int?](repeating: 0, count: 5) + [Int?](repeating: nil, count: 15))
    #expect(limit.admit("b", atSecond: 20) == 0)
    #expect(limit.admit("a", atSecond: 300) == 15)
    #expect(limit.admit("a", atSecond: 301) == 0)
  }

  @Test("keys without number do not grow the memory without bound")
  func manyKeys() {
    var limit = RepetitionLimit()
    for key in 0..<1000 { #expect(limit.admit("\(key)", atSecond: 0) == 0) }
  }

  @Test("a message is one line that no terminal obeys")
  func printable() {
    #expect(Log.printable("eth0 \u{1B}[31m\n\u{9B}x ü") == "eth0 \u{FFFD}[31m\u{FFFD}\u{FFFD}x ü")
  }
}
