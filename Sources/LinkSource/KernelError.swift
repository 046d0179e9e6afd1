// What can fail between us and the kernel, with the remedy in the message.
import Glibc

/// A failure to observe the kernel. `code` is the errno of the system call that failed.
package enum LinkSourceError: Error, Hashable, Sendable {
  case openEvents(code: Int32)
  case adoptEvents(descriptor: Int32, code: Int32)
  case readEvents(code: Int32)
  case openRequests(code: Int32)
  case listLinks(code: Int32)
  case readCounters(code: Int32)
  case readNarrowCounters(code: Int32)
  case listAddresses(code: Int32)
  case openNames(code: Int32)
  case askByName(code: Int32)
  case readProcfs(code: Int32)
  /// Links changed their names while they were read, each time.
  case restlessNames
}

extension LinkSourceError {
  /// Netlink is not allowed here, by seccomp, RestrictAddressFamilies= or a kernel without it: asking again is in vain.
  package var isDenial: Bool {
    switch self {
    case .openEvents(let code), .openRequests(let code):
      [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS].contains(code)
    default: false
    }
  }
}

extension LinkSourceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .openEvents(let code): sentence("cannot open the netlink socket for link events", code)
    case .adoptEvents(let descriptor, EPROTOTYPE):
      "descriptor \(descriptor) from the service manager is no route netlink socket: "
        + "its socket unit needs ListenNetlink=route 1"
    case .adoptEvents(let descriptor, EXDEV):
      "descriptor \(descriptor) from the service manager hears of another network namespace: "
        + "give its socket unit the namespace of the service"
    case .adoptEvents(let descriptor, let code):
      sentence("cannot take over descriptor \(descriptor) for link events", code)
    case .readEvents(let code): sentence("cannot read link events", code)
    case .openRequests(let code): sentence("cannot open the netlink socket for counters", code)
    case .listLinks(let code): sentence("cannot list links (RTM_GETLINK)", code)
    case .readCounters(let code): sentence("cannot read counters (RTM_GETSTATS)", code)
    case .readNarrowCounters(let code): sentence("cannot read counters with getifaddrs", code)
    case .listAddresses(let code): sentence("cannot list addresses with getifaddrs", code)
    case .openNames(let code): sentence("cannot open a socket to ask for links by name", code)
    case .askByName(let code):
      "cannot ask for a link by its name (SIOCGIFINDEX): \(String(cString: strerror(code))): allow ioctl to the service"
    case .readProcfs(ENOENT):
      "cannot read /proc/thread-self/net/dev: there is none: mount /proc (ProcSubset=all), or allow netlink"
    case .readProcfs(EBADMSG):
      "cannot read /proc/thread-self/net/dev: its text is not what Linux writes: allow netlink to the service"
    case .readProcfs(let code): sentence("cannot read /proc/thread-self/net/dev", code)
    case .restlessNames:
      "links changed their names each time they were listed; the next sample tries again"
    }
  }
}

private func sentence(_ what: String, _ code: Int32) -> String {
  "\(what): \(String(cString: strerror(code))): \(remedy(code))"
}

private func remedy(_ code: Int32) -> String {
  switch code {
  case EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS:
    "allow AF_NETLINK to the service (RestrictAddressFamilies=, SystemCallFilter=, or the container's seccomp profile)"
  case EMFILE, ENFILE: "raise the limit of open files (LimitNOFILE=)"
  case ENOMEM, ENOBUFS: "free memory, or raise the service's MemoryMax="
  case ETIMEDOUT: "the kernel did not answer within 5 seconds; the next sample asks again on a new socket"
  default: "see the kernel's log; the next sample tries again"
  }
}
