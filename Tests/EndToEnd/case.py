"""The base of the end-to-end tests: a lab for each of them, and the comparison with the kernel's counters."""
import sys
import unittest

from Lab.client import figure_counters
from Lab.daemon import Daemon
from Lab.programs import missing, must_run
from Lab.space import Lab
from Lab.truth import Counters


class LabCase(unittest.TestCase):
    """`self.lab` is where this process stands while a test runs; what ends a test takes all of it away."""

    programs = ("iftallyd",)
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        reason = missing(*cls.programs)
        if reason and must_run():
            raise AssertionError(reason)
        if reason:
            print(f"SKIPPED {cls.__module__}.{cls.__name__}: {reason}", file=sys.stderr)
            raise unittest.SkipTest(reason)

    def setUp(self):
        self.lab = self.enterContext(Lab())

    def daemon(self, wait=True, **how):
        return Daemon(self.lab, **how).start(wait=wait)

    def assert_link(self, daemon, link):
        """The link's total equals what the kernel counted since the link began, which is what was pushed."""
        link.settled()
        self.assert_total(daemon, link.name, link.since_base())

    def assert_total(self, daemon, name, truth):
        counted = daemon.client.total(name)
        self.assertEqual(counted, truth, f"\n{name}: counted {counted}, true {truth}\n{daemon.log()}")

    def assert_truth(self, daemon, completeness=None):
        """Every name's total equals the truth over all lives of that name; a renamed link takes its own along."""
        truth = self.lab.truth.by_last_name()
        counted = daemon.client.totals()
        counted.pop("lo", None)
        counted = {name: amounts for name, amounts in counted.items() if name in truth or amounts != Counters()}
        self.assertEqual(counted, truth, daemon.log())
        if completeness:
            for interface in daemon.client.interfaces():
                if interface["name"] != "lo":
                    self.assertEqual(interface["total"]["quality"]["completeness"], completeness, interface)

    def usage_sum(self, daemon, name, resolution="minute"):
        """The sum of the series of one name over all time, checked against its own points."""
        reply = daemon.client.present("/v1/usage", interface=name, **{"from": "all"}, resolution=resolution)
        total = Counters()
        for series in reply["series"]:
            points = Counters()
            for point in series["points"]:
                points = points.plus(figure_counters(point))
            self.assertEqual(points, figure_counters(series["sum"]), series)
            total = total.plus(points)
        return total
