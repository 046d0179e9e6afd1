// The page's script, last part: the sums, the loop that asks the daemon while the page is visible, and its states.

extension Page {
  /// The figures of all media together, each byte once.
  static let summaryScript = #"""

    const sums = { readings: [], spark: sparkNode() };
    Object.assign(sums, { now: pairNode("now"), today: pairNode("today"), total: pairNode("in total") });

    const WORST = ["complete", "placed", "at_least"];
    const rankOf = (completeness) => (WORST.includes(completeness) ? WORST.indexOf(completeness) : WORST.length);

    function sumRate(media) {
      const rates = media.filter((link) => link.present && link.rate).map((link) => link.rate);
      if (rates.length === 0) return null;
      const add = (key) => rates.reduce((sum, rate) => sum + rate[key], 0);
      return { rx_bytes_per_second: add("rx_bytes_per_second"), tx_bytes_per_second: add("tx_bytes_per_second") };
    }

    function saySum(pair, list) {
      if (list.length === 0 || list.includes(null)) {
        sayPair(pair, list.length === 0 ? "–" : "loading");
        sayMark(pair.mark, null);
        return;
      }
      const add = (key) => list.reduce((sum, figure) => sum + figure[key], 0);
      const worst = list.map((figure) => figure.quality.completeness).reduce((a, b) => (rankOf(b) > rankOf(a) ? b : a));
      sayPair(pair, amountText(add("rx_bytes")), amountText(add("tx_bytes")));
      sayMark(pair.mark, worst, `${markWords(worst)} (the least certain of those added)`);
    }

    /** The media of each kind together, most of all first. */
    function kindSums(media) {
      const sums = new Map();
      for (const link of media) {
        if (!link.today) return "";
        const sum = sums.get(link.kind) ?? { rx: 0, tx: 0, kind: link.kind };
        sum.rx += link.today.rx_bytes;
        sum.tx += link.today.tx_bytes;
        sums.set(link.kind, sum);
      }
      const sorted = [...sums.values()].sort((a, b) => b.rx + b.tx - a.rx - a.tx);
      const parts = sorted.map((sum) => `${kindText(sum.kind)} ↓ ${amountText(sum.rx)} ↑ ${amountText(sum.tx)}`);
      return parts.length === 0 ? "" : `Today by kind: ${parts.join("; ")}.`;
    }

    function renderSums(now) {
      const media = figures.interfaces.filter((link) => link.touches_medium);
      const rate = sumRate(media);
      if (rate) sayPair(sums.now, rateText(rate.rx_bytes_per_second), rateText(rate.tx_bytes_per_second));
      else sayPair(sums.now, media.some((link) => link.present) ? "measuring" : "–");
      drawSpark(sums.spark, sums.readings, now);
      saySum(sums.today, media.map((link) => link.today));
      saySum(sums.total, media.map((link) => link.total));
      say(at("by-kind"), kindSums(media));
      const names = media.slice(0, 4).map(nameText).join(", ");
      const more = media.length > 4 ? ` and ${media.length - 4} more` : "";
      say(at("basis"), media.length === 0 ? "No interface here touches a medium, so nothing is added up."
        : `Added up: ${names}${more}. Tunnels and all else inside them are shown, never added: each byte counts once.`);
    }
    """#

  /// States: connecting, loading (503), live, unreachable, refused (any other problem). Old figures stay, marked.
  static let liveScript = #"""

    let pollEvery = 2000;
    let statusEvery = 60_000;
    let historyEvery = 30_000;
    const patience = 10_000;

    let figures = null;
    let daemon = null;
    let statusAt = -Infinity;
    let timer = 0;
    let asking = false;
    const opened = { id: "", span: "hours" };

    /** Answers { value } or { problem }; throws when there is no answer at all. */
    async function ask(path) {
      const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(patience) });
      const text = await response.text();
      let value;
      try {
        value = JSON.parse(text, (_, part) => (typeof part === "string" ? tame(part) : part));
      } catch {
        return { problem: { code: "", title: `The answer was not understood (HTTP ${response.status})` } };
      }
      return response.ok ? { value } : { problem: value };
    }

    function problemText(problem) {
      return sentences(problem.title, problem.detail, problem.remedy) || "The daemon refused without a reason";
    }

    /** Words for the state; figures from before stay on the page and are called so. */
    function showState(state, words) {
      document.body.dataset.state = state;
      document.querySelector(".state").dataset.state = state;
      say(at("state"), words);
      say(at("as-of"), !figures ? "" : state === "live" ? `as of ${clockText(figures.as_of)}`
        : `figures as of ${dateText(figures.as_of)} ${clockText(figures.as_of)}`);
      if (!figures) say(at("empty"), words);
    }

    function render() {
      if (!figures) return;
      const now = performance.now();
      renderSums(now);
      renderList(now);
    }

    function renderStatus() {
      if (!daemon) return;
      const warnings = daemon.warnings ?? [];
      at("warnings").replaceChildren(...warnings.map((warning) =>
        el("p", { class: "warning" }, el("strong", {}, sentences(warning.message)), " ", sentences(warning.remedy))));
      const source = `counters from ${daemon.source.name}, ${daemon.source.counter_bits} bits`;
      say(at("about"), `iftally ${daemon.version}, running since ${momentText(daemon.since)}; ${source}; `
        + `${daemon.namespace.note}; times are of ${daemon.clock.timezone}.`);
    }

    function take(reply) {
      const now = performance.now();
      figures = reply;
      const known = new Set();
      for (const link of reply.interfaces) {
        known.add(link.id);
        if (!rows.has(link.id)) rows.set(link.id, makeRow(link.id));
        const row = rows.get(link.id);
        row.link = link;
        remember(row.readings, now, link.present ? link.rate : null);
      }
      for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
      remember(sums.readings, now, sumRate(reply.interfaces.filter((link) => link.touches_medium)));
      applyOpen();
      showState("live", "Live");
      render();
    }

    async function askStatus() {
      if (performance.now() - statusAt < statusEvery) return;
      try {
        const reply = await ask("v1/status");
        if (reply.problem) return;
        daemon = reply.value;
        statusAt = performance.now();
      } catch {
        // The question for the interfaces tells what is wrong.
      }
    }

    function answer(reply) {
      const loading = reply.problem?.code === "loading";
      if (!reply.problem) take(reply.value);
      else if (loading) showState("loading", "Loading: the daemon has not finished its first sample");
      else showState("refused", problemText(reply.problem));
    }

    async function poll() {
      clearTimeout(timer);
      if (asking || document.visibilityState === "hidden") return;
      asking = true;
      let reply;
      try {
        [reply] = await Promise.all([ask("v1/interfaces"), askStatus()]);
      } catch {
        showState("unreachable", "Daemon unreachable, retrying");
      }
      asking = false;
      timer = setTimeout(poll, pollEvery);
      try {
        if (!reply) return;
        renderStatus();
        answer(reply);
      } catch (error) {
        console.error(error);
        showState("refused", "The answer was not understood");
        return;
      }
      const row = rows.get(opened.id);
      if (row?.detail && performance.now() - row.detail.loadedAt > historyEvery) loadHistory(row);
    }

    function toggle(id) {
      opened.id = opened.id === id ? "" : id;
      writeAddress();
      applyOpen();
      render();
    }

    /** Makes the rows' details agree with `opened`: one at a time. */
    function applyOpen() {
      for (const row of rows.values()) {
        const wanted = row.id === opened.id;
        if (wanted && !row.detail) {
          row.detail = makeDetail(row);
          loadHistory(row);
        } else if (!wanted && row.detail) {
          row.detail.resize.disconnect();
          row.detail = null;
          row.open.removeAttribute("aria-controls");
        }
        set(row.open, "aria-expanded", String(wanted));
        row.main.classList.toggle("opened", wanted);
      }
    }

    // The address names what is open, so that a reload or a bookmark shows it again: #id:3/days
    function writeAddress() {
      history.replaceState(null, "", opened.id ? `#${opened.id}/${opened.span}` : location.pathname + location.search);
    }

    function readAddress() {
      const match = /^#(id:\d+)(?:\/(\w+))?$/.exec(location.hash);
      opened.id = match ? match[1] : "";
      if (match && Object.hasOwn(SPANS, match[2] ?? "")) opened.span = match[2];
    }

    const UNIT_CHOICES = {
      iec: ["iec", "bit/s"],
      "iec/s": ["iec", "iec/s"],
      si: ["si", "bit/s"],
      "si/s": ["si", "si/s"],
      bytes: ["bytes", "bytes/s"],
    };

    function chooseUnit(name) {
      [chosen.amount, chosen.rate] = UNIT_CHOICES[name];
      render();
      const row = rows.get(opened.id);
      if (row?.detail?.slots) {
        fillTable(row.detail);
        drawChart(row.detail);
      }
    }

    // Storage may be forbidden; the choice then lasts as long as the page.
    function stored(change) {
      try { return change(localStorage); } catch { return null; }
    }

    function start() {
      at("sum-now").append(sums.now.node, sums.spark.node);
      at("sum-today").append(sums.today.node);
      at("sum-total").append(sums.total.node);
      for (const pair of [sums.now, sums.today, sums.total]) {
        sayPair(pair, "–");
        sayMark(pair.mark, null);
      }
      const unit = at("unit");
      const kept = stored((storage) => storage.getItem("unit"));
      if (Object.hasOwn(UNIT_CHOICES, kept ?? "")) unit.value = kept;
      chooseUnit(unit.value);
      unit.addEventListener("change", () => {
        stored((storage) => storage.setItem("unit", unit.value));
        chooseUnit(unit.value);
      });
      at("find").addEventListener("input", (event) => { show.text = event.target.value.trim(); render(); });
      at("present-only").addEventListener("change", (event) => { show.presentOnly = event.target.checked; render(); });
      document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());
      document.addEventListener("visibilitychange", poll);
      addEventListener("hashchange", () => {
        readAddress();
        applyOpen();
        render();
      });
      at("list").hidden = true;
      readAddress();
      poll();
    }

    start();
    """#
}
