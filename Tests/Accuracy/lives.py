"""Links that end, are made anew, live briefly, come in crowds."""
import time

from Lab import links
from Lab.preload import small_queue
from Lab.space import batch

from .scenario import MB, scenario

# As another life of the same link would ask for.
SAME = {"index": 400, "address": "02:00:00:00:aa:01"}


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
