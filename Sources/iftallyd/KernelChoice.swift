// Which way to the links is taken: the configured one, or /proc/net/dev where netlink is denied; and whose event socket.
import LinkSource
import TallyConfig
import TallyCore
import TallyWire

/// The links of this process's network namespace, and why they had to be read in another way than configured.
///
/// Their events come from the queue that was handed over; where that is of no use, from a socket of this process.
func openKernel(
  _ source: Configuration.Source, _ handedOver: inout HandedOver, _ log: Log, now: @escaping () -> Moment,
  complete: @escaping (inout LinkFacts) -> Void
) throws(LinkSourceError) -> (kernel: any LinkKernel, denial: LinkSourceError?) {
  let counters: LinkCounterSource
  switch source {
  case .netlink: counters = .netlink
  case .getifaddrs: counters = .getifaddrs
  case .procfs:
    handedOver.refuse()
    return (try ProcfsLinks(now: now, complete: complete), nil)
  }
  if let queue = handedOver.queue {
    handedOver.keep()
    do throws(LinkSourceError) {
      let kernel = try KernelLinks(
        source: counters, events: .inherited(queue), mark: handedOver.mark, now: now, complete: complete)
      return (kernel, nil)
    } catch {
      log.warning(code: "events_own", "\(error)")
      handedOver.refuse()
    }
  }
  do throws(LinkSourceError) {
    return (try KernelLinks(source: counters, now: now, complete: complete), nil)
  } catch {
    // getifaddrs asks over netlink as well.
    guard error.isDenial else { throw error }
    return (try ProcfsLinks(now: now, complete: complete), error)
  }
}

/// Where link events come from, for `status`.
func eventWords(_ kernel: any LinkKernel) -> String {
  if kernel.source.isPolled { return StatusReply.Source.polled }
  return kernel.inheritsEvents ? StatusReply.Source.inherited : StatusReply.Source.own
}
