// Rules of whoever runs the machine: what they match, that the first one decides, and what it leaves to the built-in ones.
import Testing

@testable import TallyCore

private func link(_ name: String, driver: String = "", _ change: (inout LinkFacts) -> Void = { _ in }) -> LinkFacts {
  var facts = LinkFacts()
  facts.ifindex = 7
  facts.hardwareType = 1
  facts.hasDevice = true
  facts.name = LinkName(escaped: name)
  facts.driver = driver
  change(&facts)
  return facts
}

private func rule(
  _ name: String, _ match: [LinkRule.Field: String] = [:], negated: Bool = false,
  _ change: (inout LinkRule.Settings) -> Void = { _ in }
) -> LinkRule {
  var rule = LinkRule(name: name)
  for (field, text) in match {
    rule.match[field] = LinkRule.Patterns(
      globs: text.split(separator: " ").map { Glob(String($0)) }, isNegated: negated)
  }
  change(&rule.set)
  return rule
}

private func matches(_ rule: LinkRule, _ facts: LinkFacts) -> Bool {
  rule.matches(facts, classify(facts), master: nil)
}

@Suite("Rules")
struct LinkRuleTests {
  @Test(
    "a pattern fits as in the shell",
    arguments: [
      ("eth*", "eth0", true), ("eth*", "eth", true), ("eth*", "veth0", false), ("*", "", true), ("", "", true),
      ("", "a", false), ("?", "a", true), ("?", "", false), ("??", "é1", true), ("e[nt]*", "enp3s0", true),
      ("e[!nt]*", "enp3s0", false), ("wl[a-z]n[0-9]", "wlan5", true), ("wl[a-z]n[0-9]", "wlan55", false),
      ("a[]]b", "a]b", true), ("a[b", "a[b", true), ("a[b", "ab", false), ("*a*b*c", "xxaxxbxxc", true),
      ("*a*b*c", "xxaxxcxxb", false), ("***x", "aaax", true), ("[z-a]", "m", false), ("[a-]", "-", true),
      ("%00*", "%00tun", true),
    ] as [(String, String, Bool)])
  func globs(pattern: String, text: String, fits: Bool) {
    #expect(Glob(pattern).matches(text) == fits)
  }

  @Test(
    "in a pattern of names what is written %XX is that byte alone, and an odd byte is one character",
    arguments: [
      ("a%2Ab", "a*b", true), ("a%2ab", "axb", false), ("%21x", "!x", true), ("%5Ba]", "[a]", true),
      ("%3F", "x", false),
      ("a?b", "a%FFb", true), ("a??b", "a%FFb", false), ("a%ffb", "a%FFb", true), ("%C3%B6", "ö", true),
      ("?", "ö", true),
      ("[%80-%FF]", "%FE", true), ("[%01-%1f]x", "%1Bx", true), ("%C3*", "ö", false), ("%C3*", "%C3(", true),
      ("wg[0%2D9]", "wg-", true), ("wg[0%2D9]", "wg5", false), ("é", "e\u{301}", false), ("*", "%FF%FE", true),
    ] as [(String, String, Bool)])
  func globsOfNames(pattern: String, text: String, fits: Bool) {
    #expect(Glob(ofName: pattern).matches(text) == fits)
  }

  @Test("a pattern of many stars takes no more than pattern times text")
  func manyStars() {
    let pattern = Glob(String(repeating: "*a", count: 95))
    let text = String(repeating: "a", count: 94) + "b"
    #expect(!pattern.matches(text))
  }

  @Test("the first rule that matches decides, and its silence leaves what the built-in rules say")
  func firstWins() {
    let rules = [
      rule("lan", [.name: "eth*"]) { $0.label = "office" },
      rule("all") {
        $0.label = "rest"
        $0.isMetered = true
      },
    ]
    let found = designate(link("eth0"), rules: rules, master: nil)
    #expect(found.rule == "lan")
    #expect(found.set.label == "office")
    #expect(found.set.isMetered == nil)
    #expect(found.classification == classify(link("eth0")))
    #expect(designate(link("usb0"), rules: rules, master: nil).rule == "all")
    #expect(designate(link("usb0"), rules: [rules[0]], master: nil).rule == nil)
  }

  @Test("all that a rule asks for must fit, of each one alternative")
  func allMustFit() {
    let modem = rule("modem", [.name: "usb* wwan*", .driver: "rndis_host"])
    #expect(matches(modem, link("usb0", driver: "rndis_host")))
    #expect(matches(modem, link("wwan1", driver: "rndis_host")))
    #expect(!matches(modem, link("usb0", driver: "r8152")))
    #expect(!matches(modem, link("usb0")))
  }

  @Test("an exclamation mark takes what no alternative fits, also where there is nothing")
  func negation() {
    let others = rule("others", [.driver: "e1000e r8152"], negated: true)
    #expect(!matches(others, link("a", driver: "r8152")))
    #expect(matches(others, link("a", driver: "igb")))
    #expect(matches(others, link("a")))
  }

  @Test("every field is asked of its own fact")
  func everyField() {
    let facts = link("enp3s0") {
      $0.altnames = [LinkName(escaped: "lan"), LinkName(escaped: "uplink")]
      $0.alias = Array("to the office".utf8)
      $0.driver = "e1000e"
      $0.permanentAddress = [2, 0, 0x5e, 0, 0x53, 1]
      $0.paths = ["pci0000:00/0000:00:1f.6", "pci-0000:00:1f.6"]
      $0.ssid = Array("Café 3".utf8)
    }
    let wanted: [LinkRule.Field: String] = [
      .name: "enp3s0", .altname: "uplink", .alias: "to?the?office", .kind: "wired", .type: "ethernet",
      .driver: "e1000e", .mac: "02:00:5e:00:53:01", .path: "pci-0000:00:1f.6", .master: "br0", .ssid: "Café*",
    ]
    #expect(Set(wanted.keys) == Set(LinkRule.Field.allCases))
    for (field, text) in wanted {
      let fits = rule("r", [field: text]).matches(facts, classify(facts), master: LinkName(escaped: "br0"))
      #expect(fits, "\(field)")
      let other = rule("r", [field: "nothing"]).matches(facts, classify(facts), master: LinkName(escaped: "br0"))
      #expect(!other, "\(field)")
    }
  }

  @Test("a rule's kind and medium stand before the built-in ones, and the reason says so")
  func overrides() {
    let tunnel = link("ppp0") { $0.infoKind = "ppp" }
    let found = designate(
      tunnel,
      rules: [
        rule("modem", [.name: "ppp0"]) {
          $0.kind = .cellular
          $0.touchesMedium = true
        }
      ], master: nil)
    #expect(found.classification.kind == .cellular)
    #expect(found.classification.type == "ppp")
    #expect(found.classification.touchesMedium)
    #expect(found.classification.why.hasPrefix("the rule modem says so; by itself: "))
  }
}
