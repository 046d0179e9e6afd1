// An HTTP server as a part of the loop: turned when its descriptor is readable or its timeout has passed.

import LocalHTTP

final class ServedHTTP {
  let server: HTTPServer
  private let failed: (String) -> Void
  private var descriptor: DescriptorSource?
  private var timer: TimerSource?

  /// `failed` hears of a server that cannot go on; it is then stopped, and the rest of the daemon lives on.
  init(_ server: HTTPServer, on loop: EventLoop, failed: @escaping (String) -> Void) throws(LoopError) {
    self.server = server
    self.failed = failed
    descriptor = try DescriptorSource(loop, server.descriptor) { [unowned self] in turn() }
    timer = try TimerSource(loop, .monotonic) { [unowned self] in turn() }
    server.wantsTurn = { [weak self] in self?.turnSoon() }
  }

  /// Closes all connections.
  func stop() {
    // The descriptor is the server's: forget it before it is closed.
    descriptor = nil
    timer = nil
    server.stop()
  }

  private func turnSoon() {
    do { try timer?.arm(afterMilliseconds: 0) } catch { fail(error) }
  }

  private func turn() {
    do {
      try server.process()
      if let milliseconds = server.nextTimeout() {
        try timer?.arm(afterMilliseconds: milliseconds)
      } else {
        try timer?.disarm()
      }
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) {
    stop()
    failed("\(error)")
  }
}
