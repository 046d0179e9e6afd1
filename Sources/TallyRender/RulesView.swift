// The list of rules as a table.
package import TallyWire

/// The lines of a list of rules; without `verbose` of the built-in ones only those that decided a link.
package func render(_ reply: RulesReply, verbose: Bool, _ style: Style) -> [String] {
  var table = Table([
    Column(title: "RULE", alignment: .left, shrinks: true),
    Column(title: "LINKS", alignment: .right),
    Column(title: "MATCHES", alignment: .left, shrinks: true),
    Column(title: "SETS", alignment: .left, shrinks: true),
  ])
  let shown = reply.rules.filter { verbose || !$0.builtIn || $0.links > 0 }
  for rule in shown {
    let ignored = rule.ignored > 0 ? " (\(rule.ignored) ignored)" : ""
    table.append([
      Cell(rule.name, rule.builtIn ? .plain : .strong), Cell("\(rule.links)\(ignored)"), Cell(rule.match),
      Cell(rule.set),
    ])
  }
  let rest = reply.rules.count - shown.count
  let more = rest > 0 ? ["", "\(counted(rest, "more built-in rule")) decided no link; -v lists all."] : []
  return ["Rules as of \(writtenTime(reply.asOf)): the first that matches decides.", ""] + table.lines(style) + more
}
