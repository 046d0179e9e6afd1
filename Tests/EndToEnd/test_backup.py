"""Backups of a running daemon: complete or not there, of one moment, for those who may."""
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

from .backup_case import FAILED, FORBIDDEN, NOBODY, OK, UNREACHABLE, USAGE, BackupCase


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
