#!/usr/bin/env python3
"""Links are made, send and end, thousands of times, and the totals are compared with what the kernel counted.

usage: churn.py [--cycles N] [--seed N] [--pauses]

Tuns end one by one as VPN programs end them; ifbs and veth pairs end in crowds. With --pauses the daemon has a small
event queue and is stopped (SIGSTOP) now and then: what ends unseen then may be lost, never counted twice.
"""
import argparse
import errno
import fcntl
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from Lab import links  # noqa: E402
from Lab.daemon import Daemon, wait_for  # noqa: E402
from Lab.preload import small_queue  # noqa: E402
from Lab.programs import conclude, missing, must_run  # noqa: E402
from Lab.space import Lab, batch, ip  # noqa: E402
from Lab.traffic import ETHERTYPE, PACKET_QDISC_BYPASS, SOL_PACKET, SOMEBODY  # noqa: E402
from Lab.truth import Counters, read_counters  # noqa: E402

SIOCSIFFLAGS = 0x8914
IFF_UP, IFF_RUNNING = 0x1, 0x40
TUNS = 16  # at once: the kernel lets each wait before it has ended
CROWD = 30  # ifbs, and as many veth pairs, that end together
GROUP = "77"
FRAME = SOMEBODY + SOMEBODY + struct.pack("!H", ETHERTYPE) + bytes(1400)
PACKET = b"\x45" + bytes(1400)


class Outcome:
    """By name, what was counted and what is true; links that live on apart from those that end."""

    def __init__(self):
        self.cycles = self.overruns = self.retries = self.questions = 0
        self.seconds = 0.0
        self.lasting, self.passing, self.labels, self.gaps = {}, {}, {}, []

    @property
    def counted(self):
        return sum(counted.bytes for counted, _ in [*self.lasting.values(), *self.passing.values()])

    @property
    def true(self):
        return sum(true.bytes for _, true in [*self.lasting.values(), *self.passing.values()])

    def wrong(self):
        """Sentences on what must not be; empty when all is well."""
        found = [f"{name}: counted {counted}, true {true}"
                 for name, (counted, true) in self.lasting.items() if counted != true]
        for name, (counted, true) in self.passing.items():
            if any(a > b for a, b in zip(counted, true)):
                found.append(f"{name}: counted {counted} is more than the truth {true}")
            elif counted != true and not self.overruns:
                found.append(f"{name}: counted {counted}, true {true}, though no event was lost")
            elif counted != true and counted != Counters() and self.labels.get(name) != "at_least":
                found.append(f"{name}: counted {counted}, true {true}, labelled {self.labels.get(name)}")
        if self.overruns and not any(gap["reason"] == "event_overrun" and gap["lossy"] for gap in self.gaps):
            found.append("events were lost, and no gap tells of it")
        return found

    def summary(self):
        return (f"{self.cycles} links in {self.seconds:.0f} s, {self.questions} questions meanwhile, events lost "
                f"{self.overruns} times, {self.retries} dumps interrupted: counted {self.counted} bytes, "
                f"true {self.true}, difference {self.counted - self.true}")


class _Books:
    """The truth of links that end, by name, for several threads; and what is still to be made."""

    def __init__(self, cycles):
        self._lock = threading.Lock()
        self._left = cycles
        self.made = 0
        self.true = {}
        self.errors = []

    def take(self, most=1, least=1):
        """How many more links may be made, at most `most`; 0 where only fewer than `least` may."""
        with self._lock:
            taken = min(most, self._left) if self._left >= least else 0
            self._left -= taken
            return taken

    def close(self, name, counters):
        with self._lock:
            self.made += 1
            self.true[name] = self.true.get(name, Counters()).plus(counters)

    def run(self, work, *arguments):
        try:
            work(self, *arguments)
        except BaseException as error:
            self.errors.append(error)


def _tuns(books, name, seed):
    """One tun after another under one name."""
    dice = random.Random(seed)
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with _sender() as sender, control:
        while books.take():
            file = _open_tun(name)
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name.encode(), IFF_UP | IFF_RUNNING))
            for _ in range(dice.randrange(1, 5)):
                os.write(file, PACKET[:dice.randrange(64, len(PACKET))])
            for _ in range(dice.randrange(3)):
                sender.sendto(PACKET[:dice.randrange(64, len(PACKET))], (name, 0x0800))
                os.read(file, 2048)
            books.close(name, read_counters(name))
            os.close(file)


def _open_tun(name):
    """A tun's file. A process that was just begun holds the last one's for a moment, and so the name."""
    end = time.monotonic() + 10
    while True:
        file = os.open("/dev/net/tun", os.O_RDWR)
        try:
            fcntl.ioctl(file, links.TUNSETIFF, struct.pack("16sH22x", name.encode(), links.IFF_TUN | links.IFF_NO_PI))
            return file
        except OSError as error:
            os.close(file)
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise
            time.sleep(0.001)


def _crowds(books, seed):
    """Ifbs and veth pairs that end in one request."""
    dice = random.Random(seed)
    with _sender() as sender:
        while True:
            number = books.take(3 * CROWD, least=3) // 3
            if not number:
                return
            names = [kind + str(each) for each in range(number) for kind in ("ifb", "left", "right")]
            batch([line for each in range(number) for line in (
                f"link add ifb{each} group {GROUP} type ifb",
                f"link add left{each} group {GROUP} type veth peer name right{each} group {GROUP}")]
                + [f"link set {name} arp off up" for name in names])
            for name in dice.sample(names, len(names)):
                for _ in range(dice.randrange(4)):
                    sender.sendto(FRAME[:dice.randrange(64, len(FRAME))], (name, ETHERTYPE))
            for name, counters in _settled(names).items():
                books.close(name, counters)
            ip("link", "del", "group", GROUP)


def _sender():
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    return sender


def _settled(names):
    """The counters of these links once two readings agree: an ifb receives in a task of its own."""
    last = None
    while True:
        now = {name: read_counters(name) for name in names}
        if now == last:
            return now
        last = now
        time.sleep(0.005)


def churn(lab, cycles, seed, pauses=False):
    """`cycles` links come and go beside two that live on; questions are asked all the time."""
    dice = random.Random(seed)
    lasting = [links.Veth(lab, "veth1"), links.Tun(lab, "tun1")]
    daemon = Daemon(lab, environment=small_queue(lab, 64 << 10) if pauses else None).start()
    books, outcome, begun = _Books(cycles), Outcome(), time.monotonic()
    workers = [threading.Thread(target=books.run, args=(_tuns, f"churn{number}", seed + number))
               for number in range(TUNS)]
    workers.append(threading.Thread(target=books.run, args=(_crowds, seed)))
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        for link in lasting:
            link.push(dice.randrange(64, 50_000), dice.randrange(64, 50_000))
        if pauses and dice.random() < 0.3:
            daemon.pause()
            time.sleep(dice.random())
            daemon.go_on()
        time.sleep(0.2 * dice.random())
        daemon.client.interfaces()
        outcome.questions += 1
    for worker in workers:
        worker.join()
    if books.errors:
        raise books.errors[0]
    outcome.seconds, outcome.cycles = time.monotonic() - begun, books.made
    wait_for(lambda: len(daemon.client.interfaces()) and _all_gone(daemon, books.true), "the ended links have ended")
    status, totals = daemon.client.status(), daemon.client.totals()
    outcome.overruns, outcome.retries = status["events"]["overruns"], status["events"]["dump_retries"]
    outcome.gaps = status["gaps"]
    for each in daemon.client.interfaces():
        outcome.labels[each["name"]] = each["total"]["quality"]["completeness"]
    for link in lasting:
        link.settled()
        outcome.lasting[link.name] = daemon.client.total(link.name), link.since_base()
    for name, true in books.true.items():
        outcome.passing[name] = totals.get(name, Counters()), true
    return outcome, daemon


def _all_gone(daemon, names):
    return not any(each["present"] for each in daemon.client.interfaces() if each["name"] in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--pauses", action="store_true")
    arguments = parser.parse_args()
    reason = missing("iftallyd")
    if reason:
        print(f"SKIPPED churn: {reason}")
        sys.exit(1 if must_run() else 0)
    print(f"{arguments.cycles} cycles, --seed {arguments.seed}{' --pauses' if arguments.pauses else ''}", flush=True)
    with Lab() as lab:
        outcome, daemon = churn(lab, arguments.cycles, arguments.seed, arguments.pauses)
        print(outcome.summary())
        conclude(outcome.wrong(), daemon)


if __name__ == "__main__":
    main()
