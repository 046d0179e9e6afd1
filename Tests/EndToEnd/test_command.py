"""The command against the real daemon: what people see, and what scripts get as exit codes."""
import json
import os
import shutil
import socket
import subprocess
import threading

from Lab import links
from Lab.programs import program

from .case import LabCase

OK, USAGE, UNREACHABLE, FORBIDDEN, NO_DATA_YET, UNKNOWN_INTERFACE = 0, 2, 3, 4, 5, 6
NOBODY = 65534
LOADING = json.dumps({"type": "urn:iftally:problem:loading", "title": "Loading", "status": 503, "code": "loading",
                      "detail": "The first sample is not in yet."}).encode()


class Command(LabCase):
    programs = ("iftallyd", "iftally")

    def setUp(self):
        super().setUp()
        self.veth = links.Veth(self.lab, "veth1")
        self.served = self.daemon()
        self.veth.push(3_000_000, 1_000_000)
        self.assert_link(self.served, self.veth)  # what the command asks may share a sample of the last 100 ms

    def run_command(self, *arguments, socket_path=None, executable=None, **how):
        environment = {**os.environ, "IFTALLY_SOCKET": socket_path or self.served.socket, "TZ": "UTC", "LC_ALL": "C"}
        return subprocess.run([executable or program("iftally"), *arguments], capture_output=True, text=True,
                              timeout=30, env=environment, **how)

    def good(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertNotIn("exact", done.stdout)
        self.assertNotIn("\x1b", done.stdout, "colour although no terminal listens")
        return done.stdout

    def test_the_summary_shows_interfaces_and_says_that_it_is_an_estimate(self):
        text = self.good()
        self.assertIn("veth1", text)
        self.assertIn("estimate", text.lower())
        for column in ("today", "yesterday", "month", "total"):
            self.assertIn(column, text.lower())

    def test_every_view_answers_as_text_and_as_json(self):
        for view in ((), ("interfaces",), ("hours",), ("days",), ("months",), ("status",)):
            text = self.good(*view)
            if view != ("status",):
                self.assertIn("veth1", text, view)
            value = json.loads(self.good(*view, "--json"))
            self.assertEqual(value["nature"], "estimate", view)

    def test_json_holds_the_bytes_that_the_kernel_counted(self):
        value = json.loads(self.good("interfaces", "--json"))
        total = {each["name"]: each["total"] for each in value["interfaces"]}["veth1"]
        self.assertEqual((total["rx_bytes"], total["tx_bytes"]), (3_000_000, 1_000_000))

    def test_doctor_finds_a_healthy_daemon_healthy(self):
        self.assertTrue(self.good("doctor"))

    def test_the_socket_is_taken_from_the_argument_before_the_environment(self):
        done = self.run_command("status", "--socket", self.served.socket, socket_path="/run/lab/none.sock")
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_a_daemon_that_is_not_there_is_unreachable(self):
        done = self.run_command(socket_path="/run/lab/none.sock")
        self.assertEqual((done.returncode, done.stdout), (UNREACHABLE, ""))
        self.assertIn("/run/lab/none.sock", done.stderr)

    def test_a_dead_daemon_is_unreachable(self):
        self.served.kill()
        done = self.run_command()
        self.assertEqual((done.returncode, done.stdout), (UNREACHABLE, ""))
        self.assertIn(self.served.socket, done.stderr)

    def test_a_forbidden_socket_is_not_an_unreachable_one(self):
        os.chmod(self.served.socket, 0o600)
        everybodys = shutil.copy(program("iftally"), os.path.join(self.lab.folder, "iftally"))
        os.chmod(everybodys, 0o755)
        done = self.run_command(executable=everybodys, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual((done.returncode, done.stdout), (FORBIDDEN, ""), done.stderr)
        self.assertIn(self.served.socket, done.stderr)

    def test_no_data_yet_is_neither(self):
        path = os.path.join(self.lab.folder, "loading.sock")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()

            def answer():
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    with connection:
                        connection.recv(65536)
                        connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                                           b"Content-Type: application/problem+json\r\n"
                                           b"Content-Length: %d\r\n\r\n%s" % (len(LOADING), LOADING))

            threading.Thread(target=answer, daemon=True).start()
            done = self.run_command("interfaces", socket_path=path)
            listener.shutdown(socket.SHUT_RDWR)
        self.assertEqual((done.returncode, done.stdout), (NO_DATA_YET, ""), done.stderr)
        self.assertTrue(done.stderr)

    def test_the_three_messages_differ_and_unknown_things_have_codes_of_their_own(self):
        self.assertEqual(self.run_command("days", "-i", "none0").returncode, UNKNOWN_INTERFACE)
        self.assertEqual(self.run_command("dance").returncode, USAGE)
        self.assertEqual(self.run_command("--colour").returncode, USAGE)

    def test_help_and_version_need_no_daemon(self):
        for word in ("--help", "help", "version"):
            done = self.run_command(word, socket_path="/run/lab/none.sock")
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertTrue(done.stdout)
