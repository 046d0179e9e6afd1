// Veths of the toy kernel whose ends are in other namespaces: made, moved, brought home, and gone with a namespace.
package import TallyCore

extension ToyKernel {
  /// What a veth end shows of its other one.
  package mutating func showPeer(of index: UInt32) {
    guard let link = links[index], let peer = links[link.peer] else { return }
    links[index]!.facts.lower = peer.place?.ifindex ?? link.peer
    links[index]!.facts.lowerIsElsewhere = peer.place != nil
    links[index]!.facts.lowerNamespace = peer.place?.namespace
  }

  package mutating func postFar(_ place: FarEnd, final: LinkCounters?, movedOut: Bool) {
    if hearsFarEnds { post(.farEndDeparted(place, final: final, movedOut: movedOut)) }
  }

  private mutating func place(in namespace: Int32) -> FarEnd {
    farIndex[namespace, default: 0] += 1
    return FarEnd(namespace: namespace, ifindex: farIndex[namespace]!)
  }

  /// A veth from here to another namespace; the index of the end here.
  @discardableResult
  package mutating func createFarPair(_ name: String, in namespace: Int32) -> UInt32 {
    let near = create(name, kind: "veth")
    guard links[near]!.peer == 0 else { return near }
    let far = nextIndex
    nextIndex += 1
    var facts = LinkFacts()
    facts.ifindex = far
    facts.name = LinkName(escaped: "far-of-\(near)")
    facts.infoKind = "veth"
    links[far] = ToyLink(facts: facts, history: history(for: facts), peer: near, isHere: false)
    links[far]!.place = place(in: namespace)
    links[near]!.peer = far
    showPeer(of: near)
    touch(near)
    return near
  }

  /// The indices of the veth ends in other namespaces.
  package var farEnds: [UInt32] { links.values.filter { $0.place != nil }.map(\.facts.ifindex).sorted() }

  /// Moves a veth end to another namespace, from here or from one to the next. `isShown`: the end that stays says so
  /// at once, else with its next change.
  package mutating func moveEnd(_ index: UInt32, to namespace: Int32, isShown: Bool = true) {
    guard let link = links[index], link.peer != 0 else { return }
    leave(link)
    links[index]!.isHere = false
    links[index]!.place = place(in: namespace)
    showPeer(of: link.peer)
    if isShown { touch(link.peer) }
  }

  /// Brings a veth end here, with its counters.
  package mutating func bringHome(_ index: UInt32, isShown: Bool = true) {
    guard let link = links[index], link.place != nil, self.index(of: link.facts.name.escaped) == nil else { return }
    leave(link)
    links[index]!.place = nil
    links[index]!.history = history(for: link.facts)
    links[index]!.facts.inode = nextInode
    nextInode += 1
    links[index]!.isHere = true
    showPeer(of: index)
    showPeer(of: link.peer)
    post(.appeared(listed(index)))
    if isShown { touch(link.peer) }
  }

  private mutating func leave(_ link: ToyLink) {
    if let place = link.place {
      postFar(place, final: link.counters, movedOut: true)
    } else {
      post(.departed(ifindex: link.facts.ifindex, name: link.facts.name, final: link.counters, movedOut: true))
    }
  }

  /// A namespace ends: first that is told, then its links go, of which nothing is told but the end that is here.
  package mutating func endNamespace(_ namespace: Int32, meanwhile: (inout ToyKernel) -> Void = { _ in }) {
    post(.namespaceEnded(namespace))
    meanwhile(&self)
    for index in farEnds {
      // Both ends may have been in it.
      guard let link = links[index], link.place?.namespace == namespace else { continue }
      links[index] = nil
      die(link.peer)
    }
    farIndex[namespace] = nil
  }
}
