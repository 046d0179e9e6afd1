"""Forgotten history, and what a kill, a full disk and the end of its time leave of it and of other changes."""
import os
import sqlite3

from Lab.client import figure_counters
from Lab.truth import Counters

from .change_case import ChangeCase, target


class Forgetting(ChangeCase):
    def test_forgotten_history_is_hidden_and_the_link_goes_on_from_nothing(self):
        daemon = self.daemon()
        tun = self.tun("tun0", 30_000, 20_000)
        gone, first = self.gone(daemon, "old0", 10_000, 5_000)
        before, id = self.figures(daemon), daemon.client.interface("tun0")["id"]
        kept = tun.since_base()
        made = self.make(daemon, self.forgetting("tun0"))
        new = made["interface"]["id"]
        self.assertNotEqual(new, id)
        self.assert_adds_up(daemon, "tun0", Counters())
        self.assertEqual(daemon.client.ask(target(id)).status, 404)
        self.assertIsNone(self.make(daemon, self.forgetting(gone))["interface"])
        self.assertEqual(daemon.client.ask(target("old0")).status, 404)
        self.assert_metrics(daemon, {(new, None): Counters()})
        self.assertEqual(figure_counters(daemon.client.present("/v1/totals")["total"]), Counters())
        tun.push(4_000, 3_000)
        tun.settled()
        later = tun.since_base().minus(kept)
        self.assert_adds_up(daemon, "tun0", later)
        daemon.kill()
        tun.push(2_000, 1_000)
        daemon.start()
        later = tun.since_base().minus(kept)
        self.assert_adds_up(daemon, "tun0", later)
        self.assertEqual([each["id"] for each in daemon.client.interfaces() if each["name"] != "lo"], [new])
        # A link of a forgotten name is a new one.
        back = self.tun("old0", 700, 600)
        self.assert_adds_up(daemon, "old0", back.since_base())
        self.assertNotEqual(daemon.client.interface("old0")["id"], gone)
        self.make(daemon, self.undoing(made["change"]["id"]))
        self.assert_adds_up(daemon, id, kept)
        self.assert_adds_up(daemon, new, later)
        self.assertEqual(daemon.client.interface("tun0")["id"], new)
        tun.push(500, 400)
        tun.settled()
        # Both of them, of one device, are one again if that is wanted; the one that is there stays what it is.
        self.make(daemon, self.merging(new, id))
        everything = tun.since_base()
        interface = self.assert_adds_up(daemon, id, everything)
        self.assertEqual((interface["id"], interface["present"], interface["up"]), (id, True, True))
        daemon.restart()
        self.assert_adds_up(daemon, "tun0", everything)
        self.assertEqual(before[0][id][4], kept)

    def test_a_kill_right_after_each_change_leaves_what_was_answered(self):
        daemon = self.daemon()
        self.gone(daemon, "old0", 10_000, 5_000)
        tun = self.tun("tun0", 30_000, 20_000)
        base = Counters()
        for asked in (self.renaming("tun0", "Office"), self.merging("old0", "tun0"), self.forgetting("tun0")):
            made = self.make(daemon, asked)
            daemon.kill()
            forgets = asked[0] == "DELETE"
            base = tun.since_base() if forgets else base
            tun.push(1_000, 500)
            daemon.start()
            expected = tun.since_base().minus(base)
            if asked == self.merging("old0", "tun0"):
                expected = expected.plus(Counters(10_000, 5_000, *tuple(self.packets)))
            self.assert_adds_up(daemon, "tun0", expected)
            self.assertEqual(self.changes(daemon)[0]["id"], made["change"]["id"])
            if forgets:
                self.assertEqual(daemon.client.interface("tun0")["id"], made["interface"]["id"])
                self.assertNotIn("title", daemon.client.interface("tun0"))
            undone = self.make(daemon, self.undoing(made["change"]["id"]))
            daemon.kill()
            daemon.start()
            self.assertEqual(self.changes(daemon)[0]["undone"]["at"], undone["change"]["undone"]["at"])
            if not forgets:
                self.assert_adds_up(daemon, "tun0", tun.since_base())

    @property
    def packets(self):
        (_, _, rx, tx), = [amounts for name, amounts in self.lab.truth.by_name().items() if name == "old0"]
        return rx, tx

    def test_a_store_that_cannot_be_written_changes_nothing(self):
        disk = self.lab.disk("small", "1m")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        self.gone(daemon, "old0", 10_000, 5_000)
        tun = self.tun("tun0", 30_000, 20_000)
        title = self.make(daemon, self.renaming("tun0", "Office"))["change"]["id"]
        fill = os.path.join(disk, "fill")
        with open(fill, "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(bytes(4096))
            except OSError:
                pass
        everything = (self.renaming("tun0", "Mine"), self.merging("old0", "tun0"), self.forgetting("tun0"),
                      self.undoing(title))
        # What is left of the WAL may hold one or two more.
        for _ in range(100):
            if self.ask(daemon, self.renaming("old0", "a")).status != 200:
                break
        for asked in everything:
            with self.subTest(asked=asked):
                self.refused(daemon, asked, 503, "not_stored")
        tun.push(2_000, 1_000)
        self.assert_total(daemon, "tun0", tun.since_base())
        os.unlink(fill)
        for asked in everything[1:]:
            self.make(daemon, self.undoing(self.make(daemon, asked)["change"]["id"])) if asked != everything[-1] \
                else self.make(daemon, asked)
        self.assertNotIn("title", daemon.client.interface("id:%s" % self.id_of_title(daemon)))

    def id_of_title(self, daemon):
        return next(each["interface"]["id"][3:] for each in self.changes(daemon) if each["after"] == "Office")

    def test_a_store_that_was_never_writable_is_told(self):
        disk = self.lab.disk("fragile", "8m")
        daemon = self.daemon(store=os.path.join(disk, "store"))
        daemon.stop()
        self.lab.make_read_only(disk)
        daemon.start()
        self.tun("tun0", 30_000, 20_000)
        before = daemon.client.interface("tun0")
        for asked in (self.renaming("tun0", "Mine"), self.forgetting("tun0")):
            reply = self.ask(daemon, asked)
            self.assertEqual((reply.status, reply.json["code"]), (503, "not_stored"), reply)
            self.assertTrue(reply.json["detail"] and reply.json["remedy"], reply)
        after = daemon.client.interface("tun0")
        for field in ("id", "name", "title", "incarnations"):
            self.assertEqual(after.get(field), before.get(field))
        self.assertEqual(figure_counters(after["total"]), figure_counters(before["total"]))

    def test_forgotten_history_that_is_not_kept_is_deleted(self):
        daemon = self.daemon()
        daemon.configure(f"[Store]\nDirectory={daemon.store}\nForgottenDays=0\n[Api]\nSocket={daemon.socket}\n")
        daemon.restart()
        tun = self.tun("tun0", 30_000, 20_000)
        id = int(daemon.client.interface("tun0")["id"][3:])
        made = self.make(daemon, self.forgetting("tun0"))
        self.refused(daemon, self.undoing(made["change"]["id"]), 409, "deleted")
        kept = tun.since_base()
        for _ in range(3):
            tun.push(1_000, 1_000)
            daemon.restart()
        self.assert_adds_up(daemon, "tun0", tun.since_base().minus(kept))
        path = daemon.client.status()["store"]["path"]
        daemon.stop()
        database = sqlite3.connect(path)
        for table in ("bucket", "link_total", "incarnation", "gap"):
            count, = database.execute(f"SELECT count(*) FROM {table} WHERE link = ?", (id,)).fetchone()
            self.assertEqual(count, 0, table)
        self.assertEqual(database.execute("SELECT count(*) FROM link WHERE id = ?", (id,)).fetchone(), (0,))
        self.assertEqual(database.execute("SELECT count(*) FROM deleted_link").fetchone(), (0,))
        database.close()
        daemon.start()
        self.refused(daemon, self.undoing(made["change"]["id"]), 409, "deleted")
