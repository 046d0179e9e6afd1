// The dashboard at GET /: its HTML, where its style and script are served, and the policy that binds them.

/// The one page of the daemon, in three replies: `/`, `/page.css` and `/page.js`.
///
/// It uses no resource of another origin and asks `/v1/interfaces`, `/v1/status` and `/v1/usage` by itself.
enum Page {
  /// Value of the Content-Security-Policy header for all three replies.
  ///
  /// Trusted Types without a policy forbid every way to turn text into markup, where the browser has them: the
  /// names of links are anybody's text.
  static let contentSecurityPolicy = """
    default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
    """

  /// Body of `/page.js`, text/javascript; charset=utf-8.
  static let script = formatScript + sparkScript + listScript + summaryScript + historyScript + liveScript

  /// Body of `/`, text/html; charset=utf-8.
  static let html = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>iftally</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' stroke-width='2.6' stroke-linecap='round'%3E%3Cpath d='M4 13.5V7M8 13.5v-11' stroke='%232f74c0'/%3E%3Cpath d='M12 13.5V10' stroke='%23e08a3c'/%3E%3C/svg%3E">
    <link rel="stylesheet" href="page.css">
    <script src="page.js" defer></script>
    </head>
    <body>
    <a class="skip" href="#list">Skip to the interfaces</a>

    <header class="top">
      <h1><svg class="logo" viewBox="0 0 16 16" aria-hidden="true"><path d="M4 13.5V7M8 13.5v-11"/><path
        d="M12 13.5V10"/></svg>iftally</h1>
      <div class="state" data-state="connecting">
        <p><span class="dot" aria-hidden="true"></span><span id="state" role="status">Connecting to the
          daemon</span></p>
        <p id="as-of"></p>
      </div>
    </header>

    <main>
    <noscript><p class="note">This page asks the daemon by script. Without it, use the command
      <code>iftally</code>.</p></noscript>

    <div id="warnings" role="region" aria-label="Warnings"></div>

    <section class="tiles" aria-label="All interfaces that touch a medium, together">
      <div class="tile"><h2>Now</h2><div class="tile-body" id="sum-now"></div></div>
      <div class="tile"><h2>Today <small>estimate</small></h2><div class="tile-body" id="sum-today"></div></div>
      <div class="tile"><h2>In total <small>estimate</small></h2><div class="tile-body" id="sum-total"></div></div>
    </section>
    <p class="basis" id="by-kind"></p>
    <p class="basis" id="basis">Only interfaces that touch a medium are added up.</p>

    <p class="note"><strong>Estimates, not a bill.</strong> Each figure is what the interface’s own counter showed. A
      counter is not a meter: offloading, headers and retransmissions make it differ from what a provider measures. Open
      an interface to read what its counter counts.</p>

    <section class="interfaces" aria-labelledby="list-title">
    <h2 class="sr" id="list-title">Interfaces</h2>
    <form class="tools" role="search" aria-label="Interfaces">
      <div class="chips" id="kinds" role="group" aria-label="Kind"></div>
      <div class="fields">
        <label class="check"><input type="checkbox" id="present-only"> Present only</label>
        <label><span class="sr">Find by name, kind, type or address</span>
          <input type="search" id="find" placeholder="Find" autocomplete="off" spellcheck="false"></label>
        <label><span class="sr">Units</span>
          <select id="unit">
            <option value="iec">MiB, Mbit/s</option>
            <option value="iec/s">MiB, MiB/s</option>
            <option value="si">MB, Mbit/s</option>
            <option value="si/s">MB, MB/s</option>
            <option value="bytes">B, B/s</option>
          </select></label>
      </div>
    </form>

    <table class="list" id="list" role="table" aria-labelledby="list-title" tabindex="-1">
      <colgroup><col class="c-name"><col class="c-rate"><col class="c-figure"><col class="c-figure"></colgroup>
      <thead role="rowgroup"><tr role="row">
        <th role="columnheader" scope="col">Interface</th>
        <th role="columnheader" scope="col">Now</th>
        <th role="columnheader" scope="col">Today <small>estimate</small></th>
        <th role="columnheader" scope="col">Total <small>estimate</small></th>
      </tr></thead>
      <tbody role="rowgroup" id="rows"></tbody>
    </table>
    <p class="empty" id="empty">Connecting to the daemon</p>
    </section>
    </main>

    <footer>
      <dl class="legend">
        <div><dt><span class="mark" data-mark="complete">✓</span> Complete</dt>
          <dd>every byte that the interface’s counter showed</dd></div>
        <div><dt><span class="mark" data-mark="placed">~</span> Placed</dt>
          <dd>part of it was put into its period by proportion</dd></div>
        <div><dt><span class="mark" data-mark="at_least">≥</span> At least</dt>
          <dd>something could not be observed; the truth is this or more</dd></div>
      </dl>
      <p id="about"></p>
    </footer>
    </body>
    </html>
    """#
}
