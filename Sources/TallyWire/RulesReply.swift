// The reply of /v1/rules: every rule in the order in which they are tried.

/// One rule.
package struct RuleEntry: Codable, Hashable, Sendable {
  /// As interfaces name the rule that decided; of the built-in ones it begins with "built-in: ".
  package var name: String
  package var builtIn: Bool
  /// What it asks for and what it sets, in words.
  package var match: String
  package var set: String
  /// Links that are there now and that it decided.
  package var links: Int
  /// Those of them that are not counted.
  package var ignored: Int

  package init(name: String, builtIn: Bool, match: String, set: String, links: Int, ignored: Int) {
    self.name = name
    self.builtIn = builtIn
    self.match = match
    self.set = set
    self.links = links
    self.ignored = ignored
  }

  private enum CodingKeys: String, CodingKey {
    case name, match, set, links, ignored
    case builtIn = "built_in"
  }
}

/// GET /v1/rules
package struct RulesReply: Codable, Hashable, Sendable {
  package var nature = natureEstimate
  /// RFC 3339: the moment of the sample that the links were counted at.
  package var asOf: String
  package var rules: [RuleEntry]

  package init(asOf: String, rules: [RuleEntry]) {
    self.asOf = asOf
    self.rules = rules
  }

  private enum CodingKeys: String, CodingKey {
    case nature, rules
    case asOf = "as_of"
  }
}
