"""Any name that the kernel allows, over real links: wherever it is written and asked for, it is the same link."""
import json
import os
import subprocess

from Lab import links
from Lab.client import figure_counters, quoted
from Lab.daemon import wait_for
from Lab.names import NAMES, shown, spelled, written
from Lab.programs import program
from Lab.stream import Stream

from .change_case import JSON, ChangeCase

# In the form in which it can stand in a pattern of a rule: what has a meaning there is %XX.
PATTERN = str.maketrans({character: spelled(character) for character in "*?[]!^\\"})


class Names(ChangeCase):
    def setUp(self):
        super().setUp()
        self.truth, self.tuns = {}, {}

    def make_links(self, names=NAMES):
        """A link of each name, each with bytes of its own."""
        for number, name in enumerate(names):
            tun = links.Tun(self.lab, name)
            tun.push(1_000 + number, 500 + 2 * number)
            tun.settled()
            self.tuns[name], self.truth[name] = tun, tun.since_base()

    def ids(self, daemon):
        """{name: id} of the links, which must be exactly those that are there, with their bytes."""
        listed = {each["name"]: each for each in daemon.client.interfaces() if each["name"] != "lo"}
        self.assertEqual({name: figure_counters(each["total"]) for name, each in listed.items()},
                         {written(name): truth for name, truth in self.truth.items()}, daemon.log())
        return {name: listed[written(name)]["id"] for name in self.truth}

    def command(self, daemon, *arguments, code=0, **how):
        environment = {
            **os.environ, "IFTALLY_SOCKET": daemon.socket, "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "400"}
        done = subprocess.run([program("iftally"), *arguments], capture_output=True, timeout=30, env=environment, **how)
        self.assertEqual(done.returncode, code, f"{arguments} {done}")
        # UTF-8, and nothing in it that a terminal would obey.
        text = (done.stdout + done.stderr).decode()
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")
        return done.stdout.decode() if code == 0 else done.stderr.decode()

    def assert_is(self, interface, figure, known, name):
        self.assertEqual((interface["id"], figure_counters(figure)), (known, self.truth[name]), name)

    def info(self, daemon, name):
        """The labels of the one info series of a name."""
        [found] = [dict(labels) for (metric, labels), _ in daemon.client.metrics().items()
                   if metric == "iftally_interface_info" and dict(labels)["interface"] == name]
        return found

    def chosen(self, daemon, *arguments):
        return [each["id"] for each in json.loads(self.command(daemon, *arguments, "--json"))["interfaces"]]

    def test_listed_and_asked_for_in_every_spelling_it_is_the_same_one_with_its_bytes(self):
        daemon = self.daemon()
        self.make_links()
        ids = self.ids(daemon)
        for name, known in ids.items():
            raw = quoted(name)
            for path in (raw, quoted(written(name)), quoted(shown(name)), spelled(name), quoted(spelled(name)),
                         quoted(spelled(name).lower()), quoted(known)):
                reply = daemon.client.get("/v1/interfaces/" + path)["interface"]
                self.assertEqual((reply["id"], reply["name"]), (known, written(name)), path)
            for value in (raw, quoted(written(name)), quoted(spelled(name))):
                query = f"?interface={value}&from=all&resolution=day"
                [series] = daemon.client.get("/v1/usage" + query)["series"]
                self.assert_is(series["interface"], series["sum"], known, name)
                reply = daemon.client.get(f"/v1/explain?interface={value}")
                self.assert_is(reply["interface"], reply["figure"], known, name)
        totals = daemon.client.get("/v1/totals", **{"from": "all"})
        found = {each["interface"]["name"]: figure_counters(each["figure"])
                 for each in totals["added"] + totals["not_added"] if each["interface"]["name"] != "lo"}
        self.assertEqual(found, {written(name): truth for name, truth in self.truth.items()})

    def test_metrics_have_each_as_a_label(self):
        daemon = self.daemon()
        self.make_links()
        ids = self.ids(daemon)
        found = {}
        metrics = ("iftally_receive_bytes_total", "iftally_transmit_bytes_total")
        for (metric, labels), value in daemon.client.metrics().items():
            labels = dict(labels)
            if metric in metrics and labels["interface"] != "lo":
                found[metric, labels["interface"], labels["id"]] = value
        expected = {}
        for name, truth in self.truth.items():
            expected["iftally_receive_bytes_total", written(name), ids[name]] = truth.rx_bytes
            expected["iftally_transmit_bytes_total", written(name), ids[name]] = truth.tx_bytes
        self.assertEqual(found, expected)

    def test_the_stream_tells_of_each_and_can_be_chosen_by_each(self):
        daemon = self.daemon()
        names = ["+", "a+b", "ö", "o\u0308", "-rf", os.fsdecode(b"\xff\xfe"), "\x01", "?x=1"]
        chosen = []
        self.make_links(["+", "a+b"])
        for name in names:
            # What is not there yet can be waited for; a plus sign in its name then has to be written %2B.
            value = quoted(name) if name in self.tuns else quoted(written(name).replace("+", "%2B"))
            stream = Stream(daemon.socket, f"?interval=0&events=link&interface={value}")
            self.addCleanup(stream.close)
            chosen.append(stream)
        self.make_links([name for name in names if name not in self.tuns])
        for name in names:
            self.tuns[name].delete()
        for name, stream in zip(names, chosen):
            stream.until(lambda events: [event["change"] for event in events][-1:] == ["went"])
            self.assertEqual({event["interface"]["name"] for event in stream.events}, {written(name)})

    def test_the_command_shows_and_selects_each(self):
        daemon = self.daemon()
        self.make_links()
        ids = self.ids(daemon)
        table = self.command(daemon, "interfaces")
        rows = {line.split("  ")[0]: line for line in table.split("\n")}
        verbose = self.command(daemon, "interfaces", "-v").split("\n")
        typable = self.command(daemon, "interfaces", "--names").split("\n")[:-1]
        for name, known in ids.items():
            self.assertIn(f" {known} ", rows[shown(name)], name)
            self.assertIn(shown(name), verbose)
            for spelling in (os.fsencode(name), shown(name), spelled(name).lower()):
                self.assertEqual(self.chosen(daemon, "interfaces", "-i", spelling), [known], spelling)
        for name, known in list(ids.items())[::3]:
            [series] = json.loads(self.command(daemon, "days", "--json", "-i", os.fsencode(name)))["series"]
            self.assertEqual(series["interface"]["id"], known)
            reply = json.loads(self.command(daemon, "explain", "--json", "--", os.fsencode(name)))
            self.assert_is(reply["interface"], reply["figure"], known, name)
        # What is offered for typing needs no quotes, also where several are joined.
        self.assertEqual(len(typable), len(ids) + 1)
        for word in typable:
            self.assertRegex(word, r"\A[^\x00-\x7f%\w.@]?[\w.@%\u0080-\U0010ffff][-\w.@%\u0080-\U0010ffff]*\Z")
        self.assertEqual(set(self.chosen(daemon, "interfaces", "-i", "+".join(typable))) - set(ids.values()),
                         {daemon.client.interface("lo")["id"]})
        self.assertEqual(len(self.chosen(daemon, "interfaces", "-i", "+".join(typable))), len(ids) + 1)

    def test_a_plus_sign_joins_names_unless_a_name_that_has_it_fits_as_a_whole(self):
        daemon = self.daemon()
        self.make_links(["a", "b", "+", "a+b", "c"])
        ids = self.ids(daemon)
        for value, names in (("a+b", ["a+b"]), ("+", ["+"]), ("b+a", ["a", "b"]), ("a+b+c", ["a", "b", "c"]),
                             ("a%2Bb+c", ["a+b", "c"]), ("%2B+a%2bb", ["+", "a+b"])):
            wanted = sorted(ids[name] for name in names)
            self.assertEqual(sorted(self.chosen(daemon, "interfaces", "-i", value)), wanted, value)
            series = json.loads(self.command(daemon, "days", "--json", "-i", value))["series"]
            self.assertEqual(sorted(each["interface"]["id"] for each in series), wanted, value)
        self.assertEqual(sorted(self.chosen(daemon, "interfaces", "-i", "a", "-i", "b")), sorted([ids["a"], ids["b"]]))
        for value in ("a++", "++", "a+"):
            for arguments in (("interfaces",), ("days",), ("watch", "-n1")):
                self.assertIn("empty", self.command(daemon, *arguments, "-i", value, code=2))
        self.assertIn("'d'", self.command(daemon, "interfaces", "-i", "a+d", code=6))

    def test_rules_match_each_and_only_it(self):
        daemon = self.daemon()
        self.make_links()
        before = self.ids(daemon)
        with open(daemon.configuration) as handle:
            plain = handle.read()
        rules = [f"[Rule r{number}]\nMatchName={shown(name).translate(PATTERN)}\nLabel=label {number}\n"
                 for number, name in enumerate(NAMES)]
        daemon.configure(plain + "".join(rules))
        daemon.reload()
        wait_for(lambda: len(daemon.client.get("/v1/rules")["rules"]) > len(NAMES), "the rules are in force")
        present = {each["name"]: (each["rule"], each.get("label")) for each in daemon.client.interfaces()
                   if each["present"] and each["name"] != "lo"}
        self.assertEqual(
            present, {written(name): (f"r{number}", f"label {number}") for number, name in enumerate(NAMES)})
        counts = {rule["name"]: rule["links"] for rule in daemon.client.get("/v1/rules")["rules"]}
        self.assertEqual({counts[f"r{number}"] for number in range(len(NAMES))}, {1})
        # By its name in every spelling, and the one character that an odd byte is.
        odd = os.fsdecode(b"a\xc3b")

        def labelled():
            return [each.get("label") for each in daemon.client.interfaces()
                    if each["present"] and each["name"] == written(odd)]

        for pattern in (spelled(odd), "a?b", "a%c3b", "a[%80-%FF]b"):
            text = f"{plain}[Rule odd]\nMatchName={pattern}\nLabel={pattern.replace('%', 'x')}\n"
            daemon.configure(text)
            daemon.reload()
            wait_for(lambda: labelled() == [pattern.replace("%", "x")], pattern)
        self.assertEqual(len(before), len(NAMES))

    def test_changes_name_each_and_are_undone(self):
        daemon = self.daemon()
        self.make_links()
        ids = self.ids(daemon)
        for number, name in enumerate(NAMES):
            self.command(daemon, "rename", "--", os.fsencode(name), f"Title {number}")
        titles = {each["id"]: each.get("title") for each in daemon.client.interfaces() if each["name"] != "lo"}
        self.assertEqual(titles, {known: f"Title {number}" for number, known in enumerate(ids.values())})
        for name in NAMES[::5]:
            made = self.make(daemon, self.renaming(written(name), ""))
            self.assertEqual(made["change"]["interface"], {"id": ids[name], "name": written(name)})
            self.make(daemon, self.undoing(made["change"]["id"]))
        for name in NAMES:
            self.tuns[name].delete()
        daemon.client.interfaces()
        for name, other in zip(NAMES[::4], NAMES[1::4]):
            forgotten = json.loads(self.command(daemon, "forget", "--yes", "--json", "--", os.fsencode(name)))["change"]
            self.assertEqual(forgotten["interface"]["id"], ids[name])
            self.make(daemon, self.undoing(forgotten["id"]))
            merged = json.loads(self.command(
                daemon, "merge", "--json", "--", os.fsencode(name), spelled(other).encode()))["change"]
            self.assertEqual((merged["interface"]["id"], merged["after"]), (ids[name], ids[other]))
            self.assertEqual(self.chosen(daemon, "interfaces", "-i", os.fsencode(name)), [ids[other]])
            self.make(daemon, self.undoing(merged["id"]))
        self.ids(daemon)
        self.command(daemon, "changes")

    def test_each_survives_a_kill_and_a_backup(self):
        daemon = self.daemon()
        self.make_links()
        ids = self.ids(daemon)
        daemon.kill()
        daemon.start()
        self.assertEqual(self.ids(daemon), ids)
        file = os.path.join(self.lab.folder, "backup")
        self.command(daemon, "backup", file)
        daemon.stop()
        other = self.daemon(wait=False, name="other")
        other.kill()
        self.command(other, "restore", "--directory", other.store, file)
        other.start()
        self.assertEqual(self.ids(other), ids)
        for name in NAMES[::7]:
            self.tuns[name].push(300, 200)
            self.tuns[name].settled()
            self.truth[name] = self.tuns[name].since_base()
        self.assertEqual(self.ids(other), ids)

    def test_links_that_are_polled_have_their_names_too(self):
        daemon = self.daemon(netlink="EPERM")
        names = [name for name in NAMES if "\n" not in name]
        self.make_links(names)
        listed = {each["name"] for each in daemon.client.interfaces()}
        self.assertEqual(listed, {"lo", *map(written, names)})

    def test_names_that_only_look_alike_are_two(self):
        daemon = self.daemon()
        pairs = [("é0", "e\u03010"), ("\u212b", "\u00c5"), ("ﬃ", "ffi")]
        self.make_links([name for pair in pairs for name in pair])
        ids = self.ids(daemon)
        self.assertEqual(len(set(ids.values())), 6)
        for tun in self.tuns.values():
            tun.delete()
        daemon.restart()
        # The second of each pair comes back first, and is itself.
        for name in reversed(list(ids)):
            self.tuns[name] = links.Tun(self.lab, name)
            self.tuns[name].push(700, 300)
            self.tuns[name].settled()
            self.truth[name] = self.truth[name].plus(self.tuns[name].since_base())
        self.assertEqual(self.ids(daemon), ids)

    def test_whatever_a_person_types_is_a_title_or_is_refused_with_the_reason(self):
        daemon = self.daemon()
        self.make_links(["tun0", "tun1"])
        ids = self.ids(daemon)
        for title in ('Büro "1" \\ {a}', "<script>alert(1)</script>", "50 % & more", "100%", "%41", "Home + Office",
                      "a+b", "網路 🛰️", "-rf", "#?/", "7", "e\u0301", "x" * 64, "ö" * 32,
                      "'; DROP TABLE links; --"):
            self.command(daemon, "rename", "tun0", "--", title)
            for spelling in (title, spelled(title)):
                self.assertEqual(daemon.client.interface(spelling)["id"], ids["tun0"], spelling)
                self.assertEqual(self.chosen(daemon, "interfaces", "-i", spelling), [ids["tun0"]], spelling)
                series = json.loads(self.command(daemon, "days", "--json", "-i", spelling))["series"]
                self.assertEqual([each["interface"]["id"] for each in series], [ids["tun0"]], spelling)
            self.assertEqual(self.info(daemon, "tun0")["title"], title)
            self.assertIn(f"{title} (tun0)", self.command(daemon, "interfaces"))
        stream = Stream(daemon.socket, f"?interval=0&events=link&interface={quoted(title)}")
        self.addCleanup(stream.close)
        self.tuns["tun1"].delete()
        self.tuns["tun0"].delete()
        stream.until(lambda events: events)
        self.assertEqual([event["interface"]["name"] for event in stream.events], ["tun0"])
        for title, reason in (("x" * 65, "longer than 64 bytes"), ("ö" * 33, "longer than 64 bytes"),
                              ("a\nb", "U+000A"), ("\x1b[31m", "U+001B"), ("a\u202eb", "U+202E"),
                              ("a\u200db", "U+200D"), ("\x85", "white space"), (" a", "white space"),
                              ("id:7", "looks like an id")):
            problem = self.refused(daemon, self.renaming("tun0", title), 400, "bad_title")
            self.assertIn(reason, problem["detail"])
            self.assertIn(reason, self.command(daemon, "rename", "tun0", "--", title, code=2))
        path = f"/v1/interfaces/{ids['tun0']}/title"
        reply = daemon.client.ask(path, method="POST", headers=JSON, body=b'{"title": "\xff"}')
        self.assertEqual((reply.status, reply.json["code"]), (400, "bad_parameter"), reply)

    def test_labels_and_groups_of_odd_text(self):
        labels = ['Büro "1" \\ a', "<b>&amp;</b>", "a+b", "50 %41", "x=y, z", "# no; comment", "網路 🛰️"]
        rules = "".join(
            f"[Rule r{number}]\nMatchName=tun{number}\nLabel={label}\n" for number, label in enumerate(labels))
        daemon = self.daemon(more=rules + '[Rule g]\nMatchName=g*\nGroup=<b>"&\\;\n')
        self.make_links([f"tun{number}" for number in range(len(labels))])
        for number, label in enumerate(labels):
            interface = daemon.client.interface(f"tun{number}")
            self.assertEqual(interface["label"], label)
            self.assertEqual(self.chosen(daemon, "interfaces", "--label", label), [interface["id"]])
            [series] = daemon.client.get("/v1/usage", label=label)["series"]
            self.assertEqual(figure_counters(series["sum"]), self.truth[f"tun{number}"])
            self.assertEqual(self.info(daemon, f"tun{number}")["label"], label)
        member = links.Tun(self.lab, "g1")
        member.push(4_000, 3_000)
        member.settled()
        self.assert_total(daemon, '<b>"&\\;', member.since_base())
        self.assertEqual(len(self.chosen(daemon, "interfaces", "-i", '<b>"&\\;')), 1)
