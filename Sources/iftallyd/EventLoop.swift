// The daemon's one loop (sd_event) and what can wake it: descriptors, timers, signals.

import CSystemd
import Glibc

/// A call to libsystemd that failed.
struct LoopError: Error, CustomStringConvertible {
  var call: String
  var code: CInt

  var description: String { "\(call): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")" }

  fileprivate static func check(_ status: CInt, _ call: String) throws(LoopError) {
    if status < 0 { throw LoopError(call: call, code: -status) }
  }
}

/// Waits for the sources made on it and calls their handlers, in the thread that calls `run`. It never wakes by itself.
final class EventLoop {
  fileprivate private(set) var loop: OpaquePointer?
  private var isRunning = false

  init() throws(LoopError) {
    try LoopError.check(csystemd_loop_new(&loop), "sd_event_new")
  }

  deinit {
    if let loop { csystemd_loop_free(loop) }
  }

  /// How often the loop has come back from waiting: the wake-ups of its thread, and the events that were there already.
  var turns: UInt64 { loop.map { csystemd_loop_turns($0) } ?? 0 }

  /// Blocks the signals that sources will report and ignores SIGPIPE. For the first thread before it starts others,
  /// which inherit it.
  static func takeSignals(_ signals: [CInt]) {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Returns after `stop`.
  func run() throws(LoopError) {
    isRunning = true
    while isRunning {
      try LoopError.check(csystemd_loop_turn(loop), "sd_event_run")
    }
  }

  /// Makes `run` return when the handler that calls this is done.
  func stop() { isRunning = false }
}

/// Something that wakes the loop, for as long as the object lives. A handler may let go of its own source.
class EventSource {
  fileprivate var source: OpaquePointer?
  private let handler: () -> Void

  fileprivate init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  deinit {
    if let source { csystemd_source_free(source) }
  }

  // Unretained: the source is freed, and never calls again, before this object is gone.
  fileprivate var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  fileprivate static let call: csystemd_handler = { context in
    guard let context else { return }
    Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue().handler()
  }
}

/// Calls while a descriptor is readable, hung up or in error; the descriptor stays the caller's and outlives it.
final class DescriptorSource: EventSource {
  init(_ loop: EventLoop, _ descriptor: CInt, _ handler: @escaping () -> Void) throws(LoopError) {
    super.init(handler)
    try LoopError.check(csystemd_watch(loop.loop, descriptor, EventSource.call, context, &source), "sd_event_add_io")
  }
}

/// Calls once for each time the signal came; it must have been blocked by `EventLoop.takeSignals`.
final class SignalSource: EventSource {
  init(_ loop: EventLoop, _ signal: CInt, _ handler: @escaping () -> Void) throws(LoopError) {
    super.init(handler)
    try LoopError.check(csystemd_signal(loop.loop, signal, EventSource.call, context, &source), "sd_event_add_signal")
  }
}

/// Calls once for each time it is armed.
final class TimerSource: EventSource {
  enum Clock {
    /// Stands still while the machine is suspended.
    case monotonic
    /// The clock of `Moment.boot`: goes on while the machine is suspended, and is then found to have passed.
    case boot
  }

  private let clock: clockid_t

  init(_ loop: EventLoop, _ clock: Clock, _ handler: @escaping () -> Void) throws(LoopError) {
    self.clock = clock == .boot ? CLOCK_BOOTTIME : CLOCK_MONOTONIC
    super.init(handler)
    try LoopError.check(
      csystemd_timer(loop.loop, self.clock, EventSource.call, context, &source), "timerfd_create")
  }

  /// Fires at this reading of its clock, nanoseconds, or at once when it has passed; replaces an earlier arming.
  func arm(at nanoseconds: Int64) throws(LoopError) {
    var now = timespec()
    clock_gettime(clock, &now)
    try arm(afterNanoseconds: nanoseconds &- Int64(now.tv_sec) &* 1_000_000_000 &- Int64(now.tv_nsec))
  }

  /// Fires after this many milliseconds; replaces an earlier arming.
  func arm(afterMilliseconds milliseconds: Int) throws(LoopError) {
    try arm(afterNanoseconds: Int64(milliseconds) * 1_000_000)
  }

  private func arm(afterNanoseconds nanoseconds: Int64) throws(LoopError) {
    try LoopError.check(csystemd_timer_arm(source, UInt64(max(0, nanoseconds))), "timerfd_settime")
  }

  func disarm() throws(LoopError) {
    try LoopError.check(csystemd_timer_disarm(source), "timerfd_settime")
  }
}
