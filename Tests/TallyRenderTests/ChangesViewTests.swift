// What is said of changes: each by its number, and nothing in it that a terminal would obey.
import TallyWire
import Testing

@testable import TallyRender

@Suite struct ChangesViewTests {
  private func entry(_ action: String, before: String? = nil, after: String? = nil, isUndone: Bool = false)
    -> ChangeEntry
  {
    ChangeEntry(
      id: 7, at: "2026-11-30T14:05:17+01:00", uid: 1000, action: action,
      interface: InterfaceReference(id: "id:3", name: "a\u{1B}b"), before: before, after: after,
      undone: isUndone ? ChangeEntry.Undoing(at: "2026-11-30T15:05:17+01:00", uid: 0) : nil)
  }

  private func said(_ entry: ChangeEntry) -> String {
    render(ChangeReply(asOf: "", change: entry, interface: nil), Style()).joined(separator: " ")
  }

  @Test("a change that is made is told with the way to take it back, one that is undone without")
  func told() {
    let renamed = said(entry("rename", before: "", after: "Off\u{202E}ice"))
    #expect(renamed == "a%1Bb (id:3) is now called \"Off%E2%80%AEice\". To take it back: iftally undo 7")
    let untitled = said(entry("rename", before: "", after: "x", isUndone: true))
    #expect(untitled == "a%1Bb (id:3) has no title now.")
    let merged = said(entry("merge", after: "id:5"))
    #expect(merged == "The figures of a%1Bb (id:3) are now shown with those of id:5. To take it back: iftally undo 7")
    let parted = said(entry("merge", after: "id:5", isUndone: true))
    #expect(parted == "a%1Bb (id:3) is an interface of its own again.")
    let hidden = said(entry("forget"))
    #expect(hidden == "The history of a%1Bb (id:3) is hidden. To take it back: iftally undo 7")
    let newer = said(entry("paint"))
    #expect(newer == "Change 7: paint of a%1Bb (id:3). To take it back: iftally undo 7")
  }

  @Test("the list has a line for each change, within the terminal")
  func list() {
    let reply = ChangesReply(
      asOf: "", changes: [entry("rename", before: "x", after: "y", isUndone: true), entry("forget")])
    let lines = render(reply, Style())
    #expect(lines.count == 3)
    #expect(lines[1].hasPrefix(" 7  2026-11-30 14:05:17 +01:00  1000  rename  a%1Bb (id:3)  x"))
    #expect(lines[1].hasSuffix("2026-11-30 15:05:17 +01:00 by 0"))
    for width in 60...120 {
      let widths = render(reply, Style(width: width)).map(displayWidth)
      let widest = widths.max() ?? 0
      #expect(widest <= width)
    }
    #expect(render(ChangesReply(asOf: "", changes: []), Style()) == ["Nothing was changed."])
  }
}
