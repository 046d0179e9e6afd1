"""Figures, their units and quality, and that no text of the daemon does harm."""

import pathlib

import samples
from page_case import PageCase, text_of

FORMATTING = pathlib.Path(__file__).resolve().parents[1] / "formatting.tsv"


class Figures(PageCase):
    def test_every_case_of_the_formatting_table_is_met(self):
        self.serve()
        cases = []
        for line in FORMATTING.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                value, unit, decimals, expected = line.split("\t")
                call = f"formatCoverage({value})"
                if unit != "coverage":
                    call = f"formatBytes({value}{'n' if value.isdigit() else ''}, '{unit}', {decimals})"
                cases.append((call, expected))
        self.assertGreater(len(cases), 50)
        answers = self.tab.evaluate("[" + ",".join(call for call, _ in cases) + "]")
        for (call, expected), answer in zip(cases, answers):
            with self.subTest(call):
                self.assertEqual(answer, expected)

    def test_numbers_as_they_come_from_json_are_right_to_three_digits(self):
        self.serve()
        cases = {
            "18446744073709551615": "16.00 EiB",
            "9007199254740993": "8.00 PiB",
            "1320702444": "1.23 GiB",
            "9223372036854775807": "8.00 EiB",
            "0": "0 B",
        }
        for value, expected in cases.items():
            self.assertEqual(self.tab.evaluate(f"formatBytes(JSON.parse('{value}'), 'iec')"), expected)
        for odd in ("NaN", "Infinity", "-1", "undefined", "'12'"):
            self.assertEqual(self.tab.evaluate(f"formatBytes({odd}, 'iec')"), "?")

    def test_each_interface_shows_kind_state_addresses_and_figures_with_their_quality(self):
        self.serve(samples.laptop())
        self.wait_state("live")
        text = self.row_text("wlp4s0")
        for part in (
            "Wi-Fi · station",
            "up",
            "192.0.2.57/24, 2001:db8:7::57/64 and 1 more",
            "11.86 Mbit/s",
            "2.19 GiB",
            "296.79 MiB",
            "389.51 GiB",
            "≥",
            "✓",
        ):
            self.assertIn(part, text)
        self.assertIn("~", self.row_text("wwan0"))
        self.assertIn("not present", self.row_text("tun0"))
        marks = self.tab.evaluate(
            f"[...{self.row('wlp4s0')}.querySelectorAll('.mark')].filter((m) => !m.hidden).map((m) => m.title)"
        )
        self.assertEqual([mark.split(":")[0] for mark in marks], ["complete", "at least"])
        self.assertIn("observed 99.7 %", marks[1])
        self.assertIn("3 resets, 2 gaps", marks[1])

    def test_a_tunnel_stands_under_its_carrier_and_is_never_added(self):
        self.serve(samples.laptop())
        self.wait_state("live")
        names = self.tab.evaluate("[...document.querySelectorAll('tr.link bdi')].map((name) => name.textContent)")
        self.assertEqual(names.index("wg0"), names.index("wlp4s0") + 1)
        self.assertIn("inside wlp4s0, not added", self.row_text("wg0"))
        media = [link for link in samples.laptop() if link["touches_medium"]]
        rx = sum(link["today"]["rx_bytes"] for link in media)
        self.assertEqual(
            self.tab.evaluate(text_of("#sum-today .rx .value")), self.tab.evaluate(f"formatBytes({rx}, 'iec')")
        )
        self.assertIn("enp0s31f6, wlp4s0, wwan0", self.tab.evaluate(text_of("#basis")))
        by_kind = self.tab.evaluate(text_of("#by-kind"))
        for kind in ("Wired", "Wi-Fi", "Cellular"):
            self.assertIn(kind, by_kind)

    def test_history_that_still_loads_is_called_loading_and_huge_totals_show(self):
        self.serve(samples.huge())
        self.wait_state("live")
        text = self.row_text("eth0")
        for part in ("measuring", "loading", "16.00 EiB", "8.00 PiB"):
            self.assertIn(part, text)
        self.assertEqual(self.tab.evaluate(text_of("#sum-today .rx .value")), "loading")

    def test_the_word_that_no_output_may_hold_is_absent(self):
        self.serve(samples.laptop(), address="#id:3/days")
        self.tab.wait("document.querySelector('.chart rect.rx')")
        self.assertNotIn("exact", self.tab.evaluate("document.documentElement.outerHTML").lower())

    def test_the_estimate_is_named_beside_the_figures_and_explained(self):
        self.serve(samples.laptop(), address="#id:5/hours")
        self.tab.wait("document.querySelector('.chart rect.rx')")
        self.assertIn("Estimates, not a bill.", self.tab.evaluate("document.body.innerText"))
        self.assertEqual(self.tab.evaluate("document.querySelectorAll('.list > thead th small').length"), 2)
        why = self.tab.evaluate(text_of(".why"))
        self.assertIn("What this counter counts: Inner packets before encryption", why)
        self.assertIn("pass wlp4s0 too", why)

    def test_units_can_be_chosen_and_are_remembered(self):
        daemon = self.serve(samples.laptop())
        self.wait_state("live")
        self.tab.evaluate(
            "{ const unit = at('unit'); unit.value = 'si/s'; unit.dispatchEvent(new Event('change')); } 0"
        )
        self.assertIn("1.48 MB/s", self.row_text("wlp4s0"))
        self.assertIn("2.35 GB", self.row_text("wlp4s0"))
        self.tab.open(daemon.address)
        self.wait_state("live")
        self.assertIn("1.48 MB/s", self.row_text("wlp4s0"))


class Hostile(PageCase):
    def test_names_and_texts_that_look_like_markup_are_shown_as_text(self):
        self.serve(samples.hostile(), address="#id:1/hours")
        self.tab.wait("document.querySelector('.chart rect.rx')")
        shown = self.tab.evaluate("[...document.querySelectorAll('tr.link bdi')].map((name) => name.textContent)")
        for name in samples.HOSTILE_NAMES:
            self.assertIn(name.replace("\u202e", "%E2%80%AE"), shown)
        self.assertIsNone(self.tab.evaluate("window.hacked ?? null"))
        self.assertEqual(self.tab.evaluate("document.querySelectorAll('img, main script, iframe, b').length"), 0)

    def test_unknown_words_and_interfaces_that_carry_each_other_do_no_harm(self):
        self.serve(samples.hostile())
        self.wait_state("live")
        self.assertIn("constructor · toString", self.row_text("odd"))
        self.assertIn("?", self.row_text("odd"))
        self.assertIn("inside odd, not added", self.row_text("cycle"))

    def test_the_policy_lets_no_text_become_markup(self):
        self.serve()
        self.wait_state("live")
        refused = self.tab.evaluate(
            "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } })()"
        )
        self.assertTrue(refused)
        self.tab.events.clear()

    def test_nothing_is_asked_of_another_origin(self):
        daemon = self.serve(samples.laptop(), address="#id:3/hours")
        self.tab.wait("document.querySelector('.chart rect.rx')")
        sent = [
            event["params"]["request"]["url"]
            for event in self.tab.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        foreign = [url for url in sent if not url.startswith((daemon.address, "data:", "about:"))]
        self.assertEqual(foreign, [])
