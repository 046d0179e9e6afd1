"""A store that cannot be written, read or shared: the daemon counts on, says so, and destroys nothing."""
import glob
import itertools
import os
import signal
import sqlite3
import subprocess
import time

from Lab import links
from Lab.daemon import Daemon, wait_for
from Lab.programs import program

from .case import LabCase


class Store(LabCase):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()

    def depart(self):
        """A link that comes and goes: a reason for a commit within about a second."""
        tun = links.Tun(self.lab, f"brief{next(self.numbers)}")
        tun.push(5_000, 5_000)
        tun.delete()

    def wait_store(self, daemon, state):
        """Departures until the store is in this state; the status."""
        def look():
            self.depart()
            status = daemon.client.status()
            return status if status["store"]["state"] == state else None
        return wait_for(look, f"the store is {state}", seconds=30, pause=0.3)

    def assert_explained(self, status):
        """The store's trouble is told with what to do about it."""
        self.assertTrue(status["store"]["message"])
        self.assertTrue(status["warnings"])
        for warning in status["warnings"]:
            self.assertTrue(warning["code"] and warning["message"] and warning["remedy"], warning)

    def database(self, daemon):
        """The store's file after a run that has ended well."""
        path = daemon.client.status()["store"]["path"]
        daemon.stop()
        return path

    def test_a_full_disk_stops_no_counting_and_loses_nothing_once_there_is_space(self):
        disk = self.lab.disk("small", "1m")
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        veth.push(1_000_000, 500_000)
        fill = os.path.join(disk, "fill")
        with open(fill, "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(bytes(4096))
            except OSError:
                pass
        status = self.wait_store(daemon, "failing")
        self.assert_explained(status)
        self.assertGreater(status["commit"]["failures"], 0)
        self.assertRegex(status["store"]["message"], "(?i)full|space")
        veth.push(200_000, 100_000)
        self.assert_truth(daemon)
        os.unlink(fill)
        self.wait_store(daemon, "ok")
        veth.push(30_000, 20_000)
        self.assert_truth(daemon)
        daemon.restart()
        self.assert_truth(daemon)
        self.assertEqual(self.usage_sum(daemon, "veth1"), veth.since_base())

    def test_a_disk_that_turns_read_only_is_told_and_recovers(self):
        disk = self.lab.disk("fragile", "8m")
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        daemon.stop()
        self.lab.make_read_only(disk)
        daemon.start()
        veth.push(1_000_000, 500_000)
        self.assert_total(daemon, "veth1", veth.since_base())
        status = daemon.client.status()
        self.assertIn(status["store"]["state"], ("failing", "memory_only"))
        self.assert_explained(status)
        self.assertIn("read", status["store"]["message"].lower())

    def test_a_corrupt_file_is_set_aside_under_a_dated_name(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        path = self.database(daemon)
        with open(path, "r+b") as handle:
            handle.write(b"this is no database" * 50)
        with open(path, "rb") as handle:
            damaged = handle.read()
        daemon.start()
        veth.push(1_000_000, 500_000)
        self.assertGreaterEqual(daemon.client.total("veth1").bytes, 1_500_000)
        aside = [name for name in glob.glob(glob.escape(path) + "*") if name != path
                 and not name.endswith(("-wal", "-shm"))]
        self.assertEqual(len(aside), 1, os.listdir(os.path.dirname(path)))
        self.assertRegex(os.path.basename(aside[0]), r"20\d\d-?\d\d-?\d\d")
        with open(aside[0], "rb") as handle:
            self.assertEqual(handle.read(), damaged)
        self.assertIn(os.path.basename(aside[0]), daemon.log())
        self.assert_warned(daemon, os.path.basename(aside[0]))
        daemon.restart()
        self.assertEqual(daemon.client.status()["store"]["state"], "ok")

    def assert_warned(self, daemon, text):
        warnings = daemon.client.status()["warnings"]
        self.assertTrue(any(text in warning["message"] + warning["remedy"] for warning in warnings), warnings)

    def test_a_file_of_a_newer_version_is_left_untouched_and_counting_goes_on_in_memory(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        path = self.database(daemon)
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 9999")
        database.commit()
        database.close()
        with open(path, "rb") as handle:
            before = handle.read()
        daemon.start()
        veth.push(1_000_000, 500_000)
        self.assert_total(daemon, "veth1", veth.since_base())
        status = daemon.client.status()
        self.assertEqual(status["store"]["state"], "memory_only")
        self.assert_explained(status)
        self.assertIn("newer", status["store"]["message"])
        daemon.stop()
        with open(path, "rb") as handle:
            self.assertEqual(handle.read(), before)

    def test_the_store_is_the_daemons_alone_while_it_runs(self):
        daemon = self.daemon()
        path = os.path.join(daemon.store, "iftally.db")
        with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
            sqlite3.connect(path, timeout=0.1).execute("SELECT count(*) FROM link")
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.assertGreater(sqlite3.connect(path).execute("SELECT count(*) FROM link").fetchone()[0], 0)

    def run_second(self, second):
        return subprocess.run([program("iftallyd"), "--config", second.configuration], capture_output=True, text=True,
                              timeout=20)

    def test_a_second_daemon_on_the_same_socket_is_refused(self):
        daemon = self.daemon()
        second = Daemon(self.lab, name="second")
        second.configure(f"[Store]\nDirectory={second.store}\n[Api]\nSocket={daemon.socket}\n")
        done = self.run_second(second)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(daemon.socket, done.stderr)
        self.assertRegex(done.stderr, "(?i)already|another")
        self.assertEqual(daemon.client.ask("/v1/status").status, 200)

    def test_a_second_daemon_on_the_same_store_is_refused(self):
        daemon = self.daemon()
        second = Daemon(self.lab, name="second")
        second.configure(f"[Store]\nDirectory={daemon.store}\n[Api]\nSocket={second.socket}\n")
        done = self.run_second(second)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(daemon.store, done.stderr)
        self.assertRegex(done.stderr, "(?i)already|another")
        self.assertEqual(daemon.client.status()["store"]["state"], "ok")

    def test_a_socket_that_a_killed_daemon_left_is_replaced(self):
        daemon = self.daemon()
        daemon.kill()
        self.assertTrue(os.path.exists(daemon.socket))
        daemon.start()
        self.assertEqual(daemon.client.ask("/v1/status").status, 200)

    def test_a_file_that_is_no_socket_is_not_replaced(self):
        daemon = Daemon(self.lab)
        with open(daemon.socket, "w") as handle:
            handle.write("precious")
        done = self.run_second(daemon)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(daemon.socket, done.stderr)
        with open(daemon.socket) as handle:
            self.assertEqual(handle.read(), "precious")
