// Shared state behind a mutex with a condition to wait for, and threads to share it with.
import CSQLite
import Glibc

/// A value that several threads change, one at a time.
final class Monitor<State>: @unchecked Sendable {
  // In memory of their own: the C library needs their addresses to stay.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Reads or changes the state and wakes whoever waits.
  func change<R>(_ body: (inout State) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let result = body(&state)
    pthread_cond_broadcast(changed)
    return result
  }

  /// Takes something from the state that nobody waits to be gone: no thread is woken.
  func take<R>(_ body: (inout State) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Reads the state.
  func read<R>(_ body: (State) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(state)
  }

  /// Waits until `body` gives a value. It is called under the lock, at first and after every change.
  func wait<R>(_ body: (inout State) -> R?) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }

  /// The same, for so many seconds at most; nil when they are over.
  func wait<R>(seconds: Int, _ body: (inout State) -> R?) -> R? {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      if csqlite_wait_until(changed, mutex, &deadline) == ETIMEDOUT { return body(&state) }
    }
  }
}

/// A thread with a small stack that takes no signals: those are for the loop.
struct WorkerThread: Sendable {
  private let id: pthread_t

  /// SQLite and this target's own frames take a quarter of it at most.
  private static let stackBytes = 256 * 1024

  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, WorkerThread.stackBytes)

    // A thread inherits the mask of the one that makes it.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let start = Unmanaged.passRetained(ThreadStart(name, body))
    var id = pthread_t()
    let code = pthread_create(
      &id, &attributes,
      { pointer in
        guard let pointer else { return nil }
        let start = Unmanaged<ThreadStart>.fromOpaque(pointer).takeRetainedValue()
        csqlite_name_thread(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      throw StoreError(
        .other, "cannot start the thread \(name) (\(errorText(code))): raise TasksMax= or the limit of processes")
    }
    self.id = id
  }

  /// Waits for its end.
  func join() { pthread_join(id, nil) }

  /// Lets it go its own way, to end with the process.
  func detach() { pthread_detach(id) }
}

private final class ThreadStart {
  let name: String
  let body: @Sendable () -> Void

  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}
