"""A wall clock that a test can turn under one process, while its boot clock and the kernel's timers go on."""
import os
import shutil
import struct
import subprocess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "turned_clock.c")


def compiler():
    """A C compiler, or None."""
    return shutil.which("cc") or shutil.which("clang")


class TurnedClock:
    """`environment` is for the process, before it starts."""

    def __init__(self, lab):
        library = os.path.join(lab.folder, "turned_clock.so")
        subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
        self.path = os.path.join(lab.folder, "seconds-ahead")
        with open(self.path, "wb") as handle:
            handle.write(struct.pack("=q", 0))
        self.environment = {"LD_PRELOAD": library, "TURNED_CLOCK": self.path}

    def turn(self, seconds):
        """From now on the process's clock is so far ahead of this machine's (negative: behind)."""
        with open(self.path, "r+b") as handle:  # in place: the process has it mapped
            handle.write(struct.pack("=q", seconds))
