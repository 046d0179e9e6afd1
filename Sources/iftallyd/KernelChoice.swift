// Which way to the links is taken: the configured one, or /proc/net/dev where netlink is denied.
import LinkSource
import TallyConfig
import TallyCore

/// The links of this process's network namespace, and why they had to be read in another way than configured.
func openKernel(
  _ source: Configuration.Source, now: @escaping () -> Moment, complete: @escaping (inout LinkFacts) -> Void
) throws(LinkSourceError) -> (kernel: any LinkKernel, denial: LinkSourceError?) {
  let counters: LinkCounterSource
  switch source {
  case .netlink: counters = .netlink
  case .getifaddrs: counters = .getifaddrs
  case .procfs: return (try ProcfsLinks(now: now, complete: complete), nil)
  }
  do {
    return (try KernelLinks(source: counters, now: now, complete: complete), nil)
  } catch {
    // getifaddrs asks over netlink as well.
    guard error.isDenial else { throw error }
    return (try ProcfsLinks(now: now, complete: complete), error)
  }
}
