// The list of interfaces, short as a table or at length one by one.
package import TallyWire

/// The lines of a list of interfaces.
package func render(_ reply: InterfacesReply, verbose: Bool, _ style: Style) -> [String] {
  let head = ["Interfaces as of \(writtenTime(reply.asOf))", ""]
  let marks = Set(reply.interfaces.map(\.total.quality.completeness))
  let body =
    if reply.interfaces.isEmpty {
      ["No interface to show."]
    } else if verbose {
      Array(reply.interfaces.map { details($0, style) }.joined(separator: [""]))
    } else {
      overview(reply.interfaces, style)
    }
  let more = [carrierNote] + memberNotes(reply.interfaces.map { ($0.name, $0.askedMembers) })
  return head + body + [""] + notes(marks: marks, more: more, style)
}

private func overview(_ interfaces: [Interface], _ style: Style) -> [String] {
  let labels = labelColumn(interfaces)
  var table = Table(
    [Column(title: "INTERFACE", alignment: .left, shrinks: true)]
      + labels + [
        Column(title: "ID", alignment: .left, sacrifice: 5),
        Column(title: "KIND", alignment: .left, sacrifice: 1),
        Column(title: "TYPE", alignment: .left, sacrifice: 6),
        Column(title: "STATE", alignment: .left),
      ] + figureColumns + [
        Column(title: "CARRIER", alignment: .left, sacrifice: 4),
        Column(title: "ADDRESSES", alignment: .left, sacrifice: 8),
      ])
  for interface in interfaces {
    let addresses = interface.addresses.prefix(2).joined(separator: " ")
    let more = interface.addresses.count > 2 ? " +\(interface.addresses.count - 2)" : ""
    table.append(
      [Cell(fullName(interface.name, interface.title), .strong)]
        + labels.map { _ in labelCell(interface) } + [
          Cell(interface.id), Cell(interface.kind), Cell(interface.type),
          stateCell(interface),
        ] + figureCells(interface.total, style) + [Cell(interface.carrier?.name ?? ""), Cell(addresses + more)])
  }
  return table.lines(style)
}

private func stateCell(_ interface: Interface) -> Cell {
  if let group = interface.group, interface.present { return Cell("\(group.present) here", .good) }
  if !interface.present { return Cell("gone", .dim) }
  return interface.up ? Cell("up", .good) : Cell("down", .attention)
}

private func details(_ interface: Interface, _ style: Style) -> [String] {
  var pairs: [(String, String)] = [
    ("id", interface.id),
    ("kind", "\(interface.kind) (\(interface.type)): \(interface.why)"),
    (
      "medium",
      interface.touchesMedium ? "its bytes cross a medium here" : "carried inside; never added to a machine total"
    ),
    ("counts", interface.counts),
    ("state", stateCell(interface).text + (interface.ifindex.map { ", index \($0)" } ?? "")),
  ]
  if let rule = interface.rule { pairs.insert(("rule", rule), at: 2) }
  let medium = interface.rule == nil ? 2 : 3
  if let counted = interface.counted { pairs.insert(("layer", layer(counted)), at: medium + 2) }
  if let partial = interface.counted?.partial { pairs.insert(("offload", partial), at: medium + 3) }
  if let why = interface.shareWhy { pairs[medium].1 = (interface.touchesMedium ? "added: " : "never added: ") + why }
  if let label = interface.label { pairs.insert(("label", label), at: 1) }
  if let records = interface.records {
    let all = records.map { "\($0.label ?? "none") (\($0.id))" }.joined(separator: ", ")
    pairs.insert(("labels", all + ": added up"), at: 1)
  }
  if let group = interface.group {
    pairs.append(
      (
        "members",
        group.expired == true ? "\(group.lives) expired" : "\(group.present) here, \(group.lives) lives in all"
      ))
  }
  if let metered = interface.metered { pairs.append(("metered", metered ? "yes" : "no")) }
  if let carrier = interface.carrier { pairs.append(("carrier", reference(carrier))) }
  if let merged = interface.merged {
    pairs.append(("merged", merged.map(reference).joined(separator: ", ") + ": their figures are in these"))
  }
  if let master = interface.master { pairs.append(("master", reference(master))) }
  if let mac = interface.mac { pairs.append(("mac", mac)) }
  if let mtu = interface.mtu { pairs.append(("mtu", "\(mtu)")) }
  if let speed = interface.speedMbit { pairs.append(("speed", "\(speed) Mbit/s as the driver says")) }
  if let driver = interface.driver { pairs.append(("driver", driver)) }
  if let alias = interface.alias { pairs.append(("alias", alias)) }
  if let names = interface.altnames { pairs.append(("also named", names.joined(separator: " "))) }
  if !interface.addresses.isEmpty { pairs.append(("addresses", interface.addresses.joined(separator: " "))) }
  pairs.append(("seen", "\(writtenTime(interface.firstSeen)) to \(writtenTime(interface.lastSeen))"))
  pairs.append(("lives", "\(interface.incarnations)"))
  if let rate = interface.rate {
    pairs.append(
      (
        "rate",
        "received \(style.units.rate(rate.rxBytesPerSecond)), sent \(style.units.rate(rate.txBytesPerSecond)), mean of "
          + writtenDuration(rate.overSeconds)
      ))
  }
  pairs.append(("today", interface.today.map { sentence($0, style) } ?? "history is loading"))
  pairs.append(("total", sentence(interface.total, style)))
  return [style.tinted(displayed(fullName(interface.name, interface.title)), .strong)] + keyed(pairs, style)
}

private func layer(_ counted: CountedReply) -> String {
  func word(_ layer: String) -> String {
    switch layer {
    case "ip_packet": "IP packets"
    case "ethernet_frame": "Ethernet frames"
    default: "what its driver counts"
    }
  }
  let both = counted.rxLayer == counted.txLayer
  let layers =
    both ? word(counted.rxLayer) : "\(word(counted.rxLayer)) received, \(word(counted.txLayer)) sent"
  return layers + (counted.inner ? "; inner traffic of a tunnel" : "")
    + (counted.overhead.map { ", with " + $0 } ?? "")
}

private func reference(_ other: InterfaceReference) -> String {
  other.name + (other.id.map { " (\($0))" } ?? "")
}

private func sentence(_ figure: Figure, _ style: Style) -> String {
  let mark = style.mark(figure.quality.completeness)
  return "received \(mark)\(style.units.amount(figure.rxBytes)), sent \(mark)\(style.units.amount(figure.txBytes)), "
    + "since \(writtenTime(figure.quality.since)), observed \(writtenCoverage(figure.quality.coverage)), "
    + "resets \(figure.quality.resets), gaps \(figure.quality.gaps)"
}

/// Pairs as indented lines, the values aligned and wrapped.
func keyed(_ pairs: [(String, String)], _ style: Style) -> [String] {
  let width = pairs.map { $0.0.count }.max() ?? 0
  return pairs.flatMap { key, value in
    let label = "  " + key + String(repeating: " ", count: width - key.count) + "  "
    let room = style.width.map { max(20, $0 - label.count) }
    return wrapped(displayed(value), to: room).enumerated().map { position, line in
      (position == 0 ? label : String(repeating: " ", count: label.count)) + line
    }
  }
}
