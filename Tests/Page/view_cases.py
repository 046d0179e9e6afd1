"""The list, the history of one interface, and that both can be read by everybody."""

import time

import fake_daemon
import samples
from page_case import FAST, PageCase, text_of


class List(PageCase):
    def test_kinds_filter_the_list_and_text_finds_by_name_and_address(self):
        self.serve(samples.laptop())
        self.wait_state("live")
        visible = "[...document.querySelectorAll('tr.link bdi')].map((name) => name.textContent)"
        self.tab.evaluate("document.querySelector('[data-kind=tunnel]').click()")
        self.assertEqual(sorted(self.tab.evaluate(visible)), ["tun0", "wg0"])
        self.tab.evaluate("at('present-only').click()")
        self.assertEqual(self.tab.evaluate(visible), ["wg0"])
        self.tab.evaluate("document.querySelector('[data-kind=\"\"]').click()")
        self.tab.evaluate("at('find').value = '2001:DB8'; at('find').dispatchEvent(new Event('input')); 0")
        self.assertEqual(self.tab.evaluate(visible), ["wlp4s0"])
        self.tab.evaluate("at('find').value = 'zzz'; at('find').dispatchEvent(new Event('input')); 0")
        self.assertEqual(self.tab.evaluate(text_of("#empty")), "No interface matches.")

    def test_three_hundred_interfaces_are_drawn_and_drawn_again_quickly(self):
        self.serve(samples.many())
        self.wait_state("live")
        self.assertEqual(self.tab.evaluate("document.querySelectorAll('tr.link').length"), 300)
        again = self.tab.evaluate(
            "(() => { const from = performance.now(); for (let i = 0; i < 5; i += 1) take(figures);"
            " return (performance.now() - from) / 5; })()"
        )
        self.assertLess(again, 200, "milliseconds")

    def test_an_interface_that_comes_or_goes_takes_no_focus_away(self):
        daemon = self.serve(samples.laptop())
        self.wait_state("live")
        self.tab.evaluate(f"{self.row('lo')}.querySelector('button').focus(); {FAST}")
        gone = daemon.interfaces.pop(0)
        daemon.interfaces[0:1] = []
        daemon.interfaces.append(
            samples.interface(
                40, "aaa0", "wired", "ethernet", True, "hardware", samples.figure(0, 0), samples.figure(0, 0)
            )
        )
        daemon.interfaces.append(gone)
        self.tab.wait(f"{self.row('aaa0')} !== undefined")
        self.assertEqual(self.tab.evaluate("document.activeElement.textContent"), "lo")

    def test_nothing_moves_while_the_page_loads_and_asks_again(self):
        for width in (1280, 390):
            daemon = self.serve(samples.laptop(), width=width)
            self.wait_state("live")
            self.tab.evaluate(FAST)
            for swell in (1, 1000, 10**6):
                for link in daemon.interfaces:
                    link["rate"] = samples.rate(swell * 17.0, swell * 3.0)
                asked = daemon.count("/v1/interfaces")
                while daemon.count("/v1/interfaces") < asked + 2:
                    time.sleep(0.02)
            moved = self.tab.evaluate(
                "new Promise((done) => { let sum = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries())"
                " sum += entry.value; }).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 100); })"
            )
            self.assertLess(moved, 0.02, f"layout shift at width {width}")

    def test_no_width_makes_the_page_scroll_sideways(self):
        for sample in (samples.laptop(), samples.hostile(), samples.huge()):
            daemon = self.serve(sample, address="#id:1/days", width=320)
            for width in (320, 390, 720, 721, 940, 1280):
                self.tab.open(daemon.address, width=width)
                self.wait_state("live")
                beyond = self.tab.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                self.assertLessEqual(beyond, 0, f"{sample[0]['name']} at width {width}")


class History(PageCase):
    def test_an_interface_opens_by_keyboard_and_its_periods_are_read_by_arrow_keys(self):
        self.serve(samples.laptop())
        self.wait_state("live")
        self.tab.evaluate(f"{self.row('wlp4s0')}.querySelector('button').focus(); 0")
        self.tab.press("Enter", 13)
        self.tab.wait("document.querySelector('.chart rect.rx')")
        self.assertEqual(self.tab.evaluate("document.activeElement.getAttribute('aria-expanded')"), "true")
        self.assertTrue(
            self.tab.evaluate("!!document.getElementById(document.activeElement.getAttribute('aria-controls'))")
        )
        self.assertTrue(self.tab.evaluate(text_of(".period")).startswith("Sum of 24 hours"))
        self.tab.evaluate("document.querySelector('.frame').focus(); 0")
        self.tab.press("ArrowLeft", 37)
        self.assertEqual(self.tab.evaluate(text_of(".period")), "2025-11-30 14:00–15:00")
        self.tab.press("Home", 36)
        for _ in range(4):
            self.tab.press("ArrowRight", 39)
        self.assertIn("no traffic", self.tab.evaluate(text_of(".readout")))
        for _ in range(6):
            self.tab.press("ArrowRight", 39)
        self.assertIn("observed 81.2 %", self.tab.evaluate(text_of(".readout")))
        self.tab.press("Escape", 27)
        self.assertTrue(self.tab.evaluate(text_of(".period")).startswith("Sum of 24 hours"))

    def test_hours_days_and_months_have_a_column_for_every_period_and_a_table_with_the_same_figures(self):
        self.serve(samples.laptop(), address="#id:3/hours")
        for span, periods, first in (
            ("hours", 24, "2025-11-29 15:00–16:00"),
            ("days", 30, "2025-11-01"),
            ("months", 12, "2024-12"),
        ):
            self.tab.wait("document.querySelector('[data-span]')")
            self.tab.evaluate(f"document.querySelector('[data-span={span}]').click()")
            self.tab.wait(f"document.querySelectorAll('.chart rect.band').length === {periods}")
            self.assertEqual(self.tab.evaluate("document.querySelectorAll('.chart rect.rx').length"), periods - 1)
            self.assertEqual(self.tab.evaluate("document.querySelectorAll('.scroll tbody tr').length"), periods - 1)
            self.assertEqual(self.tab.evaluate(text_of(".scroll tbody th")), first)
            marks = self.tab.evaluate("[...document.querySelectorAll('.bar-mark')].map((mark) => mark.textContent)")
            self.assertEqual(marks, ["~", "≥"])
            self.assertEqual(self.tab.evaluate("location.hash"), f"#id:3/{span}")

    def test_days_of_23_and_25_hours_and_a_zone_unknown_to_the_browser_keep_their_columns(self):
        self.serve()
        spring = (
            "slotsOf({ resolution: 'day', from: '2025-03-29T00:00:00+01:00', to: '2025-04-01T00:00:00+02:00', timezone: 'Europe/Berlin' },"
            " [{ start: '2025-03-31T00:00:00+02:00' }]).map((slot) => slot.title + (slot.point ? '*' : ''))"
        )
        self.assertEqual(self.tab.evaluate(spring), ["2025-03-29", "2025-03-30", "2025-03-31*"])
        autumn = (
            "slotsOf({ resolution: 'hour', from: '2025-10-26T01:00:00+02:00', to: '2025-10-26T04:00:00+01:00', timezone: 'Europe/Berlin' },"
            " [{ start: '2025-10-26T02:00:00+01:00' }]).map((slot) => slot.label + (slot.point ? '*' : ''))"
        )
        self.assertEqual(self.tab.evaluate(autumn), ["01:00", "02:00", "02:00*", "03:00"])
        unknown = (
            "slotsOf({ resolution: 'hour', from: '2025-10-26T01:30:00+05:30', to: '2025-10-26T03:30:00+05:30', timezone: 'Nowhere/None' },"
            " []).map((slot) => slot.title)"
        )
        self.assertEqual(self.tab.evaluate(unknown), ["2025-10-26 01:30–02:30", "2025-10-26 02:30–03:30"])
        months = (
            "slotsOf({ resolution: 'month', from: monthStart('2026-02-03T00:00:00Z', 3) + 'T00:00:00Z', to: '2026-03-01T00:00:00Z',"
            " timezone: 'UTC' }, []).map((slot) => slot.label)"
        )
        self.assertEqual(self.tab.evaluate(months), ["Nov", "Dec", "2026", "Feb"])

    def test_no_traffic_loading_and_no_answer_are_told_apart_in_the_chart(self):
        links = samples.laptop()
        links[1]["total"] = samples.figure(0, 0)
        daemon = self.serve(links, address="#id:2/hours")
        self.tab.wait(text_of(".chart") + " === 'No traffic was counted in this span.'")
        answer = daemon._api

        def without_history(path, query):
            if path == "/v1/usage":
                refusal = samples.problem(
                    "store_unavailable", 503, "The store cannot be read", "disk I/O error", "See iftally status."
                )
                return 503, "application/problem+json", fake_daemon.json.dumps(refusal).encode()
            return answer(path, query)

        daemon._api = without_history
        self.tab.evaluate("document.querySelector('[data-span=days]').click()")
        self.tab.wait(text_of(".chart") + " === 'The store cannot be read. Disk I/O error. See iftally status.'")
        daemon._api = answer
        self.tab.evaluate(f"{self.row('wlp4s0')}.querySelector('button').click(); {FAST}")
        self.tab.wait("document.querySelector('.chart rect.rx')")
        self.assertEqual(self.tab.evaluate("document.querySelectorAll('tr.detail').length"), 1)


class Readable(PageCase):
    """Contrast of every text with what it stands on, in both colour schemes: at least 4.5 to 1 (WCAG 2.2 AA)."""

    CONTRAST = """(() => {
      const parse = (color) => color.match(/[\\d.]+/g).map(Number);
      const light = (c) => { const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = (node) => { for (let at = node; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
      const poor = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = walk.currentNode.parentElement;
        if (walk.currentNode.data.trim() === "" || !node.checkVisibility() || node.closest("option, .sr")) continue;
        const style = getComputedStyle(node);
        const ink = parse(node instanceof SVGElement ? style.fill : style.color).slice(0, 3);
        const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) poor.push(`${walk.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
      }
      return poor;
    })()"""

    def test_every_text_has_contrast_in_light_and_dark(self):
        for dark in (False, True):
            self.serve(samples.laptop(), address="#id:3/hours", dark=dark)
            self.tab.wait("document.querySelector('.chart rect.rx')")
            self.assertEqual(self.tab.evaluate(self.CONTRAST), [], "dark" if dark else "light")

    def test_every_control_and_table_has_a_name_and_the_phone_keeps_the_roles(self):
        self.serve(samples.laptop(), address="#id:3/hours", width=390)
        self.tab.wait("document.querySelector('.chart rect.rx')")
        nodes = self.tab.command("Accessibility.getFullAXTree")["nodes"]
        roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
        for role in (
            "table",
            "columnheader",
            "rowheader",
            "status",
            "search",
            "heading",
            "banner",
            "contentinfo",
            "main",
        ):
            self.assertIn(role, roles)
        for node in nodes:
            if not node["ignored"] and node["role"]["value"] in (
                "button",
                "searchbox",
                "combobox",
                "checkbox",
                "image",
                "table",
            ):
                self.assertTrue(node.get("name", {}).get("value"), node["role"])
