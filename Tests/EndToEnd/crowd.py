#!/usr/bin/env python3
"""Thousands of container ends come, carry known bytes and go; one group has them all, and nothing grows with them.

usage: crowd.py [--links N] [--without-peers]

Veths with a container runtime's names, their other ends in another namespace, end in crowds. With --without-peers the
daemon has no CAP_NET_BROADCAST: what each received last cannot be seen then, and the group says so.
"""
import argparse
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from EndToEnd.churn import FRAME, _sender  # noqa: E402
from Lab.daemon import Daemon, wait_for  # noqa: E402
from Lab.programs import conclude, missing, must_run  # noqa: E402
from Lab.space import Lab, batch, ip  # noqa: E402
from Lab.traffic import ETHERTYPE  # noqa: E402
from Lab.truth import Counters, read_counters  # noqa: E402

CROWD = 50
GROUP = "78"
# What all of them together may leave. As many records of their own would take some 3 MB in the database; while the daemon
# runs the log beside it (WAL) grows to about 1 MB before it is begun anew.
MOST_BYTES, MOST_RUNNING, MOST_KIB, MOST_SERIES = 96 << 10, 2 << 20, 5 << 10, 8


def crowd(lab, number):
    """Make, use and delete the links; the truth of all of them together."""
    true = Counters()
    far = lab.peer.call(_sender)
    with _sender() as near, far:
        for first in range(0, number, CROWD):
            ends = [f"veth{0x1000000 + each:07x}" for each in range(first, min(number, first + CROWD))]
            batch([f"link add {name} group {GROUP} type veth peer name c{place} group {GROUP} netns {lab.peer.name}"
                   for place, name in enumerate(ends)] + [f"link set dev {name} arp off up" for name in ends])
            lab.peer.ip("link", "set", "group", GROUP, "up")
            for place, name in enumerate(ends):
                size = 64 + (first + place) % 1300
                near.sendto(FRAME[:size], (name, ETHERTYPE))
                far.sendto(FRAME[:size // 2 + 32], (f"c{place}", ETHERTYPE))
            for name in ends:
                true = true.plus(read_counters(name))
            ip("link", "del", "group", GROUP)
            yield true


def memory(daemon):
    with open(f"/proc/{daemon.pid}/status") as handle:
        return int(re.search(r"VmRSS:\s+(\d+)", handle.read()).group(1))


def series(daemon):
    return len([line for line in daemon.client.ask("/metrics").text.splitlines()
                if line.startswith("iftally_receive_bytes_total{")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=10_000)
    parser.add_argument("--without-peers", action="store_true")
    arguments = parser.parse_args()
    reason = missing("iftallyd")
    if reason:
        print(f"SKIPPED crowd: {reason}")
        sys.exit(1 if must_run() else 0)
    with Lab() as lab:
        daemon = Daemon(lab, without=("net_broadcast",) if arguments.without_peers else ()).start()
        true, begun = Counters(), time.monotonic()
        before = None
        for round_number, true in enumerate(crowd(lab, arguments.links)):
            daemon.client.ask("/v1/status")
            if round_number == 3:
                before = memory(daemon), daemon.client.status()["store"]["size_bytes"]
        wait_for(lambda: daemon.client.interface("containers")["group"]["present"] == 0, "the last have gone")
        # A half that waits for its other end is given up with the second sample after.
        for _ in range(3):
            daemon.client.interfaces()
        group, status = daemon.client.interface("containers"), daemon.client.status()
        counted = daemon.client.total("containers")
        size, rss, live = status["store"]["size_bytes"], memory(daemon), series(daemon)
        print(f"{arguments.links} links in {time.monotonic() - begun:.0f} s, "
              f"{group['group']['lives']} lives in the group, events lost {status['events']['overruns']} times: "
              f"store {before[1]} to {size} bytes, {live} live series, memory {before[0]} to {rss} KiB, "
              f"counted {counted.bytes} bytes, true {true.bytes}, difference {counted.bytes - true.bytes}, "
              f"{group['total']['quality']['completeness']}")
        wrong = []
        label = group["total"]["quality"]["completeness"]
        if any(a > b for a, b in zip(counted, true)):
            wrong.append(f"counted {counted} is more than the truth {true}")
        if counted != true and label != "at_least":
            wrong.append(f"counted {counted}, true {true}, labelled {label}")
        if not status["events"]["overruns"]:
            if not arguments.without_peers and counted != true:
                wrong.append(f"counted {counted}, true {true}, though no event was lost")
            if counted.tx_bytes != true.tx_bytes:
                wrong.append(f"sent {counted.tx_bytes}, true {true.tx_bytes}, though no event was lost")
            if group["group"]["lives"] != arguments.links:
                wrong.append(f"{group['group']['lives']} lives of {arguments.links}")
        if size > before[1] + MOST_RUNNING:
            wrong.append(f"the store grew from {before[1]} to {size} bytes")
        if rss > before[0] + MOST_KIB:
            wrong.append(f"the memory grew from {before[0]} to {rss} KiB")
        if live > MOST_SERIES:
            wrong.append(f"{live} live series")
        daemon.kill()
        daemon.start()
        if daemon.client.total("containers").bytes > true.bytes:
            wrong.append(f"after a kill {daemon.client.total('containers')} of {true}")
        daemon.stop()
        database = os.path.getsize(os.path.join(daemon.store, "iftally.db"))
        print(f"database after the end: {database} bytes")
        if database > MOST_BYTES:
            wrong.append(f"the database has {database} bytes")
        conclude(wrong, daemon)


if __name__ == "__main__":
    main()
