// Metrics as text in the Prometheus exposition format 0.0.4.

/// The value of one sample.
package enum MetricValue: Hashable, Sendable {
  /// Written in full: a Double would round byte totals above 2^53.
  case integer(UInt64)
  case number(Double)
}

/// One family: samples of one name.
package struct MetricFamily: Sendable {
  package enum Kind: String, Sendable {
    case counter, gauge
  }

  package struct Sample: Sendable {
    /// In the order written.
    package var labels: [(name: String, value: String)]
    package var value: MetricValue

    package init(labels: [(name: String, value: String)] = [], _ value: MetricValue) {
      self.labels = labels
      self.value = value
    }
  }

  /// With its unit; a counter's ends in `_total`.
  package var name: String
  package var kind: Kind
  /// One sentence for people.
  package var help: String
  package var samples: [Sample]

  package init(name: String, kind: Kind, help: String, samples: [Sample] = []) {
    self.name = name
    self.kind = kind
    self.help = help
    self.samples = samples
  }
}

/// A page of metrics. Order is the order of appending, so that equal values are equal bytes.
package struct Metrics: Sendable {
  /// Of the HTTP reply.
  package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  /// The page so far.
  package private(set) var text: [UInt8] = []

  package init() {}

  /// Appends a family; one without samples leaves no trace.
  package mutating func append(_ family: MetricFamily) {
    guard !family.samples.isEmpty else { return }
    text += "# HELP \(family.name) ".utf8
    appendEscaped(family.help, quotes: false)
    text += "\n# TYPE \(family.name) \(family.kind.rawValue)\n".utf8
    for sample in family.samples {
      text += family.name.utf8
      appendLabels(sample.labels)
      text.append(UInt8(ascii: " "))
      text += written(sample.value).utf8
      text.append(UInt8(ascii: "\n"))
    }
  }

  private mutating func appendLabels(_ labels: [(name: String, value: String)]) {
    for (position, label) in labels.enumerated() {
      text.append(UInt8(ascii: position == 0 ? "{" : ","))
      text += "\(label.name)=\"".utf8
      appendEscaped(label.value, quotes: true)
      text.append(UInt8(ascii: "\""))
    }
    if !labels.isEmpty { text.append(UInt8(ascii: "}")) }
  }

  private mutating func appendEscaped(_ value: String, quotes: Bool) {
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): text += "\\\\".utf8
      case UInt8(ascii: "\n"): text += "\\n".utf8
      case UInt8(ascii: "\"") where quotes: text += "\\\"".utf8
      default: text.append(byte)
      }
    }
  }
}

private func written(_ value: MetricValue) -> String {
  switch value {
  case .integer(let integer): "\(integer)"
  case .number(let number) where number.isNaN: "NaN"
  case .number(let number) where number.isInfinite: number < 0 ? "-Inf" : "+Inf"
  case .number(let number): "\(number)"
  }
}
