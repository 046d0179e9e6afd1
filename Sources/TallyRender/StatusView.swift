// The daemon's status in sentences.
package import TallyWire

/// The lines of a status; verbose adds each gap and clock step, the counts of odd events, and the daemon as a process.
package func render(_ status: StatusReply, verbose: Bool, _ style: Style) -> [String] {
  var pairs = [
    ("as of", writtenTime(status.asOf)),
    ("running since", writtenTime(status.since)),
    ("namespace", "\(status.namespace.inode): \(status.namespace.note)"),
    ("source", source(status.source, style)),
    ("cross-check", crossCheck(status.crossCheck)),
    (
      "sample",
      "\(writtenDuration(status.sample.ageSeconds)) ago, \(status.sample.count) since the start, the last took "
        + "\(status.sample.durationMicroseconds) us"
    ),
    ("commit", commit(status.commit)),
    ("store", store(status.store, style)),
    ("clock", clock(status.clock)),
    ("interfaces", links(status.links)),
    ("gaps", gaps(status.gaps)),
  ]
  if verbose {
    pairs += status.gaps.map { ("gap", gap($0)) }
    pairs += status.clock.steps.map { ("clock step", "\(seconds($0.bySeconds)) at \(writtenTime($0.at))") }
    pairs.append(
      (
        "events",
        "overruns \(status.events.overruns), repeated dumps \(status.events.dumpRetries), "
          + "dropped since not from the kernel \(status.events.droppedSenders)"
      ))
    if let bootID = status.bootID { pairs.append(("boot", bootID)) }
    if let service = status.service {
      pairs.append(
        ("process", "\(service.pid), \(service.manager.map { "run by \($0)" } ?? "without a service manager")"))
      pairs += service.listeners.map { ("listening on", $0) }
    }
    if let free = status.store.freeBytes {
      pairs.append(("room", "\(style.units.amount(free)) free where the store is"))
    }
  }
  let warnings = status.warnings.flatMap { warning in
    wrapped("warning: \(displayed(warning.message))", to: style.width, indent: "  ").map {
      style.tinted($0, .attention)
    }
      + wrapped("remedy: \(displayed(warning.remedy))", to: style.width.map { $0 - 2 }, indent: "  ").map { "  " + $0 }
  }
  return ["iftallyd \(displayed(status.version))"] + keyed(pairs, style) + warnings + [""] + notes(marks: [], style)
}

private func source(_ source: StatusReply.Source, _ style: Style) -> String {
  let buffer =
    source.receiveBufferBytes > 0
    ? " with a receive buffer of \(style.units.amount(UInt64(source.receiveBufferBytes)))" : ""
  let peers = source.peerEvents.map { ", veth ends elsewhere \($0 ? "heard" : "not heard")" } ?? ""
  return "\(source.name), \(source.counterBits)-bit counters, event socket: \(source.events)\(buffer)\(peers)"
}

private func crossCheck(_ check: StatusReply.CrossCheck) -> String {
  guard let at = check.at else { return "not made yet" }
  let verdict =
    check.agree
    ? "getifaddrs agrees on \(counted(check.checkedLinks, "interface"))"
    : "getifaddrs disagrees on \(check.disagreements.joined(separator: ", "))"
  return "\(verdict), at \(writtenTime(at))"
}

private func commit(_ commit: StatusReply.Commit) -> String {
  let age = commit.ageSeconds.map { "\(writtenDuration($0)) ago" } ?? "none yet"
  return
    "\(age), \(commit.count) since the start, \(commit.failures) failed, \(counted(commit.pendingRows, "row")) pending"
}

private func store(_ store: StatusReply.Store, _ style: Style) -> String {
  let state = store.state.split(separator: "_").joined(separator: " ")
  let message = store.message.map { ": \($0)" } ?? ""
  return "\(state)\(message); \(store.path), \(style.units.amount(store.sizeBytes))"
}

private func clock(_ clock: StatusReply.Clock) -> String {
  let synchronized =
    switch clock.synchronized {
    case true?: "synchronised"
    case false?: "not synchronised"
    case nil: "not known whether synchronised"
    }
  return "\(clock.timezone), \(synchronized), \(counted(clock.steps.count, "step"))"
}

private func links(_ links: StatusReply.Links) -> String {
  let ignored = (links.ignored ?? []).map { ", \($0.links) ignored by the rule \($0.rule)" }.joined()
  let folded = links.folded ?? 0
  return "\(links.present) present, \(links.known) known\(ignored)"
    + (folded > 0 ? ", \(folded) counted together in the group others" : "")
    + (links.expired.flatMap { $0 > 0 ? ", \($0) expired" : nil } ?? "")
}

private func gaps(_ gaps: [StatusReply.Gap]) -> String {
  guard !gaps.isEmpty else { return "none" }
  return "\(gaps.count), of them \(gaps.filter(\.lossy).count) in which bytes may have gone unseen"
}

private func gap(_ gap: StatusReply.Gap) -> String {
  let reason = gap.reason.split(separator: "_").joined(separator: " ")
  let effect = gap.lossy ? "bytes may have gone unseen" : "its bytes were counted afterwards"
  return
    "\(gap.interface ?? "every interface"), \(writtenTime(gap.from)) to \(writtenTime(gap.to)): \(reason), \(effect)"
}

/// Signed, to the millisecond.
private func seconds(_ value: Double) -> String {
  guard abs(value) < 1e12 else { return "?" }
  let milliseconds = Int((abs(value) * 1000).rounded())
  let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
  return "\(value < 0 ? "-" : "+")\(milliseconds / 1000).\(fraction) s"
}
