"""A machine made of namespaces: one uplink, and all that people stack on it, with real packets of known destination."""
import fcntl
import socket
import struct

from .links import IFF_NO_PI, IFF_TUN, TUNSETIFF
from .space import ip
from .traffic import Sender
from .truth import Counters, read_counters

PORT = 7000


def _bound(space, address, port=0):
    """A UDP socket that stands in a space."""
    def make():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.settimeout(10)
        made.bind((address, port))
        return made
    return space.call(make)


def _tun(space, name, address):
    def make():
        file = open("/dev/net/tun", "r+b", buffering=0)
        fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
        return file
    file = space.call(make)
    space.ip("address", "add", address + "/24", "dev", name)
    space.ip("link", "set", name, "mtu", "1400", "up")
    return file


def _exchange(near, far, to, size, way=None):
    """`size` bytes there and back. `way` moves a packet that a tunnel's owner has to move."""
    near.sendto(bytes(size), to)
    if way:
        way(True)
    data, sender = far.recvfrom(1 << 16)
    far.sendto(data, sender)
    if way:
        way(False)
    near.recv(1 << 16)


class Machine:
    """`lab.here` with the uplink eth0, a VPN tun0 whose owner sends over eth0, a vxlan vx0 within the VPN, the bridge
    br0 of three containers whose packets are routed to eth0, and the macvlan mv0 on eth0. `lab.peer` is the outside."""

    def __init__(self, lab):
        self.lab = lab
        here, peer = lab.here, lab.peer
        ip("link", "add", "eth0", "type", "veth", "peer", "name", "out0", "netns", peer.name)
        ip("address", "add", "192.0.2.1/24", "dev", "eth0")
        peer.ip("address", "add", "192.0.2.2/24", "dev", "out0")
        ip("link", "set", "eth0", "up")
        peer.ip("link", "set", "out0", "up")
        ip("route", "add", "default", "via", "192.0.2.2")
        with open("/proc/sys/net/ipv4/ip_forward", "w") as handle:
            handle.write("1")
        self.tuns = _tun(here, "tun0", "10.9.0.1"), _tun(peer, "tun0", "10.9.0.2")
        self.outer = _bound(here, "192.0.2.1", PORT), _bound(peer, "192.0.2.2", PORT)
        self.inner = _bound(here, "10.9.0.1"), _bound(peer, "10.9.0.2", 9)
        for space, near, far, address in ((here, "10.9.0.1", "10.9.0.2", "10.7.0.1"),
                                          (peer, "10.9.0.2", "10.9.0.1", "10.7.0.2")):
            space.ip("link", "add", "vx0", "type", "vxlan", "id", "7", "local", near, "remote", far, "dstport", "4789")
            space.ip("address", "add", address + "/24", "dev", "vx0")
            space.ip("link", "set", "vx0", "mtu", "1300", "up")
        addresses = [self._address(space, "vx0") for space in (here, peer)]
        ip("neighbour", "add", "10.7.0.2", "lladdr", addresses[1], "dev", "vx0")
        peer.ip("neighbour", "add", "10.7.0.1", "lladdr", addresses[0], "dev", "vx0")
        self.nested = _bound(here, "10.7.0.1"), _bound(peer, "10.7.0.2", 9)
        ip("link", "add", "br0", "type", "bridge", "stp_state", "0", "mcast_snooping", "0")
        ip("address", "add", "10.8.0.1/24", "dev", "br0")
        ip("link", "set", "br0", "up")
        peer.ip("route", "add", "10.8.0.0/24", "via", "192.0.2.1")
        self.containers = [self._container(number) for number in (1, 2, 3)]
        self.server = _bound(peer, "192.0.2.2", 9)
        ip("link", "add", "mv0", "link", "eth0", "type", "macvlan", "mode", "private")
        ip("link", "set", "mv0", "arp", "off", "up")
        self.macvlan = Sender("mv0")
        for each in (*self.tuns, *self.outer, *self.inner, *self.nested, *self.containers, self.server, self.macvlan):
            lab.at_exit(each.close)
        self.base = read_counters("eth0")

    @staticmethod
    def _address(space, name):
        return space.ip("-br", "link", "show", name).split()[2]

    def _container(self, number):
        space = self.lab.container()
        ip("link", "add", f"c{number}", "type", "veth", "peer", "name", "eth0", "netns", space.name)
        ip("link", "set", f"c{number}", "master", "br0", "up")
        space.ip("address", "add", f"10.8.0.{number + 1}/24", "dev", "eth0")
        space.ip("link", "set", "eth0", "up")
        space.ip("route", "add", "default", "via", "10.8.0.1")
        return _bound(space, f"10.8.0.{number + 1}")

    def _carry(self, outward):
        """What the VPN's program does: one packet from the tun into a datagram and out again at the other end."""
        (near, far), (sender, receiver) = self.tuns, self.outer
        if not outward:
            near, far, sender, receiver = far, near, receiver, sender
        sender.sendto(near.read(1 << 16), receiver.getsockname())
        far.write(receiver.recv(1 << 16))

    def vpn(self, packets, size=1000):
        """So many datagrams there and back through tun0."""
        for _ in range(packets):
            _exchange(*self.inner, ("10.9.0.2", 9), size, self._carry)

    def vpn_in_vpn(self, packets, size=800):
        """The same through vx0, which is within tun0."""
        for _ in range(packets):
            _exchange(*self.nested, ("10.7.0.2", 9), size, self._carry)

    def containers_talk(self, packets, size=1200):
        """Each container exchanges so many datagrams with the outside."""
        for container in self.containers:
            for _ in range(packets):
                _exchange(container, self.server, ("192.0.2.2", 9), size)

    def containers_talk_within(self, packets, size=1200):
        """The first two containers exchange datagrams over the bridge, which never leave the machine."""
        first, second = self.containers[:2]
        for _ in range(packets):
            _exchange(first, second, second.getsockname(), size)

    def macvlan_sends(self, frames, size=1000):
        for _ in range(frames):
            self.macvlan.send(size)

    def host_talks(self, packets, size=900):
        """The machine itself, beside everything else."""
        with _bound(self.lab.here, "192.0.2.1") as near:
            for _ in range(packets):
                _exchange(near, self.server, ("192.0.2.2", 9), size)

    def end_vpn(self):
        for each in (*self.tuns, *self.inner):
            each.close()

    def on_the_medium(self):
        """What crossed eth0 since the machine was made."""
        return read_counters("eth0").minus(self.base)

    def on_the_other_side(self):
        """The same, as the other end of the medium counts it: nothing here can have counted it wrong."""
        lines = self.lab.peer.ip("-s", "link", "show", "out0").splitlines()
        rx, tx = ([int(word) for word in lines[at].split()[:2]] for at in (3, 5))
        return Counters(rx_bytes=tx[0], tx_bytes=rx[0], rx_packets=tx[1], tx_packets=rx[1])
