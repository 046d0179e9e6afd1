// The page's script, third part: the list of interfaces, with tunnels under their carriers.

extension Page {
  /// Rows are made once per interface and then only change their texts, so nothing jumps and focus stays.
  static let listScript = #"""

    const KINDS = {
      wired: ["Wired", "M3 2.5h10v8h-2.5v3h-5v-3H3zM6 2.5v3M8 2.5v3M10 2.5v3"],
      wifi: ["Wi-Fi", "M1.5 6.3a9.2 9.2 0 0 1 13 0M4 9.2a5.6 5.6 0 0 1 8 0M8 12.6h.01"],
      cellular: ["Cellular", "M2.5 13.5v-2M6.2 13.5V9M9.8 13.5V6M13.5 13.5v-11"],
      tunnel: ["Tunnel", "M2 13.5V8a6 6 0 0 1 12 0v5.5zM5.5 13.5V9a2.5 2.5 0 0 1 5 0v4.5"],
      vlan: ["VLAN", "M2 2.5h6l6 6-5.5 5.5L2 8zM5 5.5h.01"],
      bond: ["Bond", "M2 4.5h12M2 11.5h12M5 4.5v7M11 4.5v7"],
      bridge: ["Bridge", "M1.5 12h13M4 12V4M12 12V4M1.5 9Q4 8 4 4q4 7 8 0q0 4 2.5 5"],
      virtual: ["Virtual", "M8 1.5l5.5 3.2v6.6L8 14.5l-5.5-3.2V4.7zM2.5 4.7L8 8l5.5-3.3M8 8v6.5"],
      loopback: ["Loopback", "M12.6 5.2A5.5 5.5 0 1 0 13.5 8M13 1.8v3.6H9.4"],
      other: ["Other", "M8 2a6 6 0 1 0 .01 0M8 5v3.6M8 11.2h.01"],
    };
    const KIND_ORDER = Object.keys(KINDS);
    const kindRank = (kind) => (Object.hasOwn(KINDS, kind) ? KIND_ORDER.indexOf(kind) : KIND_ORDER.length);
    const kindText = (kind) => own(KINDS, kind, [kind])[0];
    const natural = new Intl.Collator("en", { numeric: true });

    const show = { kind: "", text: "", presentOnly: false };
    const rows = new Map();

    /** A pair of received and sent, with a place for its mark. */
    function pairNode(spoken) {
      const direction = (name, arrow, word) => {
        const value = el("span", { class: "value" });
        const line = el("span", { class: name }, el("span", { class: "arrow", "aria-hidden": "true" }, arrow),
          el("span", { class: "sr" }, word), value);
        return { line, value };
      };
      const rx = direction("rx", "↓", `${spoken} received `);
      const tx = direction("tx", "↑", " sent ");
      const mark = el("span", { class: "mark", role: "img", hidden: "" });
      return { node: el("div", { class: "pair" }, rx.line, tx.line, mark), rx: rx.value, tx: tx.value, mark };
    }

    /** Writes two texts, or one word (such as "loading") in their place. */
    function sayPair(pair, rx, tx) {
      say(pair.rx, rx);
      say(pair.tx, tx ?? "");
      set(pair.node, "data-empty", String(tx === undefined));
    }

    function sayFigure(pair, figure) {
      if (!figure) {
        sayPair(pair, "loading");
        sayMark(pair.mark, null);
        return;
      }
      sayPair(pair, amountText(figure.rx_bytes), amountText(figure.tx_bytes));
      sayMark(pair.mark, figure.quality.completeness, qualityText(figure.quality));
    }

    function sayMark(mark, completeness, words = "") {
      mark.hidden = completeness === null;
      if (completeness === null) return;
      say(mark, markOf(completeness));
      set(mark, "data-mark", completeness);
      set(mark, "aria-label", words);
      set(mark, "title", words);
    }

    function iconOf(kind) {
      const path = own(KINDS, kind, KINDS.other)[1];
      return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path }));
    }

    function makeRow(id) {
      const row = { id, readings: [], spark: sparkNode() };
      Object.assign(row, { rate: pairNode("now"), today: pairNode("today"), total: pairNode("in total") });
      row.name = el("bdi");
      row.open = el("button", { type: "button", class: "open", "aria-expanded": "false" }, row.name);
      row.icon = el("span", { class: "icon-box" });
      row.kind = el("span", { class: "kind" });
      row.state = el("span", { class: "link-state" });
      row.carried = el("span", { class: "carried" });
      row.addresses = el("span");
      const who = el("div", { class: "who" }, row.icon, el("div", { class: "who-text" },
        el("p", { class: "who-line" }, row.open, row.kind, row.state),
        el("p", { class: "sub-line" }, row.carried, row.addresses)));
      const cell = (name, label, child) => el("td", { role: "cell", class: name, "data-label": label }, child);
      row.main = el("tr", { role: "row", class: "link" },
        el("th", { role: "rowheader", scope: "row", class: "c-name" }, who),
        cell("c-rate", "Now", el("div", { class: "rate-box" }, row.spark.node, row.rate.node)),
        cell("c-figure", "Today", row.today.node), cell("c-figure", "Total", row.total.node));
      // The button is for the keyboard too; a click that ends a selection of text opens nothing.
      row.main.addEventListener("click", (event) => {
        if (row.open.contains(event.target) || getSelection().isCollapsed) toggle(id);
      });
      return row;
    }

    /** What a person calls it, with the kernel's name. */
    const nameText = (link) => (link.title ? `${link.title} (${link.name})` : link.name);

    const stateText = (link) => (!link.present ? "not present" : link.up ? "up" : "down");

    function carriedText(link) {
      const inMaster = link.master ? `part of ${link.master.name}` : "";
      if (link.touches_medium) return inMaster;
      const inside = link.carrier ? `inside ${link.carrier.name}, not added` : "not added";
      return inMaster ? `${inMaster}; ${inside}` : inside;
    }

    function addressText(addresses) {
      const isLocal = (address) => address.toLowerCase().startsWith("fe80:");
      const ordered = [...addresses.filter((a) => !isLocal(a)), ...addresses.filter(isLocal)];
      const more = ordered.length > 2 ? ` and ${ordered.length - 2} more` : "";
      return ordered.slice(0, 2).join(", ") + more;
    }

    function updateRow(row, now) {
      const link = row.link;
      if (row.shownKind !== link.kind) {
        row.icon.replaceChildren(iconOf(link.kind));
        row.shownKind = link.kind;
      }
      say(row.name, nameText(link));
      const kind = link.type === link.kind ? kindText(link.kind) : `${kindText(link.kind)} · ${link.type}`;
      say(row.kind, link.label ? `${kind} · ${link.label}` : kind);
      say(row.state, stateText(link));
      set(row.state, "data-is", !link.present ? "absent" : link.up ? "up" : "down");
      say(row.carried, carriedText(link));
      const without = carriedText(link) ? "" : "no address";
      const last = link.present ? without : `last seen ${momentText(link.last_seen)}`;
      say(row.addresses, addressText(link.addresses ?? []) || last);
      set(row.main, "data-present", String(link.present));
      if (link.rate) {
        sayPair(row.rate, rateText(link.rate.rx_bytes_per_second), rateText(link.rate.tx_bytes_per_second));
        set(row.rate.node, "title", `mean over ${link.rate.over_seconds.toFixed(1)} s`);
      } else {
        sayPair(row.rate, link.present ? "measuring" : "–");
        row.rate.node.removeAttribute("title");
      }
      drawSpark(row.spark, row.readings, now);
      sayFigure(row.today, link.today);
      sayFigure(row.total, link.total);
      if (row.detail) updateFacts(row);
    }

    function matches(link) {
      if (show.kind && link.kind !== show.kind) return false;
      if (show.presentOnly && !link.present) return false;
      if (!show.text) return true;
      const words = [nameText(link), kindText(link.kind), link.kind, link.type, link.mac ?? "", ...(link.addresses ?? [])];
      return words.join("\n").toLowerCase().includes(show.text.toLowerCase());
    }

    /** Media first; whatever is carried stands under its carrier, in depth order. Cycles end in the second group. */
    function arrange(links) {
      const byKey = new Map();
      for (const link of links) byKey.set(link.name, link);
      for (const link of links) byKey.set(link.id, link);
      const sorted = [...links].sort((a, b) =>
        kindRank(a.kind) - kindRank(b.kind) || natural.compare(a.name, b.name) || natural.compare(a.id, b.id));
      const below = new Map();
      const roots = [];
      for (const link of sorted) {
        const carried = !link.touches_medium && link.carrier;
        const carrier = carried ? byKey.get(link.carrier.id ?? link.carrier.name) : undefined;
        if (carrier && carrier !== link) below.set(carrier, [...(below.get(carrier) ?? []), link]);
        else roots.push(link);
      }
      const placed = new Set();
      const place = (link, depth, into) => {
        if (placed.has(link)) return;
        placed.add(link);
        into.push({ link, depth });
        for (const child of below.get(link) ?? []) place(child, depth + 1, into);
      };
      const media = [];
      const rest = [];
      for (const link of roots.filter((l) => l.touches_medium)) place(link, 0, media);
      for (const link of roots.filter((l) => !l.touches_medium)) place(link, 0, rest);
      for (const link of sorted) place(link, 0, rest);
      return [
        ["Touch a medium", "with what is carried inside them", media],
        ["Not on a medium here", "made in software or carried by an interface not known; never added", rest],
      ];
    }

    const groupRows = new Map();
    function groupRow(title, note) {
      if (!groupRows.has(title)) {
        groupRows.set(title, el("tr", { role: "row", class: "group" },
          el("th", { role: "rowheader", scope: "rowgroup", colspan: "4" }, title, el("small", {}, note))));
      }
      return groupRows.get(title);
    }

    /** Puts the wanted nodes in order and moves only those that stand wrong. */
    function order(parent, wanted) {
      const focused = document.activeElement;
      let cursor = parent.firstChild;
      for (const node of wanted) {
        if (node === cursor) cursor = cursor.nextSibling;
        else parent.insertBefore(node, cursor);
      }
      while (cursor) {
        const next = cursor.nextSibling;
        cursor.remove();
        cursor = next;
      }
      if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    }

    function renderList(now) {
      const wanted = [];
      for (const [title, note, entries] of arrange(figures.interfaces.filter(matches))) {
        if (entries.length > 0) wanted.push(groupRow(title, note));
        for (const { link, depth } of entries) {
          const row = rows.get(link.id);
          set(row.main, "data-depth", String(Math.min(depth, 3)));
          updateRow(row, now);
          wanted.push(row.main);
          if (row.detail) wanted.push(row.detail.node);
        }
      }
      order(at("rows"), wanted);
      const empty = at("empty");
      at("list").hidden = wanted.length === 0;
      empty.hidden = wanted.length > 0;
      say(empty, figures.interfaces.length === 0
        ? "The daemon knows no interface: there is none in its network namespace." : "No interface matches.");
      renderKinds();
    }

    function kindChip(kind) {
      const node = el("button", { type: "button", class: "chip", "data-kind": kind }, el("span"), el("small"));
      node.addEventListener("click", () => {
        show.kind = show.kind === kind ? "" : kind;
        render();
      });
      return node;
    }

    function renderKinds() {
      const counts = new Map();
      for (const link of figures.interfaces) counts.set(link.kind, (counts.get(link.kind) ?? 0) + 1);
      const kinds = [...counts.keys()].sort((a, b) => kindRank(a) - kindRank(b) || natural.compare(a, b));
      if (show.kind && !counts.has(show.kind)) kinds.push(show.kind);
      const box = at("kinds");
      const known = new Map([...box.children].map((chip) => [chip.dataset.kind, chip]));
      const chip = (kind, text, count) => {
        const node = known.get(kind) ?? kindChip(kind);
        say(node.firstChild, text);
        say(node.lastChild, String(count));
        set(node, "aria-pressed", String(show.kind === kind));
        return node;
      };
      const all = chip("", "All", figures.interfaces.length);
      order(box, [all, ...kinds.map((kind) => chip(kind, kindText(kind), counts.get(kind) ?? 0))]);
    }
    """#
}
