// The page's script, first part: how figures, times and qualities are written, and how text becomes nodes.

extension Page {
  /// `formatBytes` and `formatCoverage` pass every case of Tests/formatting.tsv, as TallyRender does.
  static let formatScript = #"""
    "use strict";

    const UNITS = {
      iec: [1024n, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]],
      si: [1000n, ["B", "kB", "MB", "GB", "TB", "PB", "EB"]],
      bytes: [0n, ["B"]],
      "iec/s": [1024n, ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s", "EiB/s"]],
      "si/s": [1000n, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"]],
      "bytes/s": [0n, ["B/s"]],
      "bit/s": [1000n, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s"]],
    };

    // A number with a fraction is held as a count of 1/4096, so that one whole-number rule rounds everything.
    const FRACTION = 4096;

    /** Writes bytes, or bytes per second for the units that end in "/s"; value is a number or a BigInt. */
    function formatBytes(value, unit, decimals = 2) {
      const [step, names] = UNITS[unit];
      if (typeof value !== "bigint" && !(Number.isFinite(value) && value >= 0)) return "?";
      let count = typeof value === "bigint" ? value * BigInt(FRACTION) : BigInt(Math.round(value * FRACTION));
      if (unit === "bit/s") count *= 8n;
      let divisor = BigInt(FRACTION);
      for (let level = 0; ; level += 1) {
        const digits = level === 0 ? 0 : decimals;
        const power = 10n ** BigInt(digits);
        const rounded = (2n * count * power + divisor) / (2n * divisor);
        if (level === names.length - 1 || rounded < step * power) {
          const whole = rounded / power;
          const part = digits === 0 ? "" : "." + String(rounded % power).padStart(digits, "0");
          return `${whole}${part} ${names[level]}`;
        }
        divisor *= step;
      }
    }

    /** Writes the observed part of a span, 0 to 1: cut, not rounded, so that only a whole span says "100 %". */
    function formatCoverage(part) {
      if (part >= 1) return "100 %";
      return `${(Math.floor(part * 1000 + 1e-9) / 10).toFixed(1)} %`;
    }

    const chosen = { amount: "iec", rate: "bit/s" };
    const amountText = (bytes) => formatBytes(bytes, chosen.amount);
    const rateText = (bytesPerSecond) => formatBytes(bytesPerSecond, chosen.rate);

    // Times are shown as the daemon wrote them, in its zone: "2025-11-30T14:03:22+01:00".
    const clockText = (time) => time.slice(11, 19);
    const dateText = (time) => time.slice(0, 10);
    const momentText = (time) => `${time.slice(0, 10)} ${time.slice(11, 16)}`;

    const MARKS = { complete: "✓", placed: "~", at_least: "≥" };
    const MARK_WORDS = {
      complete: "complete: every byte that the interface’s counter showed",
      placed: "placed: part of it was put into its period by proportion",
      at_least: "at least: something could not be observed, the truth is this or more",
    };
    const own = (object, key, otherwise) => (Object.hasOwn(object, key) ? object[key] : otherwise);
    const markOf = (completeness) => own(MARKS, completeness, "?");
    const markWords = (completeness) =>
      own(MARK_WORDS, completeness, `quality “${completeness}”, unknown to this page`);

    /** The daemon's words as sentences: they come with and without a capital and a full stop. */
    function sentences(...words) {
      const said = words.filter((word) => typeof word === "string" && word !== "");
      return said.map((word) => word[0].toUpperCase() + word.slice(1).replace(/[.:]?$/, ".")).join(" ");
    }

    function plural(count, one, many = one + "s") {
      return `${count} ${count === 1 ? one : many}`;
    }

    function qualityText(quality) {
      return `${markWords(quality.completeness)}. Since ${momentText(quality.since)}, `
        + `as of ${momentText(quality.as_of)}; observed ${formatCoverage(quality.coverage)} of that time; `
        + `${plural(quality.resets, "reset")}, ${plural(quality.gaps, "gap")}.`;
    }

    // Characters that hide, or turn the text after them; they are written as names write control bytes, as the command
    // writes them.
    const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
    const tame = (text) => text.replace(UNSAFE, encodeURIComponent);

    // Every text of the daemon comes onto the page through these: as text nodes and attribute values, never as markup.
    function fill(node, attributes, children) {
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      node.append(...children);
      return node;
    }
    const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
    const SVG = "http://www.w3.org/2000/svg";
    const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
    const at = (id) => document.getElementById(id);

    function say(node, text) {
      if (node.textContent !== text) node.textContent = text;
    }
    function set(node, name, value) {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    """#
}
