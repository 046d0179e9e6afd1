// Local time as text: RFC 3339, the zone's name, and whether the zone has changed.
import Glibc
import TallyCore

/// A moment as RFC 3339 in local time with its offset, for example "2026-05-31T08:00:00+02:00", with `fraction` digits
/// (0 to 9) of the second. Rounded down.
package func rfc3339(_ utcNanoseconds: Int64, fraction: Int = 0) -> String {
  let seconds = floorDivide(utcNanoseconds, Moment.second)
  // Wrapping: the second that holds the least moment begins before it.
  return rfc3339(seconds: seconds, nanoseconds: utcNanoseconds &- seconds &* Moment.second, fraction: fraction)
}

/// The same of a whole UTC second, of any year: nanoseconds end in 2262.
package func rfc3339(seconds: Int64) -> String { rfc3339(seconds: seconds, nanoseconds: 0, fraction: 0) }

private func rfc3339(seconds: Int64, nanoseconds: Int64, fraction: Int) -> String {
  // The format has no room for seconds of an offset, which zones had before 1972; the moment stays right.
  let offset = floorDivide(utcOffset(at: seconds), 60)
  let time = fields(ofUTC: seconds + offset * 60)
  var text = "\(padded(Int64(time.tm_year) + 1900, 4))-\(padded(time.tm_mon + 1))-\(padded(time.tm_mday))"
  text += "T\(padded(time.tm_hour)):\(padded(time.tm_min)):\(padded(time.tm_sec))"
  if fraction > 0 {
    text += "." + padded(nanoseconds, 9).prefix(min(fraction, 9))
  }
  return text + (offset < 0 ? "-" : "+") + padded(abs(offset) / 60) + ":" + padded(abs(offset) % 60)
}

private func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// The name of the process's time zone, for example "Europe/Berlin": of TZ, else of what /etc/localtime leads to, else of
/// /etc/timezone (some systems copy the zone's file), else its abbreviation today.
package func timeZoneName(localtime: String = "/etc/localtime", timezone: String = "/etc/timezone") -> String {
  if let value = getenv("TZ").map({ String(cString: $0) }) {
    let name = value.hasPrefix(":") ? String(value.dropFirst()) : value
    return name.isEmpty ? "UTC" : zoneName(inPath: name) ?? name
  }
  if let path = resolvedPath(localtime), let name = zoneName(inPath: path) { return name }
  return firstLine(of: timezone) ?? abbreviation()
}

private func zoneName(inPath path: String) -> String? {
  let parts = path.split(separator: "/")
  guard let folder = parts.lastIndex(of: "zoneinfo"), folder + 1 < parts.count else { return nil }
  return parts[(folder + 1)...].joined(separator: "/")
}

private func resolvedPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// nil when the file is unreadable or its first line empty or long.
private func firstLine(of path: String) -> String? {
  guard let file = fopen(path, "re") else { return nil }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = fread(&bytes, 1, bytes.count, file)
  let line = bytes.prefix(count).prefix { $0 > UInt8(ascii: " ") }
  return line.isEmpty || line.count == bytes.count ? nil : String(decoding: line, as: UTF8.self)
}

private func abbreviation() -> String {
  var now = time(nil)
  var fields = tm()
  guard localtime_r(&now, &fields) != nil, let zone = fields.tm_zone else { return "UTC" }
  return String(cString: zone)
}

/// Notices that the time zone was changed under the running process.
package struct ZoneWatch {
  private struct Zone: Equatable {
    var variable: String?
    var device: UInt64 = 0
    var inode: UInt64 = 0
    var changedSeconds: Int64 = 0
    var changedNanoseconds: Int64 = 0
  }

  private let path: String
  private var zone: Zone

  /// Reads the zone. The C library's own path is fixed; another one here only changes what is watched.
  package init(localtime: String = "/etc/localtime") {
    path = localtime
    tzset()
    zone = Self.current(path)
  }

  /// Reads the zone again when it has changed, by TZ or by another file behind /etc/localtime; true when it had: periods
  /// that were computed before may be wrong. One stat call, for once a minute.
  package mutating func refresh() -> Bool {
    let current = Self.current(path)
    guard current != zone else { return false }
    zone = current
    tzset()
    return true
  }

  private static func current(_ path: String) -> Zone {
    if let variable = getenv("TZ") { return Zone(variable: String(cString: variable)) }
    var status = stat()
    guard stat(path, &status) == 0 else { return Zone() }
    return Zone(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), changedSeconds: Int64(status.st_mtim.tv_sec),
      changedNanoseconds: Int64(status.st_mtim.tv_nsec))
  }
}
