"""Choosing by name: a device is all that it counted, under whatever label; a link of a group is that group."""
import json
import os
import subprocess

from Lab import links
from Lab.client import figure_counters
from Lab.daemon import wait_for
from Lab.programs import program
from Lab.stream import Stream
from Lab.space import ip
from Lab.truth import Counters

from .change_case import ChangeCase, target
from .rule_case import RuleCase

CAFE = "[Rule cafe]\nMatchName=tun0\nLabel=cafe\n"
HOME = "[Rule home]\nMatchName=tun0\nLabel=home\n"


class Labels(RuleCase, ChangeCase):
    def run_command(self, daemon, *arguments, code=0):
        done = subprocess.run(
            [program("iftally"), *arguments], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
            env={**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, code, done)
        self.assertNotIn("exact", done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def labelled(self):
        """A tun that counted without a label, as cafe, and now as home; the ids and amounts by label."""
        daemon = self.with_rules()
        tun, parts, before = links.Tun(self.lab, "tun0"), {}, Counters()
        for label, rules, rx in ((None, "", 100_000), ("cafe", CAFE, 30_000), ("home", HOME, 7_000)):
            if label:
                self.reload(daemon, rules)
            tun.push(rx, rx // 2)
            tun.settled()
            parts[label] = tun.since_base().minus(before)
            before = tun.since_base()
        ids = {each.get("label"): each["id"] for each in daemon.client.interfaces() if each["name"] == "tun0"}
        self.assertEqual(set(ids), set(parts))
        return daemon, tun, ids, parts

    def usage(self, daemon, **query):
        return daemon.client.present("/v1/usage", **{"from": "all", "resolution": "day", **query})["series"]

    def assert_parts(self, daemon, ids, parts):
        """Each label alone, by its id and as the device under that label, in all that can be asked."""
        for label, id in ids.items():
            self.assertEqual(self.assert_adds_up(daemon, id, parts[label]).get("label"), label)
            if label is None:
                continue
            series, = self.usage(daemon, interface="tun0", label=label)
            self.assertEqual((series["interface"]["id"], series["interface"]["label"]), (id, label))
            self.assertEqual(figure_counters(series["sum"]), parts[label])
            self.assertNotIn("records", series["interface"])
            reply = daemon.client.present("/v1/explain", interface="tun0", label=label)
            self.assertEqual(figure_counters(reply["figure"]), parts[label])
            listed, = daemon.client.present("/v1/interfaces", interface="tun0", label=label)["interfaces"]
            self.assertEqual((listed["id"], figure_counters(listed["total"])), (id, parts[label]))

    def test_a_name_is_the_device_under_all_its_labels_and_a_label_or_an_id_is_its_part(self):
        daemon, tun, ids, parts = self.labelled()
        order = [ids["home"], ids["cafe"], ids[None]]
        for _ in range(2):
            device = self.assert_adds_up(daemon, "tun0", tun.since_base())
            self.assertEqual([each["id"] for each in device["records"]], order)
            self.assertEqual([each.get("label") for each in device["records"]], ["home", "cafe", None])
            self.assertEqual((device["id"], device["present"], device["incarnations"]), (ids["home"], True, 3))
            self.assertNotIn("label", device)
            self.assert_parts(daemon, ids, parts)
            # It lived through the absence: nothing of it can have been missed under any label.
            for name in ("tun0", *ids.values()):
                for figure in (daemon.client.interface(name)["total"], daemon.client.interface(name)["today"],
                               *[each["sum"] for each in self.usage(daemon, interface=name)]):
                    self.assertEqual(figure["quality"]["completeness"], "complete", name)
            self.assertEqual(len(self.usage(daemon, interface="tun0+tun0")), 1)
            both = self.usage(daemon, interface="id:" + ids["cafe"][3:] + "+tun0")
            self.assertEqual([figure_counters(each["sum"]) for each in both], [tun.since_base()])
            some, = daemon.client.present(
                "/v1/usage", interface="tun0", label=["cafe", "home"], **{"from": "all"})["series"]
            self.assertEqual(figure_counters(some["sum"]), parts["cafe"].plus(parts["home"]))
            self.assert_metrics(daemon, {(ids[label], None): parts[label] for label in ids})
            total = daemon.client.present("/v1/totals", **{"from": "all"})
            self.assertEqual(sum(each["interface"]["name"] == "tun0" for each in total["not_added"]), 3)
            daemon.kill()
            daemon.start()
            tun.push(500, 400)
            tun.settled()
            parts["home"] = tun.since_base().minus(parts[None]).minus(parts["cafe"])
        tun.delete()
        wait_for(lambda: not daemon.client.interface("tun0")["present"], "its end")
        self.assert_parts(daemon, ids, parts)
        back = self.tun("tun0", 2_000, 1_000)
        whole = parts[None].plus(parts["cafe"]).plus(parts["home"]).plus(back.since_base())
        self.assert_adds_up(daemon, "tun0", whole)

    def test_the_command_shows_the_device_and_its_parts(self):
        daemon, tun, ids, parts = self.labelled()
        whole = tun.since_base()
        for arguments, words in (
                (("-i", "tun0"), "home, cafe, none"), (("interfaces", "-i", "tun0"), "home, cafe, none"),
                (("interfaces", "-v", "-i", "tun0"), f"home ({ids['home']}), cafe ({ids['cafe']}), none ({ids[None]})"),
                (("days", "-i", "tun0"), "tun0 (tunnel, labels home, cafe, none together)"),
                (("explain", "tun0"), "tun0 (tunnel, labels home, cafe, none together)"),
                (("live", "-n", "1", "-i", "tun0"), "tun0")):
            with self.subTest(arguments=arguments):
                text = self.run_command(daemon, *arguments, "--unit", "bytes")
                self.assertIn(words, text)
                if arguments[0] != "live":
                    self.assertIn(f"{whole.rx_bytes} B", text)
                    self.assertNotIn(f"{parts['cafe'].rx_bytes} B   ", text.split("Incarnations")[0].split("HOW")[0])
        part = self.run_command(daemon, "days", "-i", "tun0", "--label", "cafe", "--unit", "bytes")
        self.assertIn("tun0 (tunnel, label cafe, gone)", part)
        self.assertIn(f"{parts['cafe'].rx_bytes} B", part)
        part = self.run_command(daemon, "explain", "tun0", "--label", "cafe", "--unit", "bytes")
        self.assertIn(f"{parts['cafe'].rx_bytes} B", part)
        reply = json.loads(self.run_command(daemon, "-i", "tun0", "--json"))
        one, = reply["interfaces"]["interfaces"]
        month, = reply["this_month"]["series"]
        self.assertEqual([figure_counters(figure) for figure in (one["total"], one["today"], month["sum"])], [whole] * 3)
        self.assertEqual(one["id"], month["interface"]["id"])
        error = self.run_command(daemon, "-i", "tun1", code=6)
        self.assertIn("Did you mean tun0?", error)

    def test_a_stream_by_name_or_title_follows_the_device_from_label_to_label(self):
        daemon, tun, ids, _ = self.labelled()
        self.make(daemon, self.renaming(ids["cafe"], "Desk"))
        streams = [Stream(daemon.socket, f"?interval=1&events=rates,link&interface={name}")
                   for name in ("tun0", "Desk", ids["cafe"])]
        for stream in streams:
            self.addCleanup(stream.close)
        self.reload(daemon, CAFE)
        tun.delete()
        went = lambda events: any(event.get("change") == "went" for event in events)
        for stream in streams:
            events = stream.until(went)
            self.assertTrue(went(events), events)
            self.assertEqual({speed["interface"]["name"] for event in events for speed in event.get("interfaces", ())}
                             | {event["interface"]["name"] for event in events if "interface" in event}, {"tun0"})

    def test_two_devices_that_had_one_name_after_each_other_are_not_added_up(self):
        daemon = self.with_rules(CAFE)
        old, first = self.gone(daemon, "tun0", 100_000, 50_000)
        self.reload(daemon, "")
        # Another sort of link, and one that takes the name of a history by a rename.
        veth = links.Veth(self.lab, "tun0")
        veth.push(20_000, 10_000)
        self.assert_total(daemon, "tun0", veth.since_base())
        device = self.assert_adds_up(daemon, "tun0", veth.since_base())
        self.assertNotIn("records", device)
        self.assert_adds_up(daemon, old, first)
        refused = self.refused(daemon, self.forgetting("tun0"), 409, "ambiguous_interface")
        self.assertIn(old, refused["detail"])
        before = veth.since_base()
        veth.rename("veth1")
        veth.push(500, 400)
        self.assert_total(daemon, "veth1", before.plus(veth.since_base()))
        self.assert_adds_up(daemon, "tun0", first)

    def test_changes_by_name_are_of_the_device_and_by_id_of_a_record(self):
        daemon, tun, ids, parts = self.labelled()
        self.gone(daemon, "old0", 5_000, 4_000)
        before = self.figures(daemon)
        for name in ("tun0", ids["cafe"]):
            made = self.make(daemon, self.renaming(name, "Desk"))["change"]
            titled = [each.get("title") for each in daemon.client.interfaces() if each["name"] == "tun0"]
            self.assertEqual(titled, ["Desk"] * 3)
            self.assert_adds_up(daemon, "Desk", tun.since_base())
            self.make(daemon, self.renaming("Desk", "Table"))
            self.assertEqual(daemon.client.interface(ids[None])["title"], "Table")
            for change in (made["id"] + 1, made["id"]):
                self.make(daemon, self.undoing(change))
            self.assertEqual(self.figures(daemon), before)
        for asked in (self.merging("old0", "tun0"), self.merging("tun0", "old0")):
            detail = self.refused(daemon, asked, 409, "ambiguous_interface")["detail"]
            self.assertIn(f"{ids['cafe']} (label cafe)", detail)
            self.assertIn(f"{ids[None]} (without a label)", detail)
        # What is merged with one record is the device's too.
        merge = self.make(daemon, self.merging("old0", ids["cafe"]))["change"]["id"]
        old = self.assert_adds_up(daemon, "tun0", tun.since_base().plus(Counters(5_000, 4_000, *self.packets)))["merged"]
        self.assertEqual([each["name"] for each in old], ["old0"])
        self.make(daemon, self.undoing(merge))
        one = self.make(daemon, self.forgetting(ids["cafe"]))["change"]
        self.assert_adds_up(daemon, "tun0", parts[None].plus(parts["home"]))
        self.assertNotIn("others", one)
        self.make(daemon, self.undoing(one["id"]))
        made = self.make(daemon, self.forgetting("tun0"))
        self.assertEqual({each["id"] for each in [made["change"]["interface"], *made["change"]["others"]]},
                         set(ids.values()))
        kept = tun.since_base()
        daemon.kill()
        daemon.start()
        for id in ids.values():
            self.assertEqual(daemon.client.ask(target(id)).status, 404)
        tun.push(300, 200)
        tun.settled()
        new = self.assert_adds_up(daemon, "tun0", tun.since_base().minus(kept))
        self.assertEqual((new["label"], new["id"]), ("home", made["interface"]["id"]))
        self.assertIn(ids[None], self.run_command(daemon, "changes"))
        self.make(daemon, self.undoing(made["change"]["id"]))
        self.assert_parts(daemon, {label: ids[label] for label in (None, "cafe")}, parts)
        self.assert_adds_up(daemon, ids["home"], parts["home"])
        # The record that took its place bears the device's name now.
        self.assert_adds_up(daemon, "tun0", tun.since_base().minus(parts["home"]))
        self.make(daemon, self.merging(new["id"], ids["home"]))
        self.assert_adds_up(daemon, "tun0", tun.since_base())

    @property
    def packets(self):
        (_, _, rx, tx), = [amounts for name, amounts in self.lab.truth.by_name().items() if name == "old0"]
        return rx, tx

    def test_a_link_of_a_group_is_answered_with_the_group_and_that_is_said(self):
        daemon = self.with_rules()
        other = self.lab.space("box")
        ip("link", "add", "veth1a2b3c4", "type", "veth", "peer", "name", "vethfe01234")
        ip("link", "set", "vethfe01234", "netns", other.name, "name", "eth0")
        wait_for(lambda: daemon.client.interface("containers")["group"]["present"] == 1, "the group")
        said = "veth1a2b3c4 is counted in the group containers."
        for arguments in ((), ("days",), ("hours",), ("usage",), ("interfaces",), ("interfaces", "-v")):
            with self.subTest(arguments=arguments):
                text = self.run_command(daemon, *arguments, "-i", "veth1a2b3c4")
                self.assertIn(said, text)
                self.assertIn("containers", text)
                self.assertNotIn(said, self.run_command(daemon, *arguments, "-i", "containers"))
        self.assertIn(said, self.run_command(daemon, "explain", "veth1a2b3c4"))
        self.assertIn("counting veth1a2b3c4", self.run_command(daemon, "live", "-n1", "-i", "veth1a2b3c4"))
        reply = json.loads(self.run_command(daemon, "-i", "veth1a2b3c4+lo", "--json"))
        for entry in (*reply["interfaces"]["interfaces"], *[each["interface"] for each in reply["this_month"]["series"]]):
            group = entry["name"] == "containers"
            self.assertEqual(entry.get("asked_members"), ["veth1a2b3c4"] if group else None)
        self.assertEqual(daemon.client.interface("veth1a2b3c4")["name"], "containers")
        series, = self.usage(daemon, interface="veth1a2b3c4+containers")
        self.assertEqual((series["interface"]["name"], series["interface"]["asked_members"]),
                         ("containers", ["veth1a2b3c4"]))
        for asked in (self.forgetting("veth1a2b3c4"), self.renaming("veth1a2b3c4", "x")):
            self.assertIn("counted in the group containers",
                          self.refused(daemon, asked, 404, "unknown_interface")["detail"])
        self.assertIn("Did you mean", self.run_command(daemon, "-i", "containrs", code=6))
