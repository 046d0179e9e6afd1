"""The configuration file as an administrator meets it: lines in errors, checks, reloads, signals."""
import os
import subprocess

from Lab import links
from Lab.daemon import Daemon, wait_for
from Lab.programs import program

from .case import LabCase


class Configuration(LabCase):
    def run_daemon(self, *arguments):
        return subprocess.run([program("iftallyd"), *arguments], capture_output=True, text=True, timeout=20)

    def file(self, text):
        path = os.path.join(self.lab.folder, "tried.conf")
        with open(path, "w") as handle:
            handle.write(text)
        return path

    def test_errors_name_the_file_and_the_line(self):
        for text, line, word in (("[Store]\nDirectory=/run/lab/x\nColour=red\n", 3, "Colour"),
                                 ("[Api]\nSocket=relative\n", 2, "Socket"),
                                 ("[Api]\n\n\nTcp=nonsense\n", 4, "Tcp"),
                                 ("# a comment\n[Shop]\nOpen=yes\n", 2, "Shop"),
                                 ("[Store]\nno equals sign\n", 2, ""),
                                 ("Directory=/run/lab/x\n", 1, "Directory")):
            path = self.file(text)
            for mode in ((), ("--check-config",)):
                done = self.run_daemon("--config", path, *mode)
                self.assertNotEqual(done.returncode, 0, text)
                self.assertIn(f"{path}:{line}", done.stdout + done.stderr, text)
                self.assertIn(word, done.stdout + done.stderr)

    def test_a_good_file_passes_the_check_without_a_start(self):
        store = os.path.join(self.lab.folder, "never")
        done = self.run_daemon("--config", self.file(f"[Store]\nDirectory={store}\n"), "--check-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(store))

    def test_a_missing_file_is_named(self):
        for mode in ((), ("--check-config",)):
            done = self.run_daemon("--config", "/run/lab/none.conf", *mode)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("/run/lab/none.conf", done.stderr)

    def test_unknown_arguments_are_refused(self):
        done = self.run_daemon("--colour")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--colour", done.stderr)

    def test_a_reload_of_a_bad_file_keeps_the_old_in_force_and_says_why(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        with open(daemon.configuration) as handle:
            good = handle.read()
        daemon.configure(good + "\n[Store]\nColour=red\n")
        daemon.reload()
        line = good.count("\n") + 3

        def warned():
            return [each for each in daemon.client.status()["warnings"]
                    if f"{daemon.configuration}:{line}" in each["message"]]
        warning = wait_for(warned, "a warning about the configuration")[0]
        self.assertTrue(warning["remedy"])
        self.assertIn(f"{daemon.configuration}:{line}", daemon.log())
        veth.push(100_000, 50_000)
        self.assert_link(daemon, veth)
        daemon.configure(good)
        daemon.reload()
        wait_for(lambda: not warned(), "the warning is gone")
        self.assertEqual(daemon.stop(), 0)

    def test_a_reload_of_an_unchanged_file_disturbs_nothing(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        for _ in range(5):
            veth.push(100_000, 50_000)
            daemon.reload()
        self.assert_link(daemon, veth)

    def test_sigterm_commits_and_ends_with_success(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(100_000, 50_000)
        truth = veth.since_base()
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.assertFalse(os.path.exists(daemon.socket))
        veth.delete()
        daemon.start()
        self.assert_total(daemon, "veth1", truth)

    def test_folders_of_the_service_are_the_defaults(self):
        daemon = Daemon(self.lab, environment={"STATE_DIRECTORY": f"{self.lab.folder}/state",
                                               "RUNTIME_DIRECTORY": f"{self.lab.folder}/runtime"})
        for name in ("state", "runtime"):
            os.makedirs(os.path.join(self.lab.folder, name))
        daemon.configure("")
        daemon.client.path = os.path.join(self.lab.folder, "runtime", "iftally.sock")
        daemon.start()
        self.assertTrue(daemon.client.status()["store"]["path"].startswith(f"{self.lab.folder}/state/"))
