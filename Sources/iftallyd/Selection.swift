// Which interfaces a question means: one rule for ids, names, titles, kinds and labels, wherever they are asked for.
import LocalHTTP
import TallyCore

/// What was asked for. By ids, since a slot may be another's when the disk has answered.
struct Selection {
  static let parameters = ["interface", "kind", "label"]

  /// One that was named: a device with the records of all its labels, or a single record.
  struct Choice {
    var records: [LinkID]
    /// Escaped names that were asked for, of links that are counted in this group.
    var members: [String] = []
  }

  /// nil: all.
  var choices: [Choice]?
  var kinds: Set<Kind> = []
  var labels: Set<String> = []

  /// Adds one that was named. What is in a device's figures already is not listed beside it.
  fileprivate mutating func add(_ choice: Choice) {
    var all = choices ?? []
    var choice = choice
    if let place = all.firstIndex(where: { choice.records.allSatisfy($0.records.contains) }) {
      for name in choice.members where !all[place].members.contains(name) { all[place].members.append(name) }
    } else {
      all.removeAll { known in
        guard known.records.allSatisfy(choice.records.contains) else { return false }
        choice.members = known.members + choice.members
        return true
      }
      all.append(choice)
    }
    choices = all
  }
}

/// What one entry of an answer is made of.
struct Selected {
  /// Slots of shown records, whose figures are added up; the first speaks for the state.
  var slots: [Int]
  /// As in `Selection.Choice`.
  var members: [String] = []
}

extension Api {
  /// Takes one parameter of a selection; false: it is none of them. `devices` are the ledger's, found once for all of the
  /// thousands of names that fit into a question.
  func take(
    _ item: HTTPTarget.QueryItem, into selection: inout Selection, _ devices: [Int: [Int]]
  ) throws(RequestError) -> Bool {
    switch String(decoding: item.name, as: UTF8.self) {
    case "interface":
      for name in try interfaceNames(item.value, devices) { selection.add(try choice(named: name, devices)) }
    case "kind":
      for word in String(decoding: item.value, as: UTF8.self).split(separator: "+") {
        guard let kind = Kind(rawValue: String(word)) else { throw .unknownKind(word) }
        selection.kinds.insert(kind)
      }
    case "label": selection.labels.insert(String(decoding: item.value, as: UTF8.self))
    default: return false
    }
    return true
  }

  /// The names that are joined in one value; a link whose own name holds the joint comes first.
  func interfaceNames(_ value: [UInt8], _ devices: [Int: [Int]]) throws(RequestError) -> [[UInt8]] {
    if (try? choice(named: value, devices)) != nil { return [value] }
    let names = value.split(separator: UInt8(ascii: "+"), omittingEmptySubsequences: false).map(Array.init)
    // A script's empty variable asks for nothing, and must not be answered with everything.
    guard names.allSatisfy({ !$0.isEmpty }) else {
      throw .badParameter("interface", "a name is empty", remedy: "leave the parameter out to ask for all interfaces")
    }
    return names
  }

  /// What `id:N`, a name or a title means; the name as bytes or in its escaped form.
  ///
  /// An id is one record. A name or a title is a device with the records of all its labels, and the name of a link that is
  /// counted in a group is that group. What was merged stands for the interface that it is shown with.
  func choice(named bytes: [UInt8], _ devices: [Int: [Int]]) throws(RequestError) -> Selection.Choice {
    let ledger = ledger
    let text = LinkName(bytes: bytes).escaped
    if text.hasPrefix("id:"), let id = LinkID(text.dropFirst(3)) {
      guard let slot = ledger.slot(id: id).flatMap(shownSlot) else { throw .unknownInterface(text) }
      return Selection.Choice(records: [ledger.records[slot].id])
    }
    func device(_ slot: Int) -> Selection.Choice {
      Selection.Choice(records: (devices[slot] ?? [slot]).map { ledger.records[$0].id })
    }
    for name in names(bytes) {
      guard let slot = ledger.slot(name: name) else { continue }
      var choice = device(ledger.root(of: slot))
      if ledger.records[slot].isGroup, ledger.records[slot].name != name { choice.members = [name.escaped] }
      return choice
    }
    let titled = slots(titled: bytes)
    guard let first = titled.first else { throw .unknownInterface(text) }
    guard titled.allSatisfy({ $0 == first || devices[first]?.contains($0) ?? false }) else {
      throw .ambiguous(text, titled.map { "id:\(ledger.records[$0].id)" })
    }
    return device(first)
  }

  /// What a person may mean by these bytes: a name as it is, or in its escaped form.
  func names(_ bytes: [UInt8]) -> [LinkName] {
    let asTheyAre = LinkName(bytes: bytes)
    return [asTheyAre, LinkName(escaped: asTheyAre.escaped)]
  }

  /// The shown interfaces that bear a title.
  func slots(titled bytes: [UInt8]) -> [Int] {
    let (ledger, names) = (ledger, names(bytes))
    return ledger.shown.filter { slot in
      let title = Array(ledger.records[slot].title.utf8)
      return !title.isEmpty && names.contains { $0.bytes == title }
    }
  }

  /// The interface that a record is shown with; nil when its history is forgotten.
  func shownSlot(_ slot: Int) -> Int? { ledger.isHidden(slot) ? nil : ledger.root(of: slot) }

  /// What a selection is now: kinds and labels choose among the records of what was named; unnamed, each record stands
  /// for itself.
  func selected(_ selection: Selection) -> [Selected] {
    let ledger = ledger
    func isMeant(_ slot: Int) -> Bool {
      (selection.kinds.isEmpty || selection.kinds.contains(ledger.records[slot].kind))
        && (selection.labels.isEmpty || ledger.records[slot].label.map(selection.labels.contains) ?? false)
    }
    guard let choices = selection.choices else { return ledger.shown.filter(isMeant).map { Selected(slots: [$0]) } }
    return choices.compactMap { choice in
      var slots: [Int] = []
      for slot in choice.records.compactMap(ledger.slot(id:)).compactMap(shownSlot)
      where isMeant(slot) && !slots.contains(slot) {
        slots.append(slot)
      }
      return slots.isEmpty ? nil : Selected(slots: slots, members: choice.members)
    }
  }
}
