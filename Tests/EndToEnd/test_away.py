"""While the daemon was away, stopped or killed: what its links did meanwhile is found out, or labelled."""
import datetime

from Lab import links
from Lab.client import figure_counters
from Lab.clock import TurnedClock
from Lab.daemon import wait_for
from Lab.truth import Counters

from .case import LabCase

DAY = 86_400


class Away(LabCase):
    def interface(self, daemon, name, present=True):
        """The one link of this name that is, or is not, there."""
        found = [each for each in daemon.client.interfaces() if each["name"] == name and each["present"] == present]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def end(self, daemon, how):
        """`how`: "stop", or "kill" once what was seen is committed."""
        if how == "stop":
            self.assertEqual(daemon.stop(), 0, daemon.log())
            return
        count = daemon.client.status()["commit"]["count"]
        links.Tun(self.lab, "brief0").delete()  # a departure is committed within about a second
        wait_for(lambda: daemon.client.status()["commit"]["count"] > count, "a commit")
        daemon.kill()


class Names(Away):
    """Renames that nobody saw: the history follows the link."""

    def check_rename(self, how):
        veth = links.Veth(self.lab, "wan1")
        daemon = self.daemon()
        veth.push(2_500_000, 1_500_000)
        before = daemon.client.interface("wan1")["id"]
        self.end(daemon, how)
        veth.push(30_000, 20_000)
        veth.rename("wan2")
        veth.push(2_000_000, 1_000_000)
        daemon.start()
        self.assert_truth(daemon)
        after = self.interface(daemon, "wan2")
        self.assertEqual((after["id"], after["incarnations"]), (before, 1))
        self.assertEqual(after["total"]["quality"]["completeness"], "complete")

    def test_a_rename_while_stopped_is_followed(self):
        self.check_rename("stop")

    def test_a_rename_after_a_kill_is_followed(self):
        self.check_rename("kill")

    def test_a_rename_while_stopped_onto_a_name_with_a_history_adds_to_neither(self):
        daemon = self.daemon()
        old, new = links.Tun(self.lab, "wan0"), links.Tun(self.lab, "tmp0")
        old.push(4_000_000, 1_000_000)
        new.push(600_000, 500_000)
        self.assert_link(daemon, old)
        gone = old.since_base()
        ids = {name: daemon.client.interface(name)["id"] for name in ("wan0", "tmp0")}
        old.delete()
        self.end(daemon, "stop")
        new.rename("wan0")
        new.push(70_000, 60_000)
        daemon.start()
        present, past = self.interface(daemon, "wan0"), self.interface(daemon, "wan0", present=False)
        self.assertEqual((present["id"], past["id"]), (ids["tmp0"], ids["wan0"]))
        self.assertEqual(figure_counters(past["total"]), gone)
        self.assert_truth(daemon)

    def test_a_swap_after_a_kill_is_followed(self):
        first, second = links.Veth(self.lab, "one"), links.Veth(self.lab, "two")
        daemon = self.daemon()
        first.push(4_000_000, 1_000_000)
        second.push(300_000, 200_000)
        ids = {name: daemon.client.interface(name)["id"] for name in ("one", "two")}
        self.end(daemon, "kill")
        first.rename("aside")
        second.rename("one")
        first.rename("two")
        first.push(50_000, 40_000)
        second.push(6_000, 5_000)
        daemon.start()
        self.assertEqual(daemon.client.interface("two")["id"], ids["one"])
        self.assertEqual(daemon.client.interface("one")["id"], ids["two"])
        self.assert_truth(daemon)


class Lives(Away):
    """Links made anew, or lost, while nobody watched."""

    def check_same_index(self, how, first, second):
        """The link comes back with the same name, address and index; only its inode tells it from the first."""
        address = "02:00:00:00:aa:01"
        veth = links.Veth(self.lab, "veth1", index=400, address=address)
        daemon = self.daemon()
        veth.push(*first)
        self.assert_link(daemon, veth)
        self.end(daemon, how)
        unseen = Counters(70_000, 60_000, 2, 1)
        veth.push(unseen.rx_bytes, unseen.tx_bytes)
        veth.delete()
        links.Veth(self.lab, "veth1", index=400, address=address).push(*second)
        daemon.start()
        counted, truth = daemon.client.total("veth1"), self.lab.truth.of("veth1")
        self.assertEqual(counted.rx_bytes, truth.rx_bytes - unseen.rx_bytes)
        self.assertEqual(counted.tx_bytes, truth.tx_bytes - unseen.tx_bytes)
        interface = self.interface(daemon, "veth1")
        self.assertEqual(interface["total"]["quality"]["completeness"], "at_least")
        self.assertEqual(interface["incarnations"], 2)
        reasons = {gap["reason"] for gap in daemon.client.status()["gaps"] if gap["lossy"]}
        self.assertIn("not_running", reasons)

    def test_the_same_index_again_while_stopped_with_lower_counters(self):
        self.check_same_index("stop", (4_000_000, 2_000_000), (1_500_000, 500_000))

    def test_the_same_index_again_while_stopped_with_higher_counters(self):
        self.check_same_index("stop", (1_500_000, 500_000), (4_000_000, 2_000_000))

    def test_the_same_index_again_after_a_kill(self):
        self.check_same_index("kill", (1_500_000, 2_000_000), (4_000_000, 500_000))

    def test_a_reboot_after_a_kill_counts_the_new_boot_from_zero_and_keeps_what_was_committed(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        committed = veth.since_base()
        self.end(daemon, "kill")
        veth.push(50_000, 40_000)  # of this only the machine's last boot knew
        veth.delete()
        self.lab.new_boot()
        again = links.Veth(self.lab, "veth1")
        again.push(3_000_000, 500_000)
        daemon.start()
        self.assert_total(daemon, "veth1", committed.plus(again.since_base()))
        interface = self.interface(daemon, "veth1")
        self.assertEqual(interface["total"]["quality"]["completeness"], "at_least")
        self.assertIn("reboot", {gap["reason"] for gap in daemon.client.status()["gaps"] if gap["lossy"]})

    def test_all_of_it_at_once(self):
        """One link lives on, one was renamed, one made anew, one ended, one was born; each is booked for itself."""
        alive, renamed = links.Tun(self.lab, "alive0"), links.Tun(self.lab, "old0")
        anew, ended = links.Tun(self.lab, "anew0"), links.Tun(self.lab, "ended0")
        daemon = self.daemon()
        for link in (alive, renamed, anew, ended):
            link.push(1_000_000, 500_000)
            self.assert_link(daemon, link)
        self.end(daemon, "stop")
        alive.push(20_000, 10_000)
        anew.delete()
        anew = links.Tun(self.lab, "anew0")
        anew.push(3_000_000, 100_000)
        ended.delete()
        renamed.rename("new0")
        renamed.push(40_000, 30_000)
        links.Tun(self.lab, "born0").push(700_000, 600_000)
        daemon.start()
        self.assert_truth(daemon)
        labels = {each["name"]: each["total"]["quality"]["completeness"] for each in daemon.client.interfaces()}
        self.assertEqual({name: labels[name] for name in ("alive0", "new0")}, {"alive0": "complete", "new0": "complete"})
        self.assertEqual((labels["anew0"], labels["ended0"]), ("at_least", "at_least"))
        self.assertNotEqual(labels["born0"], "at_least")


class Days(Away):
    def test_five_days_away_are_counted_and_placed_over_these_days(self):
        veth, clock = links.Veth(self.lab, "veth1"), TurnedClock(self.lab)
        daemon = self.daemon(environment=clock.environment)
        veth.push(2_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        self.end(daemon, "stop")
        clock.turn(5 * DAY, boot=5 * DAY)
        veth.push(5_000_000, 2_500_000)
        daemon.start()
        self.assert_link(daemon, veth)
        reply = daemon.client.get("/v1/usage", interface="veth1", **{"from": "all"}, resolution="day")
        points = reply["series"][0]["points"]
        self.assertEqual(len(points), 6, points)
        self.assertEqual(sum(point["rx_bytes"] for point in points), 7_000_000)
        for point in points[1:-1]:  # whole days: a fifth of what passed in five
            self.assertAlmostEqual(point["rx_bytes"], 1_000_000, delta=2_000)
            self.assertEqual(point["completeness"], "placed")
        self.assertEqual(reply["series"][0]["sum"]["quality"]["completeness"], "placed")
        gap, = [gap for gap in daemon.client.status()["gaps"] if gap["reason"] == "not_running"]
        begun, ended = (datetime.datetime.fromisoformat(gap[edge]) for edge in ("from", "to"))
        self.assertAlmostEqual((ended - begun).total_seconds(), 5 * DAY, delta=60)
        self.assertEqual(daemon.client.status()["clock"]["steps"], [])

    def test_days_away_with_the_link_made_anew_are_a_gap(self):
        tun, clock = links.Tun(self.lab, "tun0"), TurnedClock(self.lab)
        daemon = self.daemon(environment=clock.environment)
        tun.push(2_000_000, 1_000_000)
        self.assert_link(daemon, tun)
        self.end(daemon, "stop")
        clock.turn(3 * DAY, boot=3 * DAY)
        tun.delete()
        links.Tun(self.lab, "tun0").push(900_000, 800_000)
        daemon.start()
        self.assert_truth(daemon)
        self.assertEqual(self.interface(daemon, "tun0")["total"]["quality"]["completeness"], "at_least")
