"""A seeded walk over everything that can happen to links and the daemon, compared with the kernel on its way.

IFTALLY_WALK_SEED=N walks another way, IFTALLY_WALK_STEPS=N further.
"""
import os
import random
import time

from Lab import links
from Lab.client import figure_counters
from Lab.truth import Counters

from .case import LabCase

SEED = int(os.environ.get("IFTALLY_WALK_SEED", "1"))
STEPS = int(os.environ.get("IFTALLY_WALK_STEPS", "120"))
NAMES = [f"walk{number}" for number in range(6)]
KINDS = (links.Tun, links.Tap, links.Ifb, links.Veth, "pair")


class RandomWalk(LabCase):
    def setUp(self):
        super().setUp()
        self.dice = random.Random(SEED)
        self.walked = []
        self.lossy = set()  # names of which something passed that nobody could see
        self.changed = 0.0  # when a link came or went last
        self.known = []  # links that were there when the daemon ended
        self.run_daemon = self.daemon()
        self.is_running = True

    # What can happen. Each returns False when it cannot happen now.

    def create(self):
        taken = {link.name for link in self.lab.truth.live}
        free = [name for name in NAMES if name not in taken]
        kind = self.dice.choice(KINDS)
        if len(free) < (2 if kind == "pair" else 1):
            return False
        chosen = self.dice.sample(free, 2) if kind == "pair" else [self.dice.choice(free)]
        if kind == "pair":
            links.pair(self.lab, *chosen)
        else:
            kind(self.lab, chosen[0])
        self.changed = time.monotonic()
        return chosen

    def push(self):
        if not self.lab.truth.live:
            return False
        link = self.dice.choice(self.lab.truth.live)
        rx = self.dice.choice((0, 64, self.dice.randrange(64, 400_000)))
        tx = 0 if isinstance(link, links.Ifb) else self.dice.choice((0, 64, self.dice.randrange(64, 400_000)))
        link.push(rx, tx)
        return link.name, rx, tx

    def delete(self):
        if not self.lab.truth.live:
            return False
        link = self.dice.choice(self.lab.truth.live)
        both = [link, link.other] if isinstance(link, links.PairEnd) else [link]
        if not self.is_running and link not in self.known:
            return False  # of a link that came and went while nobody looked not even the name is known
        # Nobody here sees what the end of a container received last; nor the end of a link while nobody looks.
        if isinstance(link, links.Veth) or not self.is_running:
            self.lossy |= {one.name for one in both}
        link.delete()
        self.changed = time.monotonic()
        return [one.name for one in both]

    def rename(self):
        taken = {link.name for link in self.lab.truth.live}
        free = [name for name in NAMES if name not in taken]
        # The lab's other kinds have an end that keeps the old name.
        movable = [link for link in self.lab.truth.live if isinstance(link, (links.Tun, links.PairEnd))]
        if not free or not movable:
            return False
        link, new = self.dice.choice(movable), self.dice.choice(free)
        old = link.name
        link.rename(new)
        return old, new

    def kill(self):
        if not self.is_running:
            return False
        # What came or went is committed within a second; a kill before that is another test's.
        time.sleep(max(0, self.changed + 1.5 - time.monotonic()))
        self.run_daemon.kill()
        self.is_running, self.known = False, list(self.lab.truth.live)
        return True

    def stop(self):
        if not self.is_running:
            return False
        self.assertEqual(self.run_daemon.stop(), 0, self.story())
        self.is_running, self.known = False, list(self.lab.truth.live)
        return True

    def start(self):
        if self.is_running:
            return False
        # Gaps are told in whole seconds: what happens in the second of one may be labelled as if it had been in it.
        time.sleep(1)
        self.run_daemon.start()
        time.sleep(1)
        self.is_running = True
        return True

    def ask(self):
        if not self.is_running:
            return False
        self.compare()
        return True

    # What must hold.

    def compare(self):
        for link in self.lab.truth.live:
            link.settled()
        interfaces = [one for one in self.run_daemon.client.interfaces() if one["name"] != "lo"]
        counted, labels = {}, {}
        for one in interfaces:
            name = one["name"]
            counted[name] = counted.get(name, Counters()).plus(figure_counters(one["total"]))
            labels.setdefault(name, set()).add(one["total"]["quality"]["completeness"])
        truth = self.lab.truth.folded(self.lab.truth.by_name())
        counted, labels = self.lab.truth.folded(counted), self.folded_labels(labels)
        lossy = {key for key in truth if self.lossy & set(key.split("+"))}
        for key, true in truth.items():
            got = counted.get(key, Counters())
            if key in lossy:
                self.assertTrue(all(a <= b for a, b in zip(got, true)), f"{key}: {got} > {true}\n{self.story()}")
                if got != true:
                    self.assertIn("at_least", labels[key], f"{key}: {got} of {true}\n{self.story()}")
            else:
                self.assertEqual(got, true, f"{key}\n{self.story()}")
        self.compare_views(interfaces)

    def folded_labels(self, labels):
        keys = self.lab.truth.folded({name: Counters() for name in labels})
        return {key: set().union(*(labels.get(name, set()) for name in key.split("+"))) for key in keys}

    def compare_views(self, interfaces):
        """Nothing passes any more: totals, sums of any resolution, today and the metrics are the same."""
        client = self.run_daemon.client
        totals = {one["id"]: figure_counters(one["total"]) for one in interfaces}
        for resolution in ("minute", "hour", "day", "year"):
            sums = {one["interface"]["id"]: figure_counters(one["sum"]) for one in client.get(
                "/v1/usage", interface=list(totals), **{"from": "all"}, resolution=resolution)["series"]} if totals else {}
            self.assertEqual(sums, totals, f"{resolution}\n{self.story()}")
        today = {one["interface"]["id"]: one["sum"] for one in client.get(
            "/v1/usage", interface=list(totals), **{"from": "today"}, resolution="day")["series"]} if totals else {}
        for one in interfaces:
            if one["today"]:
                self.assertEqual(figure_counters(one["today"]), figure_counters(today[one["id"]]), self.story())
                self.assertEqual(
                    one["today"]["quality"]["completeness"], today[one["id"]]["quality"]["completeness"],
                    f"{one}\n{today[one['id']]}\n{self.story()}")
        for key, total in totals.items():
            explained = client.get("/v1/explain", interface=key)
            parts = Counters()
            for part in explained["parts"]:
                parts = parts.plus(figure_counters(part["amounts"]))
            self.assertEqual(figure_counters(explained["figure"]), total, f"{explained}\n{self.story()}")
            self.assertEqual(parts, total, f"{explained}\n{self.story()}")
            self.assertNotIn("unrecorded", [part["method"] for part in explained["parts"]], self.story())
        metrics = {dict(labels)["id"]: value for (name, labels), value in client.metrics().items()
                   if name == "iftally_receive_bytes_total"}
        self.assertEqual({key: metrics[key] for key in totals}, {key: each.rx_bytes for key, each in totals.items()})

    def story(self):
        steps = "\n".join(f"{number:4} {step}" for number, step in enumerate(self.walked))
        return f"seed {SEED}, lossy {sorted(self.lossy)}\n{steps}\n{self.run_daemon.log()}"

    def test_counts_what_is_true_wherever_the_walk_leads(self):
        happenings = [
            *[self.create] * 6, *[self.push] * 12, *[self.delete] * 3, *[self.rename] * 2, *[self.ask] * 4,
            self.kill, self.stop, *[self.start] * 3]
        while len(self.walked) < STEPS:
            happening = self.dice.choice(happenings)
            outcome = happening()
            if outcome is not False:
                self.walked.append((happening.__name__, outcome))
        if not self.is_running:
            self.start()
        self.compare()
