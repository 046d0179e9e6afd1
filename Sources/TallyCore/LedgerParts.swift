// Interfaces as they are shown: each is one record with those that were merged into it; hidden ones are none.

extension Ledger {
  /// The slot of the record that this one is shown with: its own, or the one that it was merged into.
  package func root(of slot: Int) -> Int {
    guard !changed.merges.isEmpty, var id = changed.merges[records[slot].id] else { return slot }
    while let next = changed.merges[id] { id = next }
    return self.slot(id: id) ?? slot
  }

  /// Its history was forgotten: nothing of it is shown.
  package func isHidden(_ slot: Int) -> Bool {
    !changed.forgotten.isEmpty && changed.forgotten.contains(records[root(of: slot)].id)
  }

  /// The interfaces that are shown, by the slots of their own records.
  package var shown: [Int] {
    shownSlots.filter { changed.merges[records[$0].id] == nil && !changed.forgotten.contains(records[$0].id) }
  }

  /// The records whose figures are added up in an interface, its own first.
  package func parts(of slot: Int) -> [Int] {
    if changed.merges.isEmpty { return [slot] }
    return [slot] + changed.merges.keys.sorted().compactMap(slot(id:)).filter { $0 != slot && root(of: $0) == slot }
  }

  /// The part whose link is there and speaks for the state of the interface; nil when none is.
  package func present(of parts: [Int]) -> Int? { parts.first(where: isPresent) }

  /// One record for all parts of an interface: its own, with the figures of all.
  package func sum(_ parts: [Int]) -> LinkRecord {
    var sum = record(slot: parts[0])
    for part in parts.dropFirst().map(record(slot:)) {
      sum.total += part.total
      sum.totalIsAtLeast = sum.totalIsAtLeast || part.totalIsAtLeast
      sum.resets &+= part.resets &+ 1
      sum.firstSeen = min(sum.firstSeen, part.firstSeen)
      sum.lastSeen = max(sum.lastSeen, part.lastSeen)
    }
    return sum
  }

  /// What `Quality` has to know of each part; `kin`: interfaces of the same device.
  package func sightings(_ parts: [Int], kin: [Int] = []) -> [Sighting] {
    let all = kin.isEmpty ? parts : parts + kin.flatMap(parts(of:))
    return parts.map { part in
      let record = records[part]
      // What was merged is another device, whose lives say nothing of this one.
      let others = all.lazy.map { records[$0] }.filter { $0.key == record.key && $0.label != record.label }
      return Sighting(link: record.id, firstSeen: record.firstSeen, kin: Set(others.map(\.id)))
    }
  }

  /// Sums of the running local day and their flags.
  package func today(_ parts: [Int]) -> (amounts: Amounts, flags: BucketFlags) {
    var (amounts, flags): (Amounts, BucketFlags) = (.zero, [])
    for part in parts {
      let today = today(slot: part)
      amounts += today.amounts
      flags.formUnion(today.flags)
    }
    return (amounts, flags)
  }

  /// Bytes a second over the last closed epoch, and its length in seconds; nil when no part has a rate.
  package func rate(_ parts: [Int]) -> (rx: Double, tx: Double, seconds: Double)? {
    let rates = parts.compactMap(rate(slot:))
    guard let first = rates.first else { return nil }
    return rates.dropFirst().reduce(first) { ($0.rx + $1.rx, $0.tx + $1.tx, $0.seconds) }
  }

  // MARK: Devices

  /// The shown interfaces that are one device under several labels: each with all of them, itself among them. One that is
  /// there comes first, then the newest. Any other is a device of its own.
  ///
  /// What had the same name before, and what was forgotten and brought back, is not among them: under each label it is the
  /// record that goes on when the device comes back. Two links that are there at once are two devices.
  package var devices: [Int: [Int]] {
    var found: [String: Set<Int>] = [:]
    for (identity, slot) in slots where !isHidden(slot) {
      let root = root(of: slot)
      if records[root].key == identity.key { found[identity.key, default: []].insert(root) }
    }
    var devices: [Int: [Int]] = [:]
    for roots in found.values where roots.count > 1 {
      let there = roots.filter { root in parts(of: root).contains { position(ofSlot: $0) != nil } }
      guard there.count < 2 else { continue }
      let newest = roots.sorted { records[$0].id > records[$1].id }
      let isHere = newest.map { present(of: parts(of: $0)) != nil }
      let order = zip(newest, isHere).filter(\.1).map(\.0) + zip(newest, isHere).filter { !$0.1 }.map(\.0)
      for root in roots { devices[root] = order }
    }
    return devices
  }

  /// What a person calls each shown interface that has a title. A title is the device's, under whatever label.
  package func titles(_ devices: [Int: [Int]]) -> [Int: String] {
    var titles: [Int: String] = [:]
    for slot in shown where !records[slot].title.isEmpty { titles[slot] = records[slot].title }
    for (slot, device) in devices where titles[slot] == nil {
      if let titled = titledSlot(of: device) { titles[slot] = records[titled].title }
    }
    return titles
  }

  /// The one that bears the title of a device.
  func titledSlot(of device: [Int]) -> Int? { device.first { !records[$0].title.isEmpty } }

  /// The shown interface that each record belongs to; hidden ones are left out.
  package var owners: [LinkID: Int] {
    var owners: [LinkID: Int] = [:]
    for slot in shownSlots where !isHidden(slot) { owners[records[slot].id] = root(of: slot) }
    return owners
  }
}
