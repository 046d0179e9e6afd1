// What is added to a store's answer, and that of an incarnation's reports the last one counts.
import TallyCore

extension UsageRows {
  /// Adds what came after the answer, as far as it concerns a span of UTC seconds.
  mutating func add(
    _ later: [BucketRow], _ steps: [ClockStep], _ laterGaps: [Gap], _ lives: [Incarnation], from: Int64, to: Int64
  ) {
    let later = later.filter { $0.start >= from && $0.start < to }
    rows += later
    detail += later
    clockSteps += steps.filter { $0.touches(from: from, to: to) }
    gaps += laterGaps.filter { $0.from < to && $0.to > from }
    incarnations += lives
  }
}

/// Of several reports of one incarnation, made when it opens, reaches further and closes, the last: it knows how it ended.
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
