"""The machine's total: equal to the bytes on the medium, whatever is stacked above it."""
import json
import os
import subprocess

from Lab import links
from Lab.client import figure_counters
from Lab.machine import Machine
from Lab.programs import program
from Lab.space import ip
from Lab.truth import Counters

from .case import LabCase

VPN = """
[Rule vpn]
MatchName=tun*
Carrier=eth0
Label=the VPN

[Rule uplink]
MatchName=eth0
Label=the cable
"""


class Totals(LabCase):
    programs = ("iftallyd", "iftally")

    def totals(self, daemon, **query):
        return daemon.client.present("/v1/totals", **query)

    def served(self, rules=""):
        return self.daemon(api=rules)

    def entry(self, reply, name):
        [found] = [each for each in reply["added"] + reply["not_added"] if each["interface"]["name"] == name]
        return found

    def added(self, reply):
        return sorted(each["interface"]["name"] for each in reply["added"])

    def assert_adds_up(self, reply):
        """The total is the sum of what is added, and so are its parts by kind and by label."""
        for parts in (reply["added"], reply["by_kind"], reply["by_label"] or reply["by_kind"]):
            total = Counters()
            for part in parts:
                total = total.plus(figure_counters(part["figure"]))
            self.assertEqual(total, figure_counters(reply["total"]))
        names = [each["interface"]["id"] for each in reply["added"] + reply["not_added"]]
        self.assertEqual(len(names), len(set(names)), "an interface is in the answer twice")
        for each in reply["added"] + reply["not_added"]:
            self.assertTrue(each["why"], each)

    def test_a_machine_with_a_vpn_containers_and_a_macvlan_totals_the_bytes_on_its_medium(self):
        machine = Machine(self.lab)
        daemon = self.served(VPN)
        before = machine.on_the_medium()
        machine.vpn(40)
        machine.vpn_in_vpn(30)
        machine.containers_talk(20)
        machine.containers_talk_within(20)
        machine.macvlan_sends(25)
        machine.host_talks(10)
        reply = self.totals(daemon)
        truth = machine.on_the_medium()
        self.assertEqual(truth, machine.on_the_other_side())
        self.assertEqual(figure_counters(reply["total"]), truth.minus(before), json.dumps(reply, indent=1))
        self.assertEqual(reply["total"]["quality"]["completeness"], "complete")
        self.assertEqual(self.added(reply), ["eth0"])
        self.assert_adds_up(reply)
        self.assertEqual([part["name"] for part in reply["by_kind"]], ["virtual"])
        self.assertEqual([part["name"] for part in reply["by_label"]], ["the cable"])
        carried = {name: [(carrier["name"], carrier["known_by"]) for carrier in self.entry(reply, name)["carriers"]]
                   for name in ("tun0", "vx0", "mv0", "br0")}
        self.assertEqual(carried["tun0"], [("eth0", "rule")])
        self.assertEqual(carried["vx0"], [("tun0", "route")])
        self.assertEqual(carried["mv0"], [("eth0", "lower")])
        self.assertEqual(carried["br0"], [(name, "member") for name in ("c1", "c2", "c3")])
        for name in ("c1", "c2", "c3", "lo"):
            self.assertEqual(self.entry(reply, name)["share"], "left_out")
        tunnels = {each["interface"]["name"]: each for each in reply["tunnels"]}
        self.assertEqual(sorted(tunnels), ["tun0", "vx0"])
        vpn = figure_counters(tunnels["tun0"]["figure"]).bytes
        self.assertEqual(tunnels["tun0"]["carrier_ratio"], round(truth.minus(before).bytes / vpn, 4))

    def test_the_ratio_of_a_vpn_alone_on_its_carrier_is_its_overhead(self):
        machine = Machine(self.lab)
        machine.vpn(1)  # neighbours are known from here on
        daemon = self.served(VPN)
        machine.vpn(50, size=972)  # 1000 bytes with UDP and IPv4; outside 42 more
        reply = self.totals(daemon)
        [tunnel] = [each for each in reply["tunnels"] if each["interface"]["name"] == "tun0"]
        self.assertEqual(figure_counters(tunnel["figure"]), Counters(50_000, 50_000, 50, 50))
        self.assertEqual(figure_counters(tunnel["carrier_figure"]), Counters(52_100, 52_100, 50, 50))
        self.assertEqual(tunnel["carrier_ratio"], 1.042)

    def test_a_vpn_that_no_rule_speaks_of_is_left_out_and_told_how_to_be_placed(self):
        machine = Machine(self.lab)
        daemon = self.served()
        before = machine.on_the_medium()
        machine.vpn(5)
        reply = self.totals(daemon)
        self.assertEqual(figure_counters(reply["total"]), machine.on_the_medium().minus(before))
        entry = self.entry(reply, "tun0")
        self.assertEqual(entry["share"], "left_out")
        self.assertIn("Carrier=", entry["why"])

    def test_a_vpn_that_ended_is_still_known_to_have_been_carried_after_a_restart_too(self):
        machine = Machine(self.lab)
        daemon = self.served(VPN)
        before = machine.on_the_medium()
        machine.vpn(20)
        self.totals(daemon)
        machine.end_vpn()
        for _ in range(2):
            reply = self.totals(daemon)
            self.assertEqual(figure_counters(reply["total"]), machine.on_the_medium().minus(before))
            entry = self.entry(reply, "tun0")
            self.assertEqual((entry["share"], entry["interface"]["present"]), ("carried", False))
            self.assertEqual([(each["name"], each["known_by"]) for each in entry["carriers"]], [("eth0", "earlier")])
            daemon.restart()

    def test_an_uplink_that_is_gone_stays_in_the_total_of_its_time(self):
        veth = links.Veth(self.lab, "up0")
        daemon = self.served()
        veth.push(3_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        truth = veth.since_base()
        veth.delete()
        for _ in range(2):
            reply = self.totals(daemon)
            self.assertEqual(figure_counters(reply["total"]), truth)
            self.assertEqual(self.added(reply), ["up0"])
            daemon.restart()

    def test_seen_from_inside_a_container_what_its_end_counts_is_the_total(self):
        daemon = self.served()
        veth = links.Veth(self.lab, "eth0")
        veth.push(2_000_000, 500_000)
        reply = self.totals(daemon)
        self.assertEqual(figure_counters(reply["total"]), veth.since_base())
        self.assertEqual(self.entry(reply, "lo")["why"], "it never leaves this machine")

    def test_two_uplinks_are_both_added_and_a_vxlan_over_one_is_not(self):
        vxlan, other = links.Vxlan(self.lab, "vx0"), links.Veth(self.lab, "usb0")
        daemon = self.served()
        vxlan.push(300_000, 200_000)
        other.push(70_000, 30_000)
        reply = self.totals(daemon)
        self.assertEqual(
            figure_counters(reply["total"]), vxlan.beneath.since_base().plus(other.since_base()))
        [tunnel] = reply["tunnels"]
        self.assertEqual([each["name"] for each in tunnel["carriers"]], [vxlan.beneath.name])

    def test_vlans_on_a_bridge_of_one_port_lead_down_to_the_port(self):
        bridge = links.Bridge(self.lab, "br0")
        ip("link", "add", "link", "br0", "name", "br0.5", "type", "macvlan", "mode", "private")
        daemon = self.served()
        bridge.push(1_000_000, 400_000)
        reply = self.totals(daemon)
        self.assertEqual(self.added(reply), [bridge.beneath.name])
        self.assertEqual(figure_counters(reply["total"]), bridge.beneath.since_base())

    def test_a_rule_takes_a_link_out_of_the_total_and_a_reload_puts_it_in_again(self):
        first, second = links.Veth(self.lab, "eth0"), links.Veth(self.lab, "eth1")
        daemon = self.served("\n[Rule lab]\nMatchName=eth1\nMedium=no\n")
        first.push(1_000_000, 0)
        second.push(500_000, 0)
        self.assertEqual(figure_counters(self.totals(daemon)["total"]), first.since_base())
        with open(daemon.configuration) as handle:
            text = handle.read()
        daemon.configure(text.replace("Medium=no", "Medium=yes").replace("MatchName=eth1", "MatchName=eth*"))
        daemon.reload()
        self.wait_until(lambda: self.added(self.totals(daemon)) == ["eth0", "eth1"])
        self.assertEqual(
            figure_counters(self.totals(daemon)["total"]), first.since_base().plus(second.since_base()))

    def test_rules_that_make_a_circle_hang_nothing(self):
        links.Tun(self.lab, "tun0"), links.Tun(self.lab, "tun1")
        daemon = self.served("\n[Rule a]\nMatchName=tun0\nCarrier=tun1\n\n[Rule b]\nMatchName=tun1\nCarrier=tun0\n")
        reply = self.totals(daemon)
        self.assertIn("circle", self.entry(reply, "tun0")["why"])
        self.assertEqual(figure_counters(reply["total"]), Counters())

    def test_spans_are_those_of_usage_and_a_wrong_one_is_refused(self):
        veth = links.Veth(self.lab, "eth0")
        daemon = self.served()
        veth.push(1_000_000, 0)
        for span in ({}, {"from": "this-month"}, {"from": "24h"}, {"from": "all"}):
            reply = self.totals(daemon, **span)
            self.assertEqual(figure_counters(reply["total"]), veth.since_base(), span)
            usage = daemon.client.get("/v1/usage", **span)
            self.assertEqual((reply["from"], reply["to"]), (usage["from"], usage["to"]))
        past = self.totals(daemon, **{"from": "yesterday", "to": "yesterday"})
        self.assertEqual(figure_counters(past["total"]), Counters())
        self.assertEqual(past["total"]["quality"]["completeness"], "at_least")
        for query in ({"from": "soon"}, {"kind": "wifi"}):
            self.assertEqual(daemon.client.ask("/v1/totals", **query).status, 400)

    def test_the_command_shows_the_total_the_tunnels_and_what_was_left_out(self):
        machine = Machine(self.lab)
        daemon = self.served(VPN)
        machine.vpn(40)
        machine.containers_talk(20)
        environment = {**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C.UTF-8"}

        def run(*arguments):
            done = subprocess.run([program("iftally"), "totals", *arguments], capture_output=True, text=True,
                                  timeout=30, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("exact", done.stdout)
            return done.stdout

        self.wait_until(lambda: self.totals(daemon)["total"]["rx_bytes"] > 0)
        text = run()
        for word in ("eth0", "tun0", "br0", "the cable", "Estimates"):
            self.assertIn(word, text)
        reply = json.loads(run("--json"))
        self.assertEqual(self.added(reply), ["eth0"])
        self.assertEqual(json.loads(run("--from", "all", "--json"))["total"]["rx_bytes"], reply["total"]["rx_bytes"])

    def wait_until(self, condition):
        for _ in range(100):
            if condition():
                return
        self.fail("it never came to be")
