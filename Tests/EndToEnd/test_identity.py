"""Which links are the same interface: cards by permanent address, port or name, all else by kind and name."""
import unittest

from Lab import links
from Lab.daemon import wait_for
from Lab.preload import compiler, hardware
from Lab.programs import must_run
from Lab.truth import Counters

from .case import LabCase


class Identity(LabCase):
    def setUp(self):
        super().setUp()
        self.counted = {}

    def carry(self, daemon, link, rx=3_000, tx=2_000):
        """Pushes some more; the id of its interface, whose total is all that its links carried so far."""
        link.push(rx, tx)
        link.settled()
        told = daemon.client.interface(link.name)
        passed = self.counted.setdefault(told["id"], {})
        passed[link] = link.since_base()
        total = Counters()
        for each in passed.values():
            total = total.plus(each)
        self.assert_total(daemon, told["id"], total)
        self.assertTrue(told["present"])
        return told["id"]

    def gone(self, daemon, *gone):
        for link in gone:
            link.delete()
        wait_for(lambda: {each["name"] for each in daemon.client.interfaces() if each["present"]} == {"lo"}, "gone")

    def names(self, daemon):
        return {each["id"]: each["name"] for each in daemon.client.interfaces() if each["name"] != "lo"}


class Cards(Identity):
    def setUp(self):
        super().setUp()
        if not compiler() and must_run():
            self.fail("no C compiler")
        if not compiler():
            raise unittest.SkipTest("no C compiler")

    def daemon(self, **how):
        return super().daemon(environment=hardware(self.lab), **how)

    def test_a_card_is_its_permanent_address_whatever_its_port_and_name(self):
        daemon = self.daemon()
        card = links.Card(self.lab, "eth0", 7, port=1)
        known = self.carry(daemon, card)
        self.gone(daemon, card)
        moved = links.Card(self.lab, "enp2s0", 7, port=2)
        self.assertEqual(self.carry(daemon, moved), known)
        other = links.Card(self.lab, "eth0", 8, port=1)
        self.assertNotEqual(self.carry(daemon, other), known)
        self.gone(daemon, moved, other)
        self.assertEqual(self.names(daemon)[known], "enp2s0")
        self.assertEqual(daemon.client.interface(known)["incarnations"], 2)

    def test_a_card_that_was_moved_while_nobody_looked_goes_on(self):
        for end in ("stop", "kill"):
            with self.subTest(end):
                self.counted = {}
                daemon = self.daemon(name=end)
                first = links.Card(self.lab, "eth0", 7, port=1)
                known = self.carry(daemon, first)
                # What was not stored at a kill goes with a link that goes: a departure has it stored.
                commits = daemon.client.status()["commit"]["count"]
                links.Tun(self.lab, "brief").delete()
                wait_for(lambda: daemon.client.status()["commit"]["count"] > commits, "a commit")
                getattr(daemon, end)()
                first.delete()
                second = links.Card(self.lab, "eth3", 7, port=3)
                daemon.start()
                self.assertEqual(self.carry(daemon, second), known, daemon.log())
                daemon.stop()
                second.delete()

    def test_an_address_of_the_day_splits_no_history(self):
        daemon = self.daemon(more="[Rule lan]\nMatchMAC=02:00:5e:00:53:07\nLabel=lan\n")
        card = links.Card(self.lab, "wlan0", 7)
        known = self.carry(daemon, card)
        for number in range(3):
            card.set("address", f"02:11:22:33:44:{number:02x}")
            self.assertEqual(self.carry(daemon, card), known)
            self.assertEqual(daemon.client.interface("wlan0")["mac"], f"02:11:22:33:44:{number:02x}")
        daemon.restart()
        self.assertEqual(self.carry(daemon, card), known)
        self.gone(daemon, card)
        again = links.Card(self.lab, "wlan1", 7)
        again.set("address", "02:11:22:33:44:ff")
        self.assertEqual(self.carry(daemon, again), known)
        self.assertEqual(daemon.client.interface("wlan1")["label"], "lan")
        self.assertEqual(len(self.names(daemon)), 1)

    def test_two_that_are_there_with_one_permanent_address_are_two(self):
        daemon = self.daemon()
        first, second = links.Card(self.lab, "eth0", 7), links.Card(self.lab, "eth1", 7)
        one, two = self.carry(daemon, first), self.carry(daemon, second, rx=900)
        self.assertNotEqual(one, two)
        self.assertEqual((self.carry(daemon, first), self.carry(daemon, second)), (one, two))
        daemon.restart()
        self.assertEqual((self.carry(daemon, first), self.carry(daemon, second)), (one, two))
        self.gone(daemon, first, second)
        # Whichever comes first is the one that it was.
        second, first = links.Card(self.lab, "eth1", 7), links.Card(self.lab, "eth0", 7)
        self.assertEqual((self.carry(daemon, first), self.carry(daemon, second)), (one, two))
        self.assertEqual(self.names(daemon), {one: "eth0", two: "eth1"})

    def test_by_its_path_a_card_is_what_is_plugged_in_there(self):
        daemon = self.daemon(more="[Rule port]\nMatchPath=pci0000:00/0000:00:0?.0\nIdentity=path\n")
        first = links.Card(self.lab, "eth0", 7, port=1)
        port = self.carry(daemon, first)
        self.gone(daemon, first)
        replaced = links.Card(self.lab, "eth5", 8, port=1)
        self.assertEqual(self.carry(daemon, replaced), port)
        elsewhere = links.Card(self.lab, "eth0", 7, port=2)
        self.assertNotEqual(self.carry(daemon, elsewhere), port)
        # A port that no rule names: the card is its address.
        beyond = links.Card(self.lab, "eth7", 9, port=11)
        known = self.carry(daemon, beyond)
        self.gone(daemon, replaced, elsewhere, beyond)
        beyond = links.Card(self.lab, "eth8", 9, port=12)
        self.assertEqual(self.carry(daemon, beyond), known)

    def test_by_its_name_a_card_is_what_bears_it(self):
        daemon = self.daemon(more="[Rule name]\nMatchName=eth*\nIdentity=name\n")
        first = links.Card(self.lab, "eth0", 7)
        known = self.carry(daemon, first)
        self.gone(daemon, first)
        replaced = links.Card(self.lab, "eth0", 8)
        self.assertEqual(self.carry(daemon, replaced), known)
        renamed = links.Card(self.lab, "eth1", 7)
        self.assertNotEqual(self.carry(daemon, renamed), known)

    def test_a_rule_that_changes_the_basis_keeps_what_is_there(self):
        daemon = self.daemon()
        card = links.Card(self.lab, "eth0", 7, port=1)
        known = self.carry(daemon, card)
        with open(daemon.configuration, "a") as handle:
            handle.write("[Rule port]\nMatchName=eth*\nIdentity=path\n")
        daemon.reload()
        wait_for(lambda: daemon.client.interface("eth0")["rule"] == "port", "the rule is in force")
        self.assertEqual(self.carry(daemon, card), known)
        self.gone(daemon, card)
        other = links.Card(self.lab, "eth4", 8, port=1)
        self.assertEqual(self.carry(daemon, other), known)


class Virtual(Identity):
    """Links that are made in software."""

    def test_made_anew_with_the_same_name_and_type_it_goes_on(self):
        daemon = self.daemon()
        for make in (links.Tun, links.Tap, links.Veth):
            name = f"{make.__name__.lower()}0"
            first = make(self.lab, name)
            known = self.carry(daemon, first)
            self.gone(daemon, first)
            again = make(self.lab, name)
            self.assertEqual(self.carry(daemon, again), known)
            self.assertEqual(daemon.client.interface(name)["incarnations"], 2)
            daemon.restart()
            self.assertEqual(self.carry(daemon, again), known)
            self.gone(daemon, again)

    def test_of_another_type_it_is_another(self):
        daemon = self.daemon()
        ids = []
        for make in (links.Tun, links.Tap, links.Veth, links.Ifb):
            link = make(self.lab, "vpn0")
            ids.append(self.carry(daemon, link, tx=0 if make is links.Ifb else 2_000))
            self.gone(daemon, link)
        self.assertEqual(len(set(ids)), 4)
        tun = links.Tun(self.lab, "vpn0")
        self.assertEqual(self.carry(daemon, tun), ids[0])
        self.assertEqual(daemon.client.interface("vpn0")["id"], ids[0])

    def test_another_address_is_no_other_link_and_one_address_is_not_one_link(self):
        daemon = self.daemon()
        tap = links.Tap(self.lab, "tap0")
        known = self.carry(daemon, tap)
        tap.set("address", "02:11:22:33:44:55")
        self.assertEqual(self.carry(daemon, tap), known)
        twin = links.Tap(self.lab, "tap1")
        twin.set("address", "02:11:22:33:44:55")
        self.assertNotEqual(self.carry(daemon, twin), known)
        self.assertEqual(self.carry(daemon, tap), known)
        self.gone(daemon, tap, twin)
        again = links.Tap(self.lab, "tap0")
        again.set("address", "02:99:99:99:99:99")
        self.assertEqual(self.carry(daemon, again), known)
        self.assertEqual(len(self.names(daemon)), 2)
