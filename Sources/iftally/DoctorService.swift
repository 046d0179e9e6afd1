// The examination of the service around the daemon: its units, their sandbox, and the sockets that systemd holds.
import Glibc
import TallyRender
import TallyWire

/// Of a daemon that answers; `units` nil: no systemd runs here.
func examineService(_ status: StatusReply, _ units: SystemdUnits?) -> [Finding] {
  var findings: [Finding] = []
  if let service = status.service { findings.append(examineProcess(service, units)) }
  findings += examineEvents(status)
  guard let units, units.isInstalled(SystemdUnits.service) else { return findings }
  let outdated = units.outdated.joined(separator: ", ")
  findings.append(
    outdated.isEmpty
      ? Finding("unit files", .ok, "systemd has read them as they are")
      : Finding(
        "unit files", .warning, "changed since systemd read them: \(outdated)",
        remedy: "systemctl daemon-reload, then systemctl restart iftallyd."))
  return findings + [examineSandbox(units), examineTcp(units), examineAlerts(units)]
}

private func examineProcess(_ service: StatusReply.Service, _ units: SystemdUnits?) -> Finding {
  let main = units?.value("MainPID", of: SystemdUnits.service) ?? ""
  if service.manager != nil {
    return Finding("service", .ok, "process \(service.pid), started again by its service manager")
  }
  guard let units, units.isInstalled(SystemdUnits.service), main != "\(service.pid)" else {
    return Finding("service", .ok, "process \(service.pid), which nobody starts again when it ends")
  }
  return Finding(
    "service", .warning, "the daemon that answers (process \(service.pid)) is not that of \(SystemdUnits.service)",
    remedy: "End it, then: systemctl start iftallyd.")
}

private func examineEvents(_ status: StatusReply) -> [Finding] {
  switch status.source.events {
  case StatusReply.Source.inherited:
    return [
      Finding(
        "event socket", .ok,
        "inherited from systemd: links that end while the daemon is down are counted to their last byte")
    ]
  case StatusReply.Source.own:
    let words = "own: links that end while the daemon is down take their last bytes with them"
    guard status.service?.manager == StatusReply.Service.systemd else { return [Finding("event socket", .ok, words)] }
    return [
      Finding(
        "event socket", .warning, "\(words), although systemd could hold it",
        remedy: "systemctl enable --now \(SystemdUnits.links), then systemctl restart iftallyd.")
    ]
  default: return []
  }
}

/// What drop-ins may have made of the unit's sandbox.
private func examineSandbox(_ units: SystemdUnits) -> Finding {
  func value(_ property: String) -> String { units.value(property, of: SystemdUnits.service) }
  func differing(_ expected: [(String, String)]) -> [String] {
    expected.filter { !value($0.0).isEmpty && value($0.0) != $0.1 }.map { "\($0.0)=\(value($0.0))" }
  }
  let paths = value("DropInPaths")
  let dropIns = paths.isEmpty ? "" : " (drop-ins: \(paths))"
  var missing = differing([("PrivateNetwork", "no"), ("PrivateUsers", "no"), ("ProcSubset", "all")])
  let families = value("RestrictAddressFamilies")
  if !families.isEmpty, families.hasPrefix("~") == families.contains("AF_NETLINK") {
    missing.append("RestrictAddressFamilies=\(families)")
  }
  guard missing.isEmpty else {
    return Finding(
      "sandbox", .warning, "it takes away what counting needs: \(missing.joined(separator: ", "))\(dropIns)",
      remedy: "See who says so: systemctl cat iftallyd. systemctl revert iftallyd takes all drop-ins away.")
  }
  var loose = differing([
    ("NoNewPrivileges", "yes"), ("ProtectSystem", "strict"), ("PrivateDevices", "yes"),
    ("MemoryDenyWriteExecute", "yes"),
  ])
  if ["", "root", "0"].contains(value("User")) { loose.append("User=\(value("User"))") }
  // The one that iftallyd(8) weighs.
  let capabilities = value("CapabilityBoundingSet").split(separator: " ").filter { $0 != "cap_net_broadcast" }
  if !capabilities.isEmpty {
    loose.append(
      "CapabilityBoundingSet=\(capabilities.prefix(3).joined(separator: " "))\(capabilities.count > 3 ? " ..." : "")")
  }
  guard loose.isEmpty else {
    return Finding(
      "sandbox", .warning, "it is looser than the daemon needs: \(loose.joined(separator: ", "))\(dropIns)",
      remedy: "See who says so: systemctl cat iftallyd. systemctl revert iftallyd takes all drop-ins away.")
  }
  return Finding("sandbox", .ok, paths.isEmpty ? "as it comes" : "tight and sufficient\(dropIns)")
}

private func examineTcp(_ units: SystemdUnits) -> Finding {
  let unit = SystemdUnits.tcp
  guard units.isInstalled(unit) else { return Finding("TCP socket", .ok, "not installed") }
  let listen = units.value("Listen", of: unit)
  switch (units.isActive(unit), units.isEnabled(unit)) {
  case (false, false): return Finding("TCP socket", .ok, "off; \(unit) would open it")
  case (false, true):
    return Finding(
      "TCP socket", .warning, "\(unit) is enabled and does not listen",
      remedy: "systemctl restart iftallyd; where the port is taken, set another: systemctl edit \(unit).")
  case (true, let staysOn):
    guard listen.hasPrefix("127.") || listen.hasPrefix("[::1]") else {
      return Finding(
        "TCP socket", .warning, "it listens on \(listen), which other machines may reach: all of them may read",
        remedy: "Let it listen on the loopback alone: systemctl edit \(unit).")
    }
    return Finding("TCP socket", .ok, "listens on \(listen)\(staysOn ? "" : ", until the next boot")")
  }
}

private func examineAlerts(_ units: SystemdUnits) -> Finding {
  let unit = SystemdUnits.alert
  guard units.isInstalled(unit) else { return Finding("alerts", .ok, "not installed") }
  switch (units.isActive(unit), units.isEnabled(unit)) {
  case (true, let staysOn): return Finding("alerts", .ok, "\(unit) runs\(staysOn ? "" : ", until the next boot")")
  case (false, false): return Finding("alerts", .ok, "off; \(unit) would run a program for events, see iftallyd(8)")
  case (false, true):
    // systemd says "no" of a condition that it never looked at, too; the start that the remedy asks for looks.
    guard units.value("ConditionResult", of: unit) == "no" else {
      return Finding(
        "alerts", .warning, "\(unit) is enabled and does not run: \(units.value("Result", of: unit))",
        remedy: "See why: journalctl -u \(unit); then systemctl restart \(unit).")
    }
    return Finding(
      "alerts", .warning, "\(unit) is enabled and does not run: it finds no program at /etc/iftally/alert",
      remedy: "Put one there that may be executed (chmod 755 /etc/iftally/alert), then: systemctl start \(unit).")
  }
}

/// What this user may do beyond reading.
func examineGroup() -> Finding {
  guard let group = getgrnam("iftally")?.pointee.gr_gid else {
    return Finding(
      "group", .warning, "this machine has no group iftally, so that root alone may make backups",
      remedy: "Make it: systemd-sysusers, or addgroup --system iftally; then restart iftallyd.")
  }
  var groups = [gid_t](repeating: 0, count: 65536)
  let count = getgroups(CInt(groups.count), &groups)
  if geteuid() == 0 { return Finding("group", .ok, "you are root, and may make backups") }
  let isMember = getegid() == group || groups.prefix(max(0, Int(count))).contains(group)
  return Finding(
    "group", .ok,
    isMember
      ? "you are in the group iftally, and may make backups"
      : "you may read; backups are for root and the group iftally")
}
