// Changes: what one did, and the list of them.
package import TallyWire

/// The lines of a change that was made or undone.
package func render(_ reply: ChangeReply, _ style: Style) -> [String] {
  let change = reply.change
  let name = shownNames(change)
  let isUndone = change.undone != nil
  let title = displayed((isUndone ? change.before : change.after) ?? "")
  let text =
    switch (change.action, isUndone) {
    case ("rename", _): title.isEmpty ? "\(name) has no title now." : "\(name) is now called \"\(title)\"."
    case ("merge", false): "The figures of \(name) are now shown with those of \(displayed(change.after ?? ""))."
    case ("merge", true): "\(name) is an interface of its own again."
    case ("forget", false):
      "The history of \(name) is hidden."
        + (reply.interface.map { " The link goes on as \(displayed($0.id)), from nothing." } ?? "")
    case ("forget", true): "The history of \(name) is shown again."
    default: "Change \(change.id): \(displayed(change.action)) of \(name)."
    }
  return wrapped(text + (isUndone ? "" : " To take it back: iftally undo \(change.id)"), to: style.width)
}

/// The lines of a list of changes.
package func render(_ reply: ChangesReply, _ style: Style) -> [String] {
  guard !reply.changes.isEmpty else { return ["Nothing was changed."] }
  var table = Table([
    Column(title: "ID"), Column(title: "TIME", alignment: .left, sacrifice: 2),
    Column(title: "USER", sacrifice: 3), Column(title: "CHANGE", alignment: .left),
    Column(title: "INTERFACE", alignment: .left, shrinks: true),
    Column(title: "BEFORE", alignment: .left, sacrifice: 4), Column(title: "AFTER", alignment: .left, sacrifice: 1),
    Column(title: "UNDONE", alignment: .left),
  ])
  for change in reply.changes {
    table.append([
      Cell("\(change.id)"), Cell(writtenTime(change.at)), Cell("\(change.uid)"), Cell(change.action),
      Cell(shownNames(change)), Cell(change.before ?? ""), Cell(change.after ?? ""),
      Cell(change.undone.map { "\(writtenTime($0.at)) by \($0.uid)" } ?? ""),
    ])
  }
  return table.lines(style)
}

private func shownNames(_ change: ChangeEntry) -> String {
  ([change.interface] + (change.others ?? [])).map(shownName).joined(separator: ", ")
}

private func shownName(_ interface: InterfaceReference) -> String {
  let id = interface.id ?? ""
  return displayed(interface.name.isEmpty ? id : "\(interface.name) (\(id))")
}

/// A person's title with the kernel's name beside it, or that name alone.
func fullName(_ name: String, _ title: String?) -> String {
  title.map { "\($0) (\(name))" } ?? name
}
