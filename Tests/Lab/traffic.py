"""Frames of known size, straight to the driver, and traffic that flows in the background."""
import errno
import socket
import struct
import threading
import time

from . import kernel

CHUNK = 60000
SMALLEST = 64
HEADER = 14
ETHERTYPE = 0x88B5  # for local experiments: counted by every link, taken up by nobody
IPV4 = 0x0800
SOMEBODY = bytes.fromhex("020000000001")
SOL_PACKET = 263
PACKET_QDISC_BYPASS = 20


def sizes(total, chunk=CHUNK):
    """Split `total` bytes into frames of at most `chunk` and at least SMALLEST."""
    if total and total < SMALLEST:
        raise ValueError(f"{total} bytes are fewer than one frame holds")
    while total:
        size = min(chunk, total)
        if 0 < total - size < SMALLEST:
            size -= SMALLEST
        yield size
        total -= size


class Sender:
    """Puts frames on one link from the namespace in which it is made.

    The queueing discipline is passed by: a new link's is activated later, and drops until then.
    """

    def __init__(self, name, to=SOMEBODY, cooked=False):
        self.name, self.cooked = name, cooked
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM if cooked else socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        # Names that are no UTF-8 are as os.fsdecode has them, and Python's own calls refuse them.
        self.is_text = not any("\udc80" <= each <= "\udcff" for each in name)
        if self.is_text:
            self.socket.bind((name, 0))
        else:
            kernel.bind_packet(self.socket, name, IPV4 if cooked else 0)
        head = b"\x45" if cooked else to + SOMEBODY + struct.pack("!H", ETHERTYPE)
        self.frame = memoryview(head + bytes(CHUNK + HEADER))

    def send(self, size):
        """One frame of `size` bytes: with its Ethernet header, or, when cooked, an IP packet."""
        while True:
            try:
                if self.cooked and self.is_text:
                    self.socket.sendto(self.frame[:size], (self.name, IPV4))
                else:
                    self.socket.send(self.frame[:size])
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:  # the receiver's backlog was full: not counted, so once more
                    raise
                time.sleep(0.001)

    def close(self):
        self.socket.close()


class Steady:
    """Traffic in a thread of its own while the block runs: a little on every link, again and again."""

    def __init__(self, links, rx=1500, tx=900, pause=0.002):
        self.links, self.rx, self.tx, self.pause = links, rx, tx, pause
        self.error = None
        self._stop = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def _run(self):
        try:
            while not self._stop.is_set():
                for link in self.links:
                    link.push(self.rx, self.tx)
                time.sleep(self.pause)
        except BaseException as error:
            self.error = error

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        if self.error:
            raise self.error


def push_over(link, rx, tx, seconds, steps=20):
    """Spread one push over a span of time."""
    begun = time.monotonic()
    for step in range(steps):
        link.push(rx // steps, tx // steps)
        time.sleep(max(0, begun + (step + 1) * seconds / steps - time.monotonic()))
