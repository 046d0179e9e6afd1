// /v1/status: how the daemon is doing, every loss and fallback counted, every warning with its remedy.
import Glibc
import LinkSource
import LocalHTTP
import TallyCore
import TallyStore
import TallyWire

extension Api {
  /// Gaps shown in the status, newest last.
  private static let shownGaps = 20
  /// A commit that is this late shows a disk that does not keep up.
  private static let lateCommit: Int64 = 120 * Moment.second
  private static let lookAtDisk = "look for errors and load of the store's disk, first in the kernel log"

  private static let polled =
    "links are polled from /proc/net/dev: one that comes and goes between two samples is not seen, nor are the last "
    + "bytes of one that goes"

  /// `check=store`: the answer waits until the whole file of the store was examined.
  func status(_ query: [HTTPTarget.QueryItem], _ exchange: HTTPExchange) throws(RequestError) -> HTTPReply {
    let now = try present()
    sampler.checkCounters(olderThan: 10)
    history.collect()
    guard let item = query.first else { return try Api.json(statusReply(now)) }
    guard query.count == 1, item.value == Array("store".utf8) else {
      throw .badParameter("check", "the store alone can be examined", remedy: "write check=store, once")
    }
    upkeep.check { [unowned self] error in
      do throws(RequestError) {
        var reply = statusReply(sampler.ledger.lastSample ?? now)
        reply.store.integrity = error?.message ?? StatusReply.Store.ok
        if case .now(let response) = try Api.json(reply) { exchange.respond(response) }
      } catch {
        exchange.respond(error.response)
      }
    }
    return .later
  }

  private func statusReply(_ sampled: Moment) -> StatusReply {
    let now = sampler.now()
    let health = sampler.kernel.health
    let check = sampler.crossCheck
    return StatusReply(
      asOf: rfc3339(sampled.utc, fraction: 3), version: iftallyVersion, since: rfc3339(about.started.utc),
      bootID: sampled.bootID.text, namespace: StatusReply.Namespace(inode: about.namespaceInode),
      source: StatusReply.Source(
        name: sampler.kernel.source.rawValue, counterBits: Int(sampler.kernel.source.width.rawValue),
        events: about.eventSource,
        receiveBufferBytes: Int(sampler.kernel.receiveBufferBytes),
        peerEvents: sampler.kernel.hearsFarEnds),
      crossCheck: StatusReply.CrossCheck(
        agree: check?.result.agrees ?? true, checkedLinks: check?.result.checkedLinks ?? 0,
        at: check.map { rfc3339($0.at.utc) }, disagreements: check?.result.disagreements.map(\.escaped) ?? []),
      sample: StatusReply.Sample(
        at: rfc3339(sampled.utc, fraction: 3), ageSeconds: seconds(now.elapsed(since: sampled) ?? 0),
        count: sampler.sampleCount, durationMicroseconds: UInt64(max(0, sampler.lastDurationNanoseconds / 1000))),
      commit: StatusReply.Commit(
        at: history.committed.map { rfc3339($0.utc) },
        ageSeconds: history.committed.flatMap { now.elapsed(since: $0) }.map(seconds), count: history.commitCount,
        failures: history.failureCount, pendingRows: history.pendingRows),
      clock: StatusReply.Clock(
        timezone: timeZoneName(),
        steps: ledger.clockSteps.map {
          StatusReply.Clock.Step(at: rfc3339(seconds: $0.at), bySeconds: seconds($0.by))
        },
        synchronized: nil),
      gaps: (history.gaps + ledger.uncommittedGaps.filter { $0.link == nil }).suffix(Api.shownGaps).map(gap),
      events: StatusReply.Events(
        overruns: health.overruns, dumpRetries: health.dumpRetries, droppedSenders: health.droppedSenders),
      store: StatusReply.Store(
        path: about.storePath, state: history.condition.word, message: history.condition.message,
        sizeBytes: UInt64(max(0, history.sizeBytes)), freeBytes: history.freeBytes.map { UInt64(max(0, $0)) }),
      links: links(),
      warnings: warnings(now, health),
      service: StatusReply.Service(pid: getpid(), manager: about.manager, listeners: listeners))
  }

  private func links() -> StatusReply.Links {
    let decisions = ledger.decisions
    var ignored: [String: Int] = [:]
    for decision in decisions where decision.isIgnored { ignored[decision.rule, default: 0] += 1 }
    return StatusReply.Links(
      present: ledger.presentCount, known: ledger.shownCount,
      ignored: ignored.sorted { $0.key < $1.key }.map { StatusReply.Links.Ignored(rule: $0.key, links: $0.value) },
      folded: decisions.count { $0.rule == Ledger.overflowRule && !$0.isIgnored }, expired: ledger.expiredCount)
  }

  private func gap(_ gap: Gap) -> StatusReply.Gap {
    let name = gap.link.flatMap { ledger.slot(id: $0) }.map { ledger.records[$0].name.escaped }
    return StatusReply.Gap(
      interface: name, from: rfc3339(seconds: gap.from), to: rfc3339(seconds: gap.to),
      reason: gap.reason.rawValue, lossy: gap.lossy)
  }

  /// Everything that a person should act on.
  func warnings(_ now: Moment, _ health: KernelHealth) -> [StatusReply.Warning] {
    var warnings = notices
    func warn(_ code: String, _ message: String, _ remedy: String) {
      warnings.append(StatusReply.Warning(code: code, message: message, remedy: remedy))
    }
    switch history.condition {
    case .ok: break
    case .memoryOnly(let error):
      warn(
        "store_memory_only", "counting goes on in memory alone: \(error.what)",
        "\(error.remedy ?? Api.lookAtDisk); it is opened again by itself within five minutes")
    case .failing(let error):
      warn(
        "store_failing", "the last commit failed, what it held waits in memory: \(error.what)",
        "\(error.remedy ?? Api.lookAtDisk); the next commit tries again within a minute")
    }
    if history.isCommitting, let age = history.pendingSince.flatMap(now.elapsed(since:)), age > Api.lateCommit {
      warn(
        "commit_late",
        "a commit has been on its way to the disk for \(age / Moment.second) s, what is counted meanwhile waits in memory",
        Api.lookAtDisk)
    }
    if ledger.isUndated {
      warn(
        "clock_not_set",
        "the wall clock is earlier than it can be: what is counted waits to be dated, for 5 minutes at most",
        "set the clock, or let systemd-timesyncd or chrony set it")
    }
    if let error = sampler.lastError {
      warn("sampling_failed", "the last sample failed: \(error)", "run 'iftally doctor'")
    }
    if let check = sampler.crossCheck?.result, !check.agrees {
      warn(
        "cross_check",
        "netlink and getifaddrs disagree on \(check.disagreements.map(\.escaped).joined(separator: ", "))",
        "report the drivers of these links; their figures may be off")
    }
    if health.overruns > 0 {
      warn(
        "event_overrun", "the kernel dropped link events \(health.overruns) times; see the gaps",
        "raise net.core.rmem_max, or let systemd hold the event socket")
    }
    if health.malformedEvents > 0 {
      warn(
        "malformed_events", "\(health.malformedEvents) link events could not be read; all links were listed again",
        "report it with the kernel's version (uname -r)")
    }
    if ledger.shownCount >= ledger.mostInterfaces {
      let folded = ledger.decisions.count { $0.rule == Ledger.overflowRule }
      warn(
        "interfaces_folded",
        "there are \(ledger.shownCount) interfaces: further virtual links are counted together in the group others, "
          + "\(folded) of them now",
        "put such links into a group by a rule, or raise MaximumInterfaces= in [Links]")
    }
    if about.isNetlinkDenied {
      warn(
        "netlink_denied", "netlink is denied: " + Api.polled,
        "allow AF_NETLINK to the service (RestrictAddressFamilies=, SystemCallFilter=, or the container's seccomp "
          + "profile) and restart iftallyd")
    } else if sampler.kernel.source.isPolled {
      warn("polled_source", Api.polled, "set Source=netlink in [Sampling] and restart iftallyd")
    }
    if sampler.kernel.source == .getifaddrs {
      warn(
        "narrow_source", "counters have 32 bits and may wrap unseen between samples",
        "set Source=netlink in [Sampling]")
    }
    return warnings
  }
}

extension History.Condition {
  var word: String {
    switch self {
    case .ok: StatusReply.Store.ok
    case .memoryOnly: StatusReply.Store.memoryOnly
    case .failing: StatusReply.Store.failing
    }
  }

  var message: String? { error?.message }
}

extension BootID {
  /// As /proc/sys/kernel/random/boot_id writes it.
  var text: String {
    let digits = [high, low].map { half -> String in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
    var parts: [Substring] = []
    var rest = Substring(digits)
    for length in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return parts.joined(separator: "-")
  }
}

private func seconds(_ nanoseconds: Int64) -> Double { (Double(nanoseconds) / 1e6).rounded() / 1e3 }
