#!/usr/bin/env python3
"""Compares what counters say with what the kernel counted.

usage: run.py [--systems iftally,vnstat,node_exporter] [--scenarios NAME,...] [--runs N] [--jobs J] [--long-stop S]
              [--strict] [--details]
       run.py --list

Every run has namespaces and a store of its own. An error is (counted - true) / true over all links but lo, after an
orderly stop. --strict fails when iftally counts more than the truth, or less although every byte could be seen, or less
without saying so.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from Accuracy.scenarios import SCENARIOS, Run  # noqa: E402
from Accuracy.systems import SYSTEMS  # noqa: E402
from Lab.preload import compiler  # noqa: E402
from Lab.programs import must_run, record  # noqa: E402
from Lab.space import Lab  # noqa: E402
from Lab.truth import Counters  # noqa: E402


def run_here(system_name, scenario_name, long_stop):
    """One run in this process: {"links": {name: {counted, true, label}}}."""
    with Lab() as lab:
        system = SYSTEMS[system_name](lab)
        SCENARIOS[scenario_name].act(Run(lab, system, long_stop))
        for link in lab.truth.live:
            link.settled()
        truth = lab.truth.by_last_name() if system.follows_renames else lab.truth.by_name()
        counted, labels = system.final()
        names = sorted((set(truth) | set(counted)) - {"lo"})
        return {"links": {name: {"counted": counted.get(name, Counters())[:2], "true": truth.get(name, Counters())[:2],
                                 "label": labels.get(name)} for name in names}}


def run_apart(system, scenario, long_stop):
    """One run in a process of its own; a failure is {"failure": text}."""
    command = [sys.executable, os.path.abspath(__file__), "--inside", system, scenario, str(long_stop)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900 + long_stop)
    except subprocess.TimeoutExpired:
        return {"failure": "took too long"}
    if done.returncode:
        return {"failure": done.stderr.strip()[-1500:]}
    return json.loads(done.stdout.splitlines()[-1])


class Result:
    """The outcome of one run, judged."""

    def __init__(self, system, scenario, outcome):
        self.system, self.scenario = system, scenario
        self.failure = outcome.get("failure")
        self.links = outcome.get("links", {})
        pairs = [(counted, true) for link in self.links.values()
                 for counted, true in zip(link["counted"], link["true"])]
        self.true = sum(true for _, true in pairs)
        self.counted = sum(counted for counted, _ in pairs)
        self.over = sum(max(0, counted - true) for counted, true in pairs)
        self.under = sum(max(0, true - counted) for counted, true in pairs)

    @property
    def percent(self):
        return 100 * (self.counted - self.true) / max(1, self.true)

    def objection(self):
        """What must not be in iftally's results, or None."""
        if self.failure:
            return self.failure
        if self.over:
            return f"{self.over} bytes invented"
        if self.under and not SCENARIOS[self.scenario].hidden:
            return f"{self.under} bytes lost although all could be seen"
        for name, link in self.links.items():
            if link["counted"] != link["true"] and link["label"] not in (None, "at_least"):
                return f"{name} lost bytes and is labelled {link['label']}"
        return None

    def line(self):
        if self.failure:
            return f"{self.system:14} {self.scenario:30} FAILED {self.failure.splitlines()[-1]}"
        return (f"{self.system:14} {self.scenario:30} true {self.true:>12} counted {self.counted:>12} "
                f"invented {self.over:>10} lost {self.under:>10}  {self.percent:+.2f} %")

    def details(self):
        return "\n".join(
            f"    {name:16} {direction} true {true:>12} counted {counted:>12} error {counted - true:+d}"
            for name, link in self.links.items()
            for direction, counted, true in zip(("rx", "tx"), link["counted"], link["true"]))


def written(percent):
    if abs(percent) < 0.005:
        return "0"
    return f"{percent:+.0f}" if abs(percent) >= 100 else f"{percent:+.3g}"


def table(results):
    """Markdown: error in % of the true bytes, the range over the runs."""
    systems = [name for name in SYSTEMS if any(each.system == name for each in results)]
    lines = ["| scenario | " + " | ".join(systems) + " |", "|---|" + "---:|" * len(systems)]
    for name, scenario in SCENARIOS.items():
        cells = []
        for system in systems:
            mine = [each for each in results if (each.system, each.scenario) == (system, name)]
            good = sorted(each.percent for each in mine if not each.failure)
            if not mine:
                cells.append("")
            elif not good:
                cells.append("failed")
            else:
                low, high = written(good[0]), written(good[-1])
                text = low if low == high else f"{low} to {high}"
                cells.append(text if len(good) == len(mine) else text + " (some failed)")
        if any(cells):
            lines.append(f"| {scenario.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(run_here(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--systems", default="iftally")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--long-stop", type=float, default=420)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--details", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:30} {scenario.title}")
        return
    systems, scenarios = arguments.systems.split(","), arguments.scenarios.split(",")
    for name in [each for each in systems if SYSTEMS[each].missing()]:
        print(f"SKIPPED {name}: {SYSTEMS[name].missing()}")
        if must_run():
            sys.exit(1)
        systems.remove(name)
    if not compiler():
        print("SKIPPED clocks and queues: there is no C compiler: install the Debian package gcc")
        if must_run():
            sys.exit(1)
        scenarios = [name for name in scenarios if not SCENARIOS[name].needs_compiler]
    todo = [(system, scenario) for _ in range(arguments.runs) for scenario in scenarios for system in systems
            if SYSTEMS[system].clock_can_turn or not SCENARIOS[scenario].turns_clock]
    begun, results = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(run_apart, *each, arguments.long_stop): each for each in todo}
        for finished in concurrent.futures.as_completed(runs):
            result = Result(*runs[finished], finished.result())
            results.append(result)
            print(result.line(), flush=True)
            if arguments.details:
                print(result.details(), flush=True)
    took = time.monotonic() - begun
    print(f"\nerror in % of the true bytes, {len(results)} runs in {took:.0f} s\n\n{table(results)}")
    if arguments.strict:
        ours = [each for each in results if each.system == "iftally"]
        objections = [(each, each.objection()) for each in ours if each.objection()]
        for each, objection in objections:
            print(f"WRONG {each.system} {each.scenario}: {objection}\n{each.details()}")
        record(len(ours) - len(objections), len(objections))
        sys.exit(1 if objections else 0)


if __name__ == "__main__":
    main()
