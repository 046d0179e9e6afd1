"""Clocks that a test can turn under one process, while the kernel's timers go on."""
import glob
import os
import struct

from .preload import library


class TurnedClock:
    """`environment` is for the process, before it starts."""

    def __init__(self, lab):
        self.path = os.path.join(lab.folder, "seconds-ahead")
        with open(self.path, "wb") as handle:
            handle.write(struct.pack("=2q", 0, 0))
        self.environment = {"LD_PRELOAD": library(lab, "turned_clock"), "TURNED_CLOCK": self.path}

    def turn(self, wall, boot=0):
        """From now on the process's clocks are so many seconds ahead of this machine's (negative: behind)."""
        with open(self.path, "r+b") as handle:  # in place: the process has it mapped
            handle.write(struct.pack("=2q", wall, boot))


FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)


class FakeTime:
    """The same by libfaketime. It is a stranger to the daemon, as any other library that somebody preloads."""

    def __init__(self, lab):
        self.path = os.path.join(lab.folder, "faketime")
        self.turn(0)
        self.environment = {
            "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": self.path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # the boot clock and the monotonic one are not to be turned
        }

    def turn(self, seconds):
        with open(self.path + ".new", "w") as handle:
            handle.write(f"{seconds:+d}\n")
        os.replace(self.path + ".new", self.path)
