"""Links polled from /proc/net/dev: what stays is counted to the byte, what goes unseen is labelled."""
import time

from Lab import links
from Lab.client import figure_counters
from Lab.daemon import wait_for
from Lab.space import ip
from Lab.truth import Counters

from .case import LabCase


def codes(daemon):
    return [warning["code"] for warning in daemon.client.status()["warnings"]]


class Denied(LabCase):
    """Netlink is refused by a seccomp filter, as by RestrictAddressFamilies= or a container's profile."""

    def test_each_error_of_a_denial_leads_to_proc_and_is_told_with_its_remedy(self):
        for error in ("EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT"):
            with self.subTest(error):
                daemon = self.daemon(netlink=error, name=error)
                status = daemon.client.status()
                self.assertEqual(status["source"]["name"], "procfs")
                self.assertEqual(status["source"]["counter_bits"], 64)
                self.assertEqual(status["source"]["events"], "polled")
                warning, = (each for each in status["warnings"] if each["code"] == "netlink_denied")
                self.assertIn("AF_NETLINK", warning["remedy"])
                self.assertIn("polled from /proc/net/dev", daemon.log())
                series = "iftally_source_info", frozenset({("source", "procfs"), ("events", "polled")})
                self.assertEqual(daemon.client.metrics()[series], 1)
                self.assertEqual(daemon.stop(), 0)

    def test_netlink_is_asked_again_after_a_restart_and_history_goes_on(self):
        tun = links.Tun(self.lab, "tun0")
        veth = links.Veth(self.lab, "veth0")
        daemon = self.daemon(netlink="EPERM")
        for link in (tun, veth):
            link.base = link.counters()
            link.pushed = Counters()
        for denial in ("EPERM", None, "EPERM"):
            daemon.netlink = denial
            daemon.restart()
            self.assertEqual("netlink_denied" in codes(daemon), bool(denial))
            for link in (tun, veth):
                link.push(2_000_000, 700_000)
                self.assert_link(daemon, link)
        names = [each["name"] for each in daemon.client.interfaces()]
        self.assertEqual(sorted(names), ["lo", "tun0", "veth0"])

    def test_links_that_stay_are_counted_to_the_byte_and_no_label_is_on_them(self):
        made = [links.Tun(self.lab, "tun0"), links.Tap(self.lab, "tap0"), links.Bridge(self.lab, "br0"),
                links.Veth(self.lab, "veth0")]
        daemon = self.daemon(netlink="EAFNOSUPPORT")
        for _ in range(3):
            for link in made:
                link.push(1_000_000, 400_000)
            for link in made:
                self.assert_link(daemon, link)
        made[0].rename("renamed0")
        made[0].push(300_000, 100_000)
        self.assert_truth(daemon, "complete")

    def test_a_link_that_dies_between_two_samples_is_at_least_what_was_seen(self):
        daemon = self.daemon(netlink="EPERM")
        tun = links.Tun(self.lab, "tun0")
        tun.push(2_000_000, 1_000_000)
        self.assert_link(daemon, tun)
        seen = tun.since_base()
        time.sleep(0.2)
        tun.push(500_000, 300_000)
        truth = tun.since_base()
        tun.delete()
        interface = daemon.client.interface("tun0")
        self.assertFalse(interface["present"])
        self.assertEqual(interface["total"]["quality"]["completeness"], "at_least")
        counted = figure_counters(interface["total"])
        for seen_part, part, true_part in zip(seen, counted, truth):
            self.assertTrue(seen_part <= part <= true_part, (seen, counted, truth))
        reply = daemon.client.present("/v1/usage", interface="tun0", **{"from": "today"}, resolution="minute")
        self.assertEqual(reply["series"][0]["sum"]["quality"]["completeness"], "at_least")

    def test_the_same_name_made_anew_is_never_counted_above_the_truth(self):
        for size in (3_000_000, 100_000):  # counters higher and lower than before
            with self.subTest(size):
                name = f"tun{size}"
                daemon = self.daemon(netlink="EPERM", name=name)
                tun = links.Tun(self.lab, name)
                tun.push(1_000_000, 500_000)
                self.assert_link(daemon, tun)
                first = tun.since_base()
                tun.delete()
                tun = links.Tun(self.lab, name)
                tun.push(size, size)
                tun.settled()
                total = daemon.client.interface(name)["total"]
                self.assertEqual(figure_counters(total), first.plus(tun.since_base()))
                self.assertEqual(total["quality"]["completeness"], "at_least")

    def test_swapped_names_keep_their_own_bytes(self):
        daemon = self.daemon(netlink="EPERM")
        one, two = links.Veth(self.lab, "one"), links.Veth(self.lab, "two")
        one.push(1_000_000, 100_000)
        two.push(50_000, 30_000)
        for link in (one, two):
            self.assert_link(daemon, link)
        truth = one.since_base(), two.since_base()
        for old, new in (("one", "three"), ("two", "one"), ("three", "two")):
            ip("link", "set", old, "down")
            ip("link", "set", old, "name", new)
        self.assertEqual((daemon.client.total("two"), daemon.client.total("one")), truth)


class Chosen(LabCase):
    """Source=procfs."""

    def test_it_is_told_and_agrees_with_the_second_way_to_the_counters(self):
        veth = links.Veth(self.lab, "veth0")
        daemon = self.daemon(more="[Sampling]\nSource=procfs\n")
        veth.push(1_000_000, 400_000)
        self.assert_link(daemon, veth)
        status = daemon.client.status()
        self.assertEqual(status["source"]["name"], "procfs")
        self.assertEqual([warning["code"] for warning in status["warnings"]], ["polled_source"])
        self.assertTrue(status["cross_check"]["agree"])
        self.assertEqual(status["cross_check"]["checked_links"], 2)


class Watched(LabCase):
    """Samples are finer while somebody asks again and again."""

    def test_the_tail_of_an_unseen_death_is_no_longer_than_a_good_second(self):
        daemon = self.daemon(netlink="EPERM")
        tun = links.Tun(self.lab, "tun0")
        for _ in range(2):
            daemon.client.interfaces()
            time.sleep(0.6)
        tun.push(2_000_000, 1_000_000)
        truth = tun.since_base()
        time.sleep(2)
        tun.delete()
        self.assertEqual(daemon.client.total("tun0"), truth)
        self.assertEqual(daemon.client.interface("tun0")["total"]["quality"]["completeness"], "at_least")

    def test_after_the_last_question_the_daemon_falls_asleep_again(self):
        daemon = self.daemon()

        def samples():
            return daemon.client.status()["sample"]["count"]  # no question for the present

        for _ in range(2):
            daemon.client.interfaces()
            time.sleep(0.6)
        first = samples()
        time.sleep(3)
        self.assertGreaterEqual(samples() - first, 2)
        wait_for(lambda: self._stands_still(samples), "no more samples", seconds=20, pause=0)

    @staticmethod
    def _stands_still(samples):
        before = samples()
        time.sleep(2.5)
        # The status takes one of its own, and a minute may begin.
        return samples() - before <= 2
