"""The systems that are compared: iftally, vnStat, and node_exporter with a scraper."""
import glob
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.request

from Lab.daemon import Daemon, spawn
from Lab.programs import ROOT, missing
from Lab.truth import Counters


PEERS = os.path.abspath(os.environ.get("IFTALLY_PEERS") or os.path.join(ROOT, ".build", "peers"))
# Libraries that the machine lacks were unpacked beside the peers' programs.
LIBRARIES = {"LD_LIBRARY_PATH": ":".join(glob.glob(os.path.join(PEERS, "usr/lib/*-linux-gnu*")))}


class System:
    """One way to count traffic in the lab's namespace. Totals are {name: Counters}; packets may be 0."""

    # Its history follows a device through a rename, so all of it is expected under the device's last name.
    follows_renames = False
    # Its clock can be turned: it is linked dynamically.
    clock_can_turn = True
    # Seconds between two readings of the counters.
    interval = 0

    def __init__(self, lab):
        self.lab, self.environment = lab, {}

    @staticmethod
    def missing():
        """Why it cannot be run here, or None."""

    def start(self):
        raise NotImplementedError

    def stop(self):
        """An orderly end."""
        raise NotImplementedError

    def kill(self):
        raise NotImplementedError

    def pause(self):
        """SIGSTOP, until `go_on`."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def sampled(self):
        """Return when the counters have just been read."""
        raise NotImplementedError

    def totals(self):
        """What its user is told now."""
        raise NotImplementedError

    def final(self):
        """An orderly stop, and what its user is told after that: ({name: Counters}, {name: label of a loss})."""
        self.stop()
        return self.totals(), {}


class Iftally(System):
    """Driven by events; a question samples, so asking is what it takes to have the counters read."""

    follows_renames = True

    def __init__(self, lab):
        super().__init__(lab)
        self.daemon = Daemon(lab, name="iftally")

    @staticmethod
    def missing():
        return missing("iftallyd")

    def start(self):
        self.daemon.environment.update(self.environment)
        self.daemon.start()

    @property
    def process(self):
        return self.daemon.process

    def stop(self):
        self.daemon.stop()

    def kill(self):
        self.daemon.kill()

    def sampled(self):
        self.daemon.client.interfaces()

    def totals(self):
        return self.daemon.client.totals()

    def final(self):
        live = self.totals()
        self.stop()
        self.start()
        stored = self.totals()
        if stored != live:
            raise AssertionError(f"told {live} before the stop, {stored} after it")
        labels = {each["name"]: each["total"]["quality"]["completeness"] for each in self.daemon.client.interfaces()}
        self.stop()
        return stored, labels


VNSTAT_CONFIGURATION = """DatabaseDir "{folder}"
AlwaysAddNewInterfaces 1
UseLogging 0
"""


class Vnstat(System):
    """vnstatd with its own defaults: it reads each 20 s and saves each 5 minutes."""

    interval = 20
    daemon_path, client_path = os.path.join(PEERS, "usr/sbin/vnstatd"), os.path.join(PEERS, "usr/bin/vnstat")

    def __init__(self, lab, folder=None):
        super().__init__(lab)
        self.folder = folder or os.path.join(lab.folder, "vnstat")
        os.makedirs(self.folder, exist_ok=True)
        self.configuration = os.path.join(self.folder, "vnstat.conf")
        with open(self.configuration, "w") as handle:
            handle.write(VNSTAT_CONFIGURATION.format(folder=self.folder))
        self.process = None
        lab.at_exit(self.kill)

    @staticmethod
    def missing():
        for path in (Vnstat.daemon_path, Vnstat.client_path):
            if not os.path.exists(path):
                return f"{path} is missing: run scripts/peers.sh"

    def start(self):
        self.process = spawn([self.daemon_path, "-n", "--config", self.configuration],
                             os.path.join(self.folder, "log"), {**LIBRARIES, **self.environment})
        time.sleep(2)  # it tells nobody when it is ready

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def sampled(self):
        """Its readings fall on whole multiples of the interval of the wall clock."""
        time.sleep(self.interval - time.time() % self.interval + 1.3)

    def totals(self):
        done = subprocess.run([self.client_path, "--config", self.configuration, "--json"], capture_output=True,
                              text=True, env={**os.environ, **LIBRARIES})
        if not done.stdout.startswith("{"):
            return {}
        return {each["name"]: Counters(each["traffic"]["total"]["rx"], each["traffic"]["total"]["tx"])
                for each in json.loads(done.stdout)["interfaces"]}


class NodeExporter(System):
    """node_exporter, scraped each 15 s; increases are summed as PromQL's increase() does, without extrapolation."""

    interval = 15
    clock_can_turn = False
    path = os.path.join(PEERS, "usr/bin/prometheus-node-exporter")
    series = re.compile(r'^node_network_(receive|transmit)_bytes_total\{device="([^"]+)"\} (\S+)$', re.M)

    def __init__(self, lab):
        super().__init__(lab)
        self.process = None
        self.last, self.counted, self.scrapes = {}, {}, 0
        self.ended = threading.Event()
        self.scraper = None
        lab.at_exit(self.kill)
        lab.at_exit(self.ended.set)

    @staticmethod
    def missing():
        if not os.path.exists(NodeExporter.path):
            return f"{NodeExporter.path} is missing: run scripts/peers.sh"

    def start(self):
        self.process = spawn([self.path, "--collector.disable-defaults", "--collector.netdev",
                              "--web.listen-address=127.0.0.1:9100"], os.path.join(self.lab.folder, "exporter.log"),
                             LIBRARIES)
        end = time.monotonic() + 20
        while not self.scrape():
            if time.monotonic() > end:
                raise AssertionError("node_exporter does not answer")
            time.sleep(0.1)
        if not self.scraper:
            self.scraper = threading.Thread(target=self._scrape_for_ever, daemon=True)
            self.scraper.start()

    def _scrape_for_ever(self):
        while not self.ended.wait(self.interval - time.time() % self.interval):
            self.scrape()

    def scrape(self):
        try:
            with urllib.request.urlopen("http://127.0.0.1:9100/metrics", timeout=10) as response:
                text = response.read().decode()
        except OSError:
            return False
        for direction, name, value in self.series.findall(text):
            key, now = (name, direction), int(float(value))
            before = self.last.get(key, now)  # a series' first value is where its increase begins
            self.counted[key] = self.counted.get(key, 0) + (now - before if now >= before else now)
            self.last[key] = now
        self.scrapes += 1
        return True

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def sampled(self):
        before, end = self.scrapes, time.monotonic() + 3 * self.interval
        while self.scrapes == before and time.monotonic() < end:
            time.sleep(0.02)

    def totals(self):
        return {name: Counters(self.counted.get((name, "receive"), 0), self.counted.get((name, "transmit"), 0))
                for name, _ in self.counted}


SYSTEMS = {"iftally": Iftally, "vnstat": Vnstat, "node_exporter": NodeExporter}
