"""Backups of a running daemon and what comes of them: no byte is doubled, and what a history lost is labelled."""
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import threading
import time

from Lab import links
from Lab.client import ask_tcp
from Lab.daemon import Daemon
from Lab.programs import program
from Lab.traffic import Steady
from Lab.truth import Counters

from .case import LabCase

OK, FAILED, USAGE, UNREACHABLE, FORBIDDEN = 0, 1, 2, 3, 4
NOBODY = 65534


class BackupCase(LabCase):
    programs = ("iftallyd", "iftally")

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.lab.folder, "history.db")

    def run_command(self, daemon, *arguments, executable=None, **how):
        environment = {**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C"}
        return subprocess.run([executable or program("iftally"), *arguments], capture_output=True, text=True, timeout=60,
                              env=environment, **how)

    def done(self, daemon, *arguments):
        done = self.run_command(daemon, *arguments)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertNotIn("exact", done.stdout)
        return done.stdout

    def refused(self, daemon, code, *arguments, **how):
        done = self.run_command(daemon, *arguments, **how)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def backup(self, daemon, file=None):
        return json.loads(self.done(daemon, "backup", file or self.file, "--json"))

    def restore(self, daemon, file=None):
        return json.loads(self.done(daemon, "restore", file or self.file, "--directory", daemon.store, "--json"))

    def completeness(self, daemon, name):
        return daemon.client.interface(name)["total"]["quality"]["completeness"]

    def totals_in(self, file):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            rows = database.execute(
                "SELECT name, rx_bytes, tx_bytes, rx_packets, tx_packets FROM link JOIN link_total ON link = id")
            return {name.decode(): Counters(*amounts) for name, *amounts in rows}


class Backups(BackupCase):
    def test_a_backup_holds_what_was_counted_up_to_now_and_tells_what_it_is(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(3_000_000, 1_000_000)
        veth.settled()
        text = self.done(daemon, "backup", self.file)
        for words in (self.file, "2: lo, veth1", "every page is sound", "span"):
            self.assertIn(words, text)
        self.assertEqual(self.totals_in(self.file)["veth1"], veth.since_base())
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(daemon.store).count("iftally.db.copy"), 0)
        with open(self.file, "rb") as handle:
            # Versions 1: no journal beside it is needed to read it.
            self.assertEqual(handle.read(20)[18:], b"\x01\x01")

    def test_into_a_folder_it_gets_a_dated_name(self):
        daemon = self.daemon()
        report = self.backup(daemon, self.lab.folder)
        self.assertRegex(report["file"], r"/iftally-20\d{6}T\d{6}Z\.db$")
        self.assertEqual(report["size_bytes"], os.stat(report["file"]).st_size)
        self.assertEqual(report["nature"], "estimate")

    def test_no_file_is_replaced_unless_that_is_asked_for(self):
        daemon = self.daemon()
        with open(self.file, "w") as handle:
            handle.write("precious")
        self.assertIn("--force", self.refused(daemon, FAILED, "backup", self.file))
        with open(self.file) as handle:
            self.assertEqual(handle.read(), "precious")
        self.done(daemon, "backup", self.file, "--force")
        self.assertIn("lo", self.totals_in(self.file))
        self.assertIn("is no file", self.refused(daemon, FAILED, "backup", "/dev/null", "--force"))

    def test_where_it_cannot_be_written_no_half_file_is_left(self):
        daemon = self.daemon()
        disk = self.lab.disk("tiny", "8k")
        error = self.refused(daemon, FAILED, "backup", disk)
        self.assertIn("No space left on device", error)
        self.assertEqual(os.listdir(disk), [])
        self.assertIn("folder is not there", self.refused(daemon, FAILED, "backup", "/run/lab/none/x.db"))
        everybodys = shutil.copy(program("iftally"), os.path.join(self.lab.folder, "iftally"))
        os.chmod(everybodys, 0o755)
        self.refused(daemon, FORBIDDEN, "backup", self.file, executable=everybodys, user=NOBODY, group=NOBODY,
                     extra_groups=[])

    def test_a_store_without_room_for_a_copy_says_so_and_counts_on(self):
        disk = self.lab.disk("small", "128k")
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        with open(os.path.join(disk, "fill"), "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(bytes(1024))
            except OSError:
                pass
        error = self.refused(daemon, FAILED, "backup", self.file)
        self.assertRegex(error, "cannot be copied|no space left|cannot be written")
        self.assertFalse(os.path.exists(self.file))
        self.assertNotIn("iftally.db.copy", os.listdir(daemon.store))
        os.unlink(os.path.join(disk, "fill"))
        veth.push(100_000, 50_000)
        self.assert_link(daemon, veth)
        self.backup(daemon)

    def test_it_is_for_root_and_the_group_and_not_for_tcp(self):
        daemon = self.daemon(api="Tcp=127.0.0.1:18460")
        self.assertEqual(ask_tcp(18460, "/v1/backup").status, 403)
        everybodys = shutil.copy(program("iftally"), os.path.join(self.lab.folder, "iftally"))
        os.chmod(everybodys, 0o755)
        folder = os.path.join(self.lab.folder, "nobodys")
        os.mkdir(folder)
        os.chown(folder, NOBODY, NOBODY)
        who = {"executable": everybodys, "user": NOBODY, "group": NOBODY}
        error = self.refused(daemon, FORBIDDEN, "backup", folder, extra_groups=[], **who)
        self.assertIn("usermod -aG iftally", error)
        self.assertEqual(os.listdir(folder), [])

    def test_members_of_the_group_may(self):
        groups = os.path.join(self.lab.folder, "group")
        with open("/etc/group") as old, open(groups, "w") as new:
            new.write(old.read() + "\niftally:x:64999:\n")
        # In a mount namespace of its own, where the machine has that group.
        daemon = Daemon(self.lab)
        subprocess.run(["mount", "--bind", groups, "/etc/group"], check=True)
        self.lab.at_exit(lambda: subprocess.run(["umount", "/etc/group"], check=True))
        daemon.start()
        everybodys = shutil.copy(program("iftally"), os.path.join(self.lab.folder, "iftally"))
        os.chmod(everybodys, 0o755)
        folder = os.path.join(self.lab.folder, "nobodys")
        os.mkdir(folder)
        os.chown(folder, NOBODY, NOBODY)
        who = {"executable": everybodys, "user": NOBODY, "group": NOBODY}
        self.refused(daemon, FORBIDDEN, "backup", folder, extra_groups=[64998], **who)
        done = self.run_command(daemon, "backup", folder, extra_groups=[64999], **who)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))

    def test_without_a_daemon_nothing_is_made(self):
        daemon = Daemon(self.lab)
        self.refused(daemon, UNREACHABLE, "backup", self.file)
        self.assertFalse(os.path.exists(self.file))
        self.refused(daemon, USAGE, "backup")

    def test_one_copy_at_a_time_and_answers_meanwhile(self):
        daemon = self.daemon()
        answers = []
        daemon.pause()
        clients = [threading.Thread(target=lambda: answers.append(daemon.client.ask("/v1/backup"))) for _ in range(3)]
        for client in clients:
            client.start()
        time.sleep(0.5)  # the kernel holds their questions
        daemon.go_on()
        self.assertEqual(daemon.client.ask("/v1/status").status, 200)
        for client in clients:
            client.join()
        statuses = sorted(reply.status for reply in answers)
        self.assertEqual(statuses[0], 200)
        self.assertIn(503, statuses)
        self.assertEqual({reply.json["code"] for reply in answers if reply.status == 503}, {"busy"})
        self.assertEqual(daemon.client.ask("/v1/backup", method="HEAD").status, 405)

    def test_what_a_killed_daemon_left_of_a_copy_goes_with_the_next_start(self):
        daemon = self.daemon()
        daemon.kill()
        with open(os.path.join(daemon.store, "iftally.db.copy"), "wb") as handle:
            handle.write(bytes(5000))
        daemon.start()
        self.assertNotIn("iftally.db.copy", os.listdir(daemon.store))

    def test_backups_under_traffic_and_departures_are_each_of_one_moment(self):
        lasting = [links.Veth(self.lab, "veth1"), links.Bridge(self.lab, "br0")]
        daemon = self.daemon()
        with Steady(lasting):
            for number in range(8):
                tun = links.Tun(self.lab, f"brief{number}")
                tun.push(5_000, 5_000)
                self.backup(daemon, f"{self.file}{number}")
                tun.delete()
        for number in range(8):
            file = f"{self.file}{number}"
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                for link, rx, tx in database.execute("SELECT link, rx_bytes, tx_bytes FROM link_total"):
                    rows = database.execute(
                        "SELECT ifnull(sum(rx_bytes), 0), ifnull(sum(tx_bytes), 0) FROM bucket WHERE tier = 0 AND link = ?",
                        (link,)).fetchone()
                    self.assertEqual(rows, (rx, tx), f"{file}: total and minutes of link {link} are of two moments")
        self.assert_truth(daemon)


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
