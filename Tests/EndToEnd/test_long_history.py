"""Questions about a history that is longer than a test: rows of the past are put into the store of a stopped daemon."""
import contextlib
import os
import sqlite3
import time

from Lab import links

from .case import LabCase


class LongHistory(LabCase):
    def past(self, minutes, seconds_ago=0):
        """A daemon whose veth1 has so many busy minutes behind it, the last of them so long ago."""
        links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        link = int(daemon.client.interface("veth1")["id"].removeprefix("id:"))
        self.assertEqual(daemon.stop(), 0, daemon.log())
        last = (int(time.time()) - seconds_ago) // 60 * 60 - 60
        rows = [(last - 60 * number, link) for number in range(minutes)]
        with contextlib.closing(sqlite3.connect(os.path.join(daemon.store, "iftally.db"))) as store, store:
            store.executemany("INSERT INTO bucket VALUES (0, ?, ?, 1000, 1000, 1, 1, 0, 0, 0)", rows)
            store.execute("UPDATE link SET first_seen = ?", (last - 60 * minutes,))
        return daemon.start()

    def test_an_answer_that_would_be_too_long_is_refused_with_what_to_ask_instead(self):
        daemon = self.past(60_000)
        reply = daemon.client.ask("/v1/usage?interface=veth1&from=all&resolution=minute")
        self.assertEqual((reply.status, reply.json["code"]), (400, "bad_parameter"), reply)
        self.assertIn("limit", reply.json["remedy"])
        short = daemon.client.get("/v1/usage", interface="veth1", **{"from": "all"}, resolution="minute", limit=30)
        self.assertEqual(len(short["series"][0]["points"]), 30)

    def test_a_sum_over_periods_that_are_dropped_by_age_is_no_complete_one(self):
        daemon = self.past(60, seconds_ago=5 * 86400)
        for resolution, label in (("minute", "at_least"), ("five_minutes", "complete"), ("day", "complete")):
            for span in ("all", "7d"):
                reply = daemon.client.get("/v1/usage", interface="veth1", **{"from": span}, resolution=resolution)
                told = reply["series"][0]["sum"]["quality"]["completeness"]
                self.assertEqual(told, label, (resolution, span))
        recent = daemon.client.get("/v1/usage", interface="veth1", **{"from": "1h"}, resolution="minute")
        self.assertEqual(recent["series"][0]["sum"]["quality"]["completeness"], "complete")
