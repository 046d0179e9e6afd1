"""Changes: who may make them, rename, merge and undo, and the command, with what each leaves of the figures."""
import json
import os
import pty
import select
import socket
import subprocess

from Lab import links
from Lab.client import ask_tcp, figure_counters
from Lab.peer import as_user
from Lab.programs import program

from .change_case import GROUP, JSON, NOBODY, ChangeCase, target


class Changes(ChangeCase):
    # MARK: Who may

    def test_only_root_and_the_group_may_change_things_and_only_over_the_unix_socket(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        daemon = self.daemon(api=f"Tcp=127.0.0.1:{port}\n")
        gone, _ = self.gone(daemon, "old0", 10_000, 5_000)
        self.tun("tun0", 20_000, 10_000)
        title = self.make(daemon, self.renaming("tun0", "Office"))["change"]["id"]
        everything = (
            self.renaming("tun0", "Mine"), self.merging("old0", "tun0"), self.forgetting("tun0"), self.undoing(title))
        peers = {"a stranger": (NOBODY, NOBODY, []), "a member of other groups": (NOBODY, NOBODY, [0, 7, 8])}
        for who, peer in peers.items():
            for asked in everything:
                with self.subTest(who=who, asked=asked):
                    before = self.shown(daemon)
                    reply = as_user(*peer, lambda: (lambda got: (got.status, got.json))(self.ask(daemon, asked)))
                    self.assertEqual((reply[0], reply[1]["code"]), (403, "forbidden"), reply)
                    self.assertIn(f"usermod -aG {GROUP}", reply[1]["remedy"])
                    self.assertIn(str(NOBODY), reply[1]["detail"])
                    self.assertEqual(self.shown(daemon), before)
            self.assertEqual(as_user(*peer, lambda: daemon.client.ask("/v1/changes").status), 200)
        for method, path, body in everything:
            with self.subTest(over="tcp", path=path):
                before = self.shown(daemon)
                reply = ask_tcp(port, path, method=method, headers=JSON if body else {})
                self.assertEqual((reply.status, reply.json["code"]), (403, "forbidden"), reply)
                self.assertIn("Unix socket", reply.json["remedy"])
                self.assertEqual(self.shown(daemon), before)
        members = {"supplementary": (NOBODY, NOBODY, [7, GROUP]), "primary": (NOBODY, GROUP, [])}
        for who, peer in members.items():
            with self.subTest(member=who):
                id = daemon.client.interface("tun0")["id"]
                for asked in (self.renaming(id, who), self.merging("old0", id), self.forgetting(id)):
                    reply = as_user(*peer, lambda: (lambda got: (got.status, got.json))(self.ask(daemon, asked)))
                    self.assertEqual(reply[0], 200, reply)
                    self.assertEqual(reply[1]["change"]["uid"], NOBODY)
                    number = reply[1]["change"]["id"]
                    reply = as_user(*peer, lambda: self.ask(daemon, self.undoing(number)).status)
                    self.assertEqual(reply, 200)
                    self.assertEqual(self.changes(daemon)[0]["undone"]["uid"], NOBODY)

    def test_a_group_that_is_not_there_leaves_it_to_root(self):
        daemon = self.daemon(group="")
        self.tun("tun0", 20_000, 10_000)
        self.make(daemon, self.renaming("tun0", "Office"))
        reply = as_user(NOBODY, NOBODY, [GROUP], lambda: self.ask(daemon, self.forgetting("tun0")).json)
        self.assertEqual(reply["code"], "forbidden")
        self.assertIn("iftally", reply["remedy"])

    def test_the_group_is_reloaded(self):
        daemon = self.daemon()
        self.tun("tun0", 20_000, 10_000)
        ask = lambda: self.ask(daemon, self.renaming("tun0", "Office")).status
        self.assertEqual(as_user(NOBODY, NOBODY, [77], ask), 403)
        daemon.configure(f"[Store]\nDirectory={daemon.store}\n[Api]\nSocket={daemon.socket}\nChangeGroup=77\n")
        daemon.reload()
        self.wait_reloaded(daemon)
        self.assertEqual(as_user(NOBODY, NOBODY, [77], ask), 200)
        self.assertEqual(as_user(NOBODY, NOBODY, [GROUP], ask), 403)

    def wait_reloaded(self, daemon):
        while "was reloaded" not in daemon.log():
            select.select([], [], [], 0.02)

    def test_what_is_no_json_is_refused(self):
        daemon = self.daemon()
        self.tun("tun0", 20_000, 10_000)
        path = target("tun0", "/title")
        for headers, body, status, code in (
                ({"Content-Type": "text/plain"}, b'{"title": "x"}', 415, "unsupported_media_type"),
                ({"Content-Type": "application/x-www-form-urlencoded"}, b"title=x", 415, "unsupported_media_type"),
                ({}, b'{"title": "x"}', 415, "unsupported_media_type"), (JSON, b"{", 400, "bad_parameter"),
                (JSON, b'{"title": 3}', 400, "bad_parameter"), (JSON, None, 400, "bad_parameter"),
                (JSON, b" " * 70_000, 413, "too_large")):
            reply = daemon.client.ask(path, method="POST", headers=headers, body=body)
            self.assertEqual((reply.status, reply.json["code"]), (status, code), reply)
        reply = daemon.client.ask(target("tun0"), method="PUT")
        self.assertEqual((reply.status, reply.headers["Allow"]), (405, "GET, HEAD, DELETE"))
        self.assertEqual(daemon.client.ask(path).headers["Allow"], "POST")
        self.assertEqual(self.changes(daemon), [])

    # MARK: Rename

    def test_a_title_stands_beside_the_name_and_selects_and_leaves_history_alone(self):
        daemon = self.daemon()
        tun = self.tun("tun0", 30_000, 20_000)
        self.tun("tun1", 1_000, 2_000)
        before = daemon.client.interface("tun0")
        made = self.make(daemon, self.renaming("tun0", "Büro 1 ☎"))
        self.assertEqual((made["interface"]["title"], made["interface"]["name"]), ("Büro 1 ☎", "tun0"))
        self.assertEqual((made["change"]["before"], made["change"]["after"]), ("", "Büro 1 ☎"))
        interface = self.assert_adds_up(daemon, "tun0", tun.since_base())
        self.assertEqual(interface["id"], before["id"])
        self.assert_adds_up(daemon, "Büro 1 ☎", tun.since_base())
        info = [dict(labels) for (name, labels) in daemon.client.metrics() if name == "iftally_interface_info"]
        self.assertEqual([each["title"] for each in info if each["interface"] == "tun0"], ["Büro 1 ☎"])
        second = self.make(daemon, self.renaming(before["id"], "Home"))
        self.assertEqual(daemon.client.ask(target("Büro 1 ☎")).status, 404)
        self.refused(daemon, self.undoing(made["change"]["id"]), 409, "superseded")
        self.make(daemon, self.undoing(second["change"]["id"]))
        self.refused(daemon, self.undoing(second["change"]["id"]), 409, "already_undone")
        self.assertEqual(daemon.client.interface("tun0")["title"], "Büro 1 ☎")
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.client.interface("tun0")["title"], "Büro 1 ☎")
        self.make(daemon, self.undoing(made["change"]["id"]))
        self.assertNotIn("title", daemon.client.interface("tun0"))
        self.make(daemon, self.renaming("tun0", "Home"))
        self.assertNotIn("title", self.make(daemon, self.renaming("Home", ""))["interface"])
        for title in ("x" * 65, "a\nb", "a\u202eb", " a", "a ", "\x7f", "id:3", "\u2028"):
            self.refused(daemon, self.renaming("tun0", title), 400, "bad_title")
        self.refused(daemon, self.renaming("nonsuch", "x"), 404, "unknown_interface")
        self.refused(daemon, self.undoing(99), 404, "unknown_change")
        self.make(daemon, self.renaming("tun0", "x" * 64))

    def test_a_name_that_fits_several_is_no_choice(self):
        daemon = self.daemon()
        self.tun("tun0", 1_000, 1_000)
        self.tun("tun1", 1_000, 1_000)
        ids = {name: daemon.client.interface(name)["id"] for name in ("tun0", "tun1")}
        self.make(daemon, self.renaming("tun0", "Office"))
        self.make(daemon, self.renaming("tun1", "Office"))
        reply = daemon.client.ask(target("Office"))
        self.assertEqual((reply.status, reply.json["code"]), (409, "ambiguous_interface"))
        for asked in (self.renaming("Office", "x"), self.forgetting("Office"), self.merging("tun0", "Office")):
            detail = self.refused(daemon, asked, 409, "ambiguous_interface")["detail"]
            self.assertTrue(all(each in detail for each in ids.values()), detail)
        # A title that is another's name: that one goes by its id.
        self.make(daemon, self.renaming("tun1", "tun0"))
        self.refused(daemon, self.forgetting("tun0"), 409, "ambiguous_interface")
        self.assertEqual(daemon.client.interface("tun0")["id"], ids["tun0"])
        self.make(daemon, self.forgetting(ids["tun0"]))

    # MARK: Merge

    def test_a_merged_interface_is_shown_and_counted_with_the_other(self):
        daemon = self.daemon()
        old, first = self.gone(daemon, "old0", 10_000, 5_000)
        tun = self.tun("tun0", 20_000, 10_000)
        before, machine = self.figures(daemon), daemon.client.present("/v1/totals")
        self.refused(daemon, self.merging("tun0", "tun0"), 409, "same_interface")
        made = self.make(daemon, self.merging("old0", "tun0"))
        ids = {"new": made["interface"]["id"], "old": old}
        self.assertEqual(made["interface"]["merged"], [{"id": old, "name": "old0"}])
        self.assertEqual((made["change"]["interface"]["id"], made["change"]["after"]), (old, ids["new"]))
        both = first.plus(tun.since_base())
        for name in ("tun0", "old0", old, ids["new"]):
            interface = self.assert_adds_up(daemon, name, both)
            self.assertEqual((interface["id"], interface["present"]), (ids["new"], True))
        self.assertEqual(interface["incarnations"], 2)
        lives = daemon.client.present("/v1/explain", interface="tun0")["incarnations"]
        self.assertEqual([(life["interface"], figure_counters(life["counted"]) if life["counted"] else None)
                          for life in lives], [(old, first), (ids["new"], tun.since_base())])
        self.assertEqual([each["name"] for each in daemon.client.interfaces() if each["name"] != "lo"], ["tun0"])
        after = daemon.client.present("/v1/totals")
        self.assertEqual(figure_counters(after["total"]), figure_counters(machine["total"]))
        self.assert_metrics(daemon, {(ids["new"], old): both})
        self.refused(daemon, self.renaming(old, "x"), 409, "merged")
        self.refused(daemon, self.forgetting("old0"), 409, "merged")
        tun.push(3_000, 2_000)
        daemon.kill()
        daemon.start()
        self.assert_adds_up(daemon, "tun0", first.plus(tun.since_base()))
        # It comes back: what it counts is shown there too.
        back = self.tun("old0", 7_000, 6_000)
        self.assert_adds_up(daemon, "tun0", first.plus(tun.since_base()).plus(back.since_base()))
        self.make(daemon, self.undoing(made["change"]["id"]))
        self.assert_adds_up(daemon, "tun0", tun.since_base())
        self.assert_adds_up(daemon, "old0", first.plus(back.since_base()))
        self.assert_metrics(daemon, {(ids["new"], None): tun.since_base(), (old, None): first.plus(back.since_base())})
        self.refused(daemon, self.merging("old0", "tun0"), 409, "both_present")
        back.delete()
        self.make(daemon, self.merging("old0", "tun0"))
        daemon.restart()
        self.assertEqual(daemon.client.interface("tun0")["merged"], [{"id": old, "name": "old0"}])
        self.assertEqual(len(before[0]), 2)

    def test_merging_and_undoing_leaves_every_figure_as_it_was(self):
        daemon = self.daemon()
        for name in ("a0", "b0", "c0"):
            self.gone(daemon, name, 10_000, 5_000)
        self.tun("tun0", 20_000, 10_000)
        before = self.figures(daemon)
        made = [self.make(daemon, asked)["change"]["id"] for asked in (
            self.merging("a0", "b0"), self.merging("b0", "c0"), self.merging("c0", "tun0"))]
        self.assertEqual(daemon.client.interface("a0")["name"], "tun0")
        self.assertEqual(len(daemon.client.interface("tun0")["merged"]), 3)
        self.make(daemon, self.undoing(made[1]))
        self.assertEqual(daemon.client.interface("a0")["name"], "b0")
        for change in (made[0], made[2]):
            self.make(daemon, self.undoing(change))
        self.assertEqual(self.figures(daemon), before)
        daemon.restart()
        self.assertEqual(self.figures(daemon), before)

    def test_what_a_machine_total_adds_is_not_merged_with_what_it_does_not(self):
        daemon = self.daemon()
        self.gone(daemon, "tun0", 10_000, 5_000)
        links.Veth(self.lab, "eth0").push(10_000, 5_000)
        self.lab.here.ip("route", "add", "default", "dev", "eth0")
        daemon.restart()
        self.assertEqual(daemon.client.interface("eth0")["share"], "added")
        self.refused(daemon, self.merging("tun0", "eth0"), 409, "shares_differ")

    # MARK: The command

    def run_command(self, daemon, *arguments, **how):
        return subprocess.run(
            [program("iftally"), *arguments], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
            env={**os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C.UTF-8"}, **how)

    def test_the_command_changes_and_tells(self):
        daemon = self.daemon()
        self.gone(daemon, "old0", 10_000, 5_000)
        self.tun("tun0", 30_000, 20_000)
        id = daemon.client.interface("tun0")["id"]
        for arguments, code, out in (
                (("rename", "tun0", "Office"), 0, f'tun0 ({id}) is now called "Office". To take it back: iftally undo 1'),
                (("interfaces",), 0, "Office (tun0)"), (("-i", "Office"), 0, "Office (tun0)"),
                (("days", "-i", "Office"), 0, "Office (tun0)"), (("merge", "old0", "Office"), 0, "shown with"),
                (("interfaces", "-v", "-i", "old0"), 0, "their figures are in these"),
                (("changes",), 0, "merge"), (("undo", "2"), 0, "of its own again"),
                (("forget", "tun0"), 2, "--yes"), (("undo",), 2, "iftally changes"), (("undo", "last"), 2, "number"),
                (("rename", "tun0"), 2, "title"), (("merge", "a", "b", "c"), 2, "takes 2 arguments"),
                (("forget", "nonsuch", "--yes"), 6, "nonsuch"), (("rename", "tun0", "a\tb"), 2, "control"),
                (("merge", "tun0", "tun0"), 1, "itself"), (("undo", "2"), 1, "already"),
                (("forget", "Office", "--yes"), 0, "goes on as"), (("undo", "3"), 0, "shown again"),
                (("changes",), 0, "by 0")):
            with self.subTest(arguments=arguments):
                done = self.run_command(daemon, *arguments)
                self.assertEqual(done.returncode, code, done)
                self.assertIn(out, done.stdout if code == 0 else done.stderr)
                self.assertNotIn("exact", done.stdout + done.stderr)
        done = self.run_command(daemon, "rename", id, "Desk", "--json")
        self.assertEqual(json.loads(done.stdout)["interface"]["title"], "Desk")
        self.assertEqual(len(json.loads(self.run_command(daemon, "changes", "--json").stdout)["changes"]), 4)
        done = self.run_command(
            daemon, "forget", id, "-y", user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(f"usermod -aG {GROUP}", done.stderr)

    def test_a_terminal_is_asked_before_anything_is_forgotten(self):
        daemon = self.daemon()
        self.tun("tun0", 30_000, 20_000)
        for answer, code in (("n", 1), ("", 1), ("y", 0)):
            near, far = pty.openpty()
            process = subprocess.Popen(
                [program("iftally"), "forget", "tun0"], stdin=far, stdout=far, stderr=far,
                env={**os.environ, "IFTALLY_SOCKET": daemon.socket})
            os.close(far)
            said = b""
            while b"[y/N]" not in said:
                said += os.read(near, 1000)
            os.write(near, answer.encode() + b"\n")
            self.assertEqual(process.wait(20), code, answer)
            os.close(near)
            self.assertEqual(len(self.changes(daemon)), 1 - code)
