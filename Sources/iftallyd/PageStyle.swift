// The page's style: light and dark, wide and phone, with room reserved for what changes.

extension Page {
  /// Body of `/page.css`, text/css; charset=utf-8.
  static let style = baseStyle + listStyle + detailStyle + narrowStyle

  /// Colours, header, sums, notes. Received is blue and sent is orange everywhere, told apart by arrows too.
  static let baseStyle = #"""
    :root {
      color-scheme: light dark;
      --ground: #f5f6f8; --surface: #ffffff; --raised: #fafbfc; --line: #e2e6ec; --line-strong: #cdd4de;
      --ink: #18202c; --muted: #566274; --faint: #6b7687;
      --rx: #2563ab; --tx: #b45a0c; --rx-fill: #2f74c0; --tx-fill: #e08a3c; --accent: #2563ab;
      --good: #1d7a46; --warn: #8a5a00; --warn-ground: #fff6e0; --bad: #b3261e; --bad-ground: #fdeceb;
      --shadow: 0 1px 2px rgb(20 30 50 / 5%);
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #11151b; --surface: #191f28; --raised: #1e2530; --line: #2a3340; --line-strong: #3b4757;
        --ink: #e7ebf1; --muted: #a3afbf; --faint: #8f9bac;
        --rx: #7db8f5; --tx: #f2aa66; --rx-fill: #4f94dc; --tx-fill: #d98a45; --accent: #7db8f5;
        --good: #6fce97; --warn: #f0c36a; --warn-ground: #2d2615; --bad: #ff9d94; --bad-ground: #361c1b;
        --shadow: none;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { scrollbar-gutter: stable; scroll-padding-top: 84px; }
    body {
      margin: 0 auto; max-width: 1180px; padding: 0 28px 40px; background: var(--ground); color: var(--ink);
      font: 14px/1.45 "Inter", system-ui, sans-serif; font-variant-numeric: tabular-nums;
      -webkit-text-size-adjust: 100%;
    }
    h1, h2, h3, p, dl, dd { margin: 0; }
    small { font-size: 12px; font-weight: 400; color: var(--muted); }
    code { font-family: ui-monospace, monospace; }
    button, input, select { font: inherit; color: inherit; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
    #list:focus { outline: none; }
    .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    .skip {
      position: absolute; left: 12px; top: -60px; padding: 8px 14px; background: var(--surface); color: var(--accent);
    }
    .skip:focus { top: 8px; z-index: 2; }

    .top {
      position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 20px; justify-content: space-between;
      min-height: 70px; background: var(--ground);
    }
    h1 { font-size: 22px; font-weight: 650; letter-spacing: -0.02em; }
    h1 { display: flex; gap: 8px; align-items: center; }
    .logo { width: 24px; height: 24px; fill: none; stroke: var(--rx-fill); stroke-width: 2.6; stroke-linecap: round; }
    .logo path + path { stroke: var(--tx-fill); }
    .state { flex: 1; min-height: 42px; min-width: 0; text-align: right; }
    .state .dot {
      display: inline-block; width: 8px; height: 8px; margin-right: 8px; border-radius: 50%; background: var(--faint);
      vertical-align: 1px;
    }
    #state { font-weight: 550; overflow-wrap: anywhere; }
    #as-of { min-height: 18px; font-size: 12px; line-height: 18px; color: var(--muted); }
    .state[data-state="live"] .dot { background: var(--good); }
    .state[data-state="loading"] .dot { background: var(--warn); }
    .state[data-state="unreachable"] .dot, .state[data-state="refused"] .dot { background: var(--bad); }
    .state[data-state="unreachable"] #state, .state[data-state="refused"] #state { color: var(--bad); }

    .warning {
      margin-bottom: 10px; padding: 10px 14px; border-radius: 8px; background: var(--warn-ground); color: var(--warn);
    }

    .tiles { display: grid; grid-template-columns: 1.5fr 1fr 1fr; gap: 14px; }
    .tile {
      min-width: 0; padding: 14px 18px 16px; background: var(--surface); border: 1px solid var(--line);
      border-radius: 12px; box-shadow: var(--shadow);
    }
    .tile h2 { font-size: 13px; font-weight: 550; color: var(--muted); }
    .tile-body { display: flex; gap: 18px; align-items: end; justify-content: space-between; min-height: 62px; }
    .tile .pair {
      width: auto; min-width: 8.2em; min-height: 58px; font-size: 20px; line-height: 29px; font-weight: 600;
      letter-spacing: -0.01em;
    }
    .tile .pair :is(.rx, .tx) { justify-content: start; gap: 8px; }
    .tile .spark { flex: 1; min-width: 60px; height: 52px; }
    .basis { margin: 10px 2px 0; min-height: 20px; color: var(--muted); font-size: 13px; overflow-wrap: anywhere; }
    .note {
      margin-top: 14px; padding: 11px 16px; border-left: 3px solid var(--accent); background: var(--surface);
      border-radius: 0 8px 8px 0; color: var(--muted); font-size: 13px;
    }
    .note strong { color: var(--ink); }

    .pair {
      position: relative; display: grid; align-content: center; width: min(9.4em, 100%); min-height: 40px;
      padding-right: 22px; white-space: nowrap;
    }
    .pair :is(.rx, .tx) { display: flex; justify-content: space-between; }
    .pair .value { color: var(--ink); }
    .pair .arrow { font-weight: 700; }
    .pair .rx .arrow { color: var(--rx); }
    .pair .tx .arrow { color: var(--tx); }
    .pair[data-empty="true"] .value { color: var(--faint); font-weight: 400; }
    .pair[data-empty="true"] .arrow { display: none; }
    .mark { font-size: 13px; font-weight: 600; color: var(--faint); cursor: help; }
    .pair .mark {
      position: absolute; right: 0; top: 50%; transform: translateY(-50%); width: 14px; line-height: 20px;
      text-align: center;
    }
    .mark[data-mark="complete"] { color: var(--good); }
    .mark[data-mark="placed"] { color: var(--accent); }
    .mark[data-mark="at_least"] { color: var(--warn); }

    .spark { display: block; overflow: visible; }
    .spark path {
      fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke-linejoin: round; stroke-linecap: round;
    }
    .spark .rx { stroke: var(--rx-fill); }
    .spark .tx { stroke: var(--tx-fill); }
    .spark[data-idle="true"] .rx { stroke: var(--line-strong); }
    .spark[data-idle="true"] .tx { stroke: none; }
    .spark .area { fill: var(--rx-fill); opacity: 0.16; stroke: none; }
    body[data-state="unreachable"] :is(.pair, .spark, .link-state),
    body[data-state="refused"] :is(.pair, .spark, .link-state),
    body[data-state="loading"] :is(.pair, .spark, .link-state) {
      opacity: 0.5;
    }
    """#

  /// The tools above the list, the list, the legend.
  static let listStyle = #"""

    .tools {
      display: flex; flex-wrap: wrap; gap: 10px 18px; align-items: center; justify-content: space-between;
      margin: 24px 0 10px; min-height: 36px;
    }
    .chips, .fields { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
    .fields { gap: 10px; margin-left: auto; }
    .interfaces { min-height: 60vh; }
    .chip {
      padding: 4px 11px; border: 1px solid var(--line-strong); border-radius: 999px; background: transparent;
      color: var(--muted); cursor: pointer;
    }
    .chip small { margin-left: 6px; color: inherit; opacity: 0.85; }
    .chip:hover { border-color: var(--accent); color: var(--ink); }
    .chip[aria-pressed="true"] { background: var(--ink); border-color: var(--ink); color: var(--ground); }
    .fields input[type="search"], .fields select {
      height: 32px; padding: 0 10px; border: 1px solid var(--line-strong); border-radius: 8px;
      background: var(--surface);
    }
    .fields input[type="search"] { width: 130px; }
    .fields ::placeholder { color: var(--faint); opacity: 1; }
    .check { display: flex; gap: 6px; align-items: center; color: var(--muted); white-space: nowrap; }

    .list {
      width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; background: var(--surface);
      border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); overflow: hidden;
    }
    .list col.c-rate { width: 27%; }
    .list col.c-figure { width: 15.5%; }
    .list > * > tr > * { text-align: left; font-weight: 400; padding: 10px 12px; vertical-align: middle; }
    .list > thead th { padding-block: 9px; font-size: 12px; font-weight: 550; color: var(--muted); }
    .list > * > tr > :first-child { padding-left: 18px; }
    .list .group th {
      padding: 7px 18px; border-top: 1px solid var(--line); background: var(--raised); font-size: 12px;
      font-weight: 600;
    }
    .list .group small { margin-left: 8px; }
    .link { cursor: pointer; }
    .link > * { border-top: 1px solid var(--line); }
    .group + .link > * { border-top-color: var(--line); }
    .link:hover > * { background: var(--raised); }
    .link.opened > * { background: var(--raised); }
    .who { display: flex; gap: 12px; align-items: flex-start; min-width: 0; }
    .icon-box {
      flex: none; display: grid; place-items: center; width: 34px; height: 34px; margin-top: 3px; border-radius: 9px;
      background: var(--ground); border: 1px solid var(--line);
    }
    .icon {
      width: 18px; height: 18px; fill: none; stroke: var(--muted); stroke-width: 1.4; stroke-linecap: round;
      stroke-linejoin: round;
    }
    .who-text { min-width: 0; flex: 1; }
    .who-line { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; }
    .open {
      padding: 0; border: 0; background: none; font-weight: 620; font-size: 15px; text-align: left; cursor: pointer;
      overflow-wrap: anywhere;
    }
    .open::after {
      content: ""; display: inline-block; width: 5px; height: 5px; margin: 0 2px 3px 8px; border: solid var(--faint);
      border-width: 0 1.5px 1.5px 0; transform: rotate(45deg);
    }
    .open[aria-expanded="true"]::after { transform: rotate(-135deg); margin-bottom: 0; }
    .open:hover { color: var(--accent); }
    .kind { color: var(--muted); overflow-wrap: anywhere; }
    .link-state { color: var(--muted); font-size: 12px; white-space: nowrap; }
    .link-state::before {
      content: ""; display: inline-block; width: 7px; height: 7px; margin-right: 5px; border-radius: 50%;
      border: 1.5px solid var(--faint);
    }
    .link-state[data-is="up"]::before { background: var(--good); border-color: var(--good); }
    .link-state[data-is="absent"]::before { border-style: dotted; }
    .link[data-present="false"] :is(.open, .value) { color: var(--muted); }
    .link[data-present="false"] .icon-box { border-style: dashed; }
    .sub-line { color: var(--muted); font-size: 13px; overflow-wrap: anywhere; }
    .carried { margin-right: 10px; color: var(--warn); }
    .carried:empty { display: none; }
    .link[data-depth="1"] .who { padding-left: 26px; }
    .link[data-depth="2"] .who { padding-left: 52px; }
    .link[data-depth="3"] .who { padding-left: 78px; }
    .link:not([data-depth="0"]) .c-name { position: relative; }
    .link:not([data-depth="0"]) .c-name::before {
      content: ""; position: absolute; top: -1px; height: 32px; width: 14px; left: 34px;
      border: solid var(--line-strong); border-width: 0 0 1.5px 1.5px; border-bottom-left-radius: 7px;
    }
    .link[data-depth="2"] .c-name::before { left: 60px; }
    .link[data-depth="3"] .c-name::before { left: 86px; }
    .rate-box { display: flex; gap: 14px; align-items: center; padding-right: 18px; }
    .rate-box .spark { flex: 1; min-width: 40px; height: 34px; }
    .rate-box .pair { flex: none; width: min(8.4em, 100%); padding-right: 0; }
    .empty {
      padding: 44px 20px; text-align: center; color: var(--muted); background: var(--surface);
      border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere;
    }

    footer { margin-top: 22px; color: var(--muted); font-size: 13px; }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 26px; }
    .legend div { display: flex; gap: 7px; }
    .legend dt { color: var(--ink); white-space: nowrap; }
    .legend .mark { display: inline-block; width: 14px; text-align: center; cursor: auto; }
    #about { margin-top: 10px; min-height: 19px; overflow-wrap: anywhere; }
    """#
}
