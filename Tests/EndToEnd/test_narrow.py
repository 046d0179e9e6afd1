"""The 32-bit source: wraps that can be seen, that cannot, and that may have been several; none is invented."""
from Lab import links
from Lab.client import figure_counters

from .case import LabCase

GIB = 1 << 30
WRAP = 1 << 32


class Narrow(LabCase):
    def narrow_daemon(self):
        daemon = self.daemon(more="[Sampling]\nSource=getifaddrs\n")
        self.assertEqual(daemon.client.status()["source"]["counter_bits"], 32)
        return daemon

    def look(self, daemon, name):
        """What is counted, and how the total is labelled."""
        total = daemon.client.interface(name)["total"]
        return figure_counters(total), total["quality"]["completeness"]

    def test_one_wrap_is_counted_and_labelled_since_no_speed_vouches_for_a_virtual_link(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.narrow_daemon()
        tun.push(3 * GIB, 500_000)
        self.assertEqual(self.look(daemon, "tun0")[0], tun.since_base())
        tun.push(2 * GIB, 500_000)
        self.assertEqual(self.look(daemon, "tun0"), (tun.since_base(), "at_least"))

    def test_wraps_that_cannot_be_seen_are_labelled_and_told_by_the_links_last_event(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.narrow_daemon()
        tun.push(1_000_000, 500_000)
        self.assertEqual(self.look(daemon, "tun0")[0], tun.since_base())
        daemon.pause()  # one who is asked again and again looks in between as well
        tun.push(WRAP, 0)  # the number is what it was
        daemon.go_on()
        counted, label = self.look(daemon, "tun0")
        self.assertEqual((counted.rx_bytes, label), (1_000_000, "at_least"))
        daemon.pause()
        tun.push(2 * WRAP + 70_000, 0)  # twice: only the rest shows
        daemon.go_on()
        counted, label = self.look(daemon, "tun0")
        self.assertEqual((counted.rx_bytes, label), (1_070_000, "at_least"))
        truth = tun.since_base()
        tun.delete()
        counted, label = self.look(daemon, "tun0")
        self.assertEqual((counted, label), (truth, "at_least"))

    def test_without_a_wrap_everything_is_counted_also_across_a_rename_and_a_deletion(self):
        daemon = self.narrow_daemon()
        tun = links.Tun(self.lab, "tun0")
        for _ in range(3):
            tun.push(1_000_000, 500_000)
            self.assert_link(daemon, tun)
        tun.rename("tun1")
        tun.push(200_000, 100_000)
        tun.delete()
        links.Tun(self.lab, "tun1").push(64, 64)
        self.assert_truth(daemon)

    def test_a_restart_with_the_wide_source_finds_what_the_narrow_one_could_not_see(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.narrow_daemon()
        tun.push(1_000_000, 500_000)
        daemon.client.interfaces()
        tun.push(WRAP, 0)
        daemon.stop()
        with open(daemon.configuration) as handle:
            text = handle.read()
        daemon.configure(text.replace("Source=getifaddrs", "Source=netlink"))
        daemon.start()
        counted, label = self.look(daemon, "tun0")
        self.assertEqual((counted, label), (tun.since_base(), "at_least"))

    def test_a_wrap_while_stopped_is_never_counted_above_the_truth(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.narrow_daemon()
        tun.push(3 * GIB, 500_000)
        self.assertEqual(self.look(daemon, "tun0")[0], tun.since_base())
        daemon.stop()
        tun.push(2 * GIB, 500_000)
        daemon.start()
        counted, label = self.look(daemon, "tun0")
        self.assertEqual((counted, label), (tun.since_base(), "at_least"))
