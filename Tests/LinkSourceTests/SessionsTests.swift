// Sessions of PPPoE and L2TP as the kernel lists them, and the ppp links that are theirs.
import Testing

@testable import LinkSource
@testable import TallyCore

private let pppoe = """
  Id       Address              Device
  00002A00 02:00:5e:00:53:01     eth0
  00002B00 02:00:5e:00:53:02   eth0.7

  """

private let l2tp = """
  PPPoL2TP driver info, V2.0
  TUNNEL name, user-data-ok session-count
   debug tx-pkts/bytes/errs rx-pkts/bytes/errs
    SESSION name, addr/port src-tid/sid dest-tid/sid state user-data-ok
     mtu/mru/rcvseq/sendseq/lns debug reorderto
     nr/ns tx-pkts/bytes/errs rx-pkts/bytes/errs

  TUNNEL 'tunl 7', Y 1
   00000000 0/0/0 0/0/0
    SESSION 'sess 7/1' C0000201/1701 0007/0001 -> 0009/0002 5 Y
     0/0/-/-/LAC 00000000 0
     4/4 12/1030/0 11/990/0
     interface ppp3
    SESSION 'sess 7/2' 00000000/0 0007/0002 -> 0009/0003 5 Y
     0/0/-/-/LAC 00000000 0
     0/0 0/0/0 0/0/0
     interface ppp4

  """

private func link(_ name: String, _ ifindex: UInt32) -> LinkFacts {
  var facts = LinkFacts()
  facts.name = LinkName(escaped: name)
  facts.ifindex = ifindex
  return facts
}

private let links = ["eth0", "eth0.7", "ppp0", "ppp1", "ppp3", "ppp4"].enumerated().map { number, name in
  link(name, UInt32(number + 1))
}
private func named(_ names: String...) -> [LinkFacts] { links.filter { names.contains($0.name.escaped) } }

private func lists(_ pppoe: String, _ l2tp: String = "") -> SessionLists {
  var lists = SessionLists()
  lists.takePPPoE(Array(pppoe.utf8))
  lists.takeL2TP(Array(l2tp.utf8))
  return lists
}

@Suite("Sessions of ppp links")
struct SessionsTests {
  @Test("a session of L2TP is over the link that bears its tunnel's address; without an address it is of none")
  func overL2TP() {
    let told = lists("", l2tp).sessions(of: named("ppp3", "ppp4"), among: links) { address in
      address == [192, 0, 2, 1] ? LinkName(escaped: "eth0") : nil
    }
    #expect(told == [5: .l2tp(over: 1)])
  }

  @Test("sessions of PPPoE are told by the link below, of several all of them")
  func overPPPoE() {
    let both = lists(pppoe).sessions(of: named("ppp0", "ppp1"), among: links) { _ in nil }
    #expect(both == [3: .pppoe(overOneOf: [1, 2]), 4: .pppoe(overOneOf: [1, 2])])
    let heading = "Id       Address              Device\n"
    let one = lists(heading + "00002A00 02:00:5e:00:53:01     eth0\n")
    let told = one.sessions(of: named("ppp0", "ppp3"), among: links) { _ in nil }
    #expect(told == [:], "one of the two is of another kind, and nothing tells which")
    let alone = one.sessions(of: named("ppp0"), among: links) { _ in nil }
    #expect(alone == [3: .pppoe(overOneOf: [1])])
  }

  @Test("a link of L2TP is none of PPPoE, and the other one is")
  func beside() {
    let heading = "Id       Address              Device\n"
    let told = lists(heading + "00002A00 02:00:5e:00:53:01   eth0.7\n", l2tp)
      .sessions(of: named("ppp0", "ppp3", "ppp4"), among: links) { _ in LinkName(escaped: "eth0") }
    #expect(told == [3: .pppoe(overOneOf: [2]), 5: .l2tp(over: 1)])
  }

  @Test("what is no list of the kernel's tells of no session")
  func nonsense() {
    for text in ["", "\n", pppoe.replacing("\n", with: " "), "Id\n00 eth0\nlong 0 sixteen-letters-0\n"] {
      let isEmpty = lists(text, text).isEmpty
      #expect(isEmpty, "\(text)")
    }
    for line in ["  SESSION", "  SESSION 'x' zzzzzzzz/1", "  SESSION 'x' C0000201/-1", "  SESSION 'x' C0000201"] {
      let told = lists("", line + "\n   interface ppp3\n").sessions(of: named("ppp3"), among: links) { _ in
        LinkName(escaped: "eth0")
      }
      #expect(told == [:], "\(line)")
    }
  }
}
