"""Links that change their name or their namespace."""
import time

from .scenario import MB, scenario


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
