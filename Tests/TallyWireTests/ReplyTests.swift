// The replies as JSON: golden documents there and back, and what a newer or a broken daemon may send.
import Foundation
import Testing

@testable import TallyWire

@Suite struct ReplyTests {
  @Test(
    "A reply that was read is written again byte for byte",
    arguments: [
      "interfaces", "interface", "days", "hours", "yesterday", "this-month", "status", "status-troubled", "explain",
      "problem", "totals", "changes", "rules", "stream",
    ])
  func roundTrip(name: String) throws {
    let document = try golden(name)
    let written: [UInt8] =
      switch name {
      case "interfaces": try encode(decode(InterfacesReply.self, from: document))
      case "interface": try encode(decode(InterfaceReply.self, from: document))
      case "status", "status-troubled": try encode(decode(StatusReply.self, from: document))
      case "explain": try encode(decode(ExplainReply.self, from: document))
      case "changes": try encode(decode(ChangesReply.self, from: document))
      case "totals": try encode(decode(TotalsReply.self, from: document))
      case "rules": try encode(decode(RulesReply.self, from: document))
      case "stream": try encode(decode([StreamEvent].self, from: document))
      case "problem": try encode(decode(Problem.self, from: document))
      default: try encode(decode(UsageReply.self, from: document))
      }
    #expect(String(decoding: written, as: UTF8.self) == compact(document))
  }

  @Test("Every reply says that it is an estimate without being told to")
  func nature() throws {
    let reply = InterfacesReply(asOf: "2026-11-30T14:05:17+01:00", interfaces: [])
    #expect(
      String(decoding: try encode(reply), as: UTF8.self)
        == #"{"as_of":"2026-11-30T14:05:17+01:00","interfaces":[],"nature":"estimate"}"#)
  }

  @Test("Byte totals above 2^53 keep every digit")
  func largeTotals() throws {
    let reply = try decode(InterfacesReply.self, from: golden("interfaces"))
    let total = try #require(reply.interfaces.first { $0.name == "eth0" }?.total)
    #expect(total.rxBytes == .max)
    #expect(total.txBytes == 9_007_199_254_740_993)
  }

  @Test("Unknown fields and unknown words of a newer daemon are passed over")
  func newerDaemon() throws {
    var object = try #require(
      JSONSerialization.jsonObject(with: Data(golden("interface"))) as? [String: Any])
    var interface = try #require(object["interface"] as? [String: Any])
    interface["colour"] = ["home": true]
    interface["kind"] = "quantum"
    object["interface"] = interface
    object["next"] = 1
    let newer = [UInt8](try JSONSerialization.data(withJSONObject: object))
    #expect(try decode(InterfaceReply.self, from: newer).interface.kind == "quantum")
  }

  @Test("What is null while history loads is written as null, and may be absent when read")
  func explicitNull() throws {
    var reply = try decode(InterfaceReply.self, from: golden("interface"))
    reply.interface.today = nil
    reply.interface.rate = nil
    reply.interface.mac = nil
    let text = String(decoding: try encode(reply), as: UTF8.self)
    #expect(text.contains(#""today":null"#))
    #expect(text.contains(#""rate":null"#))
    #expect(!text.contains(#""mac""#))
    let without = text.replacing(#""today":null,"#, with: "").replacing(#""rate":null,"#, with: "")
    #expect(without != text)
    #expect(try decode(InterfaceReply.self, from: Array(without.utf8)) == reply)
  }

  @Test(
    "A reply that is no reply is refused with the place that is wrong",
    arguments: [
      ("", "is no JSON"), ("{", "is no JSON"), ("<html>", "is no JSON"), ("{}", #"lacks "nature""#),
      (#"{"as_of":1,"interfaces":[],"nature":"estimate"}"#, #"has an unexpected value in "as_of""#),
      (#"{"as_of":"","interfaces":[{"id":"id:1"}],"nature":"estimate"}"#, #"lacks "interfaces.Index 0."#),
    ])
  func refused(text: String, message: String) {
    do throws(WireError) {
      _ = try decode(InterfacesReply.self, from: Array(text.utf8))
      Issue.record("it was accepted")
    } catch {
      #expect(error.description.hasPrefix(message))
    }
  }

  @Test(
    "A number of bytes that is negative or too large is refused, never wrapped",
    arguments: ["-1", "18446744073709551616", "1e30"])
  func badAmounts(number: String) throws {
    let text = compact(try golden("interface")).replacing(#""rx_bytes":53687091200"#, with: #""rx_bytes":\#(number)"#)
    #expect(throws: WireError.self) { try decode(InterfaceReply.self, from: Array(text.utf8)) }
  }

  @Test("A rate that is no number is refused when written")
  func notFinite() {
    #expect(throws: WireError.self) {
      try encode(Rate(rxBytesPerSecond: .nan, txBytesPerSecond: 0, overSeconds: 1))
    }
  }

  @Test("Names travel in request targets as they are, whatever is in them")
  func targets() {
    #expect(RequestTarget.interface("id:3").text == "/v1/interfaces/id%3A3")
    #expect(RequestTarget.interface("a%1Bb").text == "/v1/interfaces/a%251Bb")
    #expect(RequestTarget.title("a/b").text == "/v1/interfaces/a%2Fb/title")
    #expect(RequestTarget.merge("☎ 1").text == "/v1/interfaces/%E2%98%8E%201/merge")
    #expect(RequestTarget.undo(7).text == "/v1/changes/7/undo")
    let target = RequestTarget.usage.with("interface", "a+b&c").with("interface", "網").with("from", nil)
    #expect(target.text == "/v1/usage?interface=a%2Bb%26c&interface=%E7%B6%B2")
  }
}

private func golden(_ name: String) throws -> [UInt8] {
  let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  return [UInt8](try Data(contentsOf: folder.appendingPathComponent("Golden/\(name).json")))
}

/// The document without white space between its tokens; apart from the encoder that it is compared with.
private func compact(_ document: [UInt8]) -> String {
  var bytes: [UInt8] = []
  var quoted = false
  var escaped = false
  for byte in document {
    if quoted {
      quoted = escaped || byte != UInt8(ascii: "\"")
      escaped = !escaped && byte == UInt8(ascii: "\\")
    } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
      continue
    } else {
      quoted = byte == UInt8(ascii: "\"")
    }
    bytes.append(byte)
  }
  return String(decoding: bytes, as: UTF8.self)
}
