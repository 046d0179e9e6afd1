"""A wall clock that leaps under the daemon, and what it makes of the bytes before and after."""
import datetime
import json
import os
import subprocess
import sys
import time
import unittest
import zoneinfo

from Lab import links
from Lab.client import figure_counters
from Lab.clock import FAKETIME, FakeTime, TurnedClock
from Lab.daemon import wait_for
from Lab.programs import must_run, program
from Lab.truth import Counters

from .case import LabCase

HOUR = 3600
DAY = 24 * HOUR


def second(text):
    return datetime.datetime.fromisoformat(text).timestamp()


class LeapingClock(LabCase):
    def setUp(self):
        if not FAKETIME:
            reason = "libfaketime is missing: install the Debian package libfaketime"
            self.assertFalse(must_run(), reason)
            print(f"SKIPPED {self.id()}: {reason}", file=sys.stderr)
            raise unittest.SkipTest(reason)
        super().setUp()

    def test_a_day_ahead_an_hour_back_to_1970_and_back_count_every_byte_by_the_clock_of_its_moment(self):
        clock = FakeTime(self.lab)
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(environment=clock.environment)
        since_1970 = -(int(time.time()) // DAY) * DAY
        pushed = []
        now = 0
        for number, ahead in enumerate([0, DAY, DAY - HOUR, since_1970, 0]):
            clock.turn(ahead)
            daemon.client.interfaces()  # a sample, so that what follows passes under this clock alone
            size = 1_000_000 + 111_111 * number
            before = (time.time() + ahead) // 60 * 60
            veth.push(size, 0)
            veth.settled()
            daemon.client.interfaces()
            pushed.append((before, (time.time() + ahead) // 60 * 60, size))
        self.assertEqual(daemon.process.poll(), None, daemon.log())
        steps = [step["by_seconds"] for step in daemon.client.status()["clock"]["steps"]]
        wanted = [DAY, -HOUR, since_1970 - DAY + HOUR, -since_1970]
        self.assertEqual([round(step) for step in steps], wanted)
        self.assert_minutes(daemon, pushed)
        for _ in range(2):  # from memory, and after a restart from the store, where minutes of 1970 are too old to keep
            self.assert_link(daemon, veth)
            self.assertEqual(self.usage_sum(daemon, "veth1", "day").rx_bytes, veth.since_base().rx_bytes)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            daemon.start()

    def assert_minutes(self, daemon, pushed):
        reply = daemon.client.get("/v1/usage", interface="veth1", **{"from": "all"}, resolution="minute")
        points = {second(point["start"]): figure_counters(point).rx_bytes for point in reply["series"][0]["points"]}
        for earliest, latest, size in pushed:
            self.assertTrue(any(points.get(at, 0) >= size for at in {earliest, latest}), (earliest, size, points))


class ChangedZone(LabCase):
    def choose(self, zone):
        """The machine's zone from now on; this process has mounts of its own."""
        local = os.path.realpath("/etc/localtime")
        subprocess.run(["mount", "--bind", f"/usr/share/zoneinfo/{zone}", local], check=True)
        self.addCleanup(subprocess.run, ["umount", local], check=True)

    def assert_today(self, daemon, offset, truth):
        reply = daemon.client.present("/v1/usage", interface="veth1", **{"from": "today"}, resolution="day")
        start = datetime.datetime.fromisoformat(reply["from"])
        self.assertEqual((start.utcoffset(), start.hour), (datetime.timedelta(hours=offset), 0), reply["from"])
        in_zone = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=offset)))
        self.assertEqual(start.date(), in_zone.date())
        self.assertEqual(figure_counters(reply["series"][0]["sum"]), truth)
        self.assertEqual(figure_counters(daemon.client.interface("veth1")["today"]), truth)

    def test_days_are_those_of_a_zone_that_is_chosen_while_the_daemon_runs(self):
        self.choose("Asia/Tokyo")
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(environment={"TZ": None})
        veth.push(1_000_000, 200_000)
        veth.settled()
        self.assert_today(daemon, 9, veth.since_base())
        self.choose("Pacific/Honolulu")
        try:
            time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns())  # a clock that is set wakes who waits for it
        except PermissionError:
            pass  # then the minute does
        wait_for(lambda: daemon.client.interfaces()[0]["total"]["quality"]["as_of"].endswith("-10:00"), "the zone", 75)
        veth.push(30_000, 4_000)
        veth.settled()
        self.assert_today(daemon, -10, veth.since_base())
        daemon.restart()
        self.assert_today(daemon, -10, veth.since_base())


class UnsetClock(LabCase):
    """A board without a clock of its own: every boot begins in 1970, and later the network tells the time."""

    def unset(self):
        """A clock that stands shortly after 1970, behind a boot that nobody has seen."""
        clock = TurnedClock(self.lab)
        clock.turn(40 - int(time.time()))
        return clock

    def warnings(self, daemon):
        return [warning["code"] for warning in daemon.client.status()["warnings"]]

    def assert_dated(self, daemon, name, truth, since):
        """All of it is in minutes since then, but for what was there before."""
        reply = daemon.client.present("/v1/usage", interface=name, **{"from": "all"}, resolution="minute")
        points = reply["series"][0]["points"]
        self.assertEqual(sum(point["rx_bytes"] for point in points), truth.rx_bytes)
        self.assertTrue(all(second(point["start"]) > since - 120 for point in points), points)

    def test_what_is_counted_before_the_clock_is_set_gets_its_date_then(self):
        begun = time.time()
        booted = begun - time.clock_gettime(time.CLOCK_BOOTTIME)
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(1_000_000, 500_000)
        self.assert_link(daemon, veth)
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.lab.new_boot()
        clock = self.unset()
        daemon.environment.update(clock.environment)
        veth.push(2_000_000, 0)
        before = veth.since_base()
        daemon.start()
        self.assertIn("clock_not_set", self.warnings(daemon))
        veth.push(4_000_000, 0)
        tun = links.Tun(self.lab, "tun0")
        tun.push(300_000, 0)
        self.assert_link(daemon, tun)
        clock.turn(0)
        # What the counter showed before the reboot shows it again: this kernel was not booted.
        truth = before.plus(Counters(1_000_000, 500_000)).rx_bytes
        self.assertGreaterEqual(daemon.client.total("veth1").rx_bytes, truth)
        self.assertNotIn("clock_not_set", self.warnings(daemon))
        for _ in range(2):  # before the commit, and from the store
            self.assert_link(daemon, tun)
            self.assert_dated(daemon, "tun0", tun.since_base(), begun)
            self.assert_dated(daemon, "veth1", daemon.client.total("veth1"), booted)  # born while nobody looked
            self.assertEqual(daemon.stop(), 0, daemon.log())
            daemon.start()

    def test_the_very_first_start_is_ready_at_once_and_begins_when_the_clock_says_later(self):
        begun = time.time()
        clock = self.unset()
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(environment=clock.environment)
        self.assertIn("clock_not_set", self.warnings(daemon))
        veth.push(2_000_000, 500_000)
        self.assert_link(daemon, veth)
        clock.turn(0)
        for _ in range(2):
            self.assert_link(daemon, veth)
            self.assert_dated(daemon, "veth1", veth.since_base(), begun)
            since = second(daemon.client.interface("veth1")["total"]["quality"]["since"])
            self.assertGreater(since, begun - 120)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            daemon.start()


class LocalDays(LabCase):
    """Three days of a zone in which something happens to its clock, with a daemon that is restarted now and then."""

    programs = ("iftallyd", "iftally")

    def assert_days(self, name, begin, lengths):
        """From `begin`, UTC, something passes every three and a half hours. `lengths`: the hours of days, by date."""
        zone = zoneinfo.ZoneInfo(name)
        veth, clock = links.Veth(self.lab, "veth1"), TurnedClock(self.lab)
        ahead = int(second(begin + "+00:00") - time.time())
        clock.turn(ahead)
        daemon = self.daemon(environment={**clock.environment, "TZ": name})
        days = {}
        for number in range(21):
            passed = number * 12_600
            clock.turn(ahead + passed, boot=passed)
            daemon.client.get("/v1/interfaces")  # what follows passes in this minute
            size = 1000 + number
            veth.push(size, 0)
            veth.settled()
            clock.turn(ahead + passed + 1, boot=passed + 1)
            daemon.client.get("/v1/interfaces")
            date = datetime.datetime.fromtimestamp(time.time() + ahead + passed, zone).date().isoformat()
            days[date] = days.get(date, 0) + size
            if number % 5 == 4:
                daemon.restart()
        daemon.restart()
        self.assertEqual(daemon.client.total("veth1"), veth.since_base())
        reply = daemon.client.get("/v1/usage", interface="veth1", **{"from": "all"}, resolution="day")
        points = reply["series"][0]["points"]
        self.assertEqual([(point["start"][:10], point["rx_bytes"]) for point in points], list(days.items()))
        for date, hours in lengths.items():
            point, = [point for point in points if point["start"].startswith(date)]
            self.assertEqual(second(point["end"]) - second(point["start"]), hours * HOUR, point)
        for resolution in ("hour", "month", "year"):
            self.assertEqual(self.usage_sum(daemon, "veth1", resolution).rx_bytes, sum(days.values()), resolution)
        shown = subprocess.run(
            [program("iftally"), "--socket", daemon.socket, "days", "-i", "veth1", "--from", "all", "--json"],
            capture_output=True, text=True, check=True).stdout
        told = [point["start"][:10] for point in json.loads(shown)["series"][0]["points"]]
        self.assertEqual(told, list(days))
        return days

    def test_a_day_that_the_zone_skips_is_not_there(self):
        days = self.assert_days("Pacific/Apia", "2011-12-29T00:30:00", {"2011-12-29": 24, "2011-12-31": 24})
        self.assertNotIn("2011-12-30", days)

    def test_a_day_of_23_hours(self):
        self.assert_days("Europe/Berlin", "2026-03-28T01:10:00", {"2026-03-28": 24, "2026-03-29": 23})

    def test_a_day_of_25_hours(self):
        self.assert_days("Europe/Berlin", "2026-10-24T01:10:00", {"2026-10-24": 24, "2026-10-25": 25})

    def test_a_day_that_half_an_hour_is_taken_from(self):
        self.assert_days("Australia/Lord_Howe", "2026-10-03T01:10:00", {"2026-10-04": 23.5})

    def test_a_day_that_half_an_hour_is_given_to(self):
        self.assert_days("Australia/Lord_Howe", "2026-04-04T01:10:00", {"2026-04-05": 24.5})

    def test_days_of_a_zone_that_is_off_by_three_quarters_of_an_hour(self):
        self.assert_days("Asia/Kathmandu", "2026-05-01T01:10:00", {"2026-05-02": 24})

    def test_days_of_a_zone_that_is_off_by_half_an_hour(self):
        self.assert_days("Asia/Kolkata", "2026-05-01T01:10:00", {"2026-05-02": 24})
