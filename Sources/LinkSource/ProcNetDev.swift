// The text of /proc/net/dev as counters by name.
import TallyCore

/// One line of /proc/net/dev.
struct ProcNetDevLine: Equatable {
  var name: LinkName
  var counters: LinkCounters
}

/// The lines of the whole file, in its order; nil when any of it is not as the kernel writes it, since a line that is
/// left out would look like a link that has gone.
///
/// Two lines of headings, then `NAME: 16 numbers`. A name is any bytes but white space and `/`; old kernels allow a
/// colon in it, so the last one of a line ends it.
func parseProcNetDev(_ bytes: [UInt8]) -> [ProcNetDevLine]? {
  guard bytes.last == UInt8(ascii: "\n") else { return nil }
  var lines: [ProcNetDevLine] = []
  for (number, text) in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    .enumerated() where number >= 2
  {
    guard let line = parseLine(text) else { return nil }
    lines.append(line)
  }
  return lines
}

/// Received: bytes, packets, six others. Sent: the same.
private func parseLine(_ text: ArraySlice<UInt8>) -> ProcNetDevLine? {
  let columns = 16
  guard let colon = text.lastIndex(of: UInt8(ascii: ":")) else { return nil }
  let name = text[..<colon].drop { $0 == UInt8(ascii: " ") }
  let fields = text[(colon + 1)...].split(separator: UInt8(ascii: " "))
  guard (1...15).contains(name.count), fields.count >= columns, let rxBytes = decimal(fields[0]),
    let rxPackets = decimal(fields[1]), let txBytes = decimal(fields[8]), let txPackets = decimal(fields[9])
  else { return nil }
  return ProcNetDevLine(
    name: LinkName(bytes: Array(name)),
    counters: LinkCounters(rxBytes: rxBytes, txBytes: txBytes, rxPackets: rxPackets, txPackets: txPackets))
}

/// nil for anything but digits, and beyond 64 bits.
private func decimal(_ text: ArraySlice<UInt8>) -> UInt64? {
  var value: UInt64 = 0
  for byte in text {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
    let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
    let (sum, isMore) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
    if isTooMuch || isMore { return nil }
    value = sum
  }
  return text.isEmpty ? nil : value
}
