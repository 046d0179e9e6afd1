"""The command that follows events, against a daemon that says what a test wants, goes away and comes back."""
import json
import os
import signal
import subprocess
import sys
import time

from command_case import COMMAND, CommandCase
from fake_daemon import FakeDaemon, golden, problem

EVENTS = golden("stream")


def block(event):
    return f"id: {event['id']}\nevent: {event['event']}\ndata: {json.dumps(event)}\n\n".encode()


def head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")


def chunk(handler, data):
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class Watch(CommandCase):
    def setUp(self):
        super().setUp()
        self.connections, self.resumed = [], []
        self.daemon.answers["/v1/stream"] = self.stream
        self.told = self.folder / "told"

    def stream(self, handler, query):
        """Each connection is told the next list of events, then cut; the last one stays until the client goes."""
        self.resumed.append(handler.headers.get("Last-Event-ID"))
        head(handler)
        chunk(handler, b"retry: 3000\nid: 1\n\n" if self.resumed == [None] else b":\n\n")
        if self.connections:
            for event in self.connections.pop(0):
                chunk(handler, block(event))
        if not self.connections:
            handler.connection.recv(1)

    def watch(self, *arguments, exit=0, **extra):
        result = subprocess.run(
            [COMMAND, "watch", *arguments], capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8",
            env=self.environment(**extra), timeout=60, check=False)
        self.assertEqual(result.returncode, exit, result.stderr)
        return result

    def program(self, text):
        """A program for events, in Python; `told` is the file to write to."""
        file = self.folder / "program"
        file.write_text(f"#!{sys.executable}\nimport json, os, sys, time\ntold = open({str(self.told)!r}, 'a')\n{text}\n")
        file.chmod(0o755)
        return str(file)

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_each_event_is_a_line(self):
        self.connections = [EVENTS]
        lines = self.watch("-n", str(len(EVENTS))).stdout.splitlines()
        self.assertEqual(len(lines), len(EVENTS) + 1)  # rates are one for each interface
        self.assertRegex(lines[0], r"wg0 \(tunnel\) came: born, incarnation 2$")
        self.assertEqual(self.daemon.targets, ["/v1/stream?events=rates%2Clink%2Creset%2Cgap%2Cproblem&interval=10"])

    def test_json_is_passed_on_with_what_is_not_known(self):
        event = {**EVENTS[0], "novelty": {"a": [1]}}
        self.connections = [[event]]
        self.assertEqual(json.loads(self.watch("--json", "-n1").stdout), event)

    def test_the_choice_goes_to_the_daemon(self):
        self.connections = [EVENTS]
        self.watch("-n1", "--on", "link,gap", "--on", "rates", "-i", "wg0+id:3", "--kind", "wifi", "--interval", "5")
        self.assertEqual(self.daemon.targets, [
            "/v1/stream?interface=wg0%2Bid%3A3&kind=wifi&events=link%2Cgap%2Crates&interval=5"])

    def test_a_daemon_that_restarts_is_followed_from_the_same_place(self):
        self.connections = [EVENTS[:2], [], EVENTS[2:3]]
        result = self.watch("-n3", "--json")
        self.assertEqual([json.loads(line) for line in result.stdout.splitlines()], EVENTS[:3])
        self.assertEqual(self.resumed, [None, str(EVENTS[1]["id"]), str(EVENTS[1]["id"])])
        self.assertEqual(result.stderr.count("trying again"), 2)
        self.assertEqual(result.stderr.count("following the daemon again"), 2)

    def test_cut_off_before_the_first_event_it_knows_its_place(self):
        self.connections = [[], EVENTS[:1]]
        self.watch("-n1")
        self.assertEqual(self.resumed, [None, "1"])

    def test_it_is_no_busy_loop_when_the_daemon_has_no_room(self):
        def once(handler, _):
            head(handler)
            chunk(handler, block(EVENTS[0]))
            self.daemon.answers["/v1/stream"] = problem("too_many_streams", 503, "too many")

        self.daemon.answers["/v1/stream"] = once
        process = subprocess.Popen([COMMAND, "watch"], env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        self.wait_for(lambda: len(self.daemon.targets) == 2)
        time.sleep(3.5)
        self.assertIn(len(self.daemon.targets), (3, 4))
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)

    def test_without_a_daemon_it_says_so_and_one_that_refuses_is_not_asked_again(self):
        self.daemon.answers["/v1/stream"] = problem("bad_parameter", 400, "interval: no", "give one")
        self.assertIn("interval: no", self.watch(exit=2).stderr)
        self.daemon.answers["/v1/stream"] = problem("not_found", 404, "no such route")
        self.watch("--exec", "--", "true", exit=1)
        self.assertEqual(len(self.daemon.targets), 2)
        self.daemon.answers["/v1/stream"] = problem("loading", 503, "soon")
        self.watch(exit=5)
        self.daemon.stop()
        self.assertIn("no daemon answers", self.watch(exit=3).stderr)

    def test_wrong_arguments_are_refused(self):
        for arguments, words in (
                (["--on", "nonsense"], "none of rates, link"), (["--on", "link,"], "none of"), (["--exec"], "no command"),
                (["eth0"], "takes no argument"), (["--interval", "0.5"], "whole number"),
                (["--exec-timeout", "0", "--exec", "--", "true"], "exec-timeout")):
            self.assertIn(words, self.watch(*arguments, exit=2).stderr, arguments)

    def test_a_program_is_run_for_each_event_with_its_json_and_environment(self):
        program = self.program("""
event = json.load(sys.stdin)
ours = {name: value for name, value in os.environ.items() if name.startswith("IFTALLY_")}
print(json.dumps([event, ours, sys.argv[1:], os.environ["KEPT"]]), file=told)""")
        self.connections = [[event for event in EVENTS if event["event"] != "rates"]]
        result = self.watch("-n8", "--exec", "--", program, "-a", "two words", KEPT="yes", IFTALLY_CODE="old")
        self.assertEqual(result.stderr, "")
        told = [json.loads(line) for line in self.told.read_text().splitlines()]
        self.assertEqual([each[0] for each in told], [event for event in EVENTS if event["event"] != "rates"][:8])
        self.assertEqual({(tuple(each[2]), each[3]) for each in told}, {(("-a", "two words"), "yes")})
        self.assertEqual(told[0][1], {
            "IFTALLY_SOCKET": self.socket, "IFTALLY_EVENT": "link", "IFTALLY_ID": str(EVENTS[0]["id"]),
            "IFTALLY_AT": EVENTS[0]["at"], "IFTALLY_INTERFACE": "wg0", "IFTALLY_INTERFACE_ID": "id:3",
            "IFTALLY_KIND": "tunnel", "IFTALLY_CHANGE": "came", "IFTALLY_CAUSE": "born"})
        self.assertEqual((told[5][1]["IFTALLY_CODE"], told[5][1]["IFTALLY_STATE"]), ("store_failing", "raised"))
        self.assertEqual(told[4][1]["IFTALLY_LOSSY"], "false")
        self.assertNotIn("rates", self.daemon.targets[0])

    def test_programs_that_fail_or_are_not_there_are_told_of_and_the_next_event_follows(self):
        self.connections = [EVENTS[:3]]
        program = self.program("told.write('x')\nsys.exit(3)")
        result = self.watch("-n3", "--exec", "--", program)
        self.assertEqual(result.stderr.count("ended with status 3"), 3)
        self.assertEqual(self.told.read_text(), "xxx")
        self.connections = [EVENTS[:2]]
        self.assertEqual(self.watch("-n2", "--exec", "--", "/none").stderr.count("No such file"), 2)
        self.connections = [EVENTS[:1]]
        self.assertIn("signal 9", self.watch("-n1", "--exec", "--", "sh", "-c", "kill -9 $$").stderr)

    def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(self):
        self.connections = [EVENTS[:2]]
        begun = time.monotonic()
        result = self.watch("-n2", "--exec-timeout", "0.3", "--exec", "--", "sh", "-c", "sleep 47 & wait; true")
        self.assertEqual(result.stderr.count("took more than 0.3 s and was ended"), 2)
        self.assertLess(time.monotonic() - begun, 20)
        running = subprocess.run(["pgrep", "-fx", "sleep 47"], capture_output=True, check=False)
        self.assertEqual(running.stdout, b"")

    def test_a_program_that_reads_nothing_is_no_trouble_nor_is_a_long_event(self):
        many = dict(EVENTS[7], interfaces=EVENTS[7]["interfaces"] * 3000)
        self.connections = [[many, many]]
        program = self.program("told.write(f'{len(json.load(sys.stdin)[\"interfaces\"])} ')")
        self.watch("-n1", "--on", "rates", "--exec", "--", program)
        self.assertEqual(self.told.read_text(), "6000 ")
        self.connections = [[many]]
        self.assertEqual(self.watch("-n1", "--on", "rates", "--exec", "--", "true").stderr, "")

    def test_a_signal_ends_it_and_the_program_that_runs(self):
        self.connections = [EVENTS[:1]]
        program = self.program("told.write(str(os.getpid()))\ntold.flush()\ntime.sleep(60)")
        process = subprocess.Popen([COMMAND, "watch", "--exec", "--", program], env=self.environment(),
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        self.wait_for(lambda: self.told.exists() and self.told.read_text())
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)

        def is_gone():
            try:
                os.kill(int(self.told.read_text()), 0)
            except ProcessLookupError:
                return True
            return False
        self.wait_for(is_gone)

    def test_with_a_program_the_daemon_is_waited_for(self):
        self.daemon.stop()
        program = self.program("told.write('told')")
        process = subprocess.Popen([COMMAND, "watch", "-n1", "--exec", "--", program], env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertIn("trying again", process.stderr.readline())
        late = FakeDaemon(self.socket)
        self.addCleanup(late.stop)
        self.connections = [EVENTS[:1]]
        late.answers["/v1/stream"] = self.stream
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(self.told.read_text(), "told")

    def test_a_reader_that_had_enough_is_no_error(self):
        self.connections = [EVENTS[:1] * 5000]
        process = subprocess.Popen([COMMAND, "watch"], env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
