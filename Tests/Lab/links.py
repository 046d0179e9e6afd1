"""Links of many kinds that carry an exactly known number of bytes."""
import fcntl
import itertools
import os
import struct
import time

from .space import ip
from .traffic import HEADER, Sender, sizes
from .truth import Counters, read_counters

MTU = 65000
TUNSETIFF = 0x400454CA
TUNSETPERSIST = 0x400454CB
TUNSETIFINDEX = 0x400454DA
IFF_TUN, IFF_TAP, IFF_NO_PI = 0x0001, 0x0002, 0x1000


class Link:
    """A link that stands in `lab.here`. `pushed` is what was sent; what is true is what the kernel counted.

    `sender` puts frames on it here, `far_sender` at its other end.
    """

    # What a frame holds beyond the bytes that this kind of link counts of it.
    uncounted_rx = uncounted_tx = 0
    # The link that carries every frame of this one and counts it as well, and what is wrapped around each there.
    beneath, wrapping = None, 0
    sender = far_sender = None

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.base = self.pushed = Counters()
        self.earlier = Counters()  # what it carried under other names, in this stay here
        lab.truth.live.append(self)
        lab.at_exit(self._close)

    def counters(self):
        return read_counters(self.name)

    def since_base(self):
        """What passed under the present name since this life of it began."""
        return self.counters().minus(self.base)

    def push(self, rx=0, tx=0):
        """Make the link count exactly so many more bytes received and sent."""
        for size in sizes(rx):
            self._receive(size + self.uncounted_rx)
            self._book(Counters(size, 0, 1, 0), size + self.uncounted_rx)
        for size in sizes(tx):
            self._transmit(size + self.uncounted_tx)
            self._book(Counters(0, size, 0, 1), size + self.uncounted_tx)

    def _book(self, amounts, frame):
        self.pushed = self.pushed.plus(amounts)
        if self.beneath:
            size = frame + self.wrapping
            self.beneath.pushed = self.beneath.pushed.plus(
                Counters(size, 0, 1, 0) if amounts.rx_packets else Counters(0, size, 0, 1))

    def _receive(self, size):
        self.far_sender.send(size)

    def _transmit(self, size):
        self.sender.send(size)

    def settled(self, seconds=5):
        """Wait until the kernel has counted what was pushed: some kinds receive in a task of their own."""
        end = time.monotonic() + seconds
        while self.since_base() != self.pushed:
            if time.monotonic() > end:
                raise AssertionError(f"{self.name}: pushed {self.pushed}, the kernel counted {self.since_base()}")
            time.sleep(0.002)

    def close_books(self):
        """Call right before the link ends here. What was pushed must be what is true, or the lab itself is wrong."""
        passed = self._close_name()
        self.lab.truth.close_device(self.name, self.earlier.plus(passed))
        self.earlier = Counters()

    def _close_name(self):
        self.settled()
        passed = self.since_base()
        self.lab.truth.close(self.name, passed)
        return passed

    def delete(self):
        """End the link; its bytes, to the last, are in the truth."""
        self.close_books()
        self._destroy()
        self.lab.truth.live.remove(self)

    def rename(self, new):
        kept = self.counters()
        self.earlier = self.earlier.plus(self._close_name())
        self.set("down")  # older kernels refuse to rename a link that is up
        self.set("name", new)
        self.lab.truth.renames.append((self.name, new))
        self.name, self.base, self.pushed = new, kept, Counters()
        self.set("up")
        self._reopen()

    def leave(self, space):
        """Move to another namespace: from here on its bytes are not this namespace's."""
        self.close_books()
        self.set("netns", space.name)
        space.ip("link", "set", self.name, "up")
        space.call(self._reopen)
        self.lab.truth.live.remove(self)

    def come_back(self, space):
        """Return, with the counters it has by now: only what follows is ours."""
        space.ip("link", "set", self.name, "netns", self.lab.here.name)
        self.set("up")
        self._reopen()
        self.base, self.pushed = self.counters(), Counters()
        self.lab.truth.live.append(self)

    def set(self, *arguments):
        ip("link", "set", "dev", self.name, *arguments)

    @property
    def index(self):
        return int(self._attribute("ifindex"))

    @property
    def address(self):
        return self._attribute("address")

    def _attribute(self, leaf):
        with open(f"/sys/class/net/{self.name}/{leaf}") as handle:
            return handle.read().strip()

    def _open_far(self, space, far_name):
        """Frames to this link's own address from its other end."""
        to = bytes.fromhex(self.address.replace(":", ""))
        self.far_sender = space.call(lambda: Sender(far_name, to=to))

    def _reopen(self):
        self.sender.close()
        self.sender = Sender(self.name)

    def _close(self):
        for sender in (self.sender, self.far_sender):
            if sender:
                sender.close()

    def _destroy(self):
        self._close()
        ip("link", "del", self.name)


class Veth(Link):
    """A veth whose other end is in another namespace (`lab.peer` unless told)."""

    def __init__(self, lab, name, space=None, index=None, address=None):
        super().__init__(lab, name)
        self.space, self.far_name = space or lab.peer, "p" + name
        chosen = (["index", str(index)] if index else []) + (["address", address] if address else [])
        ip("link", "add", name, *chosen, "mtu", str(MTU), "type", "veth",
           "peer", "name", self.far_name, "mtu", str(MTU), "netns", self.space.name)
        self.set("arp", "off", "up")
        self.space.ip("link", "set", self.far_name, "arp", "off", "up")
        self.sender = Sender(name)
        self._open_far(self.space, self.far_name)

    def move_far_end(self, space):
        """Move the other end to another space."""
        self.settled()
        self.far_sender.close()
        self.space.ip("link", "set", self.far_name, "netns", space.name)
        self.space = space
        space.ip("link", "set", self.far_name, "up")
        self._open_far(space, self.far_name)

    def delete_from_there(self):
        """End the pair by deleting its other end."""
        self.close_books()
        self.space.ip("link", "del", self.far_name)
        self.lab.truth.live.remove(self)


class ContainerVeth(Veth):
    """A veth to a namespace of its own; it ends when that namespace dies."""

    def __init__(self, lab, name):
        super().__init__(lab, name, space=lab.container())

    def _destroy(self):
        self._close()  # an open socket would keep the namespace alive
        self.space.delete()
        end = time.monotonic() + 10
        while os.path.exists(f"/sys/class/net/{self.name}"):
            if time.monotonic() > end:
                raise AssertionError(f"{self.name} outlived its namespace")
            time.sleep(0.005)


class PairEnd(Link):
    """One of two veth ends that both stand here; what one sends the other receives. Made by `pair`."""

    def __init__(self, lab, name):
        super().__init__(lab, name)
        self.sender = Sender(name)

    def _receive(self, size):
        self.other.sender.send(size)

    def _book(self, amounts, frame):
        super()._book(amounts, frame)
        mirrored = Counters(amounts.tx_bytes, amounts.rx_bytes, amounts.tx_packets, amounts.rx_packets)
        self.other.pushed = self.other.pushed.plus(mirrored)

    def delete(self):
        """Both ends go, wherever the other is."""
        if self.other in self.lab.truth.live:
            self.other.close_books()
            self.lab.truth.live.remove(self.other)
        self.other._close()
        super().delete()


def pair(lab, first, second):
    """Both ends of a veth, here."""
    ip("link", "add", first, "mtu", str(MTU), "type", "veth", "peer", "name", second, "mtu", str(MTU))
    for name in (first, second):
        ip("link", "set", name, "arp", "off", "up")
    ends = PairEnd(lab, first), PairEnd(lab, second)
    ends[0].other, ends[1].other = ends[1], ends[0]
    return ends


class Tun(Link):
    """A tun as VPN programs make it: it ends when its file is closed, unless it is persistent."""

    mode = IFF_TUN

    def __init__(self, lab, name, persistent=False):
        super().__init__(lab, name)
        self.persistent = persistent
        self.attach()
        if persistent:
            fcntl.ioctl(self.file, TUNSETPERSIST, 1)
        self.set("mtu", str(MTU), "up")
        self.sender = self._sender()
        self.packet = memoryview(b"\x45" + bytes(MTU + HEADER))  # says IPv4, and is nonsense: counted, then dropped

    def attach(self):
        self.file = open("/dev/net/tun", "r+b", buffering=0)
        self._prepare()
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH22x", os.fsencode(self.name), self.mode | IFF_NO_PI))

    def _prepare(self):
        """What the file has to be told before the link is made."""

    def detach(self):
        """Close the file: a persistent tun stays, with its counters."""
        self.file.close()

    def _sender(self):
        return Sender(self.name, cooked=True)

    def _receive(self, size):
        self.file.write(self.packet[:size])

    def _transmit(self, size):
        self.sender.send(size)
        got = len(self.file.read(1 << 17))  # a tun counts what it sends when its owner reads
        if got != size:
            raise AssertionError(f"{self.name}: sent {size} bytes, its owner read {got}")

    def _reopen(self):
        self.sender.close()
        self.sender = self._sender()

    def _close(self):
        super()._close()
        self.file.close()

    def _destroy(self):
        if self.persistent:
            ip("link", "del", self.name)
        self._close()


class Tap(Tun):
    """A tap: as a tun, with Ethernet frames."""

    mode = IFF_TAP

    def _sender(self):
        return Sender(self.name)


class Card(Tap):
    """A network card at a port, to a daemon with the environment of `preload.hardware`."""

    lives = itertools.count(1)

    def __init__(self, lab, name, card, port=1):
        """`card`: 1 to 9, of which the permanent address is made; `port`: 1 to 99."""
        self.chosen = card * 10000 + port * 100 + next(Card.lives) % 100
        super().__init__(lab, name)

    def _prepare(self):
        fcntl.ioctl(self.file, TUNSETIFINDEX, struct.pack("I", self.chosen))


class Bridge(Link):
    """A bridge with one port, a veth from the peer namespace, `beneath`; it receives without the Ethernet header."""

    uncounted_rx = HEADER

    def __init__(self, lab, name):
        super().__init__(lab, name)
        ip("link", "add", name, "type", "bridge", "stp_state", "0", "mcast_snooping", "0")
        self.beneath = Veth(lab, name + "p")
        self.beneath.set("master", name)
        self.set("arp", "off", "up")
        self.sender = Sender(name)
        self._open_far(lab.peer, self.beneath.far_name)


class Macvlan(Link):
    """A macvlan on a veth from the peer namespace, `beneath`."""

    def __init__(self, lab, name):
        super().__init__(lab, name)
        self.beneath = Veth(lab, name + "l")
        ip("link", "add", name, "link", self.beneath.name, "type", "macvlan", "mode", "private")
        self.set("arp", "off", "up")
        self.sender = Sender(name)
        self._open_far(lab.peer, self.beneath.far_name)


class Ifb(Link):
    """An ifb: what is put into it counts as received, and is dropped since no ingress sent it. `tx` must be 0."""

    def __init__(self, lab, name, index=None):
        super().__init__(lab, name)
        ip("link", "add", name, *(["index", str(index)] if index else []), "mtu", str(MTU), "type", "ifb")
        self.set("arp", "off", "up")
        self.sender = self.far_sender = Sender(name)


class Vxlan(Link):
    """A vxlan over a veth, `beneath`, to another in the peer namespace; it counts frames without their header."""

    uncounted_rx = uncounted_tx = HEADER
    wrapping = 50

    def __init__(self, lab, name):
        super().__init__(lab, name)
        self.beneath = Veth(lab, name + "u")
        ends = [(lab.here, self.beneath.name, "192.0.2.1", "02:00:00:00:00:11"),
                (lab.peer, self.beneath.far_name, "192.0.2.2", "02:00:00:00:00:12")]
        for (space, carrier, near, own), (_, _, remote, other) in zip(ends, reversed(ends)):
            space.ip("address", "add", near + "/24", "dev", carrier)
            space.ip("link", "set", carrier, "arp", "on", "address", own)
            space.ip("neighbour", "add", remote, "lladdr", other, "dev", carrier)  # known, so nobody asks for it
            space.ip("link", "add", name, "mtu", str(MTU - 50), "type", "vxlan", "id", "7", "local", near,
                     "remote", remote, "dstport", "4789", "dev", carrier)
            space.ip("link", "set", name, "arp", "off", "up")
        self.sender = Sender(name)
        self._open_far(lab.peer, name)


class Dummy(Link):
    """A dummy: it counts what is sent and receives nothing."""

    def __init__(self, lab, name):
        ip("link", "add", name, "type", "dummy")
        super().__init__(lab, name)
        self.set("arp", "off", "up")
        self.sender = Sender(name)
