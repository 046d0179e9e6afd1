// Rules of classification that no recorded link shows, and the sentences on what counters count.

import Testing

@testable import TallyCore

private func facts(_ change: (inout LinkFacts) -> Void) -> LinkFacts {
  var facts = LinkFacts()
  facts.ifindex = 7
  facts.hardwareType = 1
  change(&facts)
  return facts
}

@Suite("Classification")
struct ClassificationTests {
  @Test(
    "the name of a link decides nothing", arguments: ["lo", "wlan0", "wwan0", "wg0", "docker0", "eth0", "tun0", "ppp0"])
  func nameDecidesNothing(name: String) {
    let link = facts {
      $0.name = LinkName(escaped: name)
      $0.hasDevice = true
      $0.driver = "e1000e"
    }
    #expect(classify(link).type == "ethernet")
  }

  @Test("the kernel's kind outranks what the bus and the radio say")
  func kindOutranksDevice() {
    let vlanOverRadio = facts {
      $0.infoKind = "vlan"
      $0.hasDevice = true
      $0.hasWirelessPhy = true
      $0.devtype = "wlan"
    }
    #expect(classify(vlanOverRadio).kind == .vlan)
  }

  @Test("a device below one that sums its counters is not counted a second time")
  func virtualFunctionIsNotAddedTwice() {
    var function = facts {
      $0.hasDevice = true
      $0.driver = "mlx5_core"
      $0.master = 2
    }
    #expect(!classify(function).touchesMedium)
    function.portKind = "bond"
    #expect(classify(function).touchesMedium)
  }

  @Test("a tap is told from a tun by its type, and by ARPHRD where the kernel gives none")
  func tunAndTap() {
    #expect(
      classify(
        facts {
          $0.infoKind = "tun"
          $0.tunType = 2
        }
      ).type == "tap")
    #expect(
      classify(
        facts {
          $0.infoKind = "tun"
          $0.tunType = 1
        }
      ).type == "tun")
    #expect(classify(facts { $0.infoKind = "tun" }).type == "tap")
    #expect(
      classify(
        facts {
          $0.infoKind = "tun"
          $0.hardwareType = 65534
        }
      ).type == "tun")
  }

  @Test("a radio whose mode nobody told is wireless, not a guess")
  func unknownWirelessMode() {
    let link = facts { $0.devtype = "wlan" }
    #expect(classify(link) == Classification(kind: .wifi, type: "wireless", touchesMedium: true, why: "a radio link"))
  }

  @Test("an unknown kind and a link that says nothing are other, and touch no medium")
  func unknownLinks() {
    let new = classify(
      facts {
        $0.infoKind = "frobnicator"
        $0.hasDevice = true
      })
    #expect(new.kind == .other && new.type == "frobnicator" && !new.touchesMedium)
    let mute = classify(facts { _ in })
    #expect(mute.kind == .other && mute.type == "unknown" && !mute.touchesMedium)
  }

  @Test("every kind of link has a sentence on what its counter counts, and none claims to be exact")
  func everyKindHasASentence() {
    for kind in Kind.allCases {
      for type in ["", "tun", "tap", "ppp", "vxlan", "gretap", "wireguard", "can", "nlmon", "monitor", "vrf"] {
        for touches in [false, true] {
          let sentence = counts(
            Classification(kind: kind, type: type, touchesMedium: touches, why: ""), LinkFacts())
          #expect(sentence.hasSuffix(".") && !sentence.lowercased().contains("exact"))
        }
      }
    }
  }

  @Test("the sentence tells tun from tap, and a bridge's two directions apart")
  func sentences() {
    func sentence(_ change: (inout LinkFacts) -> Void) -> String {
      let link = facts(change)
      return counts(classify(link), link)
    }
    #expect(
      sentence {
        $0.infoKind = "tun"
        $0.tunType = 1
      }.contains("IP packets alone"))
    #expect(
      sentence {
        $0.infoKind = "tun"
        $0.tunType = 2
      }.contains("14-byte Ethernet header"))
    #expect(sentence { $0.infoKind = "bridge" }.contains("received without, sent with"))
    #expect(sentence { $0.flags = 8 }.contains("as received and as sent"))
    #expect(sentence { $0.infoKind = "vxlan" }.contains("without their Ethernet header"))
    #expect(sentence { $0.infoKind = "veth" }.contains("no frame check sequence"))
  }
}
