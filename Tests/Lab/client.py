"""Questions to the daemon over its Unix socket or TCP, and figures out of its answers."""
import datetime
import http.client
import json
import re
import socket
import time
import urllib.parse

from .truth import Counters


class Reply:
    """A status, headers and a body."""

    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()

    def __repr__(self):
        return f"{self.status} {self.body[:600]!r}"


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask(connection, path, method="GET", headers=None, body=None):
    """One request on a connection of its own."""
    try:
        try:
            connection.request(method, path, body=body, headers=headers or {})
        except BrokenPipeError:
            # What is too long is answered before it was read, and the connection closed.
            pass
        return Reply(connection.getresponse())
    finally:
        connection.close()


def ask_tcp(port, path, method="GET", headers=None):
    return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=20), path, method, headers)


def figure_counters(figure):
    """The amounts of a figure of the API."""
    return Counters(*(figure[field] for field in Counters._fields))


class Client:
    """The API on one Unix socket."""

    def __init__(self, path):
        self.path = path

    def ask(self, path, method="GET", headers=None, body=None, **query):
        """A reply, whatever its status; a list as a query's value repeats the parameter."""
        if query:
            path += "?" + urllib.parse.urlencode(
                query, doseq=True, quote_via=urllib.parse.quote, errors="surrogateescape")
        return ask(_UnixConnection(self.path), path, method, headers, body)

    def get(self, path, **query):
        """The JSON of a good answer. A daemon that still loads is asked again."""
        end = time.monotonic() + 20
        while True:
            reply = self.ask(path, **query)
            if reply.status == 503 and reply.json.get("code") == "loading" and time.monotonic() < end:
                time.sleep(0.01)
                continue
            if reply.status != 200:
                raise AssertionError(f"{path} {query or ''} answered {reply}")
            return reply.json

    def present(self, path, **query):
        """As `get`, of a sample taken after the call: questions within 100 ms of each other share one."""
        asked = time.time() - 0.001  # times are told to the millisecond
        end = time.monotonic() + 1
        while True:
            reply = self.get(path, **query)
            age = asked - datetime.datetime.fromisoformat(reply["as_of"]).timestamp()
            if abs(age) > 30:  # the daemon's clock was turned by a test, so only waiting tells
                time.sleep(0.11)
                return self.get(path, **query)
            if age <= 0:
                return reply
            if time.monotonic() > end:
                raise AssertionError(f"{path} is of {reply['as_of']}, {age:.3f} s before the question")
            time.sleep(0.01)

    def status(self):
        return self.get("/v1/status")

    def interfaces(self):
        return self.present("/v1/interfaces")["interfaces"]

    def interface(self, name):
        """One interface by name (of a link, as os.fsdecode has it), title or id."""
        return self.present("/v1/interfaces/" + quoted(name))["interface"]

    def total(self, name):
        return figure_counters(self.interface(name)["total"])

    def totals(self):
        """{name: Counters}, past and present links of one name together."""
        totals = {}
        for interface in self.interfaces():
            name = interface["name"]
            totals[name] = totals.get(name, Counters()).plus(figure_counters(interface["total"]))
        return totals

    def metrics(self):
        """/metrics as {(metric, frozenset of label pairs): value}."""
        return parse_metrics(self.ask("/metrics").text)


def quoted(name):
    """A link's name (as os.fsdecode has it) for a URL."""
    return urllib.parse.quote(name, safe="", errors="surrogateescape")


_SERIES = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(,|$)')
_ESCAPES = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}


def parse_metrics(text):
    """Prometheus text 0.0.4, read strictly: one line a sample, every label's value unescaped, no series twice."""
    values = {}
    if not text.endswith("\n"):
        raise AssertionError("the last line has no end")
    for line in text[:-1].split("\n"):
        if line.startswith("#"):
            continue
        series = _SERIES.fullmatch(line)
        if not series:
            raise AssertionError(f"no sample: {line!r}")
        name, rest, value = series.groups()
        labels, at = {}, 0
        while rest and at < len(rest):
            label = _LABEL.match(rest, at)
            if not label or label[1] in labels:
                raise AssertionError(f"no labels: {line!r}")
            labels[label[1]] = re.sub(r'\\[\\n"]', lambda escape: _ESCAPES[escape[0]], label[2])
            at = label.end()
        key = name, frozenset(labels.items())
        if key in values:
            raise AssertionError(f"twice: {line!r}")
        values[key] = float(value)
    return values
