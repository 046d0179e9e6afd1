"""What the tests of backups and of restores share: both commands against a daemon of the lab."""
import json
import os
import sqlite3
import subprocess

from Lab.programs import program
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
