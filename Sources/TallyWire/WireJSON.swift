// How replies become JSON bytes and come back: one encoder, one decoder, for both ends of the socket.
import FoundationEssentials

/// What the word "nature" says in every reply: the figures are a counter's, not a meter's.
package let natureEstimate = "estimate"

/// A value that could not be written as JSON, or JSON that is not the reply expected.
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong and where, in words, without a final period.
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The JSON of a reply: keys sorted, so that equal values are equal bytes; slashes plain.
///
/// Throws when a number is not finite: JSON has no way to write it.
package func encode<Reply: Encodable>(_ reply: Reply) throws(WireError) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return [UInt8](try encoder.encode(reply))
  } catch {
    throw WireError("cannot be written as JSON: \(error)")
  }
}

/// Reads a reply. Unknown fields are passed over, so that a newer daemon does not break an older reader.
package func decode<Reply: Decodable>(_ type: Reply.Type, from bytes: [UInt8]) throws(WireError) -> Reply {
  do {
    return try JSONDecoder().decode(type, from: Data(bytes))
  } catch let error as DecodingError {
    throw WireError(describe(error))
  } catch {
    throw WireError("is no JSON")
  }
}

private func describe(_ error: DecodingError) -> String {
  switch error {
  case .keyNotFound(let key, let context):
    "lacks \"\(path(context.codingPath + [key]))\""
  case .typeMismatch(_, let context), .valueNotFound(_, let context):
    "has an unexpected value in \"\(path(context.codingPath))\""
  case .dataCorrupted(let context):
    context.codingPath.isEmpty ? "is no JSON" : "has an unexpected value in \"\(path(context.codingPath))\""
  @unknown default:
    "is not what was expected"
  }
}

private func path(_ keys: [any CodingKey]) -> String {
  keys.map(\.stringValue).joined(separator: ".")
}

/// An optional field that is written as `null` when there is no value, where the contract says null and not absent.
@propertyWrapper
package struct NullWhenNil<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension KeyedDecodingContainer {
  /// Lets the field be absent too.
  package func decode<Value>(_ type: NullWhenNil<Value>.Type, forKey key: Key) throws -> NullWhenNil<Value> {
    try decodeIfPresent(type, forKey: key) ?? NullWhenNil(wrappedValue: nil)
  }
}
