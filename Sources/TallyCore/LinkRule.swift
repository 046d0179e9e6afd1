// Rules of whoever runs the machine: what a link is called and counted as. The first that matches wins.

/// One `[Rule NAME]` section of the configuration.
package struct LinkRule: Hashable, Sendable {
  /// What a rule asks of a link. Text is compared in its escaped form.
  package enum Field: String, Sendable, CaseIterable {
    case name, altname, alias, kind, type, driver
    /// The permanent address, "aa:bb:cc:dd:ee:ff".
    case mac
    /// The device's path in sysfs below /sys/devices, or udev's ID_PATH.
    case path
    /// Name of the bridge, bond or VRF above.
    case master
    /// Name of the wireless network.
    case ssid
  }

  /// Alternatives for one field. `isNegated`: none of them.
  package struct Patterns: Hashable, Sendable {
    package var globs: [Glob]
    package var isNegated: Bool

    package init(globs: [Glob], isNegated: Bool = false) {
      self.globs = globs
      self.isNegated = isNegated
    }

    /// One of the values fits, or with `isNegated` none does.
    func accept(_ values: [String]) -> Bool {
      values.contains { value in globs.contains { $0.matches(value) } } != isNegated
    }
  }

  /// By what hardware is recognised.
  package enum Basis: String, Sendable, CaseIterable {
    /// By its permanent address, and by its name where it has none.
    case mac
    /// By where it is plugged in.
    case path
    case name
  }

  /// What a rule says of the links that it matches; nil leaves what the built-in rules say.
  package struct Settings: Hashable, Sendable {
    package var label: String?
    package var kind: Kind?
    /// Its bytes are booked to this group instead of to an interface of its own; empty: to none, whatever the built-in
    /// rules say.
    package var group: String?
    /// It is not counted.
    package var isIgnored: Bool?
    package var basis: Basis?
    /// Name of the link that carries its bytes.
    package var carrier: LinkName?
    /// Its bytes cross a medium here, or not: whether a machine total adds them.
    package var touchesMedium: Bool?
    /// Its bytes cost money.
    package var isMetered: Bool?

    package init() {}
  }

  package var name: String
  /// All of them must fit; without any the rule matches every link.
  package var match: [Field: Patterns] = [:]
  package var set = Settings()

  package init(name: String) { self.name = name }

  /// Whether all that is asked for fits. `master`: the name of the link above, if there is one.
  func matches(_ facts: LinkFacts, _ built: Classification, master: LinkName?) -> Bool {
    match.allSatisfy { field, patterns in patterns.accept(values(of: field, facts, built, master)) }
  }

  private func values(
    of field: Field, _ facts: LinkFacts, _ built: Classification, _ master: LinkName?
  ) -> [String] {
    switch field {
    case .name: [facts.name.escaped]
    case .altname: facts.altnames.map(\.escaped)
    case .alias: facts.alias.isEmpty ? [] : [LinkName(bytes: facts.alias).escaped]
    case .kind: [built.kind.rawValue]
    case .type: [built.type]
    case .driver: facts.driver.isEmpty ? [] : [facts.driver]
    case .mac: addressText(facts.permanentAddress).map { [$0] } ?? []
    case .path: facts.paths
    case .master: master.map { [$0.escaped] } ?? []
    case .ssid: facts.ssid.isEmpty ? [] : [LinkName(bytes: facts.ssid).escaped]
    }
  }
}

/// What a link is called and counted as, by the rules of whoever runs the machine and the built-in ones.
package struct Designation: Hashable, Sendable {
  package var classification: Classification
  /// The `[Rule NAME]` that matched; nil when none did.
  package var rule: String?
  package var set = LinkRule.Settings()
  /// The group that its bytes are booked to; nil: none.
  package var group: String?
  /// The name of the rule that decided, of whoever's.
  package var decidedBy: String

  package var isIgnored: Bool { self.set.isIgnored == true }
}

/// Designates a link: the first rule that matches decides, what it leaves open the built-in rules say.
package func designate(_ facts: LinkFacts, rules: [LinkRule], master: LinkName?) -> Designation {
  let (classification, name) = classified(facts)
  let crowd = crowd(facts, master: master)
  var found = Designation(
    classification: classification, group: crowd?.group, decidedBy: builtInPrefix + (crowd?.group ?? name))
  guard let rule = rules.first(where: { $0.matches(facts, found.classification, master: master) }) else { return found }
  found.rule = rule.name
  found.decidedBy = rule.name
  found.set = rule.set
  if let group = rule.set.group { found.group = group.isEmpty ? nil : group }
  if let kind = rule.set.kind { found.classification.kind = kind }
  if let touches = rule.set.touchesMedium { found.classification.touchesMedium = touches }
  if rule.set.kind != nil || rule.set.touchesMedium != nil {
    found.classification.why = "the rule \(rule.name) says so; by itself: \(found.classification.why)"
  }
  return found
}
