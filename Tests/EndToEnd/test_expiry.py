"""Links that are gone for long: their bytes stay, in a group, and their names go."""
import os
import subprocess

from Lab import links
from Lab.client import figure_counters
from Lab.clock import TurnedClock
from Lab.daemon import wait_for
from Lab.programs import program
from Lab.truth import Counters

from .change_case import ChangeCase

DAY = 86400


class Expiry(ChangeCase):
    def setUp(self):
        super().setUp()
        self.clock = TurnedClock(self.lab)

    def turned(self, daemon, days):
        """So many days have passed for the daemon, which learns of it from a link that comes and goes."""
        self.clock.turn(days * DAY, days * DAY)
        daemon.client.interfaces()
        links.Tun(self.lab, "passing0").delete()

    def sums(self, daemon, resolution="day"):
        """By kind and period, what all interfaces but lo and the passing link show of all time; and the machine's total."""
        reply = daemon.client.present("/v1/usage", **{"from": "all"}, resolution=resolution)
        sums = {}
        for series in reply["series"]:
            if series["interface"]["name"] in ("lo", "passing0"):
                continue
            for point in series["points"]:
                key = (series["interface"]["kind"], point["start"])
                sums[key] = sums.get(key, Counters()).plus(figure_counters(point))
        return sums, figure_counters(daemon.client.present("/v1/totals", **{"from": "all"})["total"])

    def told(self, daemon, *arguments):
        """What the command says, without its line breaks."""
        said = subprocess.run(
            [program("iftally"), *arguments], capture_output=True, text=True, timeout=30, check=True,
            env={**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C.UTF-8"}).stdout
        return " ".join(said.split())

    def names(self, daemon):
        return {each["name"] for each in daemon.client.interfaces()} - {"lo", "passing0"}

    def test_what_expired_links_counted_stays_in_every_period_and_their_names_go(self):
        daemon = self.daemon(environment=self.clock.environment, more="[Links]\nExpireDays=60\n")
        truth = Counters()
        for number in range(5):
            truth = truth.plus(self.gone(daemon, f"tun-{number}", 10_000 + number, 5_000)[1])
        kept = self.gone(daemon, "tun-kept", 700, 600)[1]
        self.make(daemon, self.renaming("tun-kept", "Office"))
        veth = links.Veth(self.lab, "veth1")
        veth.push(3_000, 2_000)
        veth.settled()
        days = self.sums(daemon)
        self.turned(daemon, 30)
        self.assertIn("tun-0", self.names(daemon))
        # Hours and days are kept for longer than the links are.
        self.turned(daemon, 62)
        wait_for(lambda: "tun-0" not in self.names(daemon), "the links expire")
        for restarted in (False, True, True):
            self.assertEqual(self.names(daemon), {"tun-kept", "veth1", "expired-tunnel"}, restarted)
            group = daemon.client.interface("expired-tunnel")
            self.assertEqual(group["group"], {"present": 0, "lives": 5, "expired": True})
            self.assertEqual(figure_counters(group["total"]), truth, daemon.log())
            for resolution in ("hour", "day"):
                self.assertEqual(self.usage_sum(daemon, "expired-tunnel", resolution), truth, resolution)
            self.assertEqual(self.sums(daemon), days)
            self.assertEqual(daemon.client.total("tun-kept"), kept)
            self.assertEqual(daemon.client.status()["links"]["expired"], 5)
            parts = daemon.client.present("/v1/explain", interface="expired-tunnel")["parts"]
            self.assertEqual(sum(part["amounts"]["rx_bytes"] for part in parts), truth.rx_bytes)
            metrics = daemon.client.metrics()
            self.assertEqual(metrics["iftally_links_expired", frozenset()], 5)
            self.assertNotIn("expired-tunnel", {dict(labels).get("interface") for _, labels in metrics})
            self.assertIn("members 5 expired", self.told(daemon, "interfaces", "-v"))
            self.assertIn(", 5 expired", self.told(daemon, "status"))
            if restarted:
                daemon.kill()
                daemon.start()
            else:
                daemon.restart()
        # Back under its name it is a new one, and its old bytes are told once.
        back = self.tun("tun-0", 900, 800)
        self.assert_total(daemon, "tun-0", back.since_base())
        self.assert_total(daemon, "expired-tunnel", truth)
        self.refused(daemon, self.merging("tun-kept", "expired-tunnel"), 409, "expired_group")

    def test_the_same_links_stay_where_they_should_never_expire(self):
        daemon = self.daemon(environment=self.clock.environment, more="[Links]\nExpireDays=never\n")
        self.gone(daemon, "tun-0", 1_000, 500)
        self.turned(daemon, 4000)
        self.turned(daemon, 4001)
        self.assertEqual(self.names(daemon), {"tun-0"})

    def test_a_clock_that_leaps_ahead_lets_nothing_expire_with_the_next_events(self):
        daemon = self.daemon(environment=self.clock.environment, more="[Links]\nExpireDays=60\n")
        self.gone(daemon, "tun-0", 1_000, 500)
        # Only the wall clock: somebody set it. The event of a link comes before the tick.
        self.clock.turn(4000 * DAY)
        for _ in range(2):
            commits = daemon.client.status()["commit"]["count"]
            links.Tun(self.lab, "passing0").delete()
            wait_for(lambda: daemon.client.status()["commit"]["count"] > commits, "a commit")
            self.assertEqual(self.names(daemon), {"tun-0"})
