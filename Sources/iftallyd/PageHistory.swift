// The page's script, fourth part: what opens under an interface, its facts and its history as a chart and a table.

extension Page {
  /// Draws the bars of `/v1/usage` as SVG, with the same figures in a table for those who cannot see them.
  static let historyScript = #"""

    const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const HOUR = 3600_000;
    const DAY = 24 * HOUR;

    function monthStart(asOf, monthsBack) {
      const month = Number(asOf.slice(0, 4)) * 12 + Number(asOf.slice(5, 7)) - 1 - monthsBack;
      return `${String(Math.floor(month / 12)).padStart(4, "0")}-${String(month % 12 + 1).padStart(2, "0")}-01`;
    }

    // The daemon widens both ends to whole periods: 24 hours, 30 days, 12 months.
    const SPANS = {
      hours: { title: "Hours", resolution: "hour", from: () => "23h" },
      days: { title: "Days", resolution: "day", from: () => "29d" },
      months: { title: "Months", resolution: "month", from: (asOf) => monthStart(asOf, 11) },
    };

    function offsetOf(time) {
      const match = /([+-])(\d\d):(\d\d)$/.exec(time);
      return match ? (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000 : 0;
    }

    /** Writes instants as "2025-11-30 14:00" in the daemon's zone; by its last offset if the browser lacks the zone. */
    function zoneWriter(zone, time) {
      try {
        const two = "2-digit";
        const style = { year: "numeric", month: two, day: two, hour: two, minute: two, hourCycle: "h23" };
        const format = new Intl.DateTimeFormat("sv-SE", { ...style, timeZone: zone });
        return (instant) => format.format(instant);
      } catch {
        return (instant) => momentText(new Date(instant + offsetOf(time)).toISOString());
      }
    }

    /** One slot per period of the span, with or without traffic: the daemon leaves out periods without. */
    function slotsOf(reply, points) {
      const slots = new Map();
      const add = (key, label, title) => slots.set(key, { key, label, title, point: null });
      const addDay = (key) => add(key, `${Number(key.slice(8))} ${MONTHS[Number(key.slice(5, 7)) - 1]}`, key);
      const addMonth = (key) => add(key, key.endsWith("-01") ? key.slice(0, 4) : MONTHS[Number(key.slice(5)) - 1], key);
      let keyOf;
      if (reply.resolution === "hour") {
        const write = zoneWriter(reply.timezone, reply.to);
        const addHour = (key) => add(key, write(key).slice(11), `${write(key)}–${write(key + HOUR).slice(11)}`);
        keyOf = (point) => Date.parse(point.start);
        for (let key = Date.parse(reply.from); key < Date.parse(reply.to); key += HOUR) addHour(key);
        for (const point of points) if (!slots.has(keyOf(point))) addHour(keyOf(point));
      } else {
        // Civil dates, so that days of 23 and 25 hours are like others; two hours short of the end is in the last one.
        const last = new Date(Date.parse(reply.to) - 2 * HOUR + offsetOf(reply.to)).toISOString();
        const isDay = reply.resolution === "day";
        const length = isDay ? 10 : 7;
        keyOf = (point) => point.start.slice(0, length);
        for (let day = Date.parse(dateText(reply.from)); day <= Date.parse(dateText(last)); day += DAY) {
          const key = new Date(day).toISOString().slice(0, length);
          if (!slots.has(key)) (isDay ? addDay : addMonth)(key);
        }
        for (const point of points) if (!slots.has(keyOf(point))) (isDay ? addDay : addMonth)(keyOf(point));
      }
      for (const point of points) slots.get(keyOf(point)).point = point;
      return [...slots.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    }

    /** A round step so that at most four lines cover the peak. */
    function lineStep(peak) {
      const base = chosen.amount === "iec" ? 1024 : 1000;
      for (let unit = 1; unit < 1e22; unit *= base) {
        for (const count of [1, 2, 5, 10, 20, 50, 100, 200, 500]) if (unit * count * 4 >= peak) return unit * count;
      }
      return peak;
    }

    function drawChart(view) {
      const width = view.chart.clientWidth;
      if (width === 0 || !view.slots) return;
      const slots = view.slots;
      const box = { left: 66, right: 4, top: 16, bottom: 22, height: 208 };
      const room = { width: width - box.left - box.right, height: box.height - box.top - box.bottom };
      const peak = Math.max(1, ...slots.map((slot) => (slot.point ? slot.point.rx_bytes + slot.point.tx_bytes : 0)));
      const step = lineStep(peak);
      const top = Math.ceil(peak / step) * step;
      const y = (bytes) => box.top + room.height * (1 - bytes / top);
      const pitch = room.width / slots.length;
      const bar = Math.max(1, Math.min(34, pitch * 0.72));
      const drawing = svg("svg", { viewBox: `0 0 ${width} ${box.height}`, height: box.height, "aria-hidden": "true" });
      const write = (name, x, baseline, anchor, text) =>
        drawing.append(svg("text", { class: name, x, y: baseline, "text-anchor": anchor }, text));
      for (let line = 0; line <= top; line += step) {
        drawing.append(svg("line", { class: "grid", x1: box.left, x2: width - box.right, y1: y(line), y2: y(line) }));
        write("axis", box.left - 8, y(line) + 4, "end", formatBytes(line, chosen.amount, 0));
      }
      const every = Math.ceil(56 / pitch);
      slots.forEach((slot, index) => {
        const middle = box.left + pitch * (index + 0.5);
        if ((slots.length - 1 - index) % every === 0) {
          write("axis", Math.min(middle, width - 20), box.height - 6, "middle", slot.label);
        }
        const band = { x: middle - pitch / 2, y: box.top, width: pitch, height: room.height };
        slot.band = svg("rect", { class: "band", ...band });
        drawing.append(slot.band);
        if (!slot.point) return;
        const { rx_bytes: rx, tx_bytes: tx, completeness } = slot.point;
        const column = (name, from, to) =>
          svg("rect", { class: name, x: middle - bar / 2, width: bar, y: y(to), height: Math.max(0, y(from) - y(to)) });
        drawing.append(column("rx", 0, rx), column("tx", rx, rx + tx));
        if (completeness !== "complete") {
          const name = completeness === "placed" ? "bar-mark placed" : "bar-mark";
          write(name, middle, y(rx + tx) - 4, "middle", markOf(completeness));
        }
      });
      view.chart.replaceChildren(drawing);
      pick(view, view.picked);
      // A pointer anywhere in a column picks its period.
      const pickAt = (event) => {
        const x = event.clientX - drawing.getBoundingClientRect().left - box.left;
        pick(view, Math.floor(x / pitch));
      };
      drawing.addEventListener("pointermove", pickAt);
      drawing.addEventListener("pointerdown", pickAt);
      drawing.addEventListener("pointerleave", () => pick(view, -1));
    }

    /** Shows one period in the line above the chart, or the sum when there is none at that index. */
    function pick(view, index) {
      const slot = view.slots?.[index];
      view.picked = slot ? index : -1;
      (view.slots ?? []).forEach((other) => other.band?.classList.toggle("picked", other === slot));
      if (!view.slots) return;
      const figure = slot ? slot.point : view.sum;
      const title = slot ? slot.title : `Sum of ${plural(view.slots.length, view.resolution)}`;
      say(view.period, title);
      if (!figure) {
        sayPair(view.picture, "no traffic");
        sayMark(view.picture.mark, null);
        say(view.seen, "");
        return;
      }
      const quality = figure.quality ?? figure;
      sayPair(view.picture, amountText(figure.rx_bytes), amountText(figure.tx_bytes));
      sayMark(view.picture.mark, quality.completeness, markWords(quality.completeness));
      say(view.seen, `observed ${formatCoverage(quality.coverage)}`);
    }

    /** Arrow keys read one period after the other; Escape goes back to the sum. */
    function pickByKey(view, event) {
      const last = (view.slots?.length ?? 0) - 1;
      const here = view.picked;
      const targets = {
        ArrowLeft: here < 0 ? last : Math.max(0, here - 1),
        ArrowRight: Math.min(last, here + 1),
        Home: 0,
        End: last,
        Escape: -1,
      };
      if (!Object.hasOwn(targets, event.key) || last < 0) return;
      event.preventDefault();
      pick(view, targets[event.key]);
    }

    function fillTable(view) {
      const columns = ["Period", "Received", "Sent", "Completeness", "Observed"];
      const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column)));
      const line = (title, figure, quality) => {
        const amounts = [amountText(figure.rx_bytes), amountText(figure.tx_bytes)];
        const texts = [...amounts, markWords(quality.completeness).split(":")[0], formatCoverage(quality.coverage)];
        return el("tr", {}, el("th", { scope: "row" }, title), ...texts.map((text) => el("td", {}, text)));
      };
      const counted = view.slots.filter((slot) => slot.point);
      view.table.replaceChildren(el("thead", {}, head),
        el("tbody", {}, ...counted.map((slot) => line(slot.title, slot.point, slot.point))),
        el("tfoot", {}, line("Sum", view.sum, view.sum.quality)));
    }

    function makeDetail(row) {
      const view = { chart: el("div", { class: "chart" }), picked: -1, slots: null, request: 0, loadedAt: -Infinity };
      view.period = el("span", { class: "period" });
      view.picture = pairNode("");
      view.seen = el("span", { class: "seen" });
      view.readout = el("p", { class: "readout", "aria-live": "polite" }, view.period, view.picture.node, view.seen);
      view.frame = el("div", { class: "frame", tabindex: "0", role: "group" }, view.chart);
      view.table = el("table");
      view.facts = el("div", { class: "facts" });
      view.surety = el("div", { class: "surety" });
      view.spans = el("div", { class: "chips", role: "group", "aria-label": "Resolution" });
      for (const [span, { title }] of Object.entries(SPANS)) {
        const chip = el("button", { type: "button", class: "chip", "data-span": span }, title);
        chip.addEventListener("click", () => chooseSpan(row, span));
        view.spans.append(chip);
      }
      view.frame.addEventListener("keydown", (event) => pickByKey(view, event));
      const scroll = { class: "scroll", tabindex: "0", role: "region", "aria-label": "History as a table" };
      const table = el("details", {}, el("summary", {}, "Show as a table"), el("div", scroll, view.table));
      const history = el("section", { class: "history", "aria-label": "History" },
        el("div", { class: "history-top" }, view.spans, view.readout), view.frame, table, view.surety);
      const body = el("div", { class: "detail-body" }, history, view.facts);
      const id = `detail-${row.id}`;
      view.node = el("tr", { role: "row", class: "detail", id }, el("td", { role: "cell", colspan: "4" }, body));
      row.open.setAttribute("aria-controls", id);
      view.resize = new ResizeObserver(() => drawChart(view));
      view.resize.observe(view.chart);
      return view;
    }

    function factsOf(link) {
      const facts = [
        ["Kind", `${kindText(link.kind)}, ${link.type}: ${link.why}`],
        ["Label", link.label],
        ["Decided by", link.rule && `the rule ${link.rule}`],
        ["Members", link.group && (link.group.expired ? `${link.group.lives} expired`
          : `${link.group.present} here, ${link.group.lives} lives in all`)],
        ["Metered", link.metered === undefined ? "" : link.metered ? "yes" : "no"],
        ["State", stateText(link)],
        ["Carried by", link.carrier?.name],
        ["Part of", link.master?.name],
        ["Counted with it", (link.merged ?? []).map((other) => other.name).join(", ")],
        ["Addresses", (link.addresses ?? []).join(", ")],
        ["MAC", link.mac],
        ["MTU", link.mtu],
        ["Speed", link.speed_mbit && `${link.speed_mbit} Mbit/s`],
        ["Driver", link.driver],
        ["First seen", momentText(link.first_seen)],
        ["Last seen", !link.present && momentText(link.last_seen)],
        ["Lives", link.incarnations > 1 && !link.group && `${link.incarnations}: its counter started over, the total did not`],
        ["Id", link.id],
      ];
      return facts.filter(([, text]) => text);
    }

    function listOf(facts) {
      const line = ([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, String(text)));
      return el("dl", {}, ...facts.map(line));
    }

    function updateFacts(row) {
      const link = row.link;
      const today = link.today ? qualityText(link.today.quality) : "loading";
      const surety = [["Today", today], ["Total", qualityText(link.total.quality)]];
      const added = link.touches_medium ? "" : link.share_why ? ` Not added to the total: ${sentences(link.share_why)}`
        : link.carrier ? ` Its bytes pass ${link.carrier.name} too, so they are shown beside it and never added.`
        : " It touches no medium here, so it is never added.";
      const facts = factsOf(link);
      const partial = link.counted?.partial ? ` ${sentences(link.counted.partial)}` : "";
      const written = JSON.stringify([link.counts, partial, added, facts, surety]);
      if (row.detail.written === written) return;
      row.detail.written = written;
      const counts = el("p", {}, `What this counter counts: ${sentences(link.counts)}${partial}${added}`);
      const why = el("div", { class: "why" }, el("h3", {}, "Why an estimate"), counts);
      row.detail.facts.replaceChildren(why, listOf(facts));
      row.detail.surety.replaceChildren(el("h3", {}, "How sure the figures are"), listOf(surety));
    }

    function sayChart(view, text) {
      view.slots = null;
      view.table.replaceChildren();
      view.chart.replaceChildren(el("p", { class: "chart-word" }, text));
      say(view.period, "");
      sayPair(view.picture, "");
      sayMark(view.picture.mark, null);
      say(view.seen, "");
    }

    async function loadHistory(row) {
      const view = row.detail;
      const span = SPANS[opened.span];
      const request = (view.request += 1);
      view.loadedAt = performance.now();
      for (const chip of view.spans.children) set(chip, "aria-pressed", String(chip.dataset.span === opened.span));
      set(view.frame, "aria-label", `Chart by ${span.resolution}: arrow keys read periods, the table below holds all`);
      if (!view.slots) sayChart(view, "Loading history");
      const question = { interface: row.id, from: span.from(figures.as_of), to: "now", resolution: span.resolution };
      const query = new URLSearchParams(question);
      let reply;
      try {
        reply = await ask(`v1/usage?${query}`);
      } catch {
        reply = { problem: { title: "Daemon unreachable, retrying" } };
      }
      // An answer to an older question, or to a view that was closed meanwhile, is thrown away.
      if (row.detail !== view || view.request !== request) return;
      if (reply.problem) {
        view.loadedAt = -Infinity;
        if (!view.slots) sayChart(view, problemText(reply.problem));
        return;
      }
      const series = reply.value.series[0];
      if (!series || series.points.length === 0) {
        sayChart(view, "No traffic was counted in this span.");
        return;
      }
      Object.assign(view, { slots: slotsOf(reply.value, series.points), sum: series.sum, resolution: span.resolution });
      fillTable(view);
      drawChart(view);
    }

    function chooseSpan(row, span) {
      opened.span = span;
      row.detail.slots = null;
      row.detail.picked = -1;
      writeAddress();
      loadHistory(row);
    }
    """#
}
