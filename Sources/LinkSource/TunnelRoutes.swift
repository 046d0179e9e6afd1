// Where packets of tunnels leave, and which way is the default: the kernel's routes, asked without privilege.
import CLinkStats
import Glibc
package import TallyCore

/// The most far ends of one WireGuard link that are looked up: further peers of a server mostly share a route.
private let mostPeers = 64

/// The route of a tunnel's far ends, by its firewall mark; nil when the kernel tells no far end of this link. A far end
/// in another network namespace has no route here. A few system calls; nothing is sent.
package func endpointRoute(of facts: LinkFacts) -> RouteFacts.Route? {
  guard !facts.lowerIsElsewhere else { return nil }
  if let endpoint = facts.endpoint { return route(to: [ls_endpoint(endpoint)]) }
  guard facts.infoKind == "wireguard" else { return nil }
  let (code, endpoints) = withUnsafeTemporaryAllocation(of: ls_endpoint.self, capacity: mostPeers) { room in
    let code = ls_wireguard_ask(facts.ifindex, room.baseAddress, mostPeers)
    return (code, room.prefix(Int(max(0, code))).map { $0 })
  }
  if code == -EPERM || code == -EACCES { return .refused }
  return endpoints.isEmpty ? nil : route(to: endpoints)
}

/// Links over which default routes of the main table leave; none when the kernel does not answer.
package func defaultRoutes() -> [UInt32] {
  let capacity = 32
  return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: capacity) { room in
    let count = ls_default_routes(room.baseAddress, capacity)
    return Array(room.prefix(Int(max(0, count))))
  }
}

private func route(to endpoints: [ls_endpoint]) -> RouteFacts.Route {
  var links: [UInt32] = []
  for var endpoint in endpoints {
    var ifindex: UInt32 = 0
    guard ls_route_lookup(&endpoint, &ifindex) >= 0, !links.contains(ifindex) else { continue }
    links.append(ifindex)
  }
  return links.isEmpty ? .none : .over(links)
}

/// The far end of a tunnel from the C module's struct; nil when there is none.
func tunnelEndpoint(_ endpoint: ls_endpoint) -> TunnelEndpoint? {
  guard endpoint.remote_length > 0 else { return nil }
  return TunnelEndpoint(
    remote: prefix(of: endpoint.remote, endpoint.remote_length),
    local: prefix(of: endpoint.local, endpoint.local_length), mark: endpoint.mark)
}

extension ls_endpoint {
  fileprivate init(_ endpoint: TunnelEndpoint) {
    self.init()
    mark = endpoint.mark
    remote_length = copy(endpoint.remote, to: &remote)
    local_length = copy(endpoint.local, to: &local)
  }
}

/// The number of bytes copied: all, or none when they do not fit.
private func copy<Tuple>(_ bytes: [UInt8], to tuple: inout Tuple) -> UInt8 {
  withUnsafeMutableBytes(of: &tuple) { room in
    guard bytes.count <= room.count else { return 0 }
    room.copyBytes(from: bytes)
    return UInt8(bytes.count)
  }
}
