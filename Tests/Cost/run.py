#!/usr/bin/env python3
"""Measures what the daemon costs.

usage: run.py wakeups|memory|writes|all [--seconds N] [--strict]

wakeups  no client, a quiet namespace with 10 idle links: returns from epoll_wait by thread (a traced daemon), and how
         often each thread went to sleep (another that is left alone)
memory   10 links: Private_Dirty, PSS and RSS after a sync, before and after questions
writes   10 busy links: bytes written, processor time and memory, vnstatd beside it in the same namespace
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from Accuracy.systems import Vnstat  # noqa: E402
from Cost import process  # noqa: E402
from Lab import links  # noqa: E402
from Lab.daemon import Daemon, wait_for  # noqa: E402
from Lab.programs import ROOT, missing, must_run  # noqa: E402
from Lab.space import Lab  # noqa: E402
from Lab.traffic import Steady  # noqa: E402

LINKS = 10
MOST_DIRTY_KIB = 3 * 1024
MOST_WRITTEN_AN_HOUR = 1_500_000  # what vnstatd writes with ten links


def rows(head, lines):
    """A Markdown table."""
    print("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1))
    for line in lines:
        print("| " + " | ".join(str(each) for each in line) + " |")


def ten_links(lab):
    return [links.Veth(lab, f"veth{number}") for number in range(LINKS)]


def measure_wakeups(seconds):
    """Sentences on what is too much."""
    with Lab() as lab:
        ten_links(lab)
        alone, traced = (Daemon(lab, name=name).start() for name in ("alone", "traced"))
        time.sleep(3)  # the first commit and whatever else belongs to a start
        waits = process.Waits(traced.pid, os.path.join(lab.folder, "strace")) if shutil.which("strace") else None
        time.sleep(1)  # being seized is itself a return
        begun, before = time.time(), process.switches(alone.pid)
        time.sleep(seconds)
        names, after = process.threads(alone.pid), process.switches(alone.pid)
        returns = waits.end(begun) if waits else {}
        traced_names = process.threads(traced.pid)
        print(f"quiet namespace, {LINKS} idle links, no client, {seconds:.0f} s\n")
        rows(("thread", "went to sleep"), [
            (f"{name}{' (loop)' if thread == alone.pid else ''}", after[thread] - before.get(thread, 0))
            for thread, name in sorted(names.items())])
        print()
        if not waits:
            print("SKIPPED epoll_wait: strace is missing: install the Debian package strace")
            return ["strace is missing"] if must_run() else []
        rows(("thread", "returns from epoll_wait"), [
            (f"{name}{' (loop)' if thread == traced.pid else ''}", returns.get(thread, 0))
            for thread, name in sorted(traced_names.items())])
        loop, most = returns.get(traced.pid, 0), int(seconds // 60) + 1
        return [f"the loop woke {loop} times, {most} are due"] if loop > most else []


def measure_memory(_):
    with Lab() as lab:
        made = ten_links(lab)
        daemon = Daemon(lab).start()
        for link in made:
            link.push(100_000, 50_000)
        time.sleep(3)
        found = [("after the start", process.memory(daemon.pid))]
        for _ in range(20):
            for path in ("/v1/interfaces", "/v1/status", "/metrics", "/v1/usage?from=today&resolution=minute"):
                daemon.client.ask(path)
        found.append(("after 80 questions", process.memory(daemon.pid)))
        print(f"{LINKS} links, {len(process.threads(daemon.pid))} threads, KiB after a sync\n")
        rows(("iftallyd", "Private_Dirty", "PSS", "RSS"), [(when, *each.values()) for when, each in found])
        return [f"{each['Private_Dirty']} KiB Private_Dirty {when}, {MOST_DIRTY_KIB} at most"
                for when, each in found if each["Private_Dirty"] > MOST_DIRTY_KIB]


def measure_writes(seconds):
    disk = os.path.join(ROOT, ".build", f"cost-{os.getpid()}")  # memory file systems have no written bytes
    try:
        with Lab() as lab:
            made = ten_links(lab)
            os.makedirs(disk)
            daemon = Daemon(lab, store=os.path.join(disk, "iftally")).start()
            watched = {"iftallyd": daemon.pid}
            if Vnstat.missing():
                print(f"SKIPPED vnstatd: {Vnstat.missing()}")
                if must_run():
                    return [Vnstat.missing()]
            else:
                vnstat = Vnstat(lab, folder=os.path.join(disk, "vnstat"))
                vnstat.start()
                watched["vnstatd"] = vnstat.process.pid
            with Steady(made, pause=0.5):
                wait_for(lambda: daemon.client.status()["commit"]["count"], "the first commit", seconds=70)
                # A commit falls on each minute: begin after one, and hold whole minutes.
                seconds = max(60, seconds // 60 * 60)
                time.sleep(60 - time.time() % 60 + 5)
                before = {name: (process.written_bytes(pid), process.cpu_seconds(pid), time.monotonic())
                          for name, pid in watched.items()}
                time.sleep(seconds)
                found = {}
                for name, pid in watched.items():
                    written, cpu, at = before[name]
                    span = time.monotonic() - at
                    found[name] = ((process.written_bytes(pid) - written) * 3600 / span,
                                   100 * (process.cpu_seconds(pid) - cpu) / span)
            print(f"{LINKS} busy links, {seconds:.0f} s\n")
            rows(("process", "bytes written an hour", "processor %", "Private_Dirty KiB", "PSS KiB", "RSS KiB"), [
                (name, round(hourly), f"{cpu:.3f}", *process.memory(watched[name]).values())
                for name, (hourly, cpu) in found.items()])
            hourly = found["iftallyd"][0]
            return [f"{hourly:.0f} bytes an hour written"] if hourly > MOST_WRITTEN_AN_HOUR else []
    finally:
        shutil.rmtree(disk, ignore_errors=True)


MEASURES = {"wakeups": (measure_wakeups, 600), "memory": (measure_memory, 0), "writes": (measure_writes, 3600)}


def run_all(arguments):
    """Each measure in a process of its own, at the same time: they mostly sleep."""
    options = [f"--seconds={arguments.seconds}"] if arguments.seconds else []
    options += ["--strict"] if arguments.strict else []
    running = [subprocess.Popen([sys.executable, os.path.abspath(__file__), what, *options], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for what in MEASURES]
    for each in running:
        print(each.communicate()[0], flush=True)
    sys.exit(1 if any(each.returncode for each in running) else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*MEASURES, "all"])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--strict", action="store_true", help="fail when a bound is passed")
    arguments = parser.parse_args()
    reason = missing("iftallyd")
    if reason:
        print(f"SKIPPED cost: {reason}")
        sys.exit(1 if must_run() else 0)
    if arguments.what == "all":
        run_all(arguments)
    measure, usual = MEASURES[arguments.what]
    objections = measure(arguments.seconds or usual)
    for sentence in objections:
        print(f"TOO MUCH {sentence}")
    sys.exit(1 if objections and arguments.strict else 0)


if __name__ == "__main__":
    main()
