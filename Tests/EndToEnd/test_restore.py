"""Histories put back: no byte is doubled, what one lost is labelled, and what is refused changes nothing."""
import glob
import os
import shutil
import sqlite3
import time

from Lab import links
from Lab.daemon import Daemon
from Lab.programs import program
from Lab.traffic import Steady

from .backup_case import FAILED, FORBIDDEN, NOBODY, BackupCase


class Restores(BackupCase):
    def test_what_passed_since_the_backup_is_counted_once(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        veth.settled()
        self.backup(daemon)
        veth.push(400_000, 300_000)
        self.assert_link(daemon, veth)
        daemon.stop()
        veth.push(30_000, 20_000)
        report = self.restore(daemon)
        restored = self.totals_in(os.path.join(daemon.store, "iftally.db"))["veth1"]
        self.assertEqual((restored.rx_bytes, restored.tx_bytes), (2_000_000, 1_000_000))
        self.assertEqual(self.totals_in(report["replaced"])["veth1"].rx_bytes, 2_400_000)
        daemon.start()
        self.assert_link(daemon, veth)
        self.assertEqual(self.usage_sum(daemon, "veth1"), veth.since_base())
        self.assertNotEqual(self.completeness(daemon, "veth1"), "at_least")
        self.assertEqual(daemon.client.interface("veth1")["incarnations"], 1)
        self.assertTrue([gap for gap in daemon.client.status()["gaps"] if gap["reason"] == "not_running"])

    def test_the_same_backup_again_and_again_never_doubles_a_byte(self):
        lasting = [links.Veth(self.lab, "veth1"), links.Tun(self.lab, "tun0"), links.Bridge(self.lab, "br0")]
        daemon = self.daemon()
        with Steady(lasting):
            self.backup(daemon)
            for _ in range(4):
                time.sleep(0.1)
                daemon.stop()
                self.restore(daemon)
                daemon.start()
        self.assert_truth(daemon)
        for link in lasting:
            self.assertNotEqual(self.completeness(daemon, link.name), "at_least")
        self.assertEqual(len(glob.glob(os.path.join(daemon.store, "iftally.db.replaced-*"))), 4)

    def test_the_store_that_was_replaced_can_be_taken_back(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.backup(daemon)
        tun = links.Tun(self.lab, "tun0")
        tun.push(700_000, 600_000)
        self.assert_link(daemon, tun)
        tun.delete()
        daemon.stop()
        replaced = self.restore(daemon)["replaced"]
        daemon.start()
        self.assertNotIn("tun0", daemon.client.totals())
        daemon.stop()
        self.restore(daemon, replaced)
        daemon.start()
        self.assert_truth(daemon)

    def test_a_link_made_anew_since_the_backup_counts_its_new_life_and_says_at_least(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.daemon()
        tun.push(1_500_000, 500_000)
        self.assert_link(daemon, tun)
        self.backup(daemon)
        tun.push(90_000, 80_000)
        tun.delete()
        links.Tun(self.lab, "tun0").push(4_000_000, 2_000_000)
        daemon.stop()
        self.restore(daemon)
        daemon.start()
        counted, truth = daemon.client.total("tun0"), self.lab.truth.of("tun0")
        self.assertEqual((counted.rx_bytes, counted.tx_bytes), (truth.rx_bytes - 90_000, truth.tx_bytes - 80_000))
        self.assertEqual(self.completeness(daemon, "tun0"), "at_least")
        self.assertTrue(any(gap["lossy"] for gap in daemon.client.status()["gaps"]))

    def test_a_link_that_came_and_went_since_the_backup_is_unknown_again_and_the_gap_says_so(self):
        daemon = self.daemon()
        self.backup(daemon)
        brief = links.Tun(self.lab, "tun0")
        brief.push(70_000, 60_000)
        self.assert_link(daemon, brief)
        brief.delete()
        born = links.Tun(self.lab, "tun1")
        born.push(50_000, 40_000)
        daemon.stop()
        self.restore(daemon)
        daemon.start()
        self.assertNotIn("tun0", daemon.client.totals())
        self.assert_link(daemon, born)

    def test_after_a_reboot_the_counters_begin_anew_and_the_rest_of_the_old_boot_is_labelled(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        saved = veth.since_base()
        self.backup(daemon)
        veth.push(300_000, 200_000)
        self.assert_link(daemon, veth)
        daemon.stop()
        self.lab.new_boot()
        self.restore(daemon)
        daemon.start()
        # The counters as they stand are what passed since the boot; what passed before it after the backup is not seen.
        self.assert_total(daemon, "veth1", saved.plus(veth.since_base()))
        self.assertEqual(self.completeness(daemon, "veth1"), "at_least")
        self.assertTrue([gap for gap in daemon.client.status()["gaps"] if gap["reason"] == "reboot"])

    def test_in_another_network_namespace_of_the_machine_links_of_the_same_names_are_others(self):
        here = links.Veth(self.lab, "veth1", index=300)
        daemon = self.daemon()
        here.push(2_000_000, 1_000_000)
        self.assert_link(daemon, here)
        saved = here.since_base()
        self.backup(daemon)
        daemon.stop()
        here.delete()
        there = links.Veth(self.lab, "veth1", index=300)
        there.push(5_000_000, 4_000_000)
        there.settled()
        other = Daemon(self.lab, name="other")
        self.restore(other)
        other.start()
        self.assert_total(other, "veth1", saved.plus(there.since_base()))
        self.assertEqual(self.completeness(other, "veth1"), "at_least")

    def test_a_store_in_use_is_not_touched(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        self.backup(daemon)
        veth.push(100_000, 50_000)
        error = self.refused(daemon, FAILED, "restore", self.file, "--directory", daemon.store)
        self.assertIn("systemctl stop iftallyd", error)
        self.assert_link(daemon, veth)
        self.assertEqual(glob.glob(os.path.join(daemon.store, "iftally.db.*")), [
            path for path in glob.glob(os.path.join(daemon.store, "iftally.db.*")) if path.endswith(("-wal", "-shm"))])

    def test_what_is_no_sound_store_of_a_known_version_is_refused(self):
        daemon = self.daemon()
        self.backup(daemon)
        daemon.stop()
        path = os.path.join(daemon.store, "iftally.db")
        with open(path, "rb") as handle:
            before = handle.read()

        def spoilt(name, change):
            file = shutil.copy(self.file, os.path.join(self.lab.folder, name))
            change(file)
            return self.refused(daemon, FAILED, "restore", file, "--directory", daemon.store)

        def pragma(text):
            def change(file):
                database = sqlite3.connect(file)
                database.execute(text)
                database.commit()
                database.close()
            return change

        def overwritten(file):
            with open(file, "r+b") as handle:
                handle.seek(3 * 1024)
                handle.write(b"\xa5" * 4096)

        def cut(file):
            os.truncate(file, 5000)

        def words(file):
            with open(file, "w") as handle:
                handle.write("hello " * 1000)

        self.assertIn("newer iftally", spoilt("newer", pragma("PRAGMA user_version = 9999")))
        self.assertIn("another program", spoilt("foreign", pragma("PRAGMA application_id = 1")))
        self.assertIn("no sound store", spoilt("damaged", overwritten))
        self.assertIn("no sound store", spoilt("cut", cut))
        self.assertIn("no sound store", spoilt("empty", lambda file: os.truncate(file, 0)))
        self.assertIn("no sound store", spoilt("text", words))
        self.assertIn("No such file", self.refused(daemon, FAILED, "restore", "/run/lab/none", "--directory", daemon.store))
        self.assertIn("is the store itself", self.refused(daemon, FAILED, "restore", path, "--directory", daemon.store))
        self.assertIn("no folder", self.refused(daemon, FAILED, "restore", self.file, "--directory", "/run/lab/none"))
        with open(path, "rb") as handle:
            self.assertEqual(handle.read(), before)
        self.assertEqual(sorted(os.listdir(daemon.store)), ["iftally.db", "iftally.lock"])
        self.assertEqual(daemon.start().client.status()["store"]["state"], "ok")

    def test_the_journal_of_a_killed_daemon_is_not_lost_with_the_store_that_is_replaced(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        self.backup(daemon)
        veth.push(800_000, 700_000)
        veth.settled()
        self.backup(daemon, self.file + "2")  # commits it
        daemon.kill()
        self.assertGreater(os.stat(os.path.join(daemon.store, "iftally.db-wal")).st_size, 0)
        copied = os.path.join(self.lab.folder, "copied.db")
        for suffix in ("", "-wal"):
            shutil.copy(os.path.join(daemon.store, "iftally.db" + suffix), copied + suffix)
        replaced = self.restore(daemon)["replaced"]
        self.assertEqual(self.totals_in(replaced)["veth1"], veth.since_base())
        self.assertEqual(os.listdir(daemon.store).count("iftally.db-wal"), 0)
        # Nor when such a file with its journal is what is restored.
        self.restore(daemon, copied)
        self.assertEqual(self.totals_in(os.path.join(daemon.store, "iftally.db"))["veth1"], veth.since_base())
        daemon.start()
        self.assert_link(daemon, veth)

    def test_a_damaged_store_is_kept_too_and_an_empty_folder_needs_none(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(800_000, 700_000)
        self.assert_link(daemon, veth)
        self.backup(daemon)
        daemon.stop()
        path = os.path.join(daemon.store, "iftally.db")
        with open(path, "r+b") as handle:
            handle.write(b"this is no database" * 50)
        replaced = self.restore(daemon)["replaced"]
        with open(replaced, "rb") as handle:
            self.assertTrue(handle.read().startswith(b"this is no database"))
        for name in os.listdir(daemon.store):
            os.unlink(os.path.join(daemon.store, name))
        self.assertNotIn("replaced", self.restore(daemon))
        daemon.start()
        self.assert_link(daemon, veth)

    def test_without_room_everything_stays_as_it_is(self):
        disk = self.lab.disk("small", "256k")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        self.backup(daemon)
        daemon.stop()
        with open(os.path.join(disk, "fill"), "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(bytes(1024))
            except OSError:
                pass
        self.refused(daemon, FAILED, "restore", self.file, "--directory", daemon.store)
        self.assertEqual(sorted(os.listdir(daemon.store)), ["iftally.db", "iftally.lock"])
        os.unlink(os.path.join(disk, "fill"))
        self.assertEqual(daemon.start().client.status()["store"]["state"], "ok")

    def test_root_leaves_it_to_the_user_whose_folder_it_is(self):
        daemon = self.daemon()
        self.backup(daemon)
        daemon.stop()
        shutil.rmtree(daemon.store)
        os.mkdir(daemon.store, 0o750)
        os.chown(daemon.store, NOBODY, NOBODY)
        # What that user could lay out to have root write elsewhere.
        precious = os.path.join(self.lab.folder, "precious")
        with open(precious, "w") as handle:
            handle.write("precious")
        os.chmod(precious, 0o600)
        os.symlink(precious, os.path.join(daemon.store, "iftally.db.new"))
        self.restore(daemon)
        for name in ("iftally.db", "iftally.lock"):
            facts = os.lstat(os.path.join(daemon.store, name))
            self.assertEqual((facts.st_uid, facts.st_gid, facts.st_mode & 0o7777), (NOBODY, NOBODY, 0o640), name)
        with open(precious) as handle:
            self.assertEqual(handle.read(), "precious")

    def test_who_may_not_write_the_folder_is_told_so(self):
        daemon = self.daemon()
        self.backup(daemon)
        os.chmod(self.file, 0o644)
        daemon.stop()
        os.chmod(daemon.store, 0o755)
        everybodys = shutil.copy(program("iftally"), os.path.join(self.lab.folder, "iftally"))
        os.chmod(everybodys, 0o755)
        error = self.refused(daemon, FORBIDDEN, "restore", self.file, "--directory", daemon.store, executable=everybodys,
                             user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn("sudo", error)
