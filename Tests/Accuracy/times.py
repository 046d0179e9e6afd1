"""Steady traffic, bursts, deaths and absences of the counter, and clocks that are set."""
import time

from Lab.clock import TurnedClock
from Lab.traffic import push_over

from .scenario import MB, scenario

GIB = 1 << 30
HOUR = 3600
DAY = 24 * HOUR


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
