"""The commands that show traffic, against a fake daemon."""
import json
import re
import subprocess
import unittest

from command_case import COMMAND, CommandCase
from fake_daemon import golden, problem

PERIODS = {
    "minutes": ("minute", "60m", "60"), "fives": ("five_minutes", "5h", "60"), "hours": ("hour", "24h", "24"),
    "days": ("day", "30d", "30"), "months": ("month", "all", "12"), "years": ("year", "all", None),
}
FIGURES = [[], ["interfaces"], ["interfaces", "-v"], ["live", "-n", "1"], *[[name] for name in PERIODS], ["usage"],
           ["status"], ["status", "-v"], ["explain", "wg0"], ["doctor"]]


class Figures(CommandCase):
    def test_every_output_says_that_it_is_an_estimate_and_nothing_acts_on_a_terminal(self):
        for arguments in FIGURES:
            with self.subTest(arguments):
                output = self.run_command(*arguments).stdout
                self.assertIn("estimate", output.lower())
                self.assertNotIn("exact", output.lower())
                self.assertNotRegex(output, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")

    def test_every_json_output_is_json_on_one_line_and_says_that_it_is_an_estimate(self):
        for arguments in FIGURES:
            with self.subTest(arguments):
                output = self.run_command(*arguments, "--json").stdout
                self.assertEqual(output.count("\n"), 1)
                self.assertEqual(json.loads(output)["nature"], "estimate")

    def test_json_keeps_fields_that_this_version_does_not_know(self):
        reply = golden("interfaces")
        reply["interfaces"][0]["colour"] = "red"
        self.daemon.answers["/v1/interfaces"] = reply
        self.assertEqual(json.loads(self.run_command("interfaces", "--json").stdout), reply)
        self.assertEqual(json.loads(self.run_command("--json").stdout)["interfaces"], reply)
        self.assertEqual(json.loads(self.run_command("days", "--json").stdout), golden("days"))

    def test_summary_shows_each_period_with_its_completeness(self):
        output = self.run_command().stdout
        self.assertRegex(output, r"(?m)^wlan0 +wifi +today +1\.23 GiB +100\.00 MiB +1\.33 GiB +100 %$")
        self.assertRegex(output, r"(?m)^ +yesterday +≥ 120\.56 KiB +≥ 638\.99 KiB +≥ 759\.55 KiB +75\.0 %$")
        self.assertIn("≥ at least this much", output)
        self.assertNotIn("-rf", output)
        self.assertRegex(self.run_command("--all").stdout, r"(?m)^-rf +virtual, gone")
        asked = [target for target in self.daemon.targets if target.startswith("/v1/usage")]
        self.assertEqual(asked[:2], ["/v1/usage?from=yesterday&to=yesterday&resolution=day",
                                     "/v1/usage?from=this-month&to=now&resolution=month"])

    def test_summary_shows_the_present_when_history_is_not_available(self):
        for code in ("store_unavailable", "loading"):
            self.daemon.answers["/v1/usage"] = problem(code, 503, "the store is being opened")
            output = self.run_command().stdout
            self.assertIn("51.23 GiB", output)
            self.assertIn("history is not available now", output)
            self.assertIsNone(json.loads(self.run_command("--json").stdout)["yesterday"])

    def test_periods_ask_for_their_span_and_resolution(self):
        for name, (resolution, span, limit) in PERIODS.items():
            self.daemon.targets.clear()
            self.run_command(name)
            expected = f"/v1/usage?from={span}&resolution={resolution}" + (f"&limit={limit}" if limit else "")
            self.assertEqual(self.daemon.targets, [expected])

    def test_span_and_limit_are_passed_on(self):
        self.run_command("days", "--from", "2026-11-01T00:00+01:00", "--to=yesterday", "-l5")
        self.run_command("days", "--from", "this-month")
        self.run_command("days", "--to", "yesterday")
        self.run_command("usage", "-r", "five_minutes", "--from=90m")
        self.assertEqual(self.daemon.targets, [
            "/v1/usage?from=2026-11-01T00%3A00%2B01%3A00&to=yesterday&resolution=day&limit=5",
            "/v1/usage?from=this-month&resolution=day",
            "/v1/usage?from=all&to=yesterday&resolution=day&limit=30",
            "/v1/usage?from=90m&resolution=five_minutes",
        ])

    def test_explain_asks_for_one_figure_and_shows_parts_that_add_up(self):
        for arguments, query in [
            ([], ""), (["--month"], "&from=this-month"), (["--today"], "&from=today"),
            (["--yesterday"], "&from=yesterday"), (["--year"], "&from=this-year"),
            (["--from", "24h", "--to", "now", "-r", "hour"], "&from=24h&to=now&resolution=hour"),
        ]:
            self.daemon.targets.clear()
            self.run_command("explain", "wg0", *arguments)
            self.assertEqual(self.daemon.targets, ["/v1/explain?interface=wg0" + query])
        output = self.run_command("explain", "wg0", "--unit", "bytes").stdout
        table = output.split("INCARNATION")[1].split("\n\n")[0]
        received = [int(number) for number in re.findall(r"(?m)^(?:[0-9, ]+|earlier) +([0-9]+) B", table)]
        self.assertEqual(sum(received), int(re.search(r"(?m)^figure +≥ ([0-9]+) B", table)[1]))
        self.assertIn("At least this much", output)
        self.assertIn("30 older ones are not listed", output)
        self.assertEqual(json.loads(self.run_command("explain", "wg0", "--json").stdout), golden("explain"))

    def test_interfaces_are_chosen_by_name_id_and_kind(self):
        def shown(*arguments):
            reply = json.loads(self.run_command("interfaces", "--json", *arguments).stdout)
            return [interface["name"] for interface in reply["interfaces"]]

        self.assertEqual(shown("-i", "wlan0+id:3"), ["wlan0", "wg0"])
        self.assertEqual(shown("-iwlan0", "--interface=wg0"), ["wlan0", "wg0"])
        self.assertEqual(shown("-i", "-rf"), ["-rf"])
        self.assertEqual(shown("-i", "evil%1B[31m"), ["evil%1B[31m"])
        self.assertEqual(shown("-i", "a%E2%80%AEb%C2%9B1m"), ["a\u202eb\x9b1m"])
        self.assertEqual(shown("-i", "a%e2%80%aeb%c2%9b1m"), ["a\u202eb\x9b1m"])
        self.assertEqual(shown("-i", b"a\xe2\x80\xaeb%C2\x9b1m"), ["a\u202eb\x9b1m"])
        self.assertNotIn("\u202e", self.run_command("interfaces", "--json").stdout)
        self.assertEqual(shown("--kind", "wifi", "--kind", "tunnel"), ["wlan0", "wg0"])
        for arguments, target in (
                (("days", "-i", "wlan0+-rf", "--kind=wifi"), "/v1/usage?interface=wlan0%2B-rf&kind=wifi&from="),
                (("interfaces", "-i", "wlan0", "--label", "cafe"), "/v1/interfaces?interface=wlan0&label=cafe"),
                (("explain", "wg0", "--label", "cafe"), "/v1/explain?interface=wg0&label=cafe")):
            self.daemon.targets.clear()
            self.run_command(*arguments)
            self.assertEqual(self.daemon.targets[0][:len(target)], target)

    def answer_with(self, **fields):
        """Puts these into the first interface of every answer."""
        listed, days, explanation = golden("interfaces"), golden("days"), golden("explain")
        for interface in (listed["interfaces"][0], days["series"][0]["interface"], explanation["interface"]):
            interface.update(name="containers", **fields)
        self.daemon.answers |= {"/v1/interfaces": listed, "/v1/usage": days, "/v1/explain": explanation}

    def test_a_link_that_is_counted_in_a_group_is_said_to_be(self):
        said = "veth0 is counted in the group containers."
        for arguments in ([], ["interfaces"], ["interfaces", "-v"], ["days"], ["usage"], ["explain", "veth0"]):
            self.assertNotIn("counted in the group", self.run_command(*arguments).stdout)
        self.answer_with(asked_members=["veth0", "v\u202e1"])
        for arguments in ([], ["interfaces"], ["interfaces", "-v"], ["days"], ["usage"], ["explain", "veth0"]):
            with self.subTest(arguments):
                output = self.run_command(*arguments).stdout
                self.assertIn(said, output)
                self.assertIn("v%E2%80%AE1 is counted", output)
        self.assertIn(said, self.on_terminal("live", "-n1"))
        self.assertIn("(estimate, counting veth0, v%E2%80%AE1)", self.run_command("live", "-n1").stdout)

    def test_labels_that_are_added_up_are_named(self):
        records = [{"id": "id:9", "name": "wlan0", "label": "home"}, {"id": "id:4", "name": "wlan0", "label": "cafe"},
                   {"id": "id:2", "name": "wlan0"}]
        self.answer_with(records=records)
        for arguments in ([], ["interfaces"], ["days"], ["explain", "wg0"]):
            self.assertIn("home, cafe, none", self.run_command(*arguments).stdout, arguments)
        self.assertIn("home (id:9), cafe (id:4), none (id:2): added up", self.run_command("interfaces", "-v").stdout)
        self.answer_with(label="cafe")
        self.assertIn(", label cafe", self.run_command("days").stdout)

    def test_units(self):
        self.assertIn("53687091200 B", self.run_command("interfaces", "--unit", "bytes").stdout)
        self.assertIn("53.7 GB", self.run_command("interfaces", "--unit=si", "--decimals=1").stdout)
        self.assertIn("12.00 Mbit/s", self.run_command("live", "-n1").stdout)
        self.assertIn("1.43 MiB/s", self.run_command("live", "-n1", "--bytes").stdout)

    def test_marks_are_ascii_where_the_locale_is(self):
        output = self.run_command(LANG="C").stdout
        self.assertIn(">= 120.56 KiB", output)
        self.assertNotIn("≥", output)
        self.assertIn("≥", self.run_command(LANG="C", LC_ALL="de_DE.utf8").stdout)

    def test_narrow_output_keeps_names_and_figures(self):
        output = self.run_command("interfaces", COLUMNS="50").stdout
        table = output.split("\n\n")[1]
        self.assertTrue(all(len(line) <= 50 for line in table.splitlines()), table)
        self.assertRegex(table, r"(?m)^wlan0 .*50\.00 GiB +1\.23 GiB")


class Live(CommandCase):
    def test_lines_where_output_is_no_terminal(self):
        lines = self.run_command("live", "-n", "2", "--interval", "0.2", "-i", "wlan0").stdout.splitlines()
        self.assertEqual(lines, ["2026-11-30T14:05:17+01:00 wlan0 receiving 12.00 Mbit/s, sending 100.00 kbit/s (estimate)"] * 2)

    def test_json_lines(self):
        lines = self.run_command("live", "-n2", "--interval=0.2", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines], [golden("interfaces")] * 2)

    def test_interfaces_that_are_gone_are_left_out(self):
        self.assertNotIn("-rf", self.run_command("live", "-n1").stdout)

    def test_a_terminal_is_redrawn_in_place(self):
        screen = self.on_terminal("live", "-n", "2", "--interval", "0.2")
        rows = screen.split("\x1b[J")[0].count("\n")
        self.assertEqual(screen.count(f"\x1b[{rows}A"), 1)
        self.assertLess(rows, 24)

    def test_a_daemon_that_stops_ends_it_with_its_code(self):
        process = subprocess.Popen([COMMAND, "live", "--interval=0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(), text=True)
        self.assertIn("wlan0", process.stdout.readline())
        self.daemon.answers["/v1/interfaces"] = lambda handler, _: handler.server.stop()
        _, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 3, error)
        self.assertRegex(error, r"no daemon answers on .*iftally\.sock")


class Terminal(CommandCase):
    def test_colour_only_on_a_terminal_and_without_no_color(self):
        colour = re.compile("\x1b\\[[0-9]+m")
        self.assertRegex(self.on_terminal(), colour)
        self.assertRegex(self.on_terminal(NO_COLOR=""), colour)
        self.assertNotRegex(self.on_terminal(NO_COLOR="1"), "\x1b")
        self.assertNotRegex(self.on_terminal("--no-color"), "\x1b")
        self.assertNotRegex(self.on_terminal(TERM="dumb"), "\x1b")
        self.assertNotRegex(self.run_command().stdout, "\x1b")

    def test_tables_fit_the_terminal(self):
        for arguments in ([], ["interfaces"], ["days"], ["hours"]):
            for line in self.on_terminal(*arguments, "--no-color").splitlines():
                self.assertLessEqual(len(line), 80, line)


if __name__ == "__main__":
    unittest.main()
