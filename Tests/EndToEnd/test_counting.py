"""Known bytes through links of many kinds: every answer equals the kernel's counters, at once."""
import concurrent.futures

from Lab import links
from Lab.client import figure_counters
from Lab.clock import TurnedClock
from Lab.traffic import Steady

from .case import LabCase


class Counting(LabCase):
    def check_everywhere(self, link):
        """A push is in every answer without waiting for a tick, and again after a second push."""
        daemon = self.daemon()
        for rx, tx in ((1_234_567, 765_432), (64, 64), (9_000_001, 100)):
            link.push(rx, tx)
            self.assert_link(daemon, link)
        truth = link.since_base()
        for resolution in ("minute", "five_minutes", "hour", "day", "month", "year"):
            self.assertEqual(self.usage_sum(daemon, link.name, resolution), truth, resolution)
        interface = daemon.client.interface(link.name)
        self.assertEqual(daemon.client.total(interface["id"]), truth)
        metrics = daemon.client.metrics()
        labels = frozenset({"interface": link.name, "id": interface["id"], "kind": interface["kind"]}.items())
        for field, metric in (("rx_bytes", "receive_bytes"), ("tx_bytes", "transmit_bytes"),
                              ("rx_packets", "receive_packets"), ("tx_packets", "transmit_packets")):
            self.assertEqual(metrics[f"iftally_{metric}_total", labels], getattr(truth, field), metric)
        return daemon

    def test_a_veth_is_counted_to_the_byte_at_once(self):
        self.check_everywhere(links.Veth(self.lab, "veth1"))

    def test_a_tun_is_counted_to_the_byte_at_once(self):
        self.check_everywhere(links.Tun(self.lab, "tun0"))

    def test_a_tap_is_counted_to_the_byte_at_once(self):
        self.check_everywhere(links.Tap(self.lab, "tap0"))

    def test_a_bridge_and_its_port_are_counted_to_the_byte_at_once(self):
        bridge = links.Bridge(self.lab, "br0")
        self.assert_truth(self.check_everywhere(bridge))

    def test_a_macvlan_and_what_lies_beneath_are_counted_to_the_byte(self):
        daemon = self.daemon()
        macvlan = links.Macvlan(self.lab, "mv0")
        macvlan.push(3_000_000, 2_000_000)
        self.assert_link(daemon, macvlan)
        self.assert_link(daemon, macvlan.beneath)

    def test_a_vxlan_and_its_carrier_are_both_counted_and_differ_by_the_overhead(self):
        daemon = self.daemon()
        vxlan = links.Vxlan(self.lab, "vx0")
        vxlan.push(300_000, 200_000)
        self.assert_link(daemon, vxlan)
        self.assert_link(daemon, vxlan.beneath)
        overhead = vxlan.beneath.since_base().bytes - vxlan.since_base().bytes
        self.assertEqual(overhead, 64 * (vxlan.pushed.rx_packets + vxlan.pushed.tx_packets))

    def test_a_link_born_while_we_watch_counts_from_its_first_byte(self):
        daemon = self.daemon()
        tun = links.Tun(self.lab, "tun9")
        tun.push(5_000_000, 1_000_000)
        self.assert_link(daemon, tun)
        self.assertEqual(daemon.client.interface("tun9")["total"]["quality"]["completeness"], "complete")

    def test_what_passed_before_the_very_first_start_is_a_baseline(self):
        veth = links.Veth(self.lab, "veth1")
        veth.push(5_000_000, 1_000_000)
        daemon = self.daemon()
        before = veth.since_base()
        veth.push(70_000, 30_000)
        self.assert_total(daemon, "veth1", veth.since_base().minus(before))

    def test_more_than_four_gibibytes_between_two_samples_are_counted(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.daemon()
        tun.push((1 << 32) + 500_000_000, 0)
        self.assert_link(daemon, tun)

    def test_today_and_the_rate_are_told_beside_the_total(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(4_000_000, 1_000_000)
        interface = daemon.client.interface("veth1")
        self.assertEqual(figure_counters(interface["today"]), veth.since_base())
        self.assertTrue(interface["present"])
        self.assertTrue(interface["up"])
        self.assertFalse(interface["kind"] == "loopback")

    def test_a_wall_clock_that_is_set_loses_and_invents_nothing_and_is_told(self):
        veth, clock = links.Veth(self.lab, "veth1"), TurnedClock(self.lab)
        daemon = self.daemon(environment=clock.environment)
        for seconds in (86_400, -3_600, 0):
            veth.push(1_000_000, 500_000)
            clock.turn(seconds)
            veth.push(200_000, 100_000)
            self.assert_link(daemon, veth)
        steps = [round(step["by_seconds"]) for step in daemon.client.status()["clock"]["steps"]]
        self.assertEqual(steps, [86_400, -90_000, 3_600])

    def test_many_questions_at_once_under_traffic_never_go_back_and_never_exceed_the_truth(self):
        veth, tun = links.Veth(self.lab, "veth1"), links.Tun(self.lab, "tun0")
        daemon = self.daemon()

        def look(_):
            return daemon.client.totals()

        with Steady([veth, tun]), concurrent.futures.ThreadPoolExecutor(8) as pool:
            last = daemon.client.totals()
            for _ in range(10):
                seen = list(pool.map(look, range(8)))
                limit = {link.name: link.since_base() for link in (veth, tun)}
                for totals in seen:
                    for name, most in limit.items():
                        self.assertTrue(all(a <= b <= c for a, b, c in zip(last[name], totals[name], most)), name)
                last = daemon.client.totals()
        self.assert_truth(daemon)
