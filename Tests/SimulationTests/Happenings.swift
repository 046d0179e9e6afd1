// What happens in the kernel by itself: traffic, births, deaths, names, and odd drivers.
import TallyCore
import Toys

extension Playing {
  /// A few things within milliseconds, in which no link moves half of what a narrow counter holds.
  static func happenings(_ any: UInt32, _ world: World, _ kernel: inout ToyKernel, _ dice: inout Seeded) {
    var world = world
    world.largest = min(world.largest, 1 << 30)
    let possible = [Operation.push, .touch, .delete, .create, .recreate, .rename, .push].filter(world.has)
    for operation in possible.shuffled(using: &dice).prefix(3) {
      kernel.pass(3_000_000)
      happen(operation, any, world, 3_000_000, &kernel, &dice)
    }
  }

  /// One thing, to a link that was drawn; 0 is none. `nanoseconds` have passed since the thing before.
  static func happen(
    _ operation: Operation, _ any: UInt32, _ world: World, _ nanoseconds: Int64, _ kernel: inout ToyKernel,
    _ dice: inout Seeded
  ) {
    func roll(_ largest: UInt64) -> UInt64 { UInt64.random(in: 0...largest, using: &dice) }
    switch operation {
    case .push:
      // Hardware moves no more than its speed allows.
      let limit = kernel.links[any]?.facts.speedMbit.map { UInt64($0) * UInt64(nanoseconds / 1_000_000) * 125 }
      kernel.push(any, rx: roll(min(world.largest, limit ?? .max)), tx: roll(min(world.largest / 3, limit ?? .max)))
    case .flood: if kernel.links[any]?.peer == 0 { kernel.push(any, rx: 1 << (30 + roll(18)), tx: 0) }
    case .create: kernel.create("tun\(roll(2))-\(kernel.links.count)", kind: "tun")
    case .pair: kernel.createPair("va\(kernel.nextIndex)", "vb\(kernel.nextIndex)")
    case .delete: kernel.delete(any)
    case .recreate:
      // The same name, kind and even index: only the inode is another.
      guard let old = kernel.links[any], old.isHere, old.peer == 0 else { return }
      kernel.delete(any)
      kernel.create(old.facts.name.escaped, kind: old.facts.infoKind, index: roll(1) == 0 ? any : nil)
      kernel.push(old.facts.name.escaped, rx: roll(world.largest), tx: roll(100))
    case .rename: kernel.rename(any, to: "ren\(roll(3))")
    case .swap:
      guard let other = kernel.present.first(where: { $0 != any }), let one = kernel.links[any],
        let two = kernel.links[other]
      else { return }
      kernel.rename(any, to: "between")
      kernel.rename(other, to: one.facts.name.escaped)
      kernel.rename(any, to: two.facts.name.escaped)
    case .touch: kernel.touch(any)
    case .moveOut: kernel.moveOut(any)
    case .moveBack: kernel.moveAnyBack()
    case .reset: kernel.resetDriver(any)
    case .stepBack: kernel.stepBack(any, by: roll(100_000))
    case .glitch: kernel.glitch(any, roll(world.width == .bits64 ? 3 : 1))
    default: break
    }
  }
}
