// The daemon: one loop thread that owns all state, and the things that wake it.
import CSystemd
import Glibc
import LinkSource
import LocalHTTP
import TallyConfig
import TallyCore
import TallyStore
import TallyWire

/// Everything wired together. All of it runs in the thread that calls `run`.
final class Daemon {
  private let log = Log()
  private let loop: EventLoop
  private let counting: Counting
  private let api: Api
  private let workers: StoreWorkers
  private let timer: ClockTimer
  private let file: String?
  private var configuration: Configuration
  private var zone = ZoneWatch()

  private var listeners: [ListeningSocket] = []
  private var servers: [ServedHTTP] = []
  private var sources: [EventSource] = []
  private var commitTimer: TimerSource?
  private var retryTimer: TimerSource?
  private var minuteTimer: TimerSource?
  private var answerTimer: TimerSource?
  private var watchTimer: TimerSource?
  private var ratesTimer: TimerSource?
  private var beatTimer: TimerSource?
  private var isAnnounced = false
  private let watchdogMilliseconds = ServiceNotify.watchdogMilliseconds()

  private static let stopDeadlineSeconds = 20
  private static let afterReplacement =
    "keep a file that was set aside: SQLite's tools may still read what was counted before"

  init(_ configuration: Configuration, file: String?) throws {
    self.configuration = configuration
    self.file = file
    EventLoop.takeSignals([SIGTERM, SIGINT, SIGHUP])
    process_save_memory()
    loop = try EventLoop()
    timer = try ClockTimer()
    let clocks = Clocks()
    var handedOver = try HandedOver(ServiceNotify.handedOver())

    let calendar = localCalendar()
    let opened = try Daemon.openStore(configuration.store.directory, calendar, log)
    workers = opened.workers
    let (kernel, denial) = try openKernel(
      configuration.sampling.source, &handedOver, log, now: clocks.now,
      complete: { facts in
        if Daemon.sysfs.complete(&facts) { completeWireless(&facts) }
      })
    let stored = opened.opening?.state
    let sampler = Sampler(
      kernel: kernel, now: clocks.now, calendar: calendar, rules: configuration.rules, restoring: stored)
    sampler.ledger.mostInterfaces = configuration.links.maximumInterfaces
    let history = History(
      workers: workers, state: stored,
      watermarks: .new(at: clocks.now().utcSeconds, calendar: calendar), reason: opened.reason)
    history.mark = handedOver.mark
    counting = Counting(
      sampler: sampler, history: history, say: { [log] in log.write($0, code: $1, $2) })
    api = Api(
      sampler: sampler, history: history, topology: Topology(), upkeep: Upkeep(workers, history),
      about: Api.About(
        started: clocks.now(), storePath: workers.health.path,
        namespaceInode: Daemon.namespaceInode(), eventSource: eventWords(kernel), isNetlinkDenied: denial != nil,
        manager: ServiceNotify.isHeard ? StatusReply.Service.systemd : nil))
    api.upkeep.commit = { [counting] in counting.commit() }
    if let denial { log.warning(code: "netlink_denied", "\(denial); links are polled from /proc/net/dev instead") }
    api.authority = Authority(group: configuration.api.changeGroup.name, id: configuration.api.changeGroup.id)
    history.keepsForgotten = Int64(configuration.store.forgottenDays) * 86400
    history.keepsGone = configuration.links.expireDays.map { Int64($0) * 86400 }
    counting.findStandings = { [api] now in api.topology.current(api.ledger, at: now).graph }
    if let notice = opened.opening?.notice { warn("store_replaced", notice, Daemon.afterReplacement) }
    listeners = try Daemon.listen(configuration, handedOver.listeners)
    api.listeners = listeners.map(\.address)
  }

  private static let sysfs = Sysfs()
  private var sampler: Sampler { counting.sampler }
  private var history: History { counting.history }

  // MARK: Starting

  private static func openStore(
    _ directory: String, _ calendar: LocalCalendar, _ log: Log
  ) throws(StoreError) -> (workers: StoreWorkers, opening: StoreOpening?, reason: StoreError?) {
    let workers = try StoreWorkers(directory: directory, calendar: calendar)
    switch workers.waitUntilOpened() {
    case .success(let opening):
      return (workers, opening, nil)
    case .failure(let error):
      // Two daemons on one store would count everything twice.
      if error.kind == .locked {
        _ = workers.stop(commit: nil, deadlineSeconds: 1)
        throw error
      }
      log.error(code: "store_memory_only", "\(error.description); counting goes on in memory alone")
      return (workers, nil, error)
    }
  }

  private static func listen(
    _ configuration: Configuration, _ handedOver: [ListeningSocket]
  ) throws(LocalHTTPError) -> [ListeningSocket] {
    var listeners = handedOver
    if !listeners.contains(where: \.isUnix) {
      listeners.append(
        try .unix(
          path: configuration.api.socket, mode: configuration.api.socketMode, group: configuration.api.socketGroup?.id))
    }
    if let tcp = configuration.api.tcp {
      let host = tcp.host.contains(":") ? "[\(tcp.host)]" : tcp.host
      listeners.append(try .tcp("\(host):\(tcp.port)"))
    }
    return listeners
  }

  private static func namespaceInode() -> UInt64 {
    var found = stat()
    return stat("/proc/self/ns/net", &found) == 0 ? UInt64(found.st_ino) : 0
  }

  /// Runs until a signal ends it; returns the exit code.
  func run() throws -> Int32 {
    try wire()
    firstSample()
    armMinute()
    try loop.run()
    return stop()
  }

  private func wire() throws {
    sources = [
      try DescriptorSource(loop, timer.descriptor) { [unowned self] in tick() },
      try SignalSource(loop, SIGTERM) { [unowned self] in loop.stop() },
      try SignalSource(loop, SIGINT) { [unowned self] in loop.stop() },
      try SignalSource(loop, SIGHUP) { [unowned self] in reload() },
    ]
    if sampler.kernel.eventDescriptor >= 0 {
      sources.append(
        try DescriptorSource(loop, sampler.kernel.eventDescriptor) { [unowned self] in counting.linkEvents() })
    }
    sources.append(
      try DescriptorSource(loop, workers.descriptor) { [unowned self] in
        history.collect()
        announce()
        tellProblems()
      })
    commitTimer = try TimerSource(loop, .monotonic) { [unowned self] in counting.commit() }
    counting.commitAfter = { [unowned self] in try? commitTimer?.arm(afterMilliseconds: $0) }
    answerTimer = try TimerSource(loop, .monotonic) { [unowned self] in api.answerWaiting() }
    api.wakeAfter = { [unowned self] nanoseconds in
      try? answerTimer?.arm(afterMilliseconds: Int(nanoseconds / 1_000_000) + 1)
    }
    watchTimer = try TimerSource(loop, .monotonic) { [unowned self] in counting.watchTick() }
    counting.watchAfter = { [unowned self] in try? watchTimer?.arm(afterMilliseconds: Int($0 / 1_000_000) + 1) }
    api.asked = { [unowned self] in counting.asked() }
    api.make = { [unowned self] in counting.make($0, then: $1) }
    try wireStreams()
    retryTimer = try TimerSource(loop, .monotonic) { [unowned self] in firstSample() }
    minuteTimer = try TimerSource(loop, .monotonic) { [unowned self] in minute() }
    counting.storeWasReplaced = { [unowned self] notice in
      warn(
        "store_replaced", notice ?? "the store was begun anew; totals go on, earlier history is not in it",
        Daemon.afterReplacement)
    }
    counting.storeHoldsOthers = { [unowned self] in
      warn(
        "store_restarted",
        "the store that was opened holds other counts than this process: counting goes on from the store's, and bytes of links "
          + "that ended meanwhile are missing",
        "see that one daemon alone has this store")
    }
    api.wakeUps = { [unowned self] in loop.turns }
    for listener in listeners {
      let server = try HTTPServer(
        listener,
        allowedHosts: listener.isUnix ? nil : AllowedHosts(configuration.api.allowedHosts),
        refuse: { RequestError($0).response }, handler: { [unowned self] in api.answer($0, $1) })
      servers.append(
        try ServedHTTP(server, on: loop) { [unowned self] problem in
          log.error(code: "server_failed", "the server on \(listener.address) ended: \(problem)")
        })
      log.info(code: "listening", "listening on \(listener.address)")
    }
  }

  private func wireStreams() throws {
    let streams = api.streams
    ratesTimer = try TimerSource(loop, .monotonic) { streams.tellRates() }
    streams.ratesAfter = { [unowned self] in try? ratesTimer?.arm(afterMilliseconds: Int($0 / 1_000_000) + 1) }
    beatTimer = try TimerSource(loop, .monotonic) { streams.beat(isTick: false) }
    streams.beatAfter = { [unowned self] in try? beatTimer?.arm(afterMilliseconds: Int($0 / 1_000_000)) }
    streams.asked = { [unowned self] in counting.asked() }
    sampler.observed = { streams.collect() }
  }

  /// The service is ready when there is a sample; until then clients are told that it is loading.
  private func firstSample() {
    if counting.start() {
      announce()
    } else {
      try? retryTimer?.arm(afterMilliseconds: 1000)
    }
  }

  /// Tells the service manager once that figures are served.
  private func announce() {
    guard !isAnnounced, sampler.sampleCount > 0, history.isFounded else { return }
    isAnnounced = true
    ServiceNotify.ready(status: statusLine())
    tellProblems()
  }

  private func tellProblems() { api.streams.note(api.warnings(sampler.now(), sampler.kernel.health)) }

  // MARK: Running

  /// The minute boundary, or the moment in which the clock was set.
  private func tick() {
    do {
      guard try timer.read() != .nothing else { return }
    } catch {
      log.error(code: "timer_failed", "\(error)")
    }
    minute()
  }

  private func minute() {
    if zone.refresh() { counting.zoneChanged(localCalendar()) }
    let isHealthy = counting.tick()
    if isHealthy { ServiceNotify.watchdog() }
    ServiceNotify.status(statusLine())
    tellProblems()
    api.streams.beat(isTick: true)
    // A long answer leaves holes that the allocator would keep: measured 180 MB after 200 000 points.
    process_return_memory()
    armMinute()
  }

  /// Where the wall clock cannot be waited for, a minute is one of the monotonic clock.
  private func armMinute() {
    do {
      try timer.armNextMinute(after: sampler.now())
    } catch {
      log.error(code: "timer_failed", "\(error)")
      try? minuteTimer?.arm(afterMilliseconds: 60_000)
    }
    // A watchdog that is set to bark sooner is heard more often.
    if let bark = watchdogMilliseconds, bark < 120_000 { try? minuteTimer?.arm(afterMilliseconds: bark / 2) }
  }

  private func statusLine() -> String {
    let ledger = sampler.ledger
    let warnings = api.warnings(sampler.now(), sampler.kernel.health)
    let sampled = ledger.lastSample.map { rfc3339($0.utc) } ?? "none yet"
    let committed = history.committed.map { rfc3339($0.utc) } ?? "none yet"
    let trouble = warnings.isEmpty ? "no warnings" : "warnings: " + warnings.map(\.code).joined(separator: ", ")
    return "\(ledger.presentCount) links, last sample \(sampled), last commit \(committed), \(trouble)"
  }

  // MARK: Reloading and stopping

  /// Takes over a valid configuration as a whole, or keeps the old one and says why.
  private func reload() {
    // A reload before the start is over must not make it seem so.
    if isAnnounced { ServiceNotify.reloading() }
    defer {
      if isAnnounced { ServiceNotify.ready(status: statusLine()) }
      tellProblems()
    }
    api.notices.removeAll { $0.code == "reload_refused" || $0.code == "restart_needed" }
    do {
      let new = try Configuration.load(file: file, environment: Main.environment())
      apply(new)
      log.notice(code: "reloaded", "the configuration was reloaded")
    } catch {
      warn(
        "reload_refused", "the new configuration is not in force: \(error.description)",
        "correct the file and reload again")
    }
  }

  private func apply(_ new: Configuration) {
    var restart: [String] = []
    if new.store != configuration.store { restart.append("[Store]") }
    if new.sampling != configuration.sampling { restart.append("[Sampling]") }
    if new.api.socket != configuration.api.socket || new.api.socketMode != configuration.api.socketMode
      || new.api.socketGroup != configuration.api.socketGroup || new.api.tcp != configuration.api.tcp
    {
      restart.append("the sockets of [Api]")
    }
    for (listener, served) in zip(listeners, servers) where !listener.isUnix {
      served.server.allowedHosts = AllowedHosts(new.api.allowedHosts)
    }
    configuration.api.allowedHosts = new.api.allowedHosts
    configuration.api.changeGroup = new.api.changeGroup
    api.authority = Authority(group: new.api.changeGroup.name, id: new.api.changeGroup.id)
    sampler.ledger.mostInterfaces = new.links.maximumInterfaces
    history.keepsGone = new.links.expireDays.map { Int64($0) * 86400 }
    configuration.links = new.links
    if new.rules != configuration.rules {
      configuration.rules = new.rules
      counting.take(new.rules)
    }
    if !restart.isEmpty {
      warn(
        "restart_needed", "changes of \(restart.joined(separator: ", ")) wait for a restart", "restart iftallyd")
    }
  }

  private func warn(_ code: String, _ message: String, _ remedy: String) {
    api.notices.removeAll { $0.code == code }
    api.notices.append(StatusReply.Warning(code: code, message: message, remedy: remedy))
    log.warning(code: code, "\(message); \(remedy)")
  }

  /// Counts and commits what there is, answers nobody any more.
  private func stop() -> Int32 {
    ServiceNotify.stopping()
    for server in servers { server.stop() }
    for listener in listeners { listener.close() }
    if let error = counting.finish(deadlineSeconds: Daemon.stopDeadlineSeconds) {
      log.error(code: "last_commit_failed", error.description)
      return 1
    }
    log.info(code: "stopped", "everything counted is committed")
    return 0
  }
}
