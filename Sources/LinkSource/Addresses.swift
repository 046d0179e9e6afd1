// The addresses of every interface, as getifaddrs tells them.
import CLinkStats
import Glibc
package import TallyCore

/// One address of one interface.
package struct LinkAddress: Hashable, Sendable {
  package var name: LinkName
  /// 4 bytes of IPv4 or 16 of IPv6.
  package var bytes: [UInt8]
  package var prefixLength: UInt8

  /// For example "192.0.2.1/24".
  package var text: String {
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    let address = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      guard let start = text.baseAddress, inet_ntop(family, bytes, start, socklen_t(text.count)) != nil else {
        return ""
      }
      return String(cString: start)
    }
    return "\(address)/\(prefixLength)"
  }

  /// Those of every interface of the calling thread's network namespace, in the kernel's order; further than `limit`
  /// are left out.
  package static func list(limit: Int = 4096) throws(LinkSourceError) -> [LinkAddress] {
    var addresses = ls_addresses()
    defer { ls_addresses_free(&addresses) }
    let code = ls_list_addresses(&addresses, max(0, limit))
    guard code >= 0 else { throw .listAddresses(code: -code) }
    return UnsafeBufferPointer(start: addresses.items, count: addresses.count).map { address in
      LinkAddress(
        name: LinkName(bytes: prefix(of: address.name, address.name_length)),
        bytes: prefix(of: address.bytes, address.length), prefixLength: address.prefix_length)
    }
  }
}
