// The daemon's configuration as values, with the defaults that hold when no file says otherwise.
package import TallyCore

/// What the configuration files say, complete and valid; see iftally.conf(5).
package struct Configuration: Equatable, Sendable {
  package var store: Store
  package var api: Api
  package var sampling = Sampling()
  package var links = Links()
  /// `[Rule NAME]` sections in the order in which their names appear first.
  package var rules: [LinkRule] = []

  /// `[Store]`.
  package struct Store: Equatable, Sendable {
    /// Absolute path of the folder that holds the database.
    package var directory: String
    /// Days for which forgotten history can be brought back; then it is deleted.
    package var forgottenDays = 30
  }

  /// `[Api]`.
  package struct Api: Equatable, Sendable {
    /// Absolute path of the Unix socket, short enough for `sockaddr_un`.
    package var socket: String
    /// Permission bits of the socket, 0 to 0o777.
    package var socketMode: UInt32 = 0o666
    /// Owning group of the socket; nil leaves it as it is created.
    package var socketGroup: Group?
    /// Where to listen on TCP besides; nil is off.
    package var tcp: TCPAddress?
    /// Host names that a `Host` or `Origin` may name besides the loopback ones; lower case, without a port.
    package var allowedHosts: [String] = []
    /// Members may change things, besides root.
    package var changeGroup = ChangeGroup(name: "iftally")
  }

  /// A group that need not exist: without it root alone may change things.
  package struct ChangeGroup: Equatable, Sendable {
    package var name: String
    package var id: UInt32?

    init(name: String) {
      self.name = name
      id = existingGroup(name)?.id
    }
  }

  /// `[Sampling]`.
  package struct Sampling: Equatable, Sendable {
    package var source = Source.netlink
  }

  /// `[Links]`.
  package struct Links: Equatable, Sendable {
    /// Interfaces with a history of their own; virtual links beyond them are folded into one group.
    package var maximumInterfaces = 2000
    /// Days for which a virtual link that has gone keeps a history of its own; nil: for ever.
    package var expireDays: Int? = 366
  }

  /// Where counters are read.
  package enum Source: String, Sendable, CaseIterable {
    /// 64-bit counters over netlink.
    case netlink
    /// 32-bit counters through getifaddrs(3).
    case getifaddrs
    /// 64-bit counters from /proc/net/dev, without link events.
    case procfs
  }

  /// A group that exists on this machine.
  package struct Group: Equatable, Sendable {
    package var name: String
    package var id: UInt32
  }

  /// A numeric address and a port.
  package struct TCPAddress: Equatable, Sendable {
    /// An IPv4 or IPv6 literal, without brackets.
    package var host: String
    package var port: UInt16
  }

  /// The configuration that holds with no file at all.
  ///
  /// - Parameter environment: systemd's `STATE_DIRECTORY` and `RUNTIME_DIRECTORY` (the first of each colon list)
  ///   say where; without them it is /var/lib/iftally and /run/iftally.
  package init(environment: [String: String]) {
    store = Store(directory: first(environment["STATE_DIRECTORY"]) ?? "/var/lib/iftally")
    api = Api(socket: (first(environment["RUNTIME_DIRECTORY"]) ?? "/run/iftally") + "/iftally.sock")
  }
}

/// The first entry of a colon list, if it is an absolute path: systemd sets no other.
private func first(_ list: String?) -> String? {
  guard let entry = list?.split(separator: ":", omittingEmptySubsequences: false).first, entry.hasPrefix("/") else {
    return nil
  }
  return String(entry)
}
