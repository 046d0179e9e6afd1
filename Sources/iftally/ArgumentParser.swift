// Reads the command line: options anywhere, the first operand is the command, "--" ends the options.

/// The settings that the arguments ask for; throws with the argument that is wrong and the nearest right one.
func parse(_ arguments: [String]) throws(Failure) -> Settings {
  var settings = Settings()
  var used: [Option] = []
  var operands: [String] = []
  var rest = arguments[...]
  while let argument = rest.popFirst() {
    if argument == "--" {
      operands += rest
      break
    } else if argument.hasPrefix("--") {
      used.append(try long(argument, &rest, &settings))
    } else if argument.hasPrefix("-"), argument.count > 1 {
      used += try shorts(argument, &rest, &settings)
    } else {
      operands.append(argument)
    }
  }
  settings.command = operands.first ?? ""
  settings.operands = Array(operands.dropFirst())
  let command = try Command.named(settings.command)
  if settings.help { return settings }
  for option in used where !command.options.contains(where: { $0.long == option.long }) {
    let (name, page) = command.name.isEmpty ? ("the summary", "help") : (command.name, "help \(command.name)")
    throw Failure(.usage, "\(name) has no option --\(option.long)", remedy: "See iftally \(page).")
  }
  if let operand = command.operand, !command.takesMany {
    let most = operand.split(separator: " ").count
    if settings.operands.count > most {
      let count = most == 1 ? "one argument" : "\(most) arguments"
      throw Failure(.usage, "\(command.name) takes \(count), not also \(quoted(settings.operands[most]))")
    }
  }
  if let operand = settings.operands.first, command.operand == nil {
    throw Failure(
      .usage, "\(command.name) takes no argument \(quoted(operand))",
      remedy: "An interface is chosen with -i \(quoted(operand)).")
  }
  return settings
}

private func long(
  _ argument: String, _ rest: inout ArraySlice<String>, _ settings: inout Settings
) throws(Failure) -> Option {
  let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
  let name = String(parts[0])
  guard let option = Command.everyOption.first(where: { $0.long == name }) else {
    let near = nearest(to: name, among: Command.everyOption.map(\.long))
    throw Failure(
      .usage, "there is no option \(quoted("--" + name))",
      remedy: near.map { "Did you mean --\($0)?" } ?? "See iftally help.")
  }
  if option.value == nil {
    guard parts.count == 1 else { throw Failure(.usage, "--\(name) takes no value") }
    try option.apply(&settings, "")
  } else if parts.count == 2 {
    try option.apply(&settings, String(parts[1]))
  } else {
    try option.apply(&settings, try value(of: "--\(name)", option, &rest))
  }
  return option
}

/// A cluster: "-vn5" is -v and -n 5.
private func shorts(
  _ argument: String, _ rest: inout ArraySlice<String>, _ settings: inout Settings
) throws(Failure) -> [Option] {
  var used: [Option] = []
  var letters = argument.dropFirst()
  while let letter = letters.popFirst() {
    guard let option = Command.everyOption.first(where: { $0.short == letter }) else {
      throw Failure(.usage, "there is no option \(quoted("-\(letter)"))", remedy: "See iftally help.")
    }
    used.append(option)
    guard option.value != nil else {
      try option.apply(&settings, "")
      continue
    }
    try option.apply(&settings, letters.isEmpty ? try value(of: "-\(letter)", option, &rest) : String(letters))
    break
  }
  return used
}

/// The next argument, whatever it begins with: a link may be called "-rf".
private func value(
  of written: String, _ option: Option, _ rest: inout ArraySlice<String>
) throws(Failure) -> String {
  guard let value = rest.popFirst() else {
    throw Failure(.usage, "\(written) needs a value: \(written) \(option.value ?? "")")
  }
  return value
}
