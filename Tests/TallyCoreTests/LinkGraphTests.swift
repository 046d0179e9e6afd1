// What carries what, and that a total adds each byte once, over machines drawn as values.
import Testing
import Toys

@testable import TallyCore

/// A machine in a few words: links by name, indices in the order in which they come.
private struct Machine {
  var links: [LinkFacts] = []
  var rules: [LinkRule] = []
  var routes = RouteFacts()

  @discardableResult
  mutating func add(_ name: String, kind: String = "", _ change: (inout LinkFacts) -> Void = { _ in }) -> UInt32 {
    var facts = LinkFacts()
    facts.ifindex = UInt32(links.count + 1)
    facts.name = LinkName(escaped: name)
    facts.infoKind = kind
    facts.hardwareType = 1
    change(&facts)
    links.append(facts)
    return facts.ifindex
  }

  @discardableResult
  mutating func hardware(_ name: String, _ change: (inout LinkFacts) -> Void = { _ in }) -> UInt32 {
    add(name) {
      $0.hasDevice = true
      $0.driver = "e1000e"
      change(&$0)
    }
  }

  /// A veth whose other end is in the namespace of this id.
  @discardableResult
  mutating func veth(_ name: String, to space: Int32, port of: UInt32 = 0) -> UInt32 {
    add(name, kind: "veth") {
      $0.lower = 2
      $0.lowerIsElsewhere = true
      $0.lowerNamespace = space
      $0.master = of
      if of != 0 { $0.portKind = "bridge" }
    }
  }

  mutating func rule(_ name: String, for link: String, _ change: (inout LinkRule.Settings) -> Void) {
    var rule = LinkRule(name: name)
    rule.match[.name] = LinkRule.Patterns(globs: [Glob(link)])
    change(&rule.set)
    rules.append(rule)
  }

  var graph: LinkGraph {
    LinkGraph(links.map { ($0, designate($0, rules: rules, master: nil)) }, routes: routes)
  }

  func names(_ share: TotalShare) -> [String] {
    let graph = graph
    return links.filter { graph.standings[$0.ifindex]?.share == share }.map(\.name.escaped)
  }

  var added: [String] { names(.added) }

  func standing(_ name: String) -> Standing? {
    links.first { $0.name.escaped == name }.flatMap { graph.standings[$0.ifindex] }
  }

  func carriers(_ name: String) -> [String] {
    (standing(name)?.carriers ?? []).map { edge in links[Int(edge.ifindex) - 1].name.escaped }
  }
}

@Suite("The graph of links")
struct LinkGraphTests {
  @Test("of a bond of two cards with VLANs on it the cards are added")
  func bond() {
    var machine = Machine()
    let bond = machine.add("bond0", kind: "bond")
    for name in ["eth0", "eth1"] {
      machine.hardware(name) {
        $0.master = bond
        $0.portKind = "bond"
      }
    }
    let vlan = machine.add("bond0.5", kind: "vlan") { $0.lower = bond }
    machine.add("bond0.5.7", kind: "vlan") { $0.lower = vlan }
    #expect(machine.added == ["eth0", "eth1"])
    #expect(machine.carriers("bond0") == ["eth0", "eth1"])
    #expect(machine.carriers("bond0.5") == ["bond0"])
    #expect(machine.carriers("bond0.5.7") == ["bond0.5"])
    #expect(machine.names(.carried) == ["bond0", "bond0.5", "bond0.5.7"])
    let reaches = machine.graph.reachesMedium(5)
    #expect(reaches)
  }

  @Test("a bridge of a card and containers adds the card")
  func bridge() {
    var machine = Machine()
    machine.add("lo") { $0.hardwareType = 772 }
    let bridge = machine.add("br0", kind: "bridge")
    machine.hardware("eth0") {
      $0.master = bridge
      $0.portKind = "bridge"
    }
    for number in 1...3 { machine.veth("c\(number)", to: Int32(number), port: bridge) }
    #expect(machine.added == ["eth0"])
    #expect(machine.names(.leftOut(isUncertain: false)) == ["lo", "c1", "c2", "c3"])
  }

  @Test("a tunnel over Wi-Fi and one within it are carried, whatever the default route says")
  func tunnelInTunnel() {
    var machine = Machine()
    let wifi = machine.hardware("wlan0") { $0.devtype = "wlan" }
    let outer = machine.add("wg0", kind: "wireguard")
    let inner = machine.add("vx0", kind: "vxlan")
    machine.routes.endpoints = [outer: .over([wifi]), inner: .over([outer])]
    machine.routes.defaults = [outer]
    #expect(machine.added == ["wlan0"])
    #expect(machine.carriers("wg0") == ["wlan0"])
    #expect(machine.carriers("vx0") == ["wg0"])
    #expect(machine.standing("wg0")?.why == "wlan0 carries its bytes: the route to its far end leads there")
  }

  @Test("ppp links are carried by what their session runs over, and where that cannot be told the words say so")
  func sessions() {
    var machine = Machine()
    let card = machine.hardware("eth0")
    let second = machine.hardware("eth1")
    let vlan = machine.add("eth0.7", kind: "vlan") { $0.lower = card }
    let dsl = machine.add("ppp0", kind: "ppp")
    let vpn = machine.add("ppp1", kind: "ppp")
    machine.add("ppp2", kind: "ppp")
    machine.routes.sessions = [dsl: .pppoe(overOneOf: [vlan]), vpn: .l2tp(over: dsl)]
    #expect(machine.added == ["eth0", "eth1"])
    #expect(machine.carriers("ppp0") == ["eth0.7"])
    #expect(machine.carriers("ppp1") == ["ppp0"])
    #expect(machine.standing("ppp0")?.why == "eth0.7 carries its bytes: it is a session of PPPoE over it")
    #expect(machine.standing("ppp1")?.why == "ppp0 carries its bytes: it is a session of L2TP over it")
    #expect(machine.names(.leftOut(isUncertain: false)) == ["ppp2"])
    machine.routes.sessions[dsl] = .pppoe(overOneOf: [second, vlan])
    let words = machine.standing("ppp0")?.why ?? ""
    #expect(words.contains("sessions of PPPoE over eth1, eth0.7, and the kernel does not tell which"))
    machine.routes.sessions = [dsl: .l2tp(over: dsl), vpn: .pppoe(overOneOf: [99])]
    #expect(machine.carriers("ppp0") == [])
    #expect(machine.carriers("ppp1") == [])
  }

  @Test("a tethered phone beside Wi-Fi: both are added")
  func tether() {
    var machine = Machine()
    machine.hardware("usb0") { $0.driver = "rndis_host" }
    machine.hardware("wlan0") { $0.devtype = "wlan" }
    #expect(machine.added == ["usb0", "wlan0"])
  }

  @Test("seen from inside a container its veth is the way outside")
  func container() {
    var machine = Machine()
    machine.add("lo") { $0.hardwareType = 772 }
    machine.veth("eth0", to: 0)
    #expect(machine.added == ["eth0"])
  }

  @Test("without hardware the namespace that the default route leads to is the outside, and containers within are not")
  func defaultRouteDecides() {
    var machine = Machine()
    let uplink = machine.veth("eth0", to: 0)
    machine.veth("eth1", to: 0)
    machine.veth("cali1", to: 3)
    #expect(machine.added == ["eth0", "eth1", "cali1"])
    machine.routes.defaults = [uplink]
    #expect(machine.added == ["eth0", "eth1"])
    let vlan = machine.add("eth0.5", kind: "vlan") { $0.lower = uplink }
    machine.routes.defaults = [vlan]
    #expect(machine.added == ["eth0", "eth1"])
  }

  @Test("without hardware and default route ports of a bridge are containers' ends")
  func bridgePortsWithin() {
    var machine = Machine()
    machine.veth("up0", to: 0)
    let bridge = machine.add("br0", kind: "bridge")
    for number in 1...3 { machine.veth("c\(number)", to: Int32(number), port: bridge) }
    let lower = machine.veth("up1", to: 0)
    machine.add("mv0", kind: "macvlan") { $0.lower = lower }
    #expect(machine.added == ["up0", "up1"])
    #expect(machine.carriers("mv0") == ["up1"])
    machine.routes.defaults = [1]
    #expect(machine.added == ["up0", "up1"])
  }

  @Test("which of several ports of a bridge leads outside cannot be told: nothing is added, and that is said")
  func unclearUplink() {
    var machine = Machine()
    let bridge = machine.add("br0", kind: "bridge")
    for number in 1...3 { machine.veth("c\(number)", to: Int32(number), port: bridge) }
    machine.routes.defaults = [bridge]
    #expect(machine.added == [])
    #expect(machine.names(.leftOut(isUncertain: true)) == ["c1", "c2", "c3"])
    machine.rule("way out", for: "c2") { $0.touchesMedium = true }
    #expect(machine.added == ["c2"])
  }

  @Test("a WireGuard that was moved into a container is its way outside")
  func movedTunnel() {
    var machine = Machine()
    machine.add("wg0", kind: "wireguard") {
      $0.lowerIsElsewhere = true
      $0.lowerNamespace = 0
    }
    #expect(machine.added == ["wg0"])
    machine.hardware("eth0")
    #expect(machine.added == ["eth0"])
  }

  @Test("a bridge's one port is the way outside")
  func onePort() {
    var machine = Machine()
    let bridge = machine.add("br0", kind: "bridge")
    machine.veth("c1", to: 1, port: bridge)
    #expect(machine.added == ["c1"])
  }

  @Test("a rule names the carrier of a userspace tunnel, and without one the tunnel is left out with what to do")
  func userspaceTunnel() {
    var machine = Machine()
    machine.hardware("eth0")
    machine.add("tun0", kind: "tun") { $0.tunType = 1 }
    #expect(machine.standing("tun0")?.share == .leftOut(isUncertain: false))
    #expect(machine.standing("tun0")?.why.contains("Carrier= in a rule tells it") == true)
    machine.rule("vpn", for: "tun0") { $0.carrier = LinkName(escaped: "eth0") }
    #expect(machine.standing("tun0")?.why == "eth0 carries its bytes, as the rule vpn says")
    #expect(machine.added == ["eth0"])
  }

  @Test("the carrier of a rule that is not here is named in the words")
  func absentCarrier() {
    var machine = Machine()
    machine.add("tun0", kind: "tun") { $0.tunType = 1 }
    machine.rule("vpn", for: "tun0") { $0.carrier = LinkName(escaped: "wlan7") }
    #expect(machine.standing("tun0")?.share == .leftOut(isUncertain: false))
    #expect(machine.standing("tun0")?.why.contains("the rule vpn names wlan7, which is not here") == true)
  }

  @Test("links that rules make carry each other end the search, and nothing is added twice")
  func circles() {
    var machine = Machine()
    machine.hardware("eth0")
    machine.add("tun0", kind: "tun")
    machine.add("tun1", kind: "tun")
    machine.rule("a", for: "tun0") { $0.carrier = LinkName(escaped: "tun1") }
    machine.rule("b", for: "tun1") { $0.carrier = LinkName(escaped: "tun0") }
    machine.rule("c", for: "eth0") { $0.carrier = LinkName(escaped: "eth0") }
    machine.routes.defaults = [2]
    #expect(machine.added == ["eth0"])
    #expect(machine.carriers("eth0") == [])
    let reaches = machine.graph.reachesMedium(2)
    #expect(!reaches)
    #expect(machine.standing("tun0")?.share == .leftOut(isUncertain: false))
    #expect(machine.standing("tun0")?.why == "it and what carries it carry each other in a circle")
  }

  @Test("a link that calls itself its master or its lower link carries itself not")
  func itself() {
    var machine = Machine()
    machine.add("br0", kind: "bridge") { $0.master = 1 }
    machine.add("eth0.5", kind: "vlan") { $0.lower = 2 }
    #expect(machine.carriers("br0") == [])
    #expect(machine.carriers("eth0.5") == [])
  }

  @Test("rules take a link out of the total, or out of counting")
  func rulesLeaveOut() {
    var machine = Machine()
    machine.hardware("eth0")
    machine.hardware("eth1")
    machine.rule("lab", for: "eth0") { $0.touchesMedium = false }
    machine.rule("silent", for: "eth1") { $0.isIgnored = true }
    #expect(machine.added == [])
    #expect(machine.standing("eth0")?.why == "the rule lab says that its bytes cross no medium here")
    #expect(machine.standing("eth1")?.why == "the rule silent ignores it")
  }

  @Test("a WireGuard whose far end is not shown says so")
  func refused() {
    var machine = Machine()
    let tunnel = machine.add("wg0", kind: "wireguard")
    machine.routes.endpoints[tunnel] = .refused
    #expect(machine.standing("wg0")?.why.contains("CAP_NET_ADMIN") == true)
    machine.routes.endpoints[tunnel] = RouteFacts.Route.none
    #expect(machine.standing("wg0")?.why.contains("no route leads to its far end now") == true)
  }

  @Test("both ends of a veth here leave the machine not; a kind that no rule knows makes the total a lower bound")
  func others() {
    var machine = Machine()
    machine.add("va", kind: "veth") { $0.lower = 2 }
    machine.add("vb", kind: "veth") { $0.lower = 1 }
    machine.add("odd0", kind: "newkind")
    #expect(machine.added == [])
    #expect(machine.standing("va")?.share == .leftOut(isUncertain: false))
    #expect(machine.standing("odd0")?.share == .leftOut(isUncertain: true))
  }

  @Test("a virtual function leans on the link above it that counts its bytes too")
  func virtualFunction() {
    var machine = Machine()
    let above = machine.hardware("eth0") { $0.driver = "hv_netvsc" }
    machine.hardware("vf0") { $0.master = above }
    #expect(machine.added == ["eth0"])
    #expect(machine.carriers("vf0") == ["eth0"])
  }

  @Test("any graph ends: every link stands somewhere, none carries itself")
  func anyGraph() {
    var generator = Seeded(42)
    for _ in 0..<300 {
      var machine = Machine()
      let kinds = ["", "bridge", "bond", "veth", "vlan", "macvlan", "tun", "vxlan", "wireguard", "odd", "vrf"]
      for number in 0..<12 {
        machine.add("l\(number)", kind: kinds[Int(generator.next() % UInt64(kinds.count))]) {
          $0.lower = UInt32(generator.next() % 14)
          $0.master = UInt32(generator.next() % 14)
          $0.lowerIsElsewhere = generator.next() % 2 == 0
          $0.lowerNamespace = Int32(generator.next() % 3)
          $0.hasDevice = generator.next() % 4 == 0
        }
        machine.routes.endpoints[UInt32(number)] = .over([UInt32(generator.next() % 14)])
        machine.routes.defaults.append(UInt32(generator.next() % 14))
      }
      let graph = machine.graph
      let all = machine.links.map(\.ifindex)
      #expect(Set(graph.standings.keys) == Set(all))
      for index in all {
        let carriers = graph.standings[index]?.carriers.map(\.ifindex) ?? []
        #expect(!carriers.contains(index))
        if graph.standings[index]?.share == .carried {
          let isLeaning = !carriers.isEmpty
          #expect(isLeaning)
        }
      }
    }
  }
}
