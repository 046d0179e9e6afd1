"""The store's disk hangs, fails, tears, is taken away or comes late: live figures go on, and every remedy helps."""
import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from Lab import links
from Lab.daemon import Daemon, wait_for
from Lab.disk import FaultyDisk
from Lab.preload import compiler
from Lab.programs import must_run, program

from .case import LabCase


class Disk(LabCase):
    """`veth1` lives through all of it; short-lived tuns make the daemon commit within about a second."""

    programs = ("iftallyd", "iftally")

    def setUp(self):
        super().setUp()
        self.briefs = 0
        self.veth = links.Veth(self.lab, "veth1")

    def faulty(self):
        if not compiler():
            if must_run():
                self.fail("no C compiler")
            self.skipTest("no C compiler")
        return FaultyDisk(self.lab)

    def push(self):
        """Bytes on the link that lives on, and on one that comes and goes."""
        self.veth.push(100_000, 50_000)
        self.depart()

    def depart(self):
        tun = links.Tun(self.lab, f"brief{self.briefs}")
        self.briefs += 1
        tun.push(5_000, 3_000)
        tun.delete()

    def reached(self, daemon, state, seconds=30):
        """The status once the store is in this state; departures give reasons for commits."""
        def look():
            self.depart()
            status = daemon.client.status()
            return status if status["store"]["state"] == state else None
        return wait_for(look, f"the store is {state}", seconds=seconds, pause=0.25)

    def written(self, daemon):
        """Waits until nothing is pending."""
        def look():
            status = daemon.client.status()
            commit = status["commit"]
            return status["store"]["state"] == "ok" and commit["pending_rows"] == 0 and commit.get("at")
        self.depart()
        return wait_for(look, "nothing waits to be written", seconds=30, pause=0.1)

    def assert_told(self, daemon, code, cause, remedy):
        """Status, metrics, doctor and journal tell the same trouble, with the same remedy."""
        status = daemon.client.status()
        warning = next((w for w in status["warnings"] if w["code"] == code), None)
        self.assertIsNotNone(warning, status["warnings"])
        self.assertRegex(warning["message"], cause)
        self.assertRegex(warning["remedy"], remedy)
        self.assertRegex(status["store"]["message"], cause)
        self.assertRegex(status["store"]["message"], remedy)
        metrics = daemon.client.metrics()
        self.assertEqual(metrics["iftally_store_state", frozenset({("state", status["store"]["state"])})], 1)
        self.assertEqual(metrics["iftally_store_state", frozenset({("state", "ok")})], 0)
        self.assertRegex(daemon.log(), cause)
        self.assertRegex(daemon.log(), remedy)
        doctor = subprocess.run([program("iftally"), "--socket", daemon.socket, "doctor"], capture_output=True,
                                text=True, timeout=20)
        self.assertEqual(doctor.returncode, 1, doctor.stdout)
        told = " ".join(doctor.stdout.split())
        self.assertRegex(told, cause)
        self.assertRegex(told, remedy)

    def assert_all_there(self, daemon, name="veth1"):
        """Totals are true now and after a restart, and the minutes of the store add up to them."""
        self.assert_truth(daemon)
        self.written(daemon)
        self.assert_truth(daemon)
        self.assertEqual(daemon.stop(), 0, daemon.log())
        daemon.start()
        self.assert_truth(daemon)
        self.assertEqual(self.usage_sum(daemon, name), self.veth.since_base())

    def assert_past_unreadable(self, daemon, cause):
        reply = daemon.client.ask("/v1/usage", **{"from": "today"})
        self.assertEqual(reply.status, 503, reply)
        problem = reply.json
        self.assertEqual(problem["code"], "store_unavailable")
        self.assertRegex(problem["detail"], cause)
        self.assertTrue(problem["remedy"])


class Hanging(Disk):
    def test_figures_go_on_while_a_commit_hangs_and_all_of_it_is_written_afterwards(self):
        disk = self.faulty()
        daemon = self.daemon(environment=disk.environment)
        self.push()
        self.written(daemon)
        disk.hang()
        self.depart()
        wait_for(lambda: self.depart() or disk["hanging"], "a commit hangs", pause=0.2)
        before = daemon.client.status()["commit"]
        for _ in range(6):
            self.push()
            self.assert_truth(daemon)  # each a sample of its own
            time.sleep(0.3)
        status = daemon.client.status()
        self.assertEqual(status["commit"]["count"], before["count"])
        self.assertGreater(status["commit"]["pending_rows"], 6)
        self.assertGreater(daemon.client.metrics()["iftally_pending_age_seconds", frozenset()], 1)
        self.assertLess(status["sample"]["age_seconds"], 1)
        disk.heal()
        self.assert_all_there(daemon)

    def test_a_stop_while_the_disk_hangs_ends_in_time_and_says_what_is_not_written(self):
        disk = self.faulty()
        daemon = self.daemon(environment=disk.environment)
        self.written(daemon)
        disk.hang()
        wait_for(lambda: self.depart() or disk["hanging"], "a commit hangs", pause=0.2)
        self.veth.push(100_000, 50_000)
        begun = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(30), 1)
        self.assertLess(time.monotonic() - begun, 25)
        self.assertRegex(daemon.log(), r"did not finish its last commit within 20 s; what was counted since "
                                       r"20\S+ is not written \([1-9]\d* rows\)")
        disk.heal()
        daemon.start()
        self.assert_total(daemon, "veth1", self.veth.since_base())


class Failing(Disk):
    def test_a_write_that_fails_once_loses_nothing(self):
        disk = self.faulty()
        daemon = self.daemon(environment=disk.environment)
        for number in (errno.EIO, errno.ENOSPC, errno.EROFS):
            self.written(daemon)
            failures = daemon.client.status()["commit"]["failures"]
            disk.fail(number, times=1)
            self.push()
            wait_for(lambda: self.depart() or daemon.client.status()["commit"]["failures"] > failures,
                     "a commit fails", pause=0.2)
            self.written(daemon)
            self.assertEqual(disk["failures"], 0)
        self.assert_all_there(daemon)

    def test_a_device_that_fails_for_a_while_is_told_and_recovers(self):
        disk = self.faulty()
        daemon = self.daemon(environment=disk.environment)
        self.written(daemon)
        disk.fail(errno.EIO)
        self.push()
        wait_for(lambda: self.depart() or daemon.client.status()["commit"]["failures"] >= 4, "commits fail",
                 seconds=30, pause=0.3)
        status = daemon.client.status()
        self.assertNotEqual(status["store"]["state"], "ok")
        code = "store_failing" if status["store"]["state"] == "failing" else "store_memory_only"
        self.assert_told(daemon, code, "disk I/O error", "errors of the device in the kernel log")
        self.push()
        self.assert_truth(daemon)
        disk.heal()
        self.reached(daemon, "ok")
        self.assert_all_there(daemon)

    def test_short_writes_are_written_on(self):
        disk = self.faulty()
        disk["longest"] = 100
        daemon = self.daemon(environment=disk.environment)
        self.push()
        self.assert_all_there(daemon)

    def test_a_write_torn_by_a_kill_at_any_of_them_gives_back_a_whole_commit(self):
        disk = self.faulty()
        daemon = self.daemon(environment=disk.environment)
        self.written(daemon)
        for after in (1, 2, 3, 5, 8, 13, 21):
            self.veth.push(10_000, 5_000)
            disk["tear_at"] = disk["writes"] + after

            def ended():
                if daemon.process.poll() is None:
                    self.depart_quietly()
                return daemon.process.poll() is not None
            wait_for(ended, f"the write {after} ahead kills it", seconds=40, pause=0.2)
            disk.heal()
            daemon.start()
            self.assert_total(daemon, "veth1", self.veth.since_base())
            self.assertEqual(daemon.client.status()["store"]["state"], "ok")
        self.assertNotIn("corrupt", daemon.log())
        self.written(daemon)
        self.assertEqual(self.usage_sum(daemon, "veth1"), self.veth.since_base())

    def depart_quietly(self):
        links.Tun(self.lab, f"brief{self.briefs}").delete()
        self.briefs += 1


class Taken(Disk):
    def file(self, daemon):
        return os.path.join(daemon.store, "iftally.db")

    def begun_anew(self, daemon):
        """After the store was lost: a new one has all totals, and says since when its minutes are missing."""
        def look():
            self.depart()
            status = daemon.client.status()
            warned = any(warning["code"] == "store_replaced" for warning in status["warnings"])
            return status if warned and status["store"]["state"] == "ok" else None
        status = wait_for(look, "a new store is begun", seconds=30, pause=0.25)
        self.push()
        self.assert_truth(daemon)
        self.written(daemon)
        self.assertIn("history_lost", [gap["reason"] for gap in status["gaps"]])
        daemon.restart()
        self.assert_truth(daemon)
        series = daemon.client.present("/v1/usage", interface="veth1", **{"from": "all"})["series"][0]
        self.assertEqual(series["sum"]["quality"]["completeness"], "at_least")

    def test_a_file_that_is_deleted_while_open(self):
        daemon = self.daemon()
        self.push()
        self.written(daemon)
        os.unlink(self.file(daemon))
        self.begun_anew(daemon)

    def test_a_directory_that_is_deleted_while_open(self):
        daemon = self.daemon()
        self.push()
        self.written(daemon)
        # At once: a new store may be begun in it while its files go one by one.
        os.rename(daemon.store, daemon.store + ".gone")
        shutil.rmtree(daemon.store + ".gone")
        self.begun_anew(daemon)

    def test_a_journal_that_is_deleted_while_open(self):
        daemon = self.daemon()
        self.push()
        self.written(daemon)
        os.unlink(self.file(daemon) + "-wal")
        self.push()
        self.assert_truth(daemon)
        daemon.stop()
        daemon.start()
        self.assert_total(daemon, "veth1", self.veth.since_base())

    def test_a_page_that_is_damaged_in_the_middle(self):
        daemon = self.daemon()
        for _ in range(3):
            self.push()
        self.written(daemon)
        daemon.stop()
        path = self.file(daemon)
        # A root page of the buckets, seen damaged only by whoever reads or writes them.
        database = sqlite3.connect(path)
        page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'bucket'").fetchone()[0]
        size = database.execute("PRAGMA page_size").fetchone()[0]
        database.close()
        with open(path, "r+b") as handle:
            handle.seek((page - 1) * size)
            handle.write(b"\xa5" * size)
        daemon.start()
        self.begun_anew(daemon)
        aside = [name for name in os.listdir(daemon.store) if ".corrupt-" in name]
        self.assertEqual(len([name for name in aside if not name.endswith(("-wal", "-shm"))]), 1, aside)

    def test_another_machines_store_put_in_its_place(self):
        other = self.daemon(name="other")
        tun = links.Tun(self.lab, "old0")
        tun.push(7_000, 7_000)
        self.written(other)
        tun.delete()
        other.stop()
        daemon = self.daemon()
        self.push()
        self.written(daemon)
        os.replace(self.file(other), self.file(daemon))
        wait_for(lambda: self.depart() or "holds other counts" in daemon.log(), "the other store is taken over",
                 seconds=30, pause=0.25)
        warnings = daemon.client.status()["warnings"]
        self.assertEqual([warning["code"] for warning in warnings], ["store_restarted"])
        self.push()
        # Both watched the same links: the longer record counts each byte once.
        self.assert_total(daemon, "veth1", self.veth.since_base())
        self.written(daemon)
        daemon.restart()
        self.assert_total(daemon, "veth1", self.veth.since_base())
        self.assertEqual(daemon.client.status()["store"]["state"], "ok")


class Late(Disk):
    """The store cannot be opened at the start; what the message says to do is done, and it goes on by itself."""

    def lived(self, store=None):
        """A daemon with a past: one day's traffic in its store, and stopped."""
        daemon = self.daemon(store=store)
        self.push()
        self.written(daemon)
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.veth.push(40_000, 20_000)  # while nobody watches
        return daemon

    def goes_on(self, daemon):
        self.push()
        self.depart()
        self.reached(daemon, "ok", seconds=60)
        self.push()
        self.assert_all_there(daemon)

    def test_a_read_only_file_system_that_is_mounted_writable_again(self):
        disk = self.lab.disk("fragile", "8m")
        daemon = self.lived(os.path.join(disk, "store"))
        self.lab.make_read_only(disk)
        daemon.start()
        self.push()
        self.assert_told(daemon, "store_memory_only", "Read-only file system", "mounted read-write")
        self.assert_past_unreadable(daemon, "Read-only file system")
        self.lab.make_read_only(disk, False)
        self.goes_on(daemon)

    def test_a_store_of_a_newer_version_that_is_moved_away_and_brought_back(self):
        daemon = self.lived()
        path = os.path.join(daemon.store, "iftally.db")
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 9999")
        database.close()
        with open(path, "rb") as handle:
            before = handle.read()
        daemon.start()
        self.push()
        self.assert_told(daemon, "store_memory_only", "newer iftally", "move the file away")
        self.assert_past_unreadable(daemon, "newer iftally")
        with open(path, "rb") as handle:
            self.assertEqual(handle.read(), before)
        os.rename(path, path + ".newer")
        self.reached(daemon, "ok", seconds=60)
        self.written(daemon)
        self.assertEqual(daemon.stop(), 0)
        database = sqlite3.connect(path)
        counted = database.execute("SELECT rx_bytes FROM link_total JOIN link ON id = link WHERE name = ?",
                                   (b"veth1",)).fetchone()
        self.assertEqual(counted, (100_000,))
        with open(path + ".newer", "rb") as handle:
            self.assertEqual(handle.read(), before)

    def test_a_newer_version_that_gives_its_store_back(self):
        daemon = self.lived()
        path = os.path.join(daemon.store, "iftally.db")

        def version(number):
            with sqlite3.connect(path) as database:
                database.execute(f"PRAGMA user_version = {number}")
            database.close()
        database = sqlite3.connect(path)
        present = database.execute("PRAGMA user_version").fetchone()[0]
        database.close()
        version(9999)
        daemon.start()
        self.push()
        version(present)
        self.goes_on(daemon)

    def test_a_directory_that_others_own(self):
        daemon = self.lived()
        os.rename(daemon.store, daemon.store + ".kept")
        with open(daemon.store, "w") as handle:
            handle.write("not a directory")
        daemon.start()
        self.push()
        self.assert_told(daemon, "store_memory_only", "Not a directory", "make it by hand")
        # There is no file that could hold a past.
        self.assertEqual(daemon.client.ask("/v1/usage", **{"from": "today"}).status, 200)
        os.unlink(daemon.store)
        os.rename(daemon.store + ".kept", daemon.store)
        self.goes_on(daemon)

    def test_a_file_system_that_is_full_at_the_very_start(self):
        disk = self.lab.disk("full", "256k")
        fill = os.path.join(disk, "fill")
        with open(fill, "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(bytes(4096))
            except OSError:
                pass
        daemon = Daemon(self.lab)
        daemon.store = os.path.join(disk, "store")
        daemon.configure(f"[Store]\nDirectory={daemon.store}\n\n[Api]\nSocket={daemon.socket}\n")
        daemon.start()
        self.push()
        self.assert_told(daemon, "store_memory_only", "No space left|no space left|full", "free space")
        self.assert_truth(daemon)
        os.unlink(fill)
        self.goes_on(daemon)

    def test_links_that_came_and_went_before_it_was_opened_are_in_their_history(self):
        disk = self.lab.disk("fragile", "8m")
        store = os.path.join(disk, "store")
        daemon = self.daemon(store=store)
        tun = links.Tun(self.lab, "tun7")
        tun.push(9_000, 9_000)
        tun.delete()
        self.written(daemon)
        daemon.stop()
        self.lab.make_read_only(disk)
        daemon.start()
        for amount in (1_000, 2_000):
            tun = links.Tun(self.lab, "tun7")
            tun.push(amount, amount)
            tun.delete()
        self.veth.push(100_000, 50_000)
        self.lab.make_read_only(disk, False)
        self.goes_on(daemon)
        self.assertEqual(daemon.client.total("tun7"), self.lab.truth.of("tun7"))
        self.assertEqual(self.usage_sum(daemon, "tun7"), self.lab.truth.of("tun7"))

    def test_a_stop_tries_the_store_once_more(self):
        disk = self.lab.disk("fragile", "8m")
        daemon = self.lived(os.path.join(disk, "store"))
        self.lab.make_read_only(disk)
        daemon.start()
        self.push()
        self.lab.make_read_only(disk, False)
        self.assertEqual(daemon.stop(), 0, daemon.log())
        daemon.start()
        self.assert_truth(daemon)

    def test_a_stop_without_a_store_says_what_is_lost(self):
        disk = self.lab.disk("fragile", "8m")
        daemon = self.lived(os.path.join(disk, "store"))
        self.lab.make_read_only(disk)
        daemon.start()
        self.push()
        self.assertEqual(daemon.stop(), 1)
        self.assertRegex(daemon.log(), r"Read-only file system\); what was counted since the start is not written \([1-9]")
        self.lab.make_read_only(disk, False)
        daemon.start()
        self.assert_total(daemon, "veth1", self.veth.since_base())
