// What the ledger tells at once: comings, goings, names, resets and gaps, each once, and no more of it than is taken.

import Testing
import Toys

@testable import TallyCore

@Suite("News")
struct LedgerNewsTests {
  var kernel = ToyKernel()
  var daemon = ToyDaemon()

  init() {
    kernel.create("eth0", kind: "")
    daemon.start(&kernel)
  }

  private mutating func news() -> [String] {
    let (news, _) = daemon.ledger.takeNews()
    return news.map { item in
      let name = item.subject?.name.escaped ?? "all"
      return switch item.what {
      case .came(let birth, let number): "\(name) came \(birth.rawValue) \(number)"
      case .went(let death): "\(name) went \(death.rawValue)"
      case .renamed(let former): "\(name) was \(former)"
      case .reset(let gap): "\(name) reset \(gap.lossy)"
      case .gap(let gap): "\(name) gap \(gap.reason.rawValue) \(gap.lossy)"
      }
    }
  }

  @Test("what was there at the first look did not come")
  mutating func first() {
    #expect(news() == [])
  }

  @Test("links come, are renamed, go and come again, each told once")
  mutating func lives() {
    let index = kernel.create("tun0", kind: "tun")
    daemon.wake(&kernel)
    kernel.rename(index, to: "vpn0")
    daemon.wake(&kernel)
    kernel.delete(index)
    daemon.wake(&kernel)
    kernel.create("vpn0", kind: "tun")
    daemon.wake(&kernel)
    #expect(news() == ["tun0 came born 1", "vpn0 was tun0", "vpn0 went deleted", "vpn0 came born 2"])
    daemon.sample(&kernel, after: 60)
    #expect(news() == [])
  }

  @Test("nobody who takes it costs no more than some of the newest, and the rest is counted")
  mutating func bounded() {
    for number in 0..<1000 {
      let index = kernel.create("t\(number % 10)", kind: "tun")
      daemon.wake(&kernel)
      kernel.delete(index)
      daemon.wake(&kernel)
    }
    let (news, lost) = daemon.ledger.takeNews()
    #expect((Ledger.keptNews...2 * Ledger.keptNews).contains(news.count))
    #expect(news.count + lost == 2000)
    #expect(news.last?.what == .went(.deleted))
  }
}
