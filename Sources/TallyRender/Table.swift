// Tables: columns aligned by display width, given up one by one where the terminal is narrow.

/// One column of a table.
struct Column {
  enum Alignment { case left, right }

  var title: String
  var alignment = Alignment.right
  /// Where the terminal is narrow, the column with the highest number goes first; 0 stays.
  var sacrifice = 0
  /// Shortened as a last resort.
  var shrinks = false
}

/// One cell. Its text is made safe to show.
struct Cell {
  let text: String
  let tint: Tint

  init(_ text: String, _ tint: Tint = .plain) {
    self.text = displayed(text)
    self.tint = tint
  }
}

/// Rows under titles.
struct Table {
  let columns: [Column]
  private(set) var rows: [[Cell]] = []

  init(_ columns: [Column]) {
    self.columns = columns
  }

  /// A row shorter than the columns leaves the rest empty.
  mutating func append(_ cells: [Cell]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: missing))
  }

  /// The table's lines, the titles first.
  func lines(_ style: Style) -> [String] {
    let all = [columns.map { Cell($0.title, .strong) }] + rows
    var widths = columns.indices.map { column in all.map { displayWidth($0[column].text) }.max() ?? 0 }
    // A column with nothing in it says nothing.
    var shown = columns.indices.filter { column in rows.contains { !$0[column].text.isEmpty } }
    if rows.isEmpty { shown = Array(columns.indices) }
    if let limit = style.width { fit(&shown, &widths, to: limit) }
    return all.map { line($0, shown, widths, style) }
  }

  private func fit(_ shown: inout [Int], _ widths: inout [Int], to limit: Int) {
    func excess() -> Int { shown.reduce(2 * (shown.count - 1) - limit) { $0 + widths[$1] } }
    while excess() > 0, let victim = shown.max(by: { columns[$0].sacrifice < columns[$1].sacrifice }),
      columns[victim].sacrifice > 0
    {
      shown.removeAll { $0 == victim }
    }
    for column in shown where columns[column].shrinks && excess() > 0 {
      widths[column] = max(4, widths[column] - excess())
    }
    while excess() > 0, shown.count > 1 { shown.removeLast() }
  }

  private func line(_ cells: [Cell], _ shown: [Int], _ widths: [Int], _ style: Style) -> String {
    var line = ""
    for column in shown {
      let text = fitted(cells[column].text, to: widths[column], ellipsis: style.ellipsis)
      let padding = String(repeating: " ", count: max(0, widths[column] - displayWidth(text)))
      let tinted = style.tinted(text, cells[column].tint)
      if column != shown.first { line += "  " }
      switch columns[column].alignment {
      case .left: line += column == shown.last ? tinted : tinted + padding
      case .right: line += padding + tinted
      }
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
