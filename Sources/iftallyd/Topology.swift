// How the present links lean on each other: made from the ledger's facts and designations and the kernel's routes.
import LinkSource
import TallyCore

/// Keeps the graph of links until a link or a rule changes; routes, which tell of no change, are asked at most once a
/// minute, and never for a sample.
final class Topology {
  /// A state of the graph.
  struct State {
    var graph: LinkGraph
    /// By ifindex.
    var designations: [UInt32: Designation]
    fileprivate var changes: UInt64
    fileprivate var at: Moment
  }

  private let endpoint: (LinkFacts) -> RouteFacts.Route?
  private let defaults: () -> [UInt32]
  private let sessions: (_ ppp: [LinkFacts], _ all: [LinkFacts]) -> [UInt32: RouteFacts.Session]
  private var state: State?

  private static let routesHold = 60 * Moment.second

  /// `endpoint`: the route of a tunnel's far end; `defaults`: links of default routes; `sessions`: what carries ppp links.
  init(
    endpoint: @escaping (LinkFacts) -> RouteFacts.Route? = endpointRoute,
    defaults: @escaping () -> [UInt32] = defaultRoutes,
    sessions: @escaping ([LinkFacts], [LinkFacts]) -> [UInt32: RouteFacts.Session] = sessions(of:among:)
  ) {
    self.endpoint = endpoint
    self.defaults = defaults
    self.sessions = sessions
  }

  /// The graph as it is now.
  func current(_ ledger: Ledger, at now: Moment) -> State {
    if let state, state.changes == ledger.linkChanges, let age = now.elapsed(since: state.at),
      age < Topology.routesHold
    {
      return state
    }
    let made = make(ledger, at: now)
    state = made
    return made
  }

  private func make(_ ledger: Ledger, at now: Moment) -> State {
    let links = ledger.presentLinks
    var routes = RouteFacts()
    for (facts, _) in links { routes.endpoints[facts.ifindex] = endpoint(facts) }
    let ppp = links.filter { $0.designation.classification.type == "ppp" }.map(\.facts)
    if !ppp.isEmpty { routes.sessions = sessions(ppp, links.map(\.facts)) }
    // Only where there is no hardware does the default route decide anything.
    if links.contains(where: \.facts.lowerIsElsewhere),
      !links.contains(where: { $0.designation.classification.touchesMedium })
    {
      routes.defaults = defaults()
    }
    return State(
      graph: LinkGraph(links, routes: routes),
      designations: Dictionary(
        links.map { ($0.facts.ifindex, $0.designation) }, uniquingKeysWith: { first, _ in first }),
      changes: ledger.linkChanges, at: now)
  }
}
