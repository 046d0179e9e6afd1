// The writer's thread: opens the store, stores commits in order, and closes it in order.
import TallyCore

/// Body of the writer's thread.
struct StoreWriter {
  let exchange: StoreExchange
  let directory: String
  let calendar: LocalCalendar

  func run() {
    var store: Store?
    while case .work(let job) = exchange.nextWriterJob() {
      switch job {
      case .open(let suspect):
        // What could not even be opened is not suspect: it is checked when it was not closed in order.
        let wasOpen = store != nil
        store?.abandon()
        // The old one must be gone first, with its lock.
        store = nil
        store = open(suspect: suspect && wasOpen)
      case .commit(let commit, let wake):
        self.commit(commit, to: store, wake: wake)
      case .wake:
        exchange.wake()
      }
    }
    // The last connection to close writes the WAL back: that must be this one.
    exchange.monitor.wait { $0.readerHasEnded ? () : nil }
    store?.close()
    exchange.monitor.change { $0.writerHasEnded = true }
  }

  private func open(suspect: Bool) -> Store? {
    do throws(StoreError) {
      let store = try Store.open(directory: directory, calendar: calendar, suspect: suspect)
      let (size, free) = (store.sizeBytes, store.freeBytes)
      exchange.post(.opened(.success(store.opening)), wake: true) { state in
        state.store.path = store.path
        state.store.hasBeenOpen = true
        state.store.generation += 1
        state.health.state = .ok
        state.health.message = store.opening.notice
        state.health.sizeBytes = size
        state.health.freeBytes = free
      }
      return store
    } catch {
      exchange.post(.opened(.failure(error)), wake: true) { state in
        state.store.path = nil
        state.store.generation += 1
        state.store.reason = error
        state.health.state = .memoryOnly
        state.health.message = error.message
        state.health.sizeBytes = 0
      }
      return nil
    }
  }

  private func commit(_ commit: Commit, to store: Store?, wake: Bool) {
    do throws(StoreError) {
      guard let store else {
        let reason = exchange.monitor.read { $0.store.reason }
        throw StoreError(.unavailable, "there is no store to write to: \(reason.what)", remedy: reason.remedy)
      }
      try store.commit(commit)
      let (size, free) = (store.sizeBytes, store.freeBytes)
      exchange.post(.committed(sequence: commit.sequence), wake: wake) { state in
        if state.health.state == .failing { state.health.message = nil }
        state.health.state = .ok
        state.health.sizeBytes = size
        state.health.freeBytes = free
        state.health.commits &+= 1
        state.health.pendingCommits -= 1
      }
    } catch {
      exchange.post(.failed(sequence: commit.sequence, error), wake: true) { state in
        if store != nil {
          state.health.state = .failing
          state.health.message = error.message
        }
        state.health.failures &+= 1
        state.health.pendingCommits -= 1
      }
    }
  }
}
