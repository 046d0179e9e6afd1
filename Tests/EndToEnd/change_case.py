"""The base of the tests of changes: the four that can be asked for, and what each may alter."""
import json
import urllib.parse

from Lab import links
from Lab.client import figure_counters
from Lab.truth import Counters

from .case import LabCase

GROUP = 54321
NOBODY = 65534
JSON = {"Content-Type": "application/json"}


def target(name, rest=""):
    return f"/v1/interfaces/{urllib.parse.quote(name)}{rest}"


class ChangeCase(LabCase):
    programs = ("iftallyd", "iftally")

    def daemon(self, wait=True, api="", group=GROUP, **how):
        return super().daemon(wait, api=f"ChangeGroup={group}\n{api}", **how)

    # The four changes: method, path and body.

    def renaming(self, name, title):
        return "POST", target(name, "/title"), {"title": title}

    def merging(self, name, into):
        return "POST", target(name, "/merge"), {"into": into}

    def forgetting(self, name):
        return "DELETE", target(name), None

    def undoing(self, change):
        return "POST", f"/v1/changes/{change}/undo", None

    def ask(self, daemon, asked):
        method, path, body = asked
        return daemon.client.ask(
            path, method=method, headers=JSON if body else {}, body=json.dumps(body).encode() if body else None)

    def make(self, daemon, asked):
        reply = self.ask(daemon, asked)
        self.assertEqual(reply.status, 200, f"{asked} {reply}\n{daemon.log()}")
        return reply.json

    def refused(self, daemon, asked, status, code):
        before = self.shown(daemon)
        reply = self.ask(daemon, asked)
        self.assertEqual((reply.status, reply.json.get("code")), (status, code), f"{asked} {reply}")
        self.assertTrue(reply.json["detail"] and reply.json["remedy"], reply)
        self.assertEqual(self.shown(daemon), before)
        return reply.json

    def shown(self, daemon):
        """All that a change can alter, without what time alters; lo is left alone."""
        interfaces = {
            each["id"]: (each["name"], each.get("title"), each.get("merged"), each["present"],
                         figure_counters(each["total"]), figure_counters(each["today"]), each["incarnations"])
            for each in daemon.client.interfaces() if each["name"] != "lo"}
        usage = {
            series["interface"]["id"]: figure_counters(series["sum"])
            for series in daemon.client.present("/v1/usage", **{"from": "all"}, resolution="minute")["series"]
            if series["interface"]["name"] != "lo"}
        return interfaces, usage, [(each["id"], each["undone"]) for each in self.changes(daemon)]

    def figures(self, daemon):
        return self.shown(daemon)[:2]

    def changes(self, daemon):
        return daemon.client.get("/v1/changes")["changes"]

    def assert_adds_up(self, daemon, name, truth):
        """Total, today, usage by minute and day, and the parts of explanations agree with the truth."""
        interface = daemon.client.interface(name)
        self.assertEqual(figure_counters(interface["total"]), truth, daemon.log())
        self.assertEqual(figure_counters(interface["today"]), truth)
        for resolution in ("minute", "hour", "day"):
            self.assertEqual(self.usage_sum(daemon, name, resolution), truth, resolution)
        for span in ({}, {"from": "today"}):
            reply = daemon.client.present("/v1/explain", interface=name, **span)
            parts = Counters()
            for part in reply["parts"]:
                parts = parts.plus(figure_counters(part["amounts"]))
            self.assertEqual((parts, figure_counters(reply["figure"])), (truth, truth), reply)
        return interface

    def tun(self, name, rx, tx):
        tun = links.Tun(self.lab, name)
        tun.push(rx, tx)
        tun.settled()
        return tun

    def gone(self, daemon, name, rx, tx):
        """A tun that counted so much and went; its id."""
        tun = self.tun(name, rx, tx)
        truth = tun.since_base()
        tun.delete()
        self.assert_total(daemon, name, truth)
        return daemon.client.interface(name)["id"], truth

    def assert_metrics(self, daemon, truth):
        """Byte counters by id and what is merged; the links of the truth and no other."""
        found = {}
        for (name, labels), value in daemon.client.metrics().items():
            labels = dict(labels)
            if name in ("iftally_receive_bytes_total", "iftally_transmit_bytes_total") and labels["interface"] != "lo":
                found.setdefault((labels["id"], labels.get("merged")), {})[name] = value
        self.assertEqual(found, {key: {"iftally_receive_bytes_total": amounts.rx_bytes,
                                       "iftally_transmit_bytes_total": amounts.tx_bytes}
                                 for key, amounts in truth.items()})
