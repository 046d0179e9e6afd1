// Incarnations are reported when they open, when they reach further, and when they close: the last report counts.
import TallyCore

/// Of several reports of one incarnation the last: it knows how it ended.
func lastReports(of incarnations: [Incarnation]) -> [Incarnation] {
  struct Life: Hashable {
    var link: LinkID
    var bootID: BootID
    var ifindex: UInt32
    var opened: Int64
  }
  var places: [Life: Int] = [:]
  var result: [Incarnation] = []
  for incarnation in incarnations {
    let life = Life(
      link: incarnation.link, bootID: incarnation.bootID, ifindex: incarnation.ifindex, opened: incarnation.opened)
    if let place = places[life] {
      result[place] = incarnation
    } else {
      places[life] = result.count
      result.append(incarnation)
    }
  }
  return result
}
