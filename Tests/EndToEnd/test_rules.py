"""Rules over real links: labels that change, groups, links that are ignored, and what survives a kill."""
from Lab import links
from Lab.daemon import wait_for
from Lab.space import ip
from Lab.truth import Counters

from .rule_case import RuleCase

LABELS = "[Rule lan]\nMatchName=lan*\nLabel=office\n[Rule rest]\nMatchName=tun* veth* port*\nLabel=rest\n"
GROUP = "[Rule pool]\nMatchName=m*\nGroup=pool\n"
IGNORE = "[Rule no]\nMatchName=tun0\nIgnore=yes\n"


class Rules(RuleCase):
    def counted(self, daemon, name=None, label=None):
        """Totals of the interfaces of this name with this label, added up."""
        total = Counters()
        for each in daemon.client.interfaces():
            if each.get("label") == label and name in (None, each["name"]):
                figure = each["total"]
                total = total.plus(Counters(
                    figure["rx_bytes"], figure["tx_bytes"], figure["rx_packets"], figure["tx_packets"]))
        return total

    def test_a_rename_into_another_label_splits_the_history(self):
        veth = links.Veth(self.lab, "port1")
        daemon = self.with_rules(LABELS)
        veth.push(100_000, 50_000)
        before = veth.since_base()
        veth.rename("lan1")
        veth.push(30_000, 2_000)
        after = veth.since_base()
        self.assertEqual(self.counted(daemon, "port1", "rest"), before, daemon.log())
        self.assertEqual(self.counted(daemon, "lan1", "office"), after, daemon.log())
        present = daemon.client.interface("lan1")
        self.assertEqual((present["rule"], present["label"], present["present"]), ("lan", "office", True))
        reply = daemon.client.present("/v1/usage", label="office", **{"from": "all"}, resolution="day")
        self.assertEqual([each["interface"]["name"] for each in reply["series"]], ["lan1"])
        self.assertEqual(reply["series"][0]["sum"]["rx_bytes"], after.rx_bytes)

    def test_a_reload_splits_what_was_before_from_what_follows_also_over_a_kill(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.with_rules()
        tun.push(200_000, 10_000)
        tun.settled()
        before = tun.since_base()
        self.reload(daemon, LABELS)
        tun.push(40_000, 5_000)
        tun.settled()
        daemon.kill()
        tun.push(3_000, 2_000)
        tun.settled()
        daemon.start()
        self.assertEqual(self.counted(daemon, "tun0"), before, daemon.log())
        self.assertEqual(self.counted(daemon, "tun0", "rest"), tun.since_base().minus(before), daemon.log())
        reply = daemon.client.present("/v1/explain", interface="tun0")
        self.assertIn("relabelled", [each["birth"] for each in reply["incarnations"]])
        self.assertEqual(sum(part["amounts"]["rx_bytes"] for part in reply["parts"]), reply["figure"]["rx_bytes"])

    def test_rules_that_changed_while_stopped_leave_what_was_before_where_it_was(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.with_rules(LABELS)
        tun.push(200_000, 10_000)
        daemon.stop()
        tun.push(1_000, 1_000)
        tun.settled()
        before = tun.since_base()
        daemon.configure(self.plain)
        daemon.start()
        tun.push(300, 200)
        tun.settled()
        self.assertEqual(self.counted(daemon, "tun0", "rest"), before, daemon.log())
        self.assertEqual(self.counted(daemon, "tun0"), tun.since_base().minus(before), daemon.log())

    def test_a_group_counts_its_members_through_deaths_and_kills(self):
        daemon = self.with_rules(GROUP)
        first = [links.Tun(self.lab, f"m{number}") for number in range(3)]
        for tun in first:
            tun.push(100_000, 50_000)
        first[0].delete()
        true = Counters().plus(self.lab.truth.of("m0"))
        wait_for(lambda: daemon.client.interface("pool")["group"] == {"present": 2, "lives": 3}, "the group")
        self.reload(daemon, GROUP + "[Rule last]\nMatchName=none\n")
        daemon.kill()
        for tun in first[1:]:
            tun.push(7_000, 6_000)
        daemon.start()
        last = links.Tun(self.lab, "m9")
        last.push(500, 400)
        for tun in [*first[1:], last]:
            tun.settled()
            true = true.plus(tun.since_base())
        self.assert_total(daemon, "pool", true)
        self.assertEqual([each["name"] for each in daemon.client.interfaces() if each["name"].startswith("m")], [])
        pool = daemon.client.interface("pool")
        self.assertEqual(pool["group"], {"present": 3, "lives": 4})
        self.assertEqual(pool["rule"], "pool")
        reply = daemon.client.present("/v1/explain", interface="pool")
        self.assertEqual(sum(part["amounts"]["rx_bytes"] for part in reply["parts"]), reply["figure"]["rx_bytes"])
        self.assertIn("not kept one by one", " ".join(part["text"] for part in reply["parts"]) + reply["why"])

    def test_an_ignored_link_is_in_no_figure_and_comes_back_from_its_reading(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.with_rules()
        tun.push(200_000, 10_000)
        tun.settled()
        before = tun.since_base()
        self.reload(daemon, IGNORE)
        tun.push(1_000_000, 900_000)
        tun.settled()
        self.assertEqual(self.counted(daemon, "tun0"), before, daemon.log())
        self.assertFalse(daemon.client.interface("tun0")["present"])
        self.assertEqual(daemon.client.status()["links"]["ignored"], [{"rule": "no", "links": 1}])
        lists = daemon.client.status()["events"]
        daemon.kill()
        tun.push(5_000, 4_000)
        tun.settled()
        meanwhile = tun.since_base()
        daemon.configure(self.plain)
        daemon.start()
        tun.push(300, 200)
        tun.settled()
        self.assertEqual(
            self.counted(daemon, "tun0"), before.plus(tun.since_base().minus(meanwhile)), daemon.log())
        self.assertEqual(lists["overruns"], 0)

    def test_every_interface_names_its_rule_and_all_rules_are_listed(self):
        links.Veth(self.lab, "veth1")
        links.Tun(self.lab, "tun0")
        daemon = self.with_rules(LABELS)
        rules = daemon.client.get("/v1/rules")["rules"]
        counts = {rule["name"]: rule["links"] for rule in rules}
        self.assertEqual(counts["rest"], 2)
        self.assertEqual(counts["built-in: loopback"], 1)
        self.assertEqual([rule["name"] for rule in rules[-3:]],
                         ["built-in: containers", "built-in: guests", "built-in: others"])
        for each in daemon.client.interfaces():
            self.assertIn(each["rule"], counts, each)

    def test_containers_are_folded_by_themselves_and_a_rule_takes_them_out(self):
        daemon = self.with_rules()
        other = self.lab.space("box")
        ip("link", "add", "veth1a2b3c4", "type", "veth", "peer", "name", "vethfe01234")
        ip("link", "set", "vethfe01234", "netns", other.name, "name", "eth0")
        wait_for(lambda: daemon.client.interface("containers")["group"]["present"] == 1, "the group")
        self.assertEqual({each["name"] for each in daemon.client.interfaces()}, {"lo", "containers"})
        self.reload(daemon, "[Rule single]\nMatchName=veth1a*\nGroup=\n")
        names = {each["name"]: each["present"] for each in daemon.client.interfaces()}
        self.assertEqual(names, {"lo": True, "containers": False, "veth1a2b3c4": True})

    def test_too_many_virtual_links_are_counted_together_and_status_warns(self):
        daemon = self.with_rules("[Links]\nMaximumInterfaces=16\n")
        tuns = [links.Tun(self.lab, f"tun{number}") for number in range(20)]
        for tun in tuns:
            tun.push(10_000, 5_000)
            tun.settled()
        names = {each["name"] for each in daemon.client.interfaces()}
        apart = [tun for tun in tuns if tun.name in names]
        self.assertEqual((len(apart), "others" in names), (15, True), daemon.log())
        true = Counters()
        for tun in tuns:
            if tun in apart:
                self.assert_link(daemon, tun)
            else:
                true = true.plus(tun.since_base())
        self.assert_total(daemon, "others", true)
        status = daemon.client.status()
        self.assertEqual(status["links"]["folded"], 5)
        self.assertIn("interfaces_folded", [warning["code"] for warning in status["warnings"]])

    def test_a_key_that_does_not_exist_in_a_rule_is_refused(self):
        daemon = self.with_rules()
        daemon.configure(self.plain + "[Rule x]\nMatchName=a\nColour=red\n")
        daemon.reload()
        wait_for(lambda: "reload_refused" in [each["code"] for each in daemon.client.status()["warnings"]], "a refusal")
