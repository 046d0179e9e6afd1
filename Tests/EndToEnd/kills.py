#!/usr/bin/env python3
"""Kills the daemon again and again under steady traffic; the links' bytes are compared when all is over.

usage: kills.py [--kills N] [--seed N]
"""
import argparse
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from Lab import links  # noqa: E402
from Lab.daemon import Daemon, wait_for  # noqa: E402
from Lab.programs import missing, must_run  # noqa: E402
from Lab.space import Lab  # noqa: E402
from Lab.traffic import Steady  # noqa: E402
from Lab.truth import Counters  # noqa: E402


class Outcome:
    """What came out: by name, what was counted and what is true, for links that live on and for those that end."""

    def __init__(self):
        self.kills = self.unanswered = self.commits = 0
        self.lasting, self.passing = {}, {}

    def wrong(self):
        """Sentences on what must not be; empty when all is well."""
        found = [f"{name}: counted {counted}, true {true}"
                 for name, (counted, true) in self.lasting.items() if counted != true]
        found += [f"{name}: counted {counted} is more than the truth {true}"
                  for name, (counted, true) in self.passing.items() if any(c > t for c, t in zip(counted, true))]
        return found

    def table(self):
        lines = ["| link | counted rx | true rx | counted tx | true tx |", "|---|---:|---:|---:|---:|"]
        for name, (counted, true) in [*self.lasting.items(), *self.passing.items()]:
            lines.append(f"| {name} | {counted.rx_bytes} | {true.rx_bytes} | {counted.tx_bytes} | {true.tx_bytes} |")
        return "\n".join(lines)


def kill_again_and_again(lab, kills, seed):
    """`kills` times: start, let it run for a random while, SIGKILL. Traffic never stops.

    Three links live through all of it. Short-lived tuns come and go while the daemon runs, so that commits fall
    near the kills; what one of them carried between the last commit and a kill may be lost, never invented.
    """
    dice = random.Random(seed)
    lasting = [links.Veth(lab, "veth1"), links.Tun(lab, "tun0"), links.Bridge(lab, "br0")]
    daemon = Daemon(lab).start()
    wait_for(lambda: daemon.client.status()["commit"]["count"], "the first baseline is committed")
    outcome = Outcome()
    with Steady(lasting):
        for _ in range(kills):
            passing = links.Tun(lab, "brief0") if dice.random() < 0.5 else None
            if passing:
                passing.push(dice.randrange(64, 50_000), dice.randrange(64, 50_000))
            time.sleep(dice.choice((0.02, 0.1, 0.3)) * dice.random())
            if passing:
                passing.delete()
                time.sleep(dice.choice((0, 0.005, 0.05)) * dice.random())
            try:
                status = daemon.client.ask("/v1/status") if dice.random() < 0.3 else None
                if status and status.status == 200:
                    outcome.commits += status.json["commit"]["count"]
            except OSError:
                outcome.unanswered += 1
            daemon.kill()
            outcome.kills += 1
            daemon.start(wait=dice.random() < 0.4)
        daemon.wait_ready()
    totals = daemon.client.totals()
    for link in [*lasting, lasting[2].beneath]:
        link.settled()
        outcome.lasting[link.name] = totals.get(link.name, Counters()), link.since_base()
    outcome.passing["brief0"] = totals.get("brief0", Counters()), lab.truth.of("brief0")
    return outcome, daemon


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    reason = missing("iftallyd")
    if reason:
        print(f"SKIPPED kills: {reason}")
        sys.exit(1 if must_run() else 0)
    print(f"{arguments.kills} kills, --seed {arguments.seed}", flush=True)
    begun = time.monotonic()
    with Lab() as lab:
        outcome, daemon = kill_again_and_again(lab, arguments.kills, arguments.seed)
        print(outcome.table())
        true = sum(true.bytes for _, true in outcome.lasting.values())
        counted = sum(counted.bytes for counted, _ in outcome.lasting.values())
        print(f"{outcome.kills} kills in {time.monotonic() - begun:.0f} s; links that live on: "
              f"counted {counted} bytes, true {true}, difference {counted - true}")
        print(f"of the kills that a question preceded, {outcome.unanswered} hit a daemon that did not answer yet; "
              f"the others had made {outcome.commits} commits")
        for sentence in outcome.wrong():
            print("WRONG", sentence)
        if outcome.wrong():
            print(daemon.log()[-4000:])
            sys.exit(1)


if __name__ == "__main__":
    main()
