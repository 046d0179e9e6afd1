// The examination: from the socket file to the numbers, each finding with its cause and remedy.
import Glibc
import TallyRender
import TallyWire

/// doctor
func examine(_ session: Session) throws(Failure) -> ExitCode {
  var findings = examineSocket(session.transport.socket)
  // Through a socket that is not there or closed to this user nothing more can be learnt.
  let isOpen = !findings.contains { $0.verdict == .failed }
  if isOpen { findings += examineAnswers(session) }
  let isWell = !findings.contains { $0.verdict == .failed }
  if session.settings.json {
    try session.print(json: Examination(ok: isWell, findings: findings))
  } else {
    try session.output.print(render(findings, session.style))
  }
  return isWell ? .ok : .failed
}

private func examineAnswers(_ session: Session) -> [Finding] {
  var findings: [Finding] = []
  do throws(Failure) {
    let status = try examinedStatus(session)
    findings.append(examineDaemon(status))
    findings += examineService(status, SystemdUnits.ask()) + examineNumbers(status)
    findings += examineStore(status, session.settings.units) + examineClock(status)
    findings.append(examineNamespace(status.namespace))
    findings += status.warnings.map { Finding("warning", .warning, $0.message, remedy: $0.remedy) }
  } catch {
    let check = error.exit == .noDataYet ? "first sample" : "daemon"
    if error.exit == .noDataYet { findings.append(Finding("daemon", .ok, "it answers")) }
    findings.append(Finding(check, .failed, error.message, remedy: error.remedy))
  }
  return findings + [examineSysfs()]
}

/// With the store examined, where the daemon knows how to.
private func examinedStatus(_ session: Session) throws(Failure) -> StatusReply {
  do throws(Failure) {
    return try session.fetch(StatusReply.self, RequestTarget.status.with("check", "store")).reply
  } catch {
    guard error.problemCode == Problem.Code.unknownParameter else { throw error }
    return try session.fetch(StatusReply.self, .status).reply
  }
}

/// What the daemon reads there too; a container may hide it, or show another namespace's.
private func examineSysfs() -> Finding {
  var facts = stat()
  guard stat("/sys/class/net/lo", &facts) == 0 else {
    return Finding(
      "/sys", .warning, "/sys/class/net does not show this namespace's links",
      remedy: "Mount sysfs there: without it hardware is not told from virtual links, nor a link from its successor.")
  }
  return Finding("/sys", .ok, "/sys/class/net shows links")
}

private struct Examination: Encodable {
  var nature = natureEstimate
  var ok: Bool
  var findings: [Finding]
}

private func examineSocket(_ path: String) -> [Finding] {
  let facts = SocketFacts(path)
  switch facts.presence {
  case .absent(let words):
    return [
      Finding(
        "socket", .failed, "\(path): \(words)",
        remedy: "Start the daemon: systemctl start iftallyd. If its socket is elsewhere: --socket PATH.")
    ]
  case .anotherKind(let what):
    return [
      Finding(
        "socket", .failed, "\(path) is \(what)", remedy: "Remove it, then restart iftallyd; or name the right --socket."
      )
    ]
  case .socket:
    let belongs = facts.ownership.map { " (\($0))" } ?? ""
    let groups = ownGroups().joined(separator: ", ")
    return [
      Finding("socket", .ok, "\(path) is a socket\(belongs)"),
      facts.isWritable
        ? Finding("permission", .ok, "you may connect; your groups: \(groups)")
        : Finding("permission", .failed, "you may not connect; your groups: \(groups)", remedy: facts.remedy),
      examineGroup(),
    ]
  }
}

private func examineDaemon(_ status: StatusReply) -> Finding {
  guard status.version == iftallyVersion else {
    return Finding(
      "daemon", .warning, "it answers with version \(status.version), this command is \(iftallyVersion)",
      remedy: "Restart it after an upgrade: systemctl restart iftallyd.")
  }
  return Finding("daemon", .ok, "version \(status.version) answers, running since \(writtenTime(status.since))")
}

private func examineNumbers(_ status: StatusReply) -> [Finding] {
  let age = writtenDuration(status.sample.ageSeconds)
  var findings = [
    status.sample.ageSeconds <= 120
      ? Finding("sample", .ok, "\(age) old")
      : Finding(
        "sample", .warning, "the last one is \(age) old; there should be one a minute",
        remedy: "See why the daemon is held up: journalctl -u iftallyd.")
  ]
  let source = "\(status.source.name), \(status.source.counterBits)-bit counters"
  findings.append(
    status.source.counterBits == 64 && status.source.events != StatusReply.Source.polled
      ? Finding("source", .ok, source)
      : Finding(
        "source", .warning,
        "\(source), link events: \(status.source.events); a link's last bytes and quick wraps can go unseen",
        remedy: "Let the daemon use netlink: Source=netlink in [Sampling], and AF_NETLINK in RestrictAddressFamilies=.")
  )
  let check = status.crossCheck
  if check.at == nil {
    findings.append(Finding("cross-check", .ok, "not made yet"))
  } else if check.checkedLinks == 0 {
    findings.append(Finding("cross-check", .ok, "not made: there is no second way to the counters"))
  } else if check.agree {
    findings.append(Finding("cross-check", .ok, "netlink and getifaddrs agree on \(check.checkedLinks) interfaces"))
  } else {
    findings.append(
      Finding(
        "cross-check", .failed,
        "netlink and getifaddrs disagree on \(check.disagreements.joined(separator: ", "))",
        remedy:
          "A driver shows two truths; compare ip -s -s link with /proc/net/dev and report it with the driver's name."))
  }
  if status.events.overruns > 0 {
    findings.append(
      Finding(
        "events", .warning, "the kernel dropped link events \(status.events.overruns) times",
        remedy: "Give the event socket a larger buffer: sysctl net.core.rmem_max=33554432, then restart iftallyd."))
  }
  return findings
}

private func examineClock(_ status: StatusReply) -> [Finding] {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  var findings: [Finding] = []
  if let there = Timestamp(status.asOf)?.seconds, abs(there - Double(now.tv_sec)) > 120 {
    findings.append(
      Finding(
        "clock", .warning, "the daemon answers as of \(writtenTime(status.asOf)), which is not now",
        remedy: "Restart iftallyd if the clock was set; see iftally status --verbose for steps."))
  }
  if status.clock.synchronized == false {
    findings.append(
      Finding(
        "clock", .warning, "it is not synchronised, so that traffic can land in wrong hours or days",
        remedy: "Switch time synchronisation on: timedatectl set-ntp true."))
  }
  if let step = status.clock.steps.last {
    findings.append(
      Finding(
        "clock", .warning,
        "it was set, last at \(writtenTime(step.at)); periods around that time are longer or shorter",
        remedy: "iftally status --verbose lists the steps."))
  }
  return findings.isEmpty ? [Finding("clock", .ok, "\(status.clock.timezone), no steps")] : findings
}

private func examineNamespace(_ namespace: StatusReply.Namespace) -> Finding {
  var facts = stat()
  guard namespace.inode != 0, stat("/proc/self/ns/net", &facts) == 0, facts.st_ino != namespace.inode else {
    return Finding("namespace", .ok, namespace.note)
  }
  return Finding(
    "namespace", .warning, "the daemon counts another network namespace than this command runs in",
    remedy: "Figures here are of namespace \(namespace.inode); run a daemon in this one to count its links.")
}
