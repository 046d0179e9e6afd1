"""The truth: the kernel's own counters, read right before a link goes, is renamed or leaves."""
from typing import NamedTuple


class Counters(NamedTuple):
    """Bytes and packets of one link."""

    rx_bytes: int = 0
    tx_bytes: int = 0
    rx_packets: int = 0
    tx_packets: int = 0

    def plus(self, other):
        return Counters(*(a + b for a, b in zip(self, other)))

    def minus(self, other):
        return Counters(*(a - b for a, b in zip(self, other)))

    @property
    def bytes(self):
        return self.rx_bytes + self.tx_bytes


def read_counters(name):
    """What the kernel says of a link in the namespace that /sys shows."""
    values = []
    for leaf in Counters._fields:
        with open(f"/sys/class/net/{name}/statistics/{leaf}") as handle:
            values.append(int(handle.read()))
    return Counters(*values)


def _add(totals, name, amounts):
    totals[name] = totals.get(name, Counters()).plus(amounts)


class Truth:
    """What really passed, by the name it passed under, over all lives of each name."""

    def __init__(self):
        self.live = []
        self.renames = []
        self._closed = {}
        self._devices = {}

    def close(self, name, passed):
        """Book what passed under a name that ends now."""
        _add(self._closed, name, passed)

    def close_device(self, name, passed):
        """Book what a device carried under all its names, the last of which ends now."""
        _add(self._devices, name, passed)

    def by_name(self):
        total = dict(self._closed)
        for link in self.live:
            _add(total, link.name, link.since_base())
        return total

    def by_last_name(self):
        """As `by_name`, but what a device carried under earlier names is under its last one."""
        total = dict(self._devices)
        for link in self.live:
            _add(total, link.name, link.earlier.plus(link.since_base()))
        return total

    def of(self, name):
        return self.by_name().get(name, Counters())

    def folded(self, counted):
        """`counted` ({name: Counters}) with the names that renames tie together joined under one key.

        A system whose history follows the device books the same bytes, under another of these names.
        """
        groups = {}
        for old, new in self.renames:
            joined = groups.get(old, {old}) | groups.get(new, {new})
            groups.update((name, joined) for name in joined)
        folded = {}
        for name, amounts in counted.items():
            key = "+".join(sorted(groups.get(name, {name})))
            folded[key] = folded.get(key, Counters()).plus(amounts)
        return folded
