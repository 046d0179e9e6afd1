"""What every test of the command needs: the built binary, a fake daemon, a run of it, a terminal."""
import os
import pathlib
import pty
import select
import subprocess
import tempfile
import unittest

from fake_daemon import FakeDaemon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = os.path.join(os.environ.get("IFTALLY_BIN", str(ROOT / ".build" / "debug")), "iftally")


class CommandCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.access(COMMAND, os.X_OK):
            raise AssertionError(f"{COMMAND} is not there: build it with swift build, or set IFTALLY_BIN to its folder")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="iftally-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)
        self.socket = str(self.folder / "iftally.sock")
        self.daemon = FakeDaemon(self.socket)
        self.addCleanup(self.daemon.stop)

    def environment(self, **extra):
        kept = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "IFTALLY_SOCKET": self.socket}
        if "LD_LIBRARY_PATH" in os.environ:
            kept["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        return {k: v for k, v in {**kept, **extra}.items() if v is not None}

    def run_command(self, *arguments, exit=0, prefix=(), command=COMMAND, stdout=subprocess.PIPE, **extra):
        """Runs it, checks the exit code and that each output goes where it belongs; returns the result."""
        result = subprocess.run(
            [*prefix, command, *arguments], stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env=self.environment(**extra), timeout=60, encoding="utf-8")
        self.assertEqual(result.returncode, exit, f"{arguments}: {result.stderr or result.stdout}")
        if exit == 0:
            self.assertEqual(result.stderr, "", arguments)
        return result

    def refused(self, *arguments, exit, **extra):
        """Runs it to a failure: nothing on stdout, one line on stderr, which is returned."""
        result = self.run_command(*arguments, exit=exit, **extra)
        self.assertEqual(result.stdout or "", "")
        self.assertRegex(result.stderr, r"\Aiftally: [^\n]*\n\Z")
        return result.stderr

    def on_terminal(self, *arguments, **extra):
        """Runs it on a pseudo-terminal of 24 rows and 80 columns; returns what it wrote there."""
        import fcntl
        import struct
        import termios

        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = self.environment(**{"TERM": "xterm", **extra})
        process = subprocess.Popen([COMMAND, *arguments], stdout=slave, stderr=slave, stdin=slave, env=environment)
        os.close(slave)
        written = b""
        try:
            while True:
                if not select.select([master], [], [], 30)[0]:
                    self.fail(f"{arguments}: no output for 30 s")
                try:
                    chunk = os.read(master, 65536)
                except OSError:  # EIO: the last writer is gone
                    break
                if not chunk:
                    break
                written += chunk
        finally:
            os.close(master)
            self.assertEqual(process.wait(30), 0, arguments)
        return written.decode()
