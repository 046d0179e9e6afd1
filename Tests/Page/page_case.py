"""What all cases of the page share: one browser a class, one fake daemon a case, no complaint of the browser."""

import unittest

import browser
import fake_daemon

FAST = "pollEvery = 50; clearTimeout(timer); poll(); 0"


def text_of(selector):
    return f"document.querySelector({selector!r})?.textContent ?? ''"


class PageCase(unittest.TestCase):
    """One browser for all cases, one daemon for each."""

    @classmethod
    def setUpClass(cls):
        cls.tab = browser.Browser()
        cls.addClassCleanup(cls.tab.close)

    def serve(self, interfaces=(), **options):
        daemon = fake_daemon.FakeDaemon(interfaces)
        self.addCleanup(daemon.stop)
        self.tab.open(daemon.address + options.pop("address", ""), **options)
        return daemon

    def wait_state(self, state):
        self.tab.wait(f"document.body.dataset.state === {state!r}")

    def row(self, name):
        return f"[...document.querySelectorAll('tr.link')].find((row) => row.querySelector('bdi').textContent === {name!r})"

    def row_text(self, name):
        return self.tab.evaluate(f"{self.row(name)}.innerText")

    def tearDown(self):
        complaints = self.tab.complaints()
        self.assertEqual(complaints, [], "the browser complained")
