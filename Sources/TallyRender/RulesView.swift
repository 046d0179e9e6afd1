// The list of rules, one by one.
package import TallyWire

/// The lines of a list of rules; without `verbose` of the built-in ones only those that decided a link.
package func render(_ reply: RulesReply, verbose: Bool, _ style: Style) -> [String] {
  let shown = reply.rules.filter { verbose || !$0.builtIn || $0.links > 0 }
  var lines = wrapped(
    "Rules as of \(writtenTime(reply.asOf)), in order: the first that matches decides.", to: style.width, indent: "  ")
  for rule in shown {
    let ignored = rule.ignored > 0 ? ", \(rule.ignored) ignored" : ""
    lines += ["", style.tinted(displayed(rule.name), .strong) + " (\(counted(rule.links, "link"))\(ignored))"]
    lines += keyed([("matches", rule.match), ("sets", rule.set)], style)
  }
  let rest = reply.rules.count - shown.count
  if rest > 0 { lines += ["", "\(counted(rest, "more built-in rule")) decided no link; -v lists all."] }
  return lines + [""] + notes(marks: [], style)
}
