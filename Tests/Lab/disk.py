"""A disk that a test makes hang, fail, write short or tear under one process's store."""
import errno
import os
import struct

from .preload import library

FIELDS = ("hang", "hanging", "error", "failures", "longest", "tear_at", "writes")


class FaultyDisk:
    """`environment` is for the process, before it starts."""

    def __init__(self, lab):
        self.path = os.path.join(lab.folder, "faults")
        with open(self.path, "wb") as handle:
            handle.write(bytes(4 * len(FIELDS)))
        self.environment = {"LD_PRELOAD": library(lab, "faulty_disk"), "FAULTY_DISK": self.path}
        lab.at_exit(self.heal)

    def __getitem__(self, field):
        with open(self.path, "rb") as handle:
            handle.seek(4 * FIELDS.index(field))
            return struct.unpack("=i", handle.read(4))[0]

    def __setitem__(self, field, value):
        with open(self.path, "r+b", buffering=0) as handle:  # in place: the process has it mapped
            handle.seek(4 * FIELDS.index(field))
            handle.write(struct.pack("=i", value))

    def hang(self):
        self["hang"] = 1

    def fail(self, number=errno.EIO, times=-1):
        """So many writes and syncs fail with this errno; -1: all until it heals."""
        self["error"] = number
        self["failures"] = times

    def heal(self):
        for field in ("hang", "failures", "longest", "tear_at"):
            self[field] = 0
