// `[Rule NAME]` sections: order, drop-ins, every key, and what is refused.
import TallyCore
import Testing

@testable import TallyConfig

private func rules(_ text: String, dropIn: String? = nil) throws -> [LinkRule] {
  let folder = try Folder()
  let file = try folder.write("iftally.conf", text)
  if let dropIn { _ = try folder.write("iftally.conf.d/10.conf", dropIn) }
  return try Configuration.load(file: file, environment: [:]).rules
}

private func problems(_ text: String) throws -> [String] {
  let folder = try Folder()
  let file = try folder.write("iftally.conf", text)
  do {
    _ = try Configuration.load(file: file, environment: [:])
    return []
  } catch {
    return error.problems.map { "\($0.line ?? 0): \($0.message)" }
  }
}

@Suite("Rules in the file")
struct RuleTests {
  @Test("every key of a rule sets its part")
  func everyKey() throws {
    let found = try rules(
      """
      [Rule all-of-it]
      MatchName=wwan* usb?
      MatchName=ppp0
      MatchAltName=modem
      MatchAlias=to the office
      MatchKind=wired cellular
      MatchType=usb-*
      MatchDriver=!r8152 asix
      MatchMAC=02:00:5E:*
      MatchPath=pci-0000:00:14.0-usb-*
      MatchMaster=br0
      MatchSSID=Café 3
      Label=Home office
      Kind=cellular
      Group=modems
      Ignore=no
      Identity=path
      Carrier=eth0
      Medium=yes
      Metered=on
      """)
    var expected = LinkRule(name: "all-of-it")
    func globs(_ texts: String..., isNegated: Bool = false) -> LinkRule.Patterns {
      LinkRule.Patterns(globs: texts.map { Glob($0) }, isNegated: isNegated)
    }
    func names(_ texts: String...) -> LinkRule.Patterns { LinkRule.Patterns(globs: texts.map { Glob(ofName: $0) }) }
    expected.match = [
      .name: names("wwan*", "usb?", "ppp0"), .altname: names("modem"), .alias: globs("to the office"),
      .kind: globs("wired", "cellular"), .type: globs("usb-*"), .driver: globs("r8152", "asix", isNegated: true),
      .mac: globs("02:00:5e:*"), .path: globs("pci-0000:00:14.0-usb-*"), .master: names("br0"), .ssid: globs("Café 3"),
    ]
    expected.set.label = "Home office"
    expected.set.kind = .cellular
    expected.set.group = "modems"
    expected.set.isIgnored = false
    expected.set.basis = .path
    expected.set.carrier = LinkName(escaped: "eth0")
    expected.set.touchesMedium = true
    expected.set.isMetered = true
    #expect(found == [expected])
    #expect(RuleKey.all.count == 18)
  }

  @Test("rules stand in the order in which their names appear first, and a drop-in changes one where it stands")
  func order() throws {
    let found = try rules(
      "[Rule b]\nLabel=one\nMatchName=x\n[Rule a]\nLabel=two\n",
      dropIn: "[Rule c]\nLabel=three\n[Rule b]\nLabel=four\nMatchName=\n"
    )
    #expect(found.map(\.name) == ["b", "a", "c"])
    #expect(found.map(\.set.label) == ["four", "two", "three"])
    #expect(found[0].match.isEmpty)
  }

  @Test(
    "what no rule can hold is refused with its line and what would be right",
    arguments: [
      ("[Rule]\nLabel=x", "1: a rule needs a name of its own; write [Rule NAME]"),
      ("[Rule two words]\nLabel=x", "1: a rule's name is one word of up to 44 bytes; write [Rule NAME]"),
      ("[Rule x]\nMatchKind=radio", "2: MatchKind=radio is not valid; allowed: wired, "),
      ("[Rule x]\nKind=radio", "2: Kind=radio is not valid; allowed: wired, wifi"),
      (
        "[Rule x]\nLabel=a\u{202E}b",
        "2: Label=a\u{202E}b is not valid; allowed: a word or words of up to 64 bytes without "
      ),
      ("[Rule x]\nLabel=a\u{2028}b", "2: Label="), ("[Rule x]\nLabel=a\u{7}b", "2: line holds a control character"),
      ("[Rule x]\nIgnore=maybe", "2: Ignore=maybe is not valid; allowed: yes or no"),
      ("[Rule x]\nGroup=a b", "2: Group=a b is not valid"),
      ("[Rule x]\nCarrier=a-name-of-16-bytes", "2: Carrier=a-name-of-16-bytes is not valid"),
      ("[Rule x]\nIdentity=serial", "2: Identity=serial is not valid; allowed: mac, path or name"),
      ("[Rule x]\nMatchName=!", "2: MatchName=! is not valid"),
      ("[Rule x]\nMatchName=a\nMatchName=!b", "3: MatchName=!b is not valid"),
      ("[Rule x]\nMatchNames=a", "2: unknown key MatchNames= in [Rule x] (did you mean MatchName=?)"),
      ("[Rules]\nLabel=x", "1: unknown section [Rules]"),
    ])
  func refused(text: String, message: String) throws {
    let found = try problems(text)
    #expect(found.count == 1)
    let first = found.first ?? ""
    #expect(first.hasPrefix(message), "\(first)")
  }
}
