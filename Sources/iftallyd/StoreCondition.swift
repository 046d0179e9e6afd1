// How the store is, for status and warnings.
import TallyStore

extension History {
  /// The store as `status` shows it.
  enum Condition {
    case ok
    /// There is no open store: counting goes on in memory alone.
    case memoryOnly(StoreError)
    /// The last commit failed; what it held waits.
    case failing(StoreError)

    /// What is wrong; nil when nothing is.
    var error: StoreError? {
      switch self {
      case .ok: nil
      case .memoryOnly(let error), .failing(let error): error
      }
    }
  }
}
