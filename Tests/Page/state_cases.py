"""The states of the page: loading, live, unreachable, refused, hidden."""

import time

import samples
from page_case import FAST, PageCase, text_of


class States(PageCase):
    def test_loading_unreachable_empty_and_refused_are_four_different_states(self):
        daemon = self.serve()
        self.wait_state("live")
        self.assertIn("knows no interface", self.tab.evaluate(text_of("#empty")))
        for state, words in (("loading", "has not finished its first sample"), ("refused", "may not read")):
            daemon.problem = (
                samples.LOADING
                if state == "loading"
                else samples.problem("forbidden", 403, "Forbidden", "this user may not read", "Join the group iftally.")
            )
            self.tab.open(daemon.address)
            self.wait_state(state)
            self.assertIn(words, self.tab.evaluate(text_of("#empty")))
            self.assertIn(words, self.tab.evaluate(text_of("#state")))
        self.assertIn("Join the group iftally", self.tab.evaluate(text_of("#state")))
        self.tab.evaluate(FAST)
        daemon.stop()
        self.wait_state("unreachable")
        self.assertEqual(self.tab.evaluate(text_of("#empty")), "Daemon unreachable, retrying")
        daemon.start()

    def test_an_unreachable_daemon_leaves_the_last_figures_marked_with_their_time_and_recovery_is_seen(self):
        daemon = self.serve(samples.laptop(), address="#id:3/hours")
        self.wait_state("live")
        before = self.row_text("wlp4s0")
        self.tab.evaluate(FAST)
        daemon.stop()
        self.wait_state("unreachable")
        self.assertEqual(self.tab.evaluate(text_of("#as-of")), "figures as of 2025-11-30 14:03:22")
        self.assertEqual(self.row_text("wlp4s0"), before)
        self.assertEqual(
            self.tab.evaluate(f"getComputedStyle({self.row('wlp4s0')}.querySelector('.pair')).opacity"), "0.5"
        )
        daemon.interfaces[2]["today"]["rx_bytes"] = 5 << 30
        daemon.start()
        self.wait_state("live")
        self.assertIn("5.00 GiB", self.row_text("wlp4s0"))
        self.assertEqual(self.tab.evaluate("getComputedStyle(document.querySelector('.pair')).opacity"), "1")

    def test_a_daemon_that_starts_anew_keeps_the_old_figures_in_sight_and_calls_them_old(self):
        daemon = self.serve(samples.laptop())
        self.wait_state("live")
        daemon.problem = samples.LOADING
        self.tab.evaluate(FAST)
        self.wait_state("loading")
        self.assertIn("2.19 GiB", self.row_text("wlp4s0"))
        self.assertIn("figures as of", self.tab.evaluate(text_of("#as-of")))

    def test_an_answer_that_is_no_answer_is_refused_and_the_page_goes_on(self):
        daemon = self.serve(samples.laptop())
        self.wait_state("live")
        self.tab.evaluate(FAST)
        for raw in (b"<html>gateway</html>", b"[]", b"null", b'{"interfaces": 3}', b""):
            daemon.raw = raw
            self.wait_state("refused")
            self.assertIn("not understood", self.tab.evaluate(text_of("#state")))
            daemon.raw = None
            self.wait_state("live")
        self.tab.events.clear()

    def test_it_asks_every_two_seconds_while_visible_and_not_at_all_while_hidden(self):
        daemon = self.serve(samples.laptop())
        self.wait_state("live")
        asked = daemon.count("/v1/interfaces")
        time.sleep(4.3)
        self.assertIn(daemon.count("/v1/interfaces") - asked, (2, 3))
        self.tab.evaluate(
            "Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });"
            "document.dispatchEvent(new Event('visibilitychange')); 0"
        )
        asked = daemon.count("/v1/interfaces")
        time.sleep(2.5)
        self.assertEqual(daemon.count("/v1/interfaces"), asked)
        self.tab.evaluate("delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange')); 0")
        self.tab.wait("!asking")
        self.assertEqual(daemon.count("/v1/interfaces"), asked + 1)
        self.assertEqual(daemon.count("/v1/status"), 1)

    def test_warnings_of_the_daemon_and_what_it_does_not_count_are_shown(self):
        daemon = self.serve()
        warning = {
            "code": "store_memory_only",
            "message": "the store is not written",
            "remedy": "Free space on <b>/var</b>.",
        }
        daemon.status = samples.status(warnings=[warning])
        self.tab.open(daemon.address)
        self.tab.wait("document.querySelector('.warning')")
        self.assertEqual(self.tab.evaluate(text_of(".warning")), "The store is not written. Free space on <b>/var</b>.")
        self.assertIn("other network namespaces are not counted", self.tab.evaluate(text_of("#about")))
