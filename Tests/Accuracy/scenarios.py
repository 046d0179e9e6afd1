"""What happens to links while a counter runs; each scenario is a function of one `Run`, named in words."""
import time

from Lab import links
from Lab.clock import TurnedClock
from Lab.preload import small_queue
from Lab.space import batch
from Lab.traffic import push_over

MB = 1_000_000
GIB = 1 << 30
HOUR = 3600
DAY = 24 * HOUR

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


@scenario()
def steady(run):
    """steady traffic, one more sample, then a stop"""
    veth = run.veth("veth1")
    run.start()
    push_over(veth, 8 * MB, 4 * MB, 1.2 * run.interval)
    run.sampled()


@scenario()
def stop_between_samples(run):
    """steady traffic, stopped between two samples"""
    veth = run.veth("veth1")
    run.start()
    run.sampled()
    push_over(veth, 8 * MB, 4 * MB, 1.5 * run.interval)


@scenario()
def crash(run):
    """kill -9 between two samples, started again at once, the link lives on"""
    veth = run.veth("veth1")
    run.start()
    veth.push(4 * MB, 1 * MB)
    run.sampled()
    push_over(veth, 4 * MB, 1 * MB, 0.4 * run.interval)
    run.kill()
    veth.push(2 * MB, 1 * MB)
    run.start()
    run.sampled()


@scenario(hidden=True)
def power_loss(run):
    """kill -9, then a reboot: a new boot id, counters from zero"""
    veth = run.veth("veth1")
    run.start()
    veth.push(4 * MB, 1 * MB)
    run.sampled()
    veth.push(4 * MB, 1 * MB)
    run.sampled()
    veth.push(2 * MB, 1 * MB)
    run.kill()
    veth.delete()
    run.lab.new_boot()
    veth = run.veth("veth1")
    run.start()
    veth.push(1 * MB, 1 * MB)
    run.sampled()


def delete_after_a_push(run, link):
    run.start()
    link.push(3 * MB, 1 * MB)
    run.sampled()
    link.push(2 * MB, 1 * MB)
    link.delete()
    run.sampled()


@scenario()
def delete_veth(run):
    """a veth to another namespace deleted right after a push"""
    delete_after_a_push(run, run.veth("veth1"))


@scenario()
def delete_veth_pair(run):
    """a veth with both ends here deleted right after a push"""
    delete_after_a_push(run, links.pair(run.lab, "left", "right")[0])


@scenario(hidden=True)
def delete_container(run):
    """the namespace at the other end of a veth dies right after a push"""
    delete_after_a_push(run, links.ContainerVeth(run.lab, "veth1"))


@scenario()
def delete_tun(run):
    """a tun deleted right after a push"""
    delete_after_a_push(run, run.tun("tun0"))


@scenario()
def delete_bridge(run):
    """a bridge deleted right after a push"""
    delete_after_a_push(run, links.Bridge(run.lab, "br0"))


def recreate(run, make, first, second):
    link = make("link0")
    run.start()
    link.push(*first)
    run.sampled()
    link.delete()
    make("link0").push(*second)
    run.sampled()


@scenario()
def recreate_lower(run):
    """a tun made anew between two samples, its counters lower than before"""
    recreate(run, run.tun, (4 * MB, 1 * MB), (1_500_000, 500_000))


@scenario()
def recreate_lower_veth(run):
    """the same with a veth (10 Gbit/s by name)"""
    recreate(run, run.veth, (4 * MB, 1 * MB), (1_500_000, 500_000))


@scenario()
def recreate_lower_big(run):
    """the same, the old counter above 4 GiB"""
    veth = run.veth("veth1")
    run.start()
    for _ in range(5):
        veth.push(1000 * MB, 0)
        run.sampled()
    veth.push(0, 1 * MB)
    run.sampled()
    veth.delete()
    run.veth("veth1").push(1_500_000, 500_000)
    run.sampled()


@scenario()
def recreate_later(run):
    """a tun deleted after a push, made anew more than one interval later"""
    tun = run.tun("tun0")
    run.start()
    tun.push(4 * MB, 1 * MB)
    run.sampled()
    tun.push(2 * MB, 1 * MB)
    tun.delete()
    time.sleep(1.6 * run.interval)
    run.tun("tun0").push(1_500_000, 500_000)
    run.sampled()


@scenario()
def recreate_higher(run):
    """a tun made anew between two samples, its counters higher than before"""
    recreate(run, run.tun, (1_500_000, 500_000), (4 * MB, 2 * MB))


SAME = {"index": 400, "address": "02:00:00:00:aa:01"}


@scenario()
def recreate_same_index(run):
    """a veth made anew between two samples with its name, address and index, counters higher"""
    recreate(run, lambda name: run.veth(name, **SAME), (1_500_000, 500_000), (4 * MB, 2 * MB))


@scenario()
def reconnects(run):
    """20 reconnects of a tun between two samples, 1 MB each"""
    tun = run.tun("tun0")
    run.start()
    tun.push(700_000, 300_000)
    run.sampled()
    for _ in range(20):
        tun.delete()
        tun = run.tun("tun0")
        tun.push(700_000, 300_000)
    run.sampled()


@scenario()
def rename(run):
    """a rename between two samples"""
    veth = run.veth("wan1")
    run.start()
    veth.push(2 * MB, 1 * MB)
    run.sampled()
    veth.push(500_000, 500_000)
    veth.rename("wan2")
    veth.push(2 * MB, 1 * MB)
    run.sampled()


@scenario()
def swap(run):
    """two links swap their names between two samples"""
    first, second = run.veth("wan1"), run.veth("wan2")
    run.start()
    first.push(2 * MB, 1 * MB)
    second.push(6 * MB, 3 * MB)
    run.sampled()
    swap_names(first, second)
    first.push(4 * MB, 1 * MB)
    second.push(1 * MB, 500_000)
    run.sampled()


def swap_names(first, second):
    names = first.name, second.name
    first.rename("aside")
    second.rename(names[0])
    first.rename(names[1])


@scenario()
def rename_onto_a_history(run):
    """a tun ends, another is renamed to its name"""
    old, new = run.tun("wan0"), run.tun("tmp0")
    run.start()
    old.push(4 * MB, 1 * MB)
    new.push(1 * MB, 500_000)
    run.sampled()
    old.delete()
    new.rename("wan0")
    new.push(1 * MB, 500_000)
    run.sampled()


@scenario()
def reattached(run):
    """a persistent tun is detached, attached again, and put down and up"""
    tun = run.tun("tun0", persistent=True)
    run.start()
    tun.push(2 * MB, 1 * MB)
    run.sampled()
    tun.detach()
    tun.attach()
    tun.set("down")
    tun.set("up")
    tun.push(2 * MB, 1 * MB)
    run.sampled()


@scenario()
def short_life(run):
    """a new tun lives 300 ms and carries 5 MB"""
    run.start()
    run.sampled()
    tun = run.tun("tun9")
    tun.push(4 * MB, 1 * MB)
    time.sleep(0.3)
    tun.delete()
    run.sampled()


@scenario()
def new_link(run):
    """a new tun carries 5 MB before its first sample and 5 MB after it"""
    run.start()
    run.sampled()
    tun = run.tun("tun9")
    tun.push(4 * MB, 1 * MB)
    run.sampled()
    tun.push(4 * MB, 1 * MB)
    run.sampled()


def recreate_while_stopped(run, first, second):
    tun = run.tun("tun0")
    run.start()
    tun.push(*first)
    run.sampled()
    run.stop()
    tun.delete()
    run.tun("tun0").push(*second)
    run.start()
    run.sampled()


@scenario()
def recreate_while_stopped_lower(run):
    """stopped, a tun made anew meanwhile with lower counters, started"""
    recreate_while_stopped(run, (4 * MB, 1 * MB), (1_500_000, 500_000))


@scenario()
def recreate_while_stopped_higher(run):
    """stopped, a tun made anew meanwhile with higher counters, started"""
    recreate_while_stopped(run, (1_500_000, 500_000), (4 * MB, 2 * MB))


@scenario(hidden=True)
def recreate_same_index_while_stopped(run):
    """stopped, a veth made anew meanwhile with its name, address and index after a last push"""
    veth = run.veth("veth1", **SAME)
    run.start()
    veth.push(2 * MB, 1 * MB)
    run.sampled()
    run.stop()
    veth.push(500_000, 500_000)
    veth.delete()
    run.veth("veth1", **SAME).push(4 * MB, 2 * MB)
    run.start()
    run.sampled()


@scenario()
def swap_while_stopped(run):
    """stopped, two links swap their names meanwhile"""
    first, second = run.veth("wan1"), run.veth("wan2")
    run.start()
    first.push(2 * MB, 1 * MB)
    second.push(6 * MB, 3 * MB)
    run.sampled()
    run.stop()
    swap_names(first, second)
    first.push(4 * MB, 1 * MB)
    second.push(1 * MB, 500_000)
    run.start()
    run.sampled()


def move(run, away):
    veth = run.veth("veth1")
    run.start()
    veth.push(3 * MB, 1 * MB)
    run.sampled()
    veth.push(1 * MB, 500_000)
    veth.leave(run.lab.away)
    veth.push(away, 0)
    time.sleep(1.6 * run.interval)
    veth.come_back(run.lab.away)
    veth.push(1 * MB, 500_000)
    run.sampled()


@scenario()
def move_and_return(run):
    """a veth moved to another namespace and back, no traffic there"""
    move(run, 0)


@scenario()
def move_and_return_busy(run):
    """the same with 4 MB there, which are not this namespace's"""
    move(run, 4 * MB)


@scenario()
def move_and_return_to_a_taken_index(run):
    """moved away with 4 MB there, and back when another link has its index"""
    veth = run.veth("veth1", index=400)
    run.start()
    veth.push(3 * MB, 1 * MB)
    run.sampled()
    veth.leave(run.lab.away)
    veth.push(4 * MB, 0)
    other = run.veth("veth2", index=400)
    other.push(1 * MB, 500_000)
    run.sampled()
    veth.come_back(run.lab.away)
    veth.push(1 * MB, 500_000)
    run.sampled()


@scenario()
def churn(run):
    """200 links come, carry 40 kB each and go between two samples"""
    run.start()
    run.sampled()
    for number in range(100):
        links.Ifb(run.lab, f"ifb{number % 5}").push(40_000)
        run.lab.truth.live[-1].delete()
        tun = run.tun(f"tun{number % 5}")
        tun.push(20_000, 20_000)
        tun.delete()
    run.sampled()


@scenario(hidden=True, needs_compiler=True)
def lost_events(run):
    """paused (SIGSTOP) with a full event queue: one link lives on, one is made anew, one comes and goes"""
    run.system.environment.update(small_queue(run.lab, 64 << 10))
    veth, tun = run.veth("veth1"), run.tun("tun0")
    run.start()
    veth.push(2 * MB, 1 * MB)
    tun.push(2 * MB, 1 * MB)
    run.sampled()
    run.system.pause()
    batch(f"link set dev veth1 alias a{number}" for number in range(2000))
    tun.push(500_000, 500_000)
    tun.delete()
    run.tun("tun0").push(4 * MB, 2 * MB)
    brief = run.tun("tun9")
    brief.push(500_000, 500_000)
    brief.delete()
    veth.push(2 * MB, 1 * MB)
    run.system.go_on()
    run.sampled()


def burst(run, link):
    run.start()
    run.sampled()
    link.push(5 * GIB, 0)
    run.sampled()


@scenario()
def burst_veth(run):
    """5 GiB between two samples on a veth"""
    burst(run, run.veth("veth1"))


@scenario()
def burst_tun(run):
    """5 GiB between two samples on a tun"""
    burst(run, run.tun("tun0"))


def clock_steps(run, *offsets):
    """The daemon's wall clock is turned under it; the boot clock goes on."""
    clock = TurnedClock(run.lab)
    run.system.environment.update(clock.environment)
    veth = run.veth("veth1")
    run.start()
    veth.push(2 * MB, 1 * MB)
    for offset in offsets:
        run.sampled()
        push_over(veth, 2 * MB, 1 * MB, 0.3 * run.interval)
        clock.turn(offset)
    run.sampled()
    veth.push(2 * MB, 1 * MB)
    run.sampled()


@scenario(turns_clock=True)
def clock_a_day_forward(run):
    """the wall clock jumps a day forward"""
    clock_steps(run, DAY)


@scenario(turns_clock=True)
def clock_an_hour_back(run):
    """the wall clock jumps an hour back"""
    clock_steps(run, -HOUR)


@scenario(turns_clock=True)
def clock_there_and_back(run):
    """the wall clock jumps two days forward and is put right"""
    clock_steps(run, 2 * DAY, 0)


@scenario()
def tunnel_over_a_carrier(run):
    """what a tun carries is carried by a veth: each counts its own"""
    veth, tun = run.veth("veth1"), run.tun("tun0")
    run.start()
    for _ in range(600):
        tun.push(0, 10_000)
        veth.push(0, 10_000 + 60)
    run.sampled()


@scenario()
def long_stop(run):
    """stopped for a long while (7 minutes unless told), the link lives on and carries 5 MB"""
    veth = run.veth("veth1")
    run.start()
    veth.push(2 * MB, 1 * MB)
    run.sampled()
    run.stop()
    veth.push(4 * MB, 1 * MB)
    time.sleep(run.long_stop)
    run.start()
    veth.push(1 * MB, 1 * MB)
    run.sampled()
