// The examination of the history: whether it is kept, sound and complete, and whether there is room for more.
import TallyRender
import TallyWire

/// Months of an ordinary machine.
private let leastRoom: UInt64 = 16 << 20

/// Whether what is counted is kept, how sound that is, and what is missing from it.
func examineStore(_ status: StatusReply, _ units: Units) -> [Finding] {
  let store = status.store
  let message = store.message.map { ": \($0)" } ?? ""
  var findings: [Finding] = []
  switch store.state {
  case StatusReply.Store.ok:
    findings.append(Finding("store", .ok, store.path))
  case StatusReply.Store.loading:
    findings.append(Finding("store", .warning, "history is being loaded from \(store.path)", remedy: "Wait a moment."))
  case StatusReply.Store.memoryOnly:
    findings.append(
      Finding(
        "store", .failed, "counting goes on in memory alone\(message)",
        remedy: "It is opened again by itself within five minutes; what is not written ends with the daemon."))
  default:
    findings.append(
      Finding(
        "store", .failed, "commits fail, what they held waits in memory\(message)",
        remedy: "The next commit tries again within a minute."))
  }
  if let integrity = store.integrity, store.state != StatusReply.Store.memoryOnly {
    findings.append(
      integrity == StatusReply.Store.ok
        ? Finding("integrity", .ok, "every page of the store is sound")
        : Finding(
          "integrity", .failed, integrity,
          remedy: "systemctl restart iftallyd sets a damaged file aside; iftally restore FILE takes a backup back."))
  }
  if let free = store.freeBytes {
    let room = "\(units.amount(free)) free where the store is, which takes \(units.amount(store.sizeBytes))"
    findings.append(
      free >= max(leastRoom, store.sizeBytes.multipliedReportingOverflow(by: 2).partialValue)
        ? Finding("room", .ok, room)
        : Finding("room", .warning, room, remedy: "Free space there: df \(store.path). A backup takes as much again."))
  }
  let commit = status.commit
  if commit.failures > 0 {
    findings.append(
      Finding(
        "commits", .warning, "\(commit.failures) failed since the start; \(commit.pendingRows) rows wait in memory",
        remedy: "The log names each cause: journalctl -u iftallyd."))
  }
  let lossy = status.gaps.filter(\.lossy)
  findings.append(
    lossy.isEmpty
      ? Finding("gaps", .ok, "none in which bytes may have gone unseen")
      : Finding(
        "gaps", .warning, "\(lossy.count) in which bytes may have gone unseen; figures over them say at least",
        remedy: "iftally status --verbose lists them with their reasons."))
  return findings
}
