// The summary: each interface's today, yesterday, this month and total.
package import TallyWire

/// What a summary is made of.
package struct Summary: Sendable {
  package var asOf: String
  package var interfaces: [Interface]
  /// nil: history could not be read.
  package var yesterday: UsageReply?
  package var thisMonth: UsageReply?
  /// Why history could not be read.
  package var historyProblem: String?
  /// Show interfaces too that are gone and had no traffic this month.
  package var showsAll: Bool

  package init(
    asOf: String, interfaces: [Interface], yesterday: UsageReply?, thisMonth: UsageReply?, historyProblem: String?,
    showsAll: Bool
  ) {
    self.asOf = asOf
    self.interfaces = interfaces
    self.yesterday = yesterday
    self.thisMonth = thisMonth
    self.historyProblem = historyProblem
    self.showsAll = showsAll
  }
}

/// The lines of a summary.
package func render(_ summary: Summary, _ style: Style) -> [String] {
  let yesterday = sums(summary.yesterday)
  let thisMonth = sums(summary.thisMonth)
  let shown = summary.interfaces.filter {
    summary.showsAll || $0.present || summary.thisMonth == nil || hasTraffic(thisMonth[$0.id])
  }
  let labels = labelColumn(shown)
  var table = Table(
    [Column(title: "INTERFACE", alignment: .left, shrinks: true)] + labels + [
      Column(title: "KIND", alignment: .left, sacrifice: 4),
      Column(title: "PERIOD", alignment: .left),
    ] + figureColumns)
  var marks: Set<String> = []
  var isIncomplete = false
  for interface in shown {
    let kind = interface.kind + (interface.present ? "" : ", gone")
    let periods = [
      ("today", interface.today), ("yesterday", yesterday[interface.id]), ("this month", thisMonth[interface.id]),
      ("total", interface.total),
    ]
    for (position, (period, figure)) in periods.enumerated() {
      let first = position == 0
      let cells =
        [Cell(first ? fullName(interface.name, interface.title) : "", .strong)]
        + labels.map { _ in first ? labelCell(interface) : Cell("") } + [Cell(first ? kind : ""), Cell(period)]
      if let figure {
        marks.insert(figure.quality.completeness)
        table.append(cells + figureCells(figure, style))
      } else {
        isIncomplete = true
        table.append(cells + Array(repeating: Cell("-"), count: figureColumns.count))
      }
    }
  }
  var more = [carrierNote] + memberNotes(shown.map { ($0.name, $0.askedMembers) })
  let hidden = summary.interfaces.count - shown.count
  if hidden > 0 {
    more.append("Left out: \(counted(hidden, "interface")), gone and without traffic this month; --all shows them.")
  }
  if let problem = summary.historyProblem {
    more.append("- history is not available now: \(displayed(problem))")
  } else if isIncomplete {
    more.append("- nothing is known of that period.")
  }
  let lines = shown.isEmpty ? ["No interface to show."] : table.lines(style)
  return ["Traffic as of \(writtenTime(summary.asOf))", ""] + lines + [""] + notes(marks: marks, more: more, style)
}

private func sums(_ usage: UsageReply?) -> [String: Figure] {
  Dictionary((usage?.series ?? []).map { ($0.interface.id, $0.sum) }, uniquingKeysWith: { first, _ in first })
}

private func hasTraffic(_ figure: Figure?) -> Bool {
  figure.map { $0.rxBytes > 0 || $0.txBytes > 0 } ?? false
}
