// The service manager's protocol: readiness, reloads, the watchdog, sockets handed over. Without one, all of it is nothing.

import CSystemd
import Glibc

enum ServiceNotify {
  /// The daemon answers now. `status` is what `systemctl status` shows.
  static func ready(status: String) { send("READY=1\nSTATUS=\(Log.printable(status))") }

  /// A reload has begun; `ready` ends it. The time lets the manager tell reloads apart (Type=notify-reload).
  static func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  static func status(_ text: String) { send("STATUS=\(Log.printable(text))") }

  static func stopping() { send("STOPPING=1") }

  /// The loop is alive. For the regular tick, which must come more often than WatchdogSec= of the unit.
  static func watchdog() { send("WATCHDOG=1") }

  /// Somebody wants to know when the daemon is ready.
  static var isHeard: Bool { getenv("NOTIFY_SOCKET") != nil }

  /// How often the watchdog must hear of the loop, by WatchdogSec=; nil when nobody listens.
  static func watchdogMilliseconds() -> Int? {
    guard let text = getenv("WATCHDOG_USEC"), let microseconds = Int(String(cString: text)), microseconds > 0
    else { return nil }
    return microseconds / 1000
  }

  /// The descriptors handed over, with their names (FileDescriptorName=). Once, before other threads start: it clears
  /// the environment of them.
  static func handedOver() -> [(name: String, descriptor: CInt)] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = csystemd_listen_fds(&names)
    guard count > 0 else { return [] }
    defer { csystemd_names_free(names) }
    return (0..<count).map { i in
      // SD_LISTEN_FDS_START is 3.
      (name: names?[Int(i)].map { String(cString: $0) } ?? "", descriptor: 3 + i)
    }
  }

  /// Has the manager keep a descriptor for the next process of this service, as long as its FileDescriptorStoreMax=
  /// allows. It comes back with `handedOver`.
  static func keep(_ descriptor: CInt, name: String) {
    _ = csystemd_store("FDSTORE=1\nFDNAME=\(name)", descriptor)
  }

  /// Has the manager let go of what it keeps under a name.
  static func forget(name: String) { send("FDSTOREREMOVE=1\nFDNAME=\(name)") }

  private static func send(_ state: String) { _ = csystemd_notify(state) }
}
