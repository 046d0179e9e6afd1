"""A client of the event stream: events as they come, and a stream that is cut."""
import json
import select
import socket
import time


class Stream:
    """One connection to /v1/stream; `last` is the id to resume from."""

    def __init__(self, path, query="", last=None, buffer=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(20)
        self.socket.connect(path)
        resume = f"Last-Event-ID: {last}\r\n" if last is not None else ""
        self.socket.sendall(f"GET /v1/stream{query} HTTP/1.1\r\nHost: x\r\n{resume}\r\n".encode())
        self.bytes, self.last, self.keepalives, self.is_closed = b"", last, 0, False
        while b"\r\n\r\n" not in self.bytes and self._receive(20):
            pass
        head, _, self.chunks = self.bytes.partition(b"\r\n\r\n")
        self.bytes = b""
        self.status = int(head.split()[1]) if head else None
        self.head = head.decode()
        self.events = []

    def _receive(self, seconds):
        if self.is_closed or not select.select([self.socket], [], [], seconds)[0]:
            return False
        try:
            got = self.socket.recv(1 << 16)
        except ConnectionError:
            got = b""
        self.is_closed = not got
        if hasattr(self, "chunks"):
            self.chunks += got
        else:
            self.bytes += got
        return bool(got)

    def _parse(self):
        while b"\r\n" in self.chunks:
            size, _, rest = self.chunks.partition(b"\r\n")
            length = int(size, 16)
            if len(rest) < length + 2:
                break
            self.bytes += rest[:length]
            self.chunks = rest[length + 2:]
        while b"\n\n" in self.bytes:
            block, _, self.bytes = self.bytes.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
            if not fields:
                self.keepalives += 1
            if "id" in fields:
                self.last = int(fields["id"])
            if "data" in fields:
                event = json.loads(fields["data"])
                assert (event["event"], event["id"]) == (fields["event"], self.last), (fields, event)
                self.events.append(event)

    def read(self, seconds=0.0):
        """Takes in what comes within so many seconds; all events so far."""
        end = time.monotonic() + seconds
        while self._receive(max(0.0, end - time.monotonic())):
            pass
        self._parse()
        return self.events

    def until(self, condition, seconds=15):
        """Reads until condition(events) holds; the events, whether it does or not."""
        end = time.monotonic() + seconds
        self._parse()
        while not condition(self.events) and time.monotonic() < end and self._receive(end - time.monotonic()):
            self._parse()
        return self.events

    def close(self):
        self.socket.close()
