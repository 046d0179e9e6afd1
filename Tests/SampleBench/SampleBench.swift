// Measures what a whole sample costs beside the bare dump of the C module, in the network namespace it is started in.
import CLinkStats
import Glibc
import LinkSource
import TallyCore

/// usage: iftally-sample-bench ROUNDS. Prints one line: links, and for idle and for busy links the nanoseconds of CPU a
/// link of the bare dump and of the whole sample (dump, events, ledger, buckets), medians, and their ratio.
@main
enum SampleBench {
  static func main() throws {
    let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 25
    let clocks = Clocks()
    let kernel = try KernelLinks(now: clocks.now, complete: { facts in _ = Sysfs().complete(&facts) })
    var ledger = Ledger(calendar: localCalendar())
    let links = try kernel.list().links
    ledger.apply(links, events: try kernel.drainEvents().events, cause: .start, at: clocks.now())
    let traffic = Traffic(links.map(\.facts.ifindex))
    var requests: OpaquePointer?
    guard ls_requests_open(&requests) >= 0, let requests else { fatalError("no netlink here") }
    defer { ls_requests_close(requests) }
    var stats = ls_stats()
    defer { ls_stats_free(&stats) }

    for isBusy in [false, true] {
      var bare: [Int64] = []
      var whole: [Int64] = []
      // One after the other in turn, so that what disturbs the machine disturbs both.
      for round in 0..<rounds + 3 {
        if isBusy { traffic.pass() }
        var report = ls_dump_report()
        let dump = cpuTime { _ = ls_dump_counters(requests, &stats, &report) }
        let sample = try cpuTime {
          let sample = try kernel.sample()
          ledger.apply(sample.events, at: sample.at)
          ledger.apply(sample.readings, width: sample.width, at: sample.at)
        }
        if round >= 3 {
          bare.append(dump)
          whole.append(sample)
        }
        _ = ledger.takeCommit(sequence: UInt64(round))
      }
      let (a, b) = (median(bare), median(whole))
      let count = Double(links.count)
      print(
        "\(links.count)\t\(isBusy ? "busy" : "idle")\t\(rounds)\t\(Int(Double(a) / count))\t\(Int(Double(b) / count))\t"
          + "\((Double(b) / Double(a) * 100).rounded() / 100)")
    }
  }

  private static func cpuTime(_ body: () throws -> Void) rethrows -> Int64 {
    let begun = now()
    try body()
    return now() - begun
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func median(_ values: [Int64]) -> Int64 { values.sorted()[values.count / 2] }
}

/// One frame out of every link.
private struct Traffic {
  private let socket: Int32
  private let links: [UInt32]

  init(_ links: [UInt32]) {
    self.links = links
    // Protocol 0: it receives nothing.
    socket = Glibc.socket(AF_PACKET, Int32(SOCK_RAW.rawValue), 0)
  }

  func pass() {
    let frame = [UInt8](repeating: 2, count: 64)
    for link in links {
      // struct sockaddr_ll of <linux/if_packet.h>, which the Glibc module lacks: family, protocol, index, address.
      var to = [UInt8](repeating: 0, count: 20)
      to.withUnsafeMutableBytes { bytes in
        bytes.storeBytes(of: UInt16(AF_PACKET), as: UInt16.self)
        bytes.storeBytes(of: link, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: 6, toByteOffset: 11, as: UInt8.self)
      }
      to.withUnsafeBytes { bytes in
        guard let address = bytes.bindMemory(to: sockaddr.self).baseAddress else { return }
        _ = sendto(socket, frame, frame.count, 0, address, socklen_t(bytes.count))
      }
    }
  }
}
