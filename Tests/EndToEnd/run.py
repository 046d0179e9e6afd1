#!/usr/bin/env python3
"""Runs the end-to-end tests, several files at once, each in a process and a mount namespace of its own.

usage: run.py [--jobs N] [NAME...]      NAME as in test_NAME.py; all without one
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(name):
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "unittest", "-v", f"EndToEnd.test_{name}"], cwd=os.path.dirname(HERE),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, time.monotonic() - begun, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    everything = [os.path.basename(path)[5:-3] for path in sorted(glob.glob(os.path.join(HERE, "test_*.py")))]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(run, name): name for name in arguments.names or everything}
        for finished in concurrent.futures.as_completed(runs):
            code, seconds, output = finished.result()
            count = re.search(r"^Ran (\d+) tests?", output, re.M)
            print(f"{runs[finished]:16} {'ok' if code == 0 else 'FAILED':8} "
                  f"{count.group(1) if count else 'no':>3} tests  {seconds:6.1f} s", flush=True)
            if code:
                failed = True
                print(output, flush=True)
            else:
                print("".join(line + "\n" for line in output.splitlines() if line.startswith("SKIPPED")), end="")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
