// The metrics page, byte by byte.
import Testing

@testable import TallyWire

@Suite struct MetricsTests {
  @Test("A page has HELP, TYPE and samples of each family in the order appended")
  func page() {
    var metrics = Metrics()
    metrics.append(
      MetricFamily(
        name: "iftally_receive_bytes_total", kind: .counter, help: "Bytes received; a \\ and\na line.",
        samples: [
          .init(labels: [("interface", "wlan0"), ("id", "1"), ("kind", "wifi")], .integer(.max)),
          .init(
            labels: [("interface", "a\"b\\c\nd"), ("id", "2"), ("kind", "other")], .integer(9_007_199_254_740_993)),
        ]))
    metrics.append(MetricFamily(name: "iftally_nothing", kind: .gauge, help: "Not shown."))
    metrics.append(
      MetricFamily(name: "iftally_sample_age_seconds", kind: .gauge, help: "Age.", samples: [.init(.number(0.25))]))
    let expected = #"""
      # HELP iftally_receive_bytes_total Bytes received; a \\ and\na line.
      # TYPE iftally_receive_bytes_total counter
      iftally_receive_bytes_total{interface="wlan0",id="1",kind="wifi"} 18446744073709551615
      iftally_receive_bytes_total{interface="a\"b\\c\nd",id="2",kind="other"} 9007199254740993
      # HELP iftally_sample_age_seconds Age.
      # TYPE iftally_sample_age_seconds gauge
      iftally_sample_age_seconds 0.25

      """#
    #expect(String(decoding: metrics.text, as: UTF8.self) == expected)
  }

  @Test(
    "Numbers that are not finite are written the way the format names them",
    arguments: [(Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (1e21, "1e+21"), (-0.5, "-0.5")])
  func notFinite(number: Double, written: String) {
    var metrics = Metrics()
    metrics.append(MetricFamily(name: "m", kind: .gauge, help: "h", samples: [.init(.number(number))]))
    #expect(String(decoding: metrics.text, as: UTF8.self).hasSuffix("\nm \(written)\n"))
  }
}
