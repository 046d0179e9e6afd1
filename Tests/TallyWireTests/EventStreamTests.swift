// The text of the event stream: written and read again, however it is cut.
import Testing

@testable import TallyWire

@Suite struct EventStreamTests {
  private func event() -> StreamEvent {
    var event = StreamEvent(
      event: StreamEvent.Kind.link, id: 7, at: "2026-11-30T14:05:17.250+01:00",
      interface: StreamEvent.Interface(id: "id:3", name: "wg0", kind: "tunnel"))
    (event.change, event.cause, event.incarnation) = ("came", "born", 2)
    return event
  }

  @Test("An event is three lines and an empty one, and says that it is of an estimate")
  func written() throws {
    let text = String(decoding: try EventStream.text(event()), as: UTF8.self)
    #expect(
      text == """
        id: 7
        event: link
        data: {"at":"2026-11-30T14:05:17.250+01:00","cause":"born","change":"came","event":"link","id":7,\
        "incarnation":2,"interface":{"id":"id:3","kind":"tunnel","name":"wg0"},"nature":"estimate"}


        """)
  }

  @Test("What was written is read, at every cut of the bytes, with keepalives and places between")
  func cuts() throws {
    let written = try EventStream.text(event())
    let bytes = EventStream.greeting(id: 5) + EventStream.keepalive + written + EventStream.keepalive + written
    for cut in 0...bytes.count {
      var reader = EventStreamReader()
      let blocks = try reader.take(Array(bytes[..<cut])) + reader.take(Array(bytes[cut...]))
      #expect(blocks.map(\.id) == ["5", "7", "7"])
      #expect(blocks[0].data.isEmpty)
      #expect(try decode(StreamEvent.self, from: blocks[2].data) == event())
    }
  }

  @Test("Other line ends, several data lines, fields without a space and unknown ones are read as the standard says")
  func others() throws {
    var reader = EventStreamReader()
    let text = "id:1\r\nevent:x\r\ndata:a\r\ndata: b\r\nodd\r\nretry: 3\r\n\r\ndata\n\n"
    let blocks = try reader.take(Array(text.utf8))
    #expect(blocks.map(\.event) == ["x", ""])
    #expect(blocks.map(\.data) == [Array("a\nb".utf8), []])
  }

  @Test("An event without an end is not kept for ever")
  func endless() throws {
    var reader = EventStreamReader()
    let piece = [UInt8](repeating: 97, count: 1 << 20)
    var refusal: WireError?
    for _ in 0..<20 where refusal == nil {
      do { _ = try reader.take(piece) } catch { refusal = error }
    }
    #expect(refusal?.description == "has an event without an end")
  }
}
