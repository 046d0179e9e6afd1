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


class Truth:
    """What really passed, by the name it passed under, over all lives of each name."""

    def __init__(self):
        self.live = []
        self.renames = []
        self._closed = {}

    def close(self, name, passed):
        """Book what passed under a name that ends now."""
        self._closed[name] = self._closed.get(name, Counters()).plus(passed)

    def by_name(self):
        total = dict(self._closed)
        for link in self.live:
            total[link.name] = total.get(link.name, Counters()).plus(link.since_base())
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
