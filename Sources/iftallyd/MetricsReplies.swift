// /metrics: totals of every interface and the daemon's own health, as Prometheus text.
import LocalHTTP
import TallyCore
import TallyWire

extension Api {
  func metrics() throws(RequestError) -> HTTPReply {
    let now = try present()
    var metrics = Metrics()
    for family in interfaceFamilies() + ownFamilies(now) { metrics.append(family) }
    return .now(
      HTTPResponse(status: 200, contentType: Metrics.mediaType, headers: commonHeaders, body: metrics.text))
  }

  private func interfaceFamilies() -> [MetricFamily] {
    let ledger = ledger
    let titles = ledger.titles(ledger.devices)
    // Nothing passes through a group of expired ones: it only grows by them, which would be taken for traffic too.
    let shown = ledger.shown.filter { !ledger.records[$0].isExpiredGroup }.map { slot in
      let parts = ledger.parts(of: slot)
      let merged = parts.dropFirst().map { "id:\(ledger.records[$0].id)" }.joined(separator: ",")
      var record = ledger.sum(parts)
      record.title = titles[slot] ?? ""
      return (record: record, merged: merged, isPresent: ledger.present(of: parts) != nil)
    }
    // What is added to an interface makes another series of it: a counter that leapt would be taken for traffic, one
    // that fell for a reset.
    func labels(_ record: LinkRecord, _ merged: String) -> [(name: String, value: String)] {
      [("interface", record.name.escaped), ("id", "id:\(record.id)"), ("kind", record.kind.rawValue)]
        + (merged.isEmpty ? [] : [("merged", merged)])
    }
    func family(_ name: String, _ help: String, _ value: (Amounts) -> UInt64) -> MetricFamily {
      MetricFamily(
        name: name, kind: .counter, help: help,
        samples: shown.map {
          MetricFamily.Sample(labels: labels($0.record, $0.merged), .integer(value($0.record.total)))
        })
    }
    let info = MetricFamily(
      name: "iftally_interface_info", kind: .gauge,
      help: "What an interface is; 1 while it is present. Its figures are estimates from its counter.",
      samples: shown.map { record, merged, isPresent in
        MetricFamily.Sample(
          labels: labels(record, merged) + [
            ("type", record.type), ("nature", natureEstimate),
            ("completeness", record.totalIsAtLeast ? "at_least" : "complete"), ("label", record.label ?? ""),
            ("rule", record.rule ?? ""),
          ] + (record.title.isEmpty ? [] : [("title", record.title)]), .integer(isPresent ? 1 : 0))
      })
    return [
      family("iftally_receive_bytes_total", "Bytes received, an estimate from the interface's counter.") { $0.rxBytes },
      family("iftally_transmit_bytes_total", "Bytes sent, an estimate from the interface's counter.") { $0.txBytes },
      family("iftally_receive_packets_total", "Packets received, as the interface counts them.") { $0.rxPackets },
      family("iftally_transmit_packets_total", "Packets sent, as the interface counts them.") { $0.txPackets },
      info,
    ]
  }

  private func ownFamilies(_ now: Moment) -> [MetricFamily] {
    let health = sampler.kernel.health
    func one(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: MetricValue) -> MetricFamily {
      MetricFamily(name: name, kind: kind, help: help, samples: [MetricFamily.Sample(value)])
    }
    func count(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
      one(name, .counter, help, .integer(value))
    }
    let age = history.committed.flatMap { sampler.now().elapsed(since: $0) }
    return [
      MetricFamily(
        name: "iftally_build_info", kind: .gauge, help: "The daemon's version.",
        samples: [MetricFamily.Sample(labels: [("version", iftallyVersion)], .integer(1))]),
      MetricFamily(
        name: "iftally_source_info", kind: .gauge, help: "Where counters and link events come from.",
        samples: [
          MetricFamily.Sample(
            labels: [("source", sampler.kernel.source.rawValue), ("events", about.eventSource)], .integer(1))
        ]),
      count("iftally_samples_total", "Samples of all counters.", sampler.sampleCount),
      one(
        "iftally_sample_duration_seconds", .gauge, "How long the last sample took.",
        .number(Double(sampler.lastDurationNanoseconds) / 1e9)),
      count("iftally_sample_failures_total", "Samples that failed; the next one makes up for it.", sampler.failures),
      count("iftally_event_overruns_total", "Times that the kernel dropped link events.", health.overruns),
      count("iftally_resyncs_total", "Full link lists taken because events were lost.", sampler.resyncs),
      count("iftally_dump_retries_total", "Dumps that were interrupted and asked for again.", health.dumpRetries),
      count("iftally_dropped_senders_total", "Messages dropped: not from the kernel.", health.droppedSenders),
      count("iftally_malformed_events_total", "Link events that could not be read.", health.malformedEvents),
      one(
        "iftally_peer_events", .gauge, "1 while the ends of veths' peers in other namespaces are heard.",
        .integer(sampler.kernel.hearsFarEnds ? 1 : 0)),
      count("iftally_held_readings_total", "Odd readings that waited for a second one.", ledger.heldReadings),
      count("iftally_clock_steps_total", "Steps of the wall clock.", ledger.clockStepCount),
      count("iftally_commits_total", "Commits to the store.", history.commitCount),
      count("iftally_commit_failures_total", "Commits that failed; what they held is kept.", history.failureCount),
      one(
        "iftally_commit_age_seconds", .gauge, "Age of the last committed moment.",
        age.map { .number(Double($0) / 1e9) } ?? .number(.nan)),
      one("iftally_pending_rows", .gauge, "Rows that wait to be written.", .integer(UInt64(history.pendingRows))),
      one(
        "iftally_pending_age_seconds", .gauge,
        "Age of the oldest commit that is not on the disk yet; 0 when none waits.",
        .number(history.pendingSince.flatMap { sampler.now().elapsed(since: $0) }.map { Double($0) / 1e9 } ?? 0)),
      MetricFamily(
        name: "iftally_store_state", kind: .gauge, help: "1 for the state that the store is in.",
        samples: [StatusReply.Store.ok, StatusReply.Store.failing, StatusReply.Store.memoryOnly].map { word in
          MetricFamily.Sample(labels: [("state", word)], .integer(history.condition.word == word ? 1 : 0))
        }),
      one(
        "iftally_store_ok", .gauge, "1 while commits reach the disk.",
        .integer(history.condition.word == "ok" ? 1 : 0)),
      one(
        "iftally_store_size_bytes", .gauge, "Size of the store on disk.",
        .integer(UInt64(max(0, history.sizeBytes)))),
      one("iftally_links_present", .gauge, "Links that are there now.", .integer(UInt64(ledger.presentCount))),
      one("iftally_links_known", .gauge, "Links with a history.", .integer(UInt64(ledger.shown.count))),
      one(
        "iftally_links_ignored", .gauge, "Links that are there now and not counted, as rules say.",
        .integer(UInt64(ledger.decisions.count { $0.isIgnored }))),
      one(
        "iftally_links_expired", .gauge,
        "Virtual links that were gone for long and are counted in groups, which have no series here.",
        .integer(UInt64(ledger.expiredCount))),
      one("iftally_streams", .gauge, "Clients that follow the event stream.", .integer(UInt64(streams.count))),
      count("iftally_loop_wakeups_total", "Returns of the event loop from its wait.", wakeUps()),
    ]
  }
}
