// The sentences under every output: that it is an estimate, and what the marks in it mean.
import TallyWire

/// Stands in every output.
package let estimateNote = "Estimates: what the interfaces' own counters showed, not what a provider meters."

/// Why nothing is added up across interfaces.
let carrierNote = "Do not add interfaces up: what passes a tunnel, bridge or VLAN passes the interface below it too."

/// The estimate note, the meaning of each mark that is in use, and further notes, wrapped.
func notes(marks: Set<String>, more: [String] = [], _ style: Style) -> [String] {
  var sentences = [estimateNote]
  if marks.contains(Completeness.placed) {
    sentences.append("\(style.mark(Completeness.placed))complete, but a part was put into its period by proportion.")
  }
  if marks.contains(Completeness.atLeast) {
    sentences.append("\(style.mark(Completeness.atLeast))at least this much: something could not be observed.")
  }
  if !marks.subtracting([Completeness.complete, Completeness.placed, Completeness.atLeast]).isEmpty {
    sentences.append("? of a completeness that this version of the command does not know.")
  }
  return (sentences + more).flatMap { wrapped($0, to: style.width, indent: "  ") }.map { style.tinted($0, .dim) }
}

/// What is said of links that were asked for and are counted in a group; each once.
func memberNotes(_ groups: [(name: String, members: [String]?)]) -> [String] {
  groups.flatMap { group in
    (group.members ?? []).map { "\(displayed($0)) is counted in the group \(displayed(group.name))." }
  }
}

/// The labels of the records of one device, "cafe, home, none".
func labels(_ records: [LabelledRecord]) -> String { records.map { $0.label ?? "none" }.joined(separator: ", ") }

/// The cell of a label; one for all labels of a device.
func labelCell(_ interface: Interface) -> Cell { Cell(interface.records.map(labels) ?? interface.label ?? "") }

/// The column that `labelCell` fills; none where nothing has a label.
func labelColumn(_ interfaces: [Interface]) -> [Column] {
  interfaces.contains { $0.label != nil || $0.records != nil }
    ? [Column(title: "LABEL", alignment: .left, sacrifice: 3)] : []
}

/// The cells of a figure: received, sent, both, and the observed part.
func figureCells(
  rx: UInt64, tx: UInt64, completeness: String, coverage: Double, _ style: Style
) -> [Cell] {
  let mark = style.mark(completeness)
  let tint = completeness == Completeness.complete ? Tint.plain : .attention
  let (sum, overflow) = rx.addingReportingOverflow(tx)
  let amounts = [rx, tx, overflow ? .max : sum].map { Cell(mark + style.units.amount($0), tint) }
  return amounts + [Cell(writtenCoverage(coverage), coverage < 1 ? .attention : .plain)]
}

func figureCells(_ figure: Figure, _ style: Style) -> [Cell] {
  figureCells(
    rx: figure.rxBytes, tx: figure.txBytes, completeness: figure.quality.completeness,
    coverage: figure.quality.coverage, style)
}

/// The columns that `figureCells` fills.
let figureColumns = [
  Column(title: "RECEIVED"), Column(title: "SENT"), Column(title: "TOTAL", sacrifice: 2),
  Column(title: "OBSERVED", sacrifice: 3),
]
