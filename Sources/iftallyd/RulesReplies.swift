// /v1/rules: the rules in force, whoever wrote them, and how many links each decided.
import LinkSource
import LocalHTTP
import TallyCore
import TallyWire

extension Api {
  func rules() throws(RequestError) -> HTTPReply {
    let now = try present()
    var links: [String: (all: Int, ignored: Int)] = [:]
    for decision in ledger.decisions {
      links[decision.rule, default: (0, 0)].all += 1
      if decision.isIgnored { links[decision.rule, default: (0, 0)].ignored += 1 }
    }
    func entry(_ name: String, _ builtIn: Bool, _ match: String, _ set: String) -> RuleEntry {
      RuleEntry(
        name: name, builtIn: builtIn, match: match, set: set, links: links[name]?.all ?? 0,
        ignored: links[name]?.ignored ?? 0)
    }
    let own = ledger.rules.map { entry($0.name, false, $0.matchWords, $0.set.words) }
    let builtIn = builtInRules.map { entry($0.name, true, $0.match, $0.set) }
    return try Api.json(RulesReply(asOf: rfc3339(now.utc, fraction: 3), rules: own + builtIn))
  }
}

extension LinkRule {
  fileprivate var matchWords: String {
    let parts = Field.allCases.compactMap { field in
      match[field].map { patterns in
        "\(field.rawValue) \(patterns.isNegated ? "not " : "")" + patterns.globs.map(\.text).joined(separator: " or ")
      }
    }
    return parts.isEmpty ? "any link" : parts.joined(separator: ", ")
  }
}

extension LinkRule.Settings {
  fileprivate var words: String {
    var parts: [String] = []
    if let label { parts.append("label \(label)") }
    if let kind { parts.append("kind \(kind.rawValue)") }
    if let group { parts.append(group.isEmpty ? "no group" : "group \(group)") }
    if let isIgnored { parts.append(isIgnored ? "ignored" : "not ignored") }
    if let basis { parts.append("identity by \(basis.rawValue)") }
    if let carrier { parts.append("carrier \(carrier.escaped)") }
    if let touchesMedium { parts.append(touchesMedium ? "crosses a medium" : "crosses no medium") }
    if let isMetered { parts.append(isMetered ? "metered" : "not metered") }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }
}
