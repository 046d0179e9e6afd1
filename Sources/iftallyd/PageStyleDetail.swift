// The page's style, second part: an opened interface, and narrow windows.

extension Page {
  /// What opens under an interface.
  static let detailStyle = #"""

    .detail > td { padding: 6px 18px 20px; background: var(--raised); cursor: auto; }
    .detail-body { display: grid; grid-template-columns: minmax(0, 1.75fr) minmax(0, 1fr); gap: 28px; }
    .history-top {
      display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; justify-content: space-between;
      min-height: 34px;
    }
    .readout { display: flex; flex-wrap: wrap; gap: 0 14px; align-items: center; min-height: 24px; font-size: 13px; }
    .readout .pair { display: flex; gap: 12px; width: auto; min-height: 24px; align-items: center; }
    .readout .pair :is(.rx, .tx) { gap: 4px; }
    .period { font-weight: 600; }
    .seen { color: var(--muted); min-width: 108px; }
    .frame { margin-top: 8px; border-radius: 8px; }
    .chart { height: 208px; display: grid; align-items: stretch; }
    .chart-word { place-self: center; color: var(--muted); overflow-wrap: anywhere; }
    .chart svg { display: block; width: 100%; touch-action: pan-y; }
    .grid { stroke: var(--line); }
    .axis { font-size: 11px; fill: var(--muted); }
    .bar-mark { font-size: 11px; font-weight: 600; fill: var(--warn); }
    .bar-mark.placed { fill: var(--accent); }
    rect.rx { fill: var(--rx-fill); }
    rect.tx { fill: var(--tx-fill); }
    rect.band { fill: transparent; }
    rect.band.picked { fill: var(--ink); opacity: 0.08; }
    .history details { margin-top: 6px; }
    summary { width: fit-content; cursor: pointer; color: var(--muted); font-size: 13px; }
    .scroll { max-height: 260px; margin-top: 8px; overflow: auto; }
    .scroll table { width: 100%; border-collapse: collapse; font-size: 13px; }
    .scroll th, .scroll td {
      padding: 4px 12px 4px 0; text-align: left; font-weight: 400; border-bottom: 1px solid var(--line);
      white-space: nowrap;
    }
    .scroll thead th { position: sticky; top: 0; background: var(--raised); color: var(--muted); }
    .scroll tfoot > tr > * { font-weight: 600; border-bottom: 0; }
    .facts, .surety { font-size: 13px; min-width: 0; }
    .detail h3 { font-size: 13px; font-weight: 620; }
    .surety { margin-top: 12px; padding-top: 10px; border-top: 1px solid var(--line); }
    .why {
      padding: 10px 14px; margin-bottom: 12px; border-radius: 8px; background: var(--surface);
      border: 1px solid var(--line);
    }
    .why p { margin-top: 3px; color: var(--muted); overflow-wrap: anywhere; }
    .detail dl > div { display: grid; grid-template-columns: 84px minmax(0, 1fr); gap: 10px; padding: 2px 0; }
    .detail dt { color: var(--muted); }
    .detail dd { overflow-wrap: anywhere; }
    .surety dl > div { grid-template-columns: 44px minmax(0, 1fr); }
    """#

  /// Under 720 px a row becomes a card; the roles in the markup keep it a table for those who hear it.
  static let narrowStyle = #"""

    @media (max-width: 940px) {
      .detail-body { grid-template-columns: minmax(0, 1fr); gap: 18px; }
      .rate-box .spark { display: none; }
      .list col.c-rate { width: 18%; }
      .list col.c-figure { width: 20%; }
      .rate-box { padding-right: 0; }
    }
    @media (max-width: 720px) {
      body { padding: 0 14px 32px; }
      .top { flex-wrap: wrap; gap: 0 16px; min-height: 0; padding: 8px 0; }
      .tiles { grid-template-columns: 1fr 1fr; gap: 10px; }
      .tile:first-child { grid-column: 1 / -1; }
      .tile { padding: 11px 14px 12px; }
      .tile .pair { min-width: 0; min-height: 50px; font-size: 17px; line-height: 25px; }
      .tile .spark { flex: none; width: 46%; }
      .tile-body { min-height: 54px; }
      .basis { min-height: 57px; }
      .chips { flex-wrap: nowrap; overflow-x: auto; max-width: 100%; padding: 3px; margin: -3px; min-height: 44px; }
      .chip { flex: none; }
      .fields { width: 100%; }
      .fields label:nth-child(2) { flex: 1; }
      .fields input[type="search"] { width: 100%; }
      .fields input[type="search"], .fields select { height: 40px; }
      .fields select { max-width: 128px; }
      .check { min-height: 40px; }
      .chip { padding: 7px 13px; }
      .list, .list > tbody { display: block; }
      .list > thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      .list tr.group, .list tr.group > th, .list tr.detail, .list tr.detail > td { display: block; }
      .list tr.link .pair { position: relative; }
      .list .group small { display: block; margin-left: 0; }
      .list > * > tr > :first-child { padding-left: 14px; }
      .list tr.link {
        display: grid; grid-template-columns: 1fr 1fr 1fr; padding: 12px 0; border-top: 1px solid var(--line);
      }
      .list tr.link:is(:hover, .opened) { background: var(--raised); }
      .list tr.link > * { border: 0; padding: 0 6px 0 14px; }
      .list tr.link > .c-name { grid-column: 1 / -1; padding-right: 14px; padding-bottom: 8px; }
      .list tr.link > td::before { content: attr(data-label); display: block; font-size: 12px; color: var(--muted); }
      .link .pair { font-size: 13px; width: auto; padding-right: 0; }
      .link .pair :is(.rx, .tx) { justify-content: start; gap: 5px; }
      .list tr.link .mark { top: -20px; right: auto; left: 38px; transform: none; }
      .rate-box { display: block; padding: 0; }
      .link:not([data-depth="0"]) .c-name::before { left: 24px; top: -13px; height: 34px; }
      .link[data-depth="1"] .who { padding-left: 22px; }
      .link[data-depth="2"] .who, .link[data-depth="3"] .who { padding-left: 44px; }
      .link:is([data-depth="2"], [data-depth="3"]) .c-name::before { left: 46px; }
      .detail > td { padding: 4px 14px 18px !important; }
      .legend { flex-direction: column; }
    }
    @media (max-width: 400px) {
      .link .pair { letter-spacing: -0.02em; }
      .list tr.link > td { padding-left: 12px; padding-right: 0; }
      .tile .pair { font-size: 15px; }
      .tile:not(:first-child) { padding-inline: 12px 8px; }
      .fields label:nth-child(2) { flex: 1 1 100%; order: -1; }
      .fields label:last-child { margin-left: auto; }
    }
    """#
}
