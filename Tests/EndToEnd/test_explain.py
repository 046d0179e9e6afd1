"""Explanations: what a figure is made of adds up to it, and each incarnation has what the kernel counted in it."""
import json
import os
import subprocess
import time

from Lab import links
from Lab.client import figure_counters
from Lab.programs import program
from Lab.truth import Counters

from .case import LabCase

SPANS = ({}, {"from": "all"}, {"from": "today"}, {"from": "this-month"}, {"from": "2h", "resolution": "minute"},
         {"from": "24h", "resolution": "five_minutes"}, {"from": "yesterday"}, {"to": "now"})


class Explain(LabCase):
    programs = ("iftallyd", "iftally")

    def explained(self, daemon, name, **span):
        """An explanation whose parts were added up, and the sum of them compared with its figure."""
        reply = daemon.client.present("/v1/explain", interface=name, **span)
        total = Counters()
        for part in reply["parts"]:
            total = total.plus(figure_counters(part["amounts"]))
        self.assertEqual(total, figure_counters(reply["figure"]), reply)
        self.assertTrue(reply["verdict"], reply)
        return reply

    def assert_figures(self, daemon, name):
        """Every figure is the one that the interface's total or /v1/usage shows."""
        for span in SPANS:
            explained = self.explained(daemon, name, **span)
            if span in ({}, {"from": "all"}):
                shown = daemon.client.interface(name)["total"]
            else:
                shown = daemon.client.present("/v1/usage", interface=name, **span)["series"][0]["sum"]
            self.assertEqual(figure_counters(explained["figure"]), figure_counters(shown), span)
            quality = {**explained["figure"]["quality"], "as_of": None, "coverage": None}
            self.assertEqual(quality, {**shown["quality"], "as_of": None, "coverage": None}, span)

    def wholes(self, reply):
        """The amounts of each incarnation by its number; one that shares a part has none."""
        return {tuple(part["incarnations"]): figure_counters(part["amounts"]) for part in reply["parts"]}

    def test_each_life_of_a_link_made_anew_has_what_the_kernel_counted_in_it(self):
        daemon = self.daemon()
        lives = []
        for count in range(1, 4):
            tun = links.Tun(self.lab, "tun0")
            tun.push(100_000 * count, 50_000 * count)
            lives.append(tun.since_base())
            if count < 3:
                tun.delete()
        self.assert_link_total(daemon, lives)
        reply = self.explained(daemon, "tun0")
        self.assertEqual(self.wholes(reply), {(1,): lives[0], (2,): lives[1], (3,): lives[2]}, daemon.log())
        self.assertEqual([life.get("death") for life in reply["incarnations"]], ["deleted", "deleted", None])
        self.assertEqual([life["birth"] for life in reply["incarnations"]], ["born"] * 3)
        self.assertEqual(reply["figure"]["quality"]["completeness"], "complete")
        self.assert_figures(daemon, "tun0")

    def assert_link_total(self, daemon, lives):
        total = Counters()
        for amounts in lives:
            total = total.plus(amounts)
        end = time.monotonic() + 5
        while daemon.client.total("tun0") != total and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(daemon.client.total("tun0"), total)

    def test_a_rename_is_no_new_life(self):
        daemon = self.daemon()
        tun = links.Tun(self.lab, "before")
        tun.push(300_000, 200_000)
        truth = tun.since_base()
        tun.rename("after")
        tun.push(40_000, 30_000)
        truth = truth.plus(tun.since_base())
        self.assert_total(daemon, "after", truth)
        reply = self.explained(daemon, "after")
        self.assertEqual(self.wholes(reply), {(1,): truth})
        self.assertEqual(reply["incarnations"][0]["inode"], os.stat("/sys/class/net/after").st_ino)
        self.assert_figures(daemon, "after")

    def test_a_link_made_anew_while_stopped_has_a_gap_and_two_lives(self):
        daemon = self.daemon()
        old = links.Tun(self.lab, "tun0")
        old.push(1_000_000, 500_000)
        self.assert_link(daemon, old)
        first = old.since_base()
        daemon.stop()
        old.push(100_000, 50_000)
        old.delete()
        new = links.Tun(self.lab, "tun0")
        new.push(70_000, 60_000)
        daemon.start()
        self.assert_total(daemon, "tun0", first.plus(new.since_base()))
        reply = self.explained(daemon, "tun0")
        self.assertEqual(self.wholes(reply), {(1,): first, (2,): new.since_base()})
        self.assertEqual([life.get("death") for life in reply["incarnations"]], ["vanished", None])
        self.assertEqual(reply["incarnations"][1]["birth"], "born_unseen")
        self.assertEqual({gap["reason"] for gap in reply["gaps"] if gap["lossy"]}, {"vanished"})
        self.assertIn("not_running", {gap["reason"] for gap in reply["gaps"]})
        self.assertEqual(reply["figure"]["quality"]["completeness"], "at_least")
        self.assertIn("may have passed unseen", " ".join(reply["verdict"]))
        self.assert_figures(daemon, "tun0")

    def test_kills_leave_every_life_with_its_own(self):
        """What a life counted is a difference of totals: no commit may come between the two."""
        daemon = self.daemon()
        lives = []
        for _ in range(4):
            tun = links.Tun(self.lab, "tun0")
            tun.push(100_000, 50_000)
            daemon.client.interfaces()
            daemon.kill()
            daemon.start()
            tun.push(20_000, 10_000)
            lives.append(tun.since_base())
            tun.delete()
            daemon.restart()  # commits the death
        self.assert_link_total(daemon, lives)
        counted = [figure_counters(life["counted"]) for life in self.explained(daemon, "tun0")["incarnations"]]
        self.assertEqual(counted, lives, daemon.log())
        self.assert_figures(daemon, "tun0")

    def test_what_was_placed_is_told_with_its_span(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        daemon.stop()
        veth.push(600_000, 500_000)
        time.sleep(60 - time.time() % 60 + 2.5)
        daemon.start()
        self.assert_link(daemon, veth)
        reply = self.explained(daemon, "veth1", **{"from": "2h", "resolution": "minute"})
        placed = reply["placements"]
        self.assertEqual(sum(each["rx_bytes"] for each in placed), 600_000, reply)
        self.assertEqual(sum(each["tx_bytes"] for each in placed), 500_000, reply)
        self.assertTrue(all(each["crosses_period"] for each in placed))
        self.assertIn("600000 received", " ".join(reply["verdict"]))
        self.assertEqual([gap["lossy"] for gap in reply["gaps"]], [False])
        self.assertEqual(len(reply["incarnations"]), 1)
        self.assert_figures(daemon, "veth1")

    def test_many_lives_make_a_bounded_answer(self):
        daemon = self.daemon()
        lives = []
        for count in range(130):
            tun = links.Tun(self.lab, "tun0")
            tun.push(1_000 + count)
            lives.append(tun.since_base())
            tun.delete()
        self.assert_link_total(daemon, lives)
        reply = self.explained(daemon, "tun0")
        self.assertEqual(len(reply["incarnations"]), 100)
        self.assertEqual(reply["omitted"]["incarnations"], 30)
        earlier = Counters()
        for amounts in lives[:30]:
            earlier = earlier.plus(amounts)
        self.assertEqual(figure_counters(reply["parts"][0]["amounts"]), earlier)
        self.assertTrue(reply["parts"][0]["earlier"])
        self.assertEqual(reply["incarnations"][0]["number"], 31)

    def test_what_cannot_be_explained_is_refused(self):
        daemon = self.daemon()
        links.Tun(self.lab, "tun0")
        for query, status, code in (
                ({"interface": "nonsuch"}, 404, "unknown_interface"), ({}, 400, "bad_parameter"),
                ({"interface": ["lo", "tun0"]}, 400, "bad_parameter"),
                ({"interface": "lo+tun0"}, 400, "bad_parameter"),
                ({"interface": "lo", "from": "soon"}, 400, "bad_parameter"),
                ({"interface": "lo", "from": "now", "to": "yesterday"}, 400, "bad_parameter"),
                ({"interface": "lo", "limit": "3"}, 400, "unknown_parameter")):
            daemon.client.interfaces()
            reply = daemon.client.ask("/v1/explain", **query)
            self.assertEqual((reply.status, reply.json["code"]), (status, code), query)

    def test_the_command_shows_it(self):
        daemon = self.daemon()
        tun = links.Tun(self.lab, "tun0")
        tun.push(300_000, 200_000)
        self.assert_link(daemon, tun)
        for arguments in ((), ("--today",), ("--month",), ("--from", "2h", "-r", "minute"), ("--json",)):
            done = subprocess.run(
                [program("iftally"), "explain", "tun0", "--unit", "bytes", *arguments], capture_output=True, text=True,
                timeout=30, env={**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("exact", done.stdout)
            if arguments == ("--json",):
                self.assertEqual(json.loads(done.stdout)["figure"]["rx_bytes"], 300_000)
            else:
                self.assertRegex(done.stdout, r"(?m)^1 +300000 B +200000 B")
                self.assertRegex(done.stdout, r"(?m)^figure +300000 B +200000 B")
