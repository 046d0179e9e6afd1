"""Every way to fail: its message, its remedy and its exit code."""
import json
import os
import shutil
import socket
import subprocess
import time
import unittest

from command_case import COMMAND, CommandCase
from fake_daemon import golden, problem


class Usage(CommandCase):
    def test_what_is_mistyped_is_named_with_the_nearest(self):
        for arguments, words in [
            (["dyas"], 'there is no command "dyas". Did you mean days?'),
            (["interface"], "Did you mean interfaces?"),
            (["xyzzy"], 'there is no command "xyzzy". See iftally help.'),
            (["--jsno"], 'there is no option "--jsno". Did you mean --json?'),
            (["-Z"], 'there is no option "-Z"'),
            (["days", "--count", "1"], "days has no option --count. See iftally help days."),
            (["--verbose"], "the summary has no option --verbose"),
            (["days", "wlan0"], 'days takes no argument "wlan0". An interface is chosen with -i "wlan0".'),
            (["days", "--", "--json"], 'days takes no argument "--json"'),
            (["explain"], "explain needs to know which interface. Write iftally explain NAME"),
            (["explain", "wg0", "eth0"], 'explain takes one argument, not also "eth0"'),
            (["explain", "wg0", "--today", "--month"], "--month is a second period"),
            (["explain", "wg0", "--today", "--from", "2h"], "a named period and --from or --to exclude each other"),
            (["explain", "wg0", "-i", "wg0"], "explain has no option --interface"),
            (["backup"], "backup needs to know where to. Write iftally backup FILE"),
            (["backup", "a", "b"], 'backup takes one argument, not also "b"'),
            (["backup", "a", "--directory", "b"], "backup has no option --directory"),
            (["restore"], "restore needs to know what from. Write iftally restore FILE"),
            (["restore", "a", "--force"], "restore has no option --force"),
            (["restore", "a", "--directory", ""], "--directory needs a path"),
            (["--unit", "kib"], '--unit "kib" is none of iec, si, bytes'),
            (["--unit"], "--unit needs a value: --unit UNIT"),
            (["--json=1"], "--json takes no value"),
            (["--kind", "wfi"], "Did you mean wifi?"),
            (["-i", ""], '-i "" has an empty name in it'),
            (["live", "-n", "0"], '--count "0" is no number from 1 to'),
            (["live", "--interval", "0"], "is no number of seconds from 0.2 to 3600"),
            (["live", "--interval", "nan"], "is no number of seconds"),
            (["days", "-l", "-5"], '--limit "-5" is no number from 1 to'),
            (["--decimals", "4"], "is no number from 0 to 3"),
            (["\x1b[31m"], 'there is no command "%1B[31m"'),
            (["help", "dyas"], "Did you mean days?"),
            (["--socket", ""], "--socket needs a path"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refused(*arguments, exit=2))
        self.assertEqual(self.daemon.targets, [])

    def test_what_the_daemon_calls_a_bad_parameter_is_a_usage_error(self):
        self.daemon.answers["/v1/usage"] = problem(
            "bad_parameter", 400, 'from="nonsense" is no time', "write today, 24h or 2026-11-30")
        error = self.refused("days", "--from", "nonsense", exit=2)
        self.assertIn('from="nonsense" is no time. write today, 24h or 2026-11-30.', error)
        self.assertIn("a name is empty", self.refused("-i", "wlan0+", exit=2))


    def test_an_interface_that_cannot_be_explained_is_unknown(self):
        self.daemon.answers["/v1/explain"] = problem("unknown_interface", 404, "no interface 'wg9' was ever seen")
        self.assertIn("iftally interfaces lists them", self.refused("explain", "wg9", exit=6))


class Help(CommandCase):
    COMMANDS = ["live", "interfaces", "minutes", "fives", "hours", "days", "months", "years", "usage", "explain", "status",
                "doctor", "backup", "restore", "version", "help"]

    def test_help_describes_every_command_without_a_daemon(self):
        self.daemon.stop()
        overview = self.run_command("help").stdout
        self.assertEqual(self.run_command("--help").stdout, overview)
        for command in self.COMMANDS:
            self.assertIn(f"\n  {command} ", overview)
            text = self.run_command("help", command).stdout
            self.assertTrue(text.startswith(f"usage: iftally {command}"), text)
            self.assertEqual(self.run_command(command, "--help").stdout, text)
            self.assertNotIn("exact", text)
        self.assertTrue(all(len(line) <= 80 for line in overview.splitlines()))

    def test_version(self):
        version = self.run_command("version").stdout
        self.assertRegex(version, r"\Aiftally \d+\.\d+\.\d+\n\Z")
        self.assertEqual(json.loads(self.run_command("version", "--json").stdout)["version"], version.split()[1])


class Unreachable(CommandCase):
    def test_no_socket(self):
        self.daemon.stop()
        for command in ([], ["live"], ["interfaces"], ["days"], ["status"]):
            error = self.refused(*command, exit=3)
            self.assertIn(f"no daemon answers on {self.socket} (", error)
            self.assertIn("Start it with: systemctl start iftallyd", error)

    def test_nobody_listens_on_the_socket(self):
        path = str(self.folder / "stale.sock")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(path)
        self.assertIn("no daemon answers on", self.refused("--socket", path, exit=3))

    def test_no_socket_but_a_file_or_a_path_that_is_too_long(self):
        file = self.folder / "file"
        file.write_text("")
        self.refused("--socket", str(file), exit=3)
        self.refused("--socket", "/" + "x" * 200, exit=3)

    def test_the_option_comes_before_the_environment_and_that_before_the_default(self):
        self.run_command("status", "--socket", self.socket, IFTALLY_SOCKET="/nowhere")
        self.assertIn("/nowhere", self.refused("status", exit=3, IFTALLY_SOCKET="/nowhere"))
        if not os.path.exists("/run/iftally/iftally.sock"):
            self.assertIn("/run/iftally/iftally.sock", self.refused("status", exit=3, IFTALLY_SOCKET=None))

    def test_no_answer_in_time(self):
        self.daemon.answers["/v1/status"] = lambda *_: time.sleep(20)
        start = time.monotonic()
        error = self.refused("status", "--timeout", "0.5", exit=3)
        self.assertLess(time.monotonic() - start, 10)
        self.assertIn("gave no answer within 0.5 s", error)

    def test_an_answer_that_trickles_does_not_hold_it_up(self):
        def trickle(handler, _):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(100):
                time.sleep(0.1)
                handler.wfile.write(b" ")
                handler.wfile.flush()

        self.daemon.answers["/v1/status"] = trickle
        self.refused("status", "--timeout=0.5", exit=3)


class Forbidden(CommandCase):
    def unprivileged(self):
        """A copy of the command that anybody may run, and what makes a run of it unprivileged."""
        if os.geteuid() != 0:
            return COMMAND, ()
        setpriv = shutil.which("setpriv")
        if not setpriv:
            if os.environ.get("CI") == "true":
                self.fail("setpriv (util-linux) is missing")
            self.skipTest("setpriv (util-linux) is missing: nobody is forbidden anything as root")
        command = str(self.folder / "iftally")
        shutil.copy(COMMAND, command)
        return command, (setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--")

    def test_a_socket_that_others_may_not_write(self):
        command, prefix = self.unprivileged()
        os.chmod(self.socket, 0o000)
        error = self.refused("status", exit=4, command=command, prefix=prefix)
        self.assertIn(f"you may not connect to {self.socket}", error)
        self.assertIn("iftally doctor tells more", error)
        os.chmod(self.socket, 0o660)
        if os.geteuid() == 0:
            self.assertIn("usermod -aG root USER", self.refused(exit=4, command=command, prefix=prefix))
            doctor = self.run_command("doctor", exit=1, command=command, prefix=prefix)
            self.assertRegex(doctor.stdout, r"FAILED +permission +you may not connect")

    def test_a_folder_that_others_may_not_enter(self):
        command, prefix = self.unprivileged()
        inner = self.folder / "closed"
        inner.mkdir()
        os.rename(self.socket, inner / "iftally.sock")
        os.chmod(inner, 0o000)
        self.addCleanup(os.chmod, inner, 0o700)
        error = self.refused("--socket", str(inner / "iftally.sock"), exit=4, command=command, prefix=prefix)
        self.assertIn("cannot be entered by this user", error)

    def test_a_request_that_the_daemon_forbids(self):
        self.daemon.answers["/v1/status"] = problem("forbidden", 403, "only the group iftally may ask", "join it")
        self.assertIn("only the group iftally may ask. join it.", self.refused("status", exit=4))


class NoDataYet(CommandCase):
    def test_loading(self):
        for path in list(self.daemon.answers):
            self.daemon.answers[path] = problem("loading", 503, "the first sample is not taken yet")
        for command in ([], ["live"], ["interfaces"], ["days"], ["status"]):
            error = self.refused(*command, exit=5)
            self.assertIn("there is no data yet: the first sample is not taken yet", error)
            self.assertIn("try again in a second", error)


class UnknownInterface(CommandCase):
    def test_known_neither_here_nor_there(self):
        self.assertIn("no interface 'wlan1' is known. Did you mean wlan0?", self.refused("-i", "wlan1", exit=6))
        self.assertIn("iftally interfaces lists them", self.refused("interfaces", "-i", "wlan0+nothing", exit=6))
        self.daemon.answers["/v1/usage"] = problem("unknown_interface", 404, 'no interface is called "eth9"')
        self.assertIn('no interface is called "eth9"', self.refused("days", "-i", "eth9", exit=6))


class BadAnswers(CommandCase):
    def test_what_is_no_reply_is_refused_with_the_place_that_is_wrong(self):
        for body, words in [
            (b"", "is no JSON"), (b"{", "is no JSON"), (b"<html></html>", "is no JSON"), (b"[]", "unexpected value"),
            (b"{}", 'lacks "nature"'), (b'{"nature":7}', 'unexpected value in "nature"'),
            (b"\xff\xfe", "is no JSON"), (b"[" * 100_000, "is no JSON"),
        ]:
            for command in (["status"], ["status", "--json"], ["interfaces", "--json"], ["days"]):
                with self.subTest(body=body[:20], command=command):
                    for path in list(self.daemon.answers):
                        self.daemon.answers[path] = body
                    error = self.refused(*command, exit=1)
                    self.assertIn("the daemon's answer to /v1/", error)
                    self.assertIn(words, error)

    def test_a_status_without_a_reason(self):
        self.daemon.answers["/v1/status"] = (500, b"oops")
        self.assertIn("HTTP status 500 and no reason", self.refused("status", exit=1))

    def test_a_problem_cannot_act_on_the_terminal(self):
        self.daemon.answers["/v1/status"] = problem("internal", 500, "bad \x1b[2J\nthing", "call\x07")
        self.assertIn("bad %1B[2J%0Athing. call%07.", self.refused("status", exit=1))

    def test_what_is_no_http(self):
        self.daemon.answers["/v1/status"] = lambda handler, _: handler.wfile.write(b"220 smtp ready\r\n") and None
        self.assertIn("is no iftally daemon", self.refused("status", exit=1))

    def test_an_answer_that_ends_too_early(self):
        self.daemon.answers["/v1/status"] = (
            lambda handler, _: handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{") and None)
        self.refused("status", exit=1)

    def test_an_answer_without_end_is_cut_off_before_memory_is(self):
        def endless(handler, _):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
            try:
                for _ in range(4096):
                    handler.wfile.write(chunk)
            except OSError:
                pass

        def announced(handler, _):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n{")

        for answer in (endless, announced):
            self.daemon.answers["/v1/status"] = answer
            self.refused("status", exit=1)

    def test_many_interfaces_are_shown_in_time(self):
        reply = golden("interfaces")
        reply["interfaces"] = [dict(reply["interfaces"][0], id=f"id:{n}", name=f"veth{n}") for n in range(4000)]
        self.daemon.answers["/v1/interfaces"] = reply
        start = time.monotonic()
        self.assertEqual(self.run_command("interfaces").stdout.count("GiB"), 3 * 4000)
        self.assertLess(time.monotonic() - start, 30)


class OutputErrors(CommandCase):
    def test_a_reader_that_had_enough_is_no_error(self):
        reply = golden("interfaces")
        reply["interfaces"] = [dict(reply["interfaces"][0], id=f"id:{n}", name=f"veth{n}") for n in range(3000)]
        self.daemon.answers["/v1/interfaces"] = reply
        for arguments in (["interfaces"], ["interfaces", "--json"], ["live", "--interval=0.2"]):
            process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=self.environment())
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.wait(30), 0, arguments)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()

    def test_a_full_disk_and_a_closed_output_are_told(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertIn("No space left on device", self.run_command(exit=1, stdout=full).stderr)
        script = 'exec "$0" status >&-'
        closed = subprocess.run(
            ["/bin/sh", "-c", script, COMMAND], env=self.environment(), capture_output=True, text=True, timeout=30)
        self.assertEqual(closed.returncode, 1)
        self.assertIn("the output cannot be written", closed.stderr)


if __name__ == "__main__":
    unittest.main()
