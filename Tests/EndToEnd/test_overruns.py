"""Lost link events: the daemon finds its way back by itself, counts nothing twice, and says what it could not see."""
import random
import threading
import time

from Lab import links
from Lab.daemon import wait_for
from Lab.preload import small_queue
from Lab.space import batch, ip
from Lab.truth import Counters

from .case import LabCase
from .churn import churn


class Overruns(LabCase):
    def flood(self, name, events):
        """So many link events that change nothing."""
        batch(f"link set dev {name} alias a{number}" for number in range(events))

    def wait_overrun(self, daemon):
        """Nobody asks for figures until the daemon has noticed by itself."""
        wait_for(lambda: daemon.client.status()["events"]["overruns"], "the overrun is noticed")

    def assert_gap(self, daemon):
        gaps = [gap for gap in daemon.client.status()["gaps"] if gap["reason"] == "event_overrun"]
        self.assertTrue(gaps and all(gap["lossy"] for gap in gaps), gaps)
        self.assertIn("event_overrun", [each["code"] for each in daemon.client.status()["warnings"]])

    def test_a_paused_daemon_without_privileges_and_thousands_of_events(self):
        daemon = self.daemon(without=("net_admin",))  # so that rmem_max bounds its queue
        room = daemon.client.status()["source"]["receive_buffer_bytes"]
        alive, tun = links.Veth(self.lab, "alive0"), links.Tun(self.lab, "alive1")
        ended, anew = links.Tun(self.lab, "ended0"), links.Tun(self.lab, "anew0")
        same = links.Veth(self.lab, "same0", index=400, address="02:00:00:00:aa:01")
        named = links.Veth(self.lab, "named0")
        for link in (alive, tun, ended, anew, same, named):
            link.push(1_500_000, 500_000)
            self.assert_link(daemon, link)
        seen = {link.name: link.since_base() for link in (ended, anew, same)}
        daemon.pause()
        self.flood("alive0", room // 1500)  # an event takes about 2300 bytes of the queue
        unseen = Counters(70_000, 60_000, 2, 1)
        for link in (ended, anew, same):
            link.push(unseen.rx_bytes, unseen.tx_bytes)
            link.delete()
        links.Tun(self.lab, "brief0").push(5_000_000, 100_000)
        self.lab.truth.live[-1].delete()
        links.Tun(self.lab, "anew0").push(300_000, 200_000)
        links.Veth(self.lab, "same0", index=400, address="02:00:00:00:aa:01").push(4_000_000, 2_000_000)
        named.rename("named1")
        for link in (alive, tun, named):
            link.push(900_000, 800_000)
        daemon.go_on()
        self.wait_overrun(daemon)
        truth = self.lab.truth.by_last_name()
        counted = daemon.client.totals()
        for name in ("alive0", "alive1", "named1"):
            self.assertEqual(counted[name], truth[name], name)
        for name in ("anew0", "same0", "ended0"):
            self.assertEqual(counted[name], truth[name].minus(unseen), name)
            self.assertEqual(daemon.client.interface(name)["total"]["quality"]["completeness"], "at_least", name)
        self.assertNotIn("brief0", counted)
        self.assertEqual(seen["ended0"], counted["ended0"])
        self.assert_gap(daemon)
        alive.push(10_000, 10_000)
        self.assertEqual(daemon.client.total("alive0"), alive.since_base())
        before = daemon.client.totals()
        daemon.restart()
        self.assertEqual(daemon.client.totals(), before)

    def test_a_tiny_queue_that_overflows_again_and_again(self):
        daemon = self.daemon(environment=small_queue(self.lab, 8192))
        dice = random.Random(3)
        veth, tun = links.Veth(self.lab, "veth1"), links.Tun(self.lab, "tun0")
        same = links.Ifb(self.lab, "same0", index=500)
        for _ in range(40):
            for link in (veth, tun):
                link.push(dice.randrange(64, 20_000), dice.randrange(64, 20_000))
            same.push(dice.randrange(64, 40_000))
            happening = dice.randrange(3)
            if happening == 0:
                daemon.pause()  # else it may read as fast as the kernel writes
                self.flood("veth1", 60)
                daemon.go_on()
            elif happening == 1:
                same.delete()
                same = links.Ifb(self.lab, "same0", index=500)
                same.push(dice.randrange(64, 400_000))
                self.flood("same0", 60)
            else:
                tun.rename("tun1" if tun.name == "tun0" else "tun0")
            if dice.random() < 0.3:
                self.compare(daemon, exact=(veth, tun))
        self.wait_overrun(daemon)
        self.compare(daemon, exact=(veth, tun))
        self.assert_gap(daemon)
        daemon.restart()
        self.compare(daemon, exact=(veth, tun))

    def compare(self, daemon, exact):
        """Nothing above the truth, these equal to it, and what is less says so."""
        truth = self.lab.truth.by_last_name()
        counted = daemon.client.totals()
        for name, true in truth.items():
            got = counted.get(name, Counters())
            self.assertTrue(all(a <= b for a, b in zip(got, true)), f"{name}: {got} > {true}\n{daemon.log()}")
            if name in [link.name for link in exact]:
                self.assertEqual(got, true, name)
            elif got != true:
                self.assertEqual(daemon.client.interface(name)["total"]["quality"]["completeness"], "at_least", name)

    def test_dumps_that_are_interrupted_again_and_again_still_end(self):
        batch(f"link add many{number} type ifb" for number in range(600))
        daemon = self.daemon()
        veth = links.Veth(self.lab, "veth1")
        ended = threading.Event()

        def come_and_go():
            while not ended.is_set():
                batch([f"link add brief{number} group 9 type ifb" for number in range(30)])
                ip("link", "del", "group", "9")

        thread = threading.Thread(target=come_and_go)
        thread.start()
        try:
            slowest = 0
            for _ in range(40):
                veth.push(10_000, 5_000)
                begun = time.monotonic()
                self.assert_link(daemon, veth)
                slowest = max(slowest, time.monotonic() - begun)
        finally:
            ended.set()
            thread.join()
        events = daemon.client.status()["events"]
        self.assertGreater(events["dump_retries"], 0)
        self.assertLess(slowest, 10)
        self.assert_link(daemon, veth)


class Churn(LabCase):
    """The small brothers of what `make check` does at length."""

    def test_five_hundred_links_that_come_send_and_go_are_counted_to_the_byte(self):
        outcome, daemon = churn(self.lab, cycles=500, seed=1)
        self.assertEqual(outcome.wrong(), [], f"{outcome.summary()}\n{daemon.log()[-4000:]}")
        self.assertEqual(outcome.counted, outcome.true)

    def test_with_pauses_and_a_small_queue_nothing_is_counted_twice_and_what_is_lost_is_labelled(self):
        outcome, daemon = churn(self.lab, cycles=500, seed=2, pauses=True)
        self.assertEqual(outcome.wrong(), [], f"{outcome.summary()}\n{daemon.log()[-4000:]}")
        self.assertGreater(outcome.overruns, 0)
