"""The daemon under test: its configuration, start, stop, death and log."""
import os
import signal
import subprocess
import sys
import time

from .client import Client
from .programs import program


def spawn(command, log, environment=None, **how):
    """Start a program that dies with this process, its output appended to the file `log`; it keeps the PID.

    A variable of `environment` that is None is not passed on."""
    variables = {**os.environ, **(environment or {})}
    with open(log, "ab") as out:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            env={name: value for name, value in variables.items() if value is not None}, **how)


class Daemon:
    """One iftallyd in the lab's namespace with a store of its own; `start` may be called again after an end."""

    def __init__(self, lab, store=None, api="", more="", environment=None, name="d", without=(), netlink=None):
        """`store` is the store's folder; `api` holds further lines of the section [Api], `more` further sections;
        `without` names capabilities as setpriv does, for example "net_broadcast"; `netlink` is the error with which
        netlink is denied, for example "EPERM"."""
        self.netlink = netlink
        self.without = ",".join(f"-{capability}" for capability in without)
        self.folder = os.path.join(lab.folder, name)
        os.makedirs(self.folder)
        self.store = store or os.path.join(self.folder, "store")
        self.socket = os.path.join(self.folder, "sock")
        self.log_path = os.path.join(self.folder, "log")
        self.configuration = os.path.join(self.folder, "iftally.conf")
        self.environment = {"TZ": "UTC", **(environment or {})}
        self.configure(f"[Store]\nDirectory={self.store}\n\n[Api]\nSocket={self.socket}\n{api}\n{more}")
        self.client = Client(self.socket)
        self.process = None
        lab.at_exit(self.kill)

    def configure(self, text):
        os.makedirs(self.store, exist_ok=True)
        with open(self.configuration, "w") as handle:
            handle.write(text)

    def start(self, wait=True):
        """Run it; with `wait`, until it answers."""
        command = [program("iftallyd"), "--config", self.configuration]
        if self.without:
            command = ["setpriv", "--bounding-set", self.without, "--inh-caps", self.without, "--", *command]
        if self.netlink:
            command = [sys.executable, os.path.join(os.path.dirname(__file__), "without_netlink.py"), self.netlink,
                       *command]
        self.process = spawn(command, self.log_path, self.environment)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, seconds=20):
        """Return when the status is told: after the first sample."""
        end = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"iftallyd ended with {self.process.returncode}:\n{self.log()}")
            try:
                if self.client.ask("/v1/status").status == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"iftallyd does not answer after {seconds} s:\n{self.log()}")
            time.sleep(0.005)

    def stop(self):
        """SIGTERM; the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self):
        """SIGKILL, if it runs."""
        if self.process and self.process.poll() is None:
            self._end(signal.SIGKILL)

    def _end(self, number):
        self.process.send_signal(number)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"iftallyd did not end on signal {number} within 20 s:\n{self.log()}") from None

    def pause(self):
        """SIGSTOP: it does not run until `go_on`, and the kernel goes on queueing for it."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def restart(self):
        self.stop()
        return self.start()

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        """What it has written, of all its runs."""
        with open(self.log_path, errors="replace") as handle:
            return handle.read()


def wait_for(condition, what, seconds=15, pause=0.05):
    """The first true value of `condition()`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(pause)
