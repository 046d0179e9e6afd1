"""The page of a real daemon over real links of every odd name: each is there as text, with its bytes, and opens."""

import pathlib
import sys
import unittest

import browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from Lab import links  # noqa: E402
from Lab.daemon import Daemon  # noqa: E402
from Lab.names import NAMES, shown  # noqa: E402
from Lab.programs import missing, must_run  # noqa: E402
from Lab.space import Lab  # noqa: E402


class Names(unittest.TestCase):
    def setUp(self):
        reason = missing("iftallyd")
        if reason and must_run():
            self.fail(reason)
        if reason:
            self.skipTest(reason)
        self.lab = self.enterContext(Lab())

    def test_each_is_shown_as_text_with_its_bytes_and_opens(self):
        daemon = Daemon(self.lab, api="Tcp=127.0.0.1:8460").start()
        truth = {}
        for number, name in enumerate(NAMES):
            tun = links.Tun(self.lab, name)
            tun.push(1_000 + number, 2_000 + number)
            tun.settled()
            truth[shown(name)] = tun.since_base()
        ids = [each["id"] for each in daemon.client.interfaces()]
        tab = browser.Browser()
        self.addCleanup(tab.close)
        tab.open("http://127.0.0.1:8460/", height=4000)
        tab.wait(f"document.querySelectorAll('tr.link').length === {len(NAMES) + 1}", seconds=30)
        tab.evaluate("{ const unit = at('unit'); unit.value = 'bytes'; unit.dispatchEvent(new Event('change')); } 0")
        rows = tab.evaluate(
            "[...document.querySelectorAll('tr.link')].map((row) => [row.querySelector('bdi').textContent,"
            " ...[...[...row.querySelectorAll('td')].at(-1).querySelectorAll('.value')].map((v) => v.textContent)])")
        told = {name: (rx, tx) for name, rx, tx in rows if name != "lo"}
        self.assertEqual(told, {name: (f"{each.rx_bytes} B", f"{each.tx_bytes} B") for name, each in truth.items()})
        for known in ids[::4]:
            tab.evaluate(f"location.hash = '#{known}/hours'; 0")
            tab.wait(f"rows.get('{known}').detail?.slots")
        self.assertIsNone(tab.evaluate("window.hacked ?? null"))
        self.assertEqual(tab.evaluate("document.querySelectorAll('img, main script, iframe, main b').length"), 0)
        self.assertEqual(tab.complaints(), [])
