"""A scenario of the accuracy benchmark, the table of all, and what one works with."""
from Lab import links

MB = 1_000_000

SCENARIOS = {}


class Scenario:
    """`hidden`: some bytes pass where nobody can see them, so fewer than the truth may be counted.

    `needs_compiler`: for a library that stands between the system and the kernel; `turns_clock`: it turns the clock.
    """

    def __init__(self, act, hidden, turns_clock, needs_compiler):
        self.act, self.hidden, self.turns_clock = act, hidden, turns_clock
        self.needs_compiler = needs_compiler or turns_clock
        self.name, self.title = act.__name__.replace("_", "-"), act.__doc__


def scenario(hidden=False, turns_clock=False, needs_compiler=False):
    def register(act):
        made = Scenario(act, hidden, turns_clock, needs_compiler)
        SCENARIOS[made.name] = made
        return act
    return register


class Run:
    """What a scenario works with. An idle veth stands by, as on any machine."""

    def __init__(self, lab, system, long_stop):
        self.lab, self.system, self.long_stop = lab, system, long_stop
        self.interval = max(system.interval, 1)
        self.start, self.stop = system.start, system.stop
        self.kill, self.sampled = system.kill, system.sampled
        self.veth("eth0")

    def veth(self, name, **how):
        return links.Veth(self.lab, name, **how)

    def tun(self, name, **how):
        return links.Tun(self.lab, name, **how)
