// Whether the wall clock is being kept right by somebody.
import Glibc

/// What the kernel says of its synchronisation (adjtimex, STA_UNSYNC); nil when it may not be asked.
func clockIsSynchronized() -> Bool? {
  var state = timex()
  guard adjtimex(&state) >= 0 else { return nil }
  return state.status & 0x40 == 0
}
