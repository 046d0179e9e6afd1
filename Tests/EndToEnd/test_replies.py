"""The words on the socket: labels on every figure, problems with stable codes, methods, hosts."""
import json
import os
import re
import socket

from Lab import links
from Lab.client import ask_tcp

from .case import LabCase

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


def objects(value):
    """Every JSON object inside a value, itself included."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from objects(each)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Replies(LabCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.veth = links.Veth(self.lab, "veth1")
        self.served = self.daemon(api=f"Tcp=127.0.0.1:{self.port}\n")
        self.veth.push(1_000_000, 500_000)
        gone = links.Tun(self.lab, "tun0")
        gone.push(10_000, 10_000)
        gone.delete()

    def ask(self, path, **how):
        return self.served.client.ask(path, **how)

    def assert_problem(self, reply, status, code):
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(reply.headers.get_content_type(), "application/problem+json")
        problem = reply.json
        self.assertEqual((problem["status"], problem["code"]), (status, code), problem)
        for field in ("type", "title", "detail"):
            self.assertTrue(problem[field], problem)
        return problem

    def test_every_reply_is_an_estimate_with_its_time_and_every_figure_has_its_quality(self):
        for path in ("/v1/status", "/v1/interfaces", "/v1/interfaces/veth1", "/v1/usage?from=today&resolution=hour"):
            reply = self.ask(path)
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(reply.headers.get_content_type(), "application/json")
            self.assertEqual(reply.json["nature"], "estimate", path)
            self.assertRegex(reply.json["as_of"], TIME)
            figures = [each for each in objects(reply.json) if "rx_bytes" in each and "start" not in each]
            self.assertTrue(figures or path == "/v1/status")
            for figure in figures:
                quality = figure["quality"]
                self.assertIn(quality["completeness"], ("complete", "placed", "at_least"))
                self.assertTrue(0 <= quality["coverage"] <= 1, quality)
                for field in ("since", "as_of"):
                    self.assertRegex(quality[field], TIME)
                for field in ("resets", "gaps"):
                    self.assertGreaterEqual(quality[field], 0)
            self.assertNotIn("exact", reply.text)

    def test_points_of_a_series_have_their_completeness_and_coverage(self):
        reply = self.served.client.present("/v1/usage", interface="veth1", **{"from": "today"}, resolution="minute")
        points = reply["series"][0]["points"]
        self.assertTrue(points)
        for point in points:
            self.assertIn(point["completeness"], ("complete", "placed", "at_least"))
            self.assertTrue(0 <= point["coverage"] <= 1)
            self.assertRegex(point["start"], TIME)
            self.assertRegex(point["end"], TIME)

    def test_keys_are_sorted(self):
        reply = self.ask("/v1/interfaces")
        pairs = json.loads(reply.body, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
        self.assertEqual(pairs, sorted(pairs))

    def test_interfaces_hold_the_present_and_the_past(self):
        by_name = {each["name"]: each for each in self.served.client.interfaces()}
        self.assertEqual((by_name["veth1"]["present"], by_name["tun0"]["present"]), (True, False))
        for interface in by_name.values():
            self.assertRegex(interface["id"], r"^id:[1-9]\d*$")
            for field in ("kind", "type", "why", "counts", "first_seen", "last_seen"):
                self.assertTrue(interface[field], interface)
        self.assertEqual(by_name["lo"]["kind"], "loopback")
        self.assertEqual(by_name["tun0"]["kind"], "tunnel")

    def test_addresses_are_told(self):
        self.veth.set("arp", "on")
        self.lab.here.ip("address", "add", "192.0.2.1/24", "dev", "veth1")
        self.assertEqual(self.served.client.interface("veth1")["addresses"], ["192.0.2.1/24"])

    def test_usage_takes_kinds_several_interfaces_and_a_limit(self):
        get = self.served.client.get
        both = get("/v1/usage", interface=["veth1", "tun0"], **{"from": "today"}, resolution="day")["series"]
        joined = get("/v1/usage", interface="veth1+tun0", **{"from": "today"}, resolution="day")["series"]
        self.assertEqual({each["interface"]["name"] for each in both}, {"veth1", "tun0"})
        self.assertEqual([each["interface"] for each in both], [each["interface"] for each in joined])
        tunnels = get("/v1/usage", kind="tunnel", **{"from": "today"}, resolution="day")["series"]
        self.assertEqual([each["interface"]["name"] for each in tunnels], ["tun0"])
        self.assertLessEqual(len(get("/v1/usage", interface="veth1", limit="1")["series"][0]["points"]), 1)

    def test_a_name_with_the_joint_in_it_is_found_and_an_empty_one_is_not_everything(self):
        for name in ("+", "veth1+tun0"):
            links.Ifb(self.lab, name).push(64, 0)
            self.served.client.interfaces()
            series = self.ask("/v1/usage", interface=name).json["series"]
            self.assertEqual([one["interface"]["name"] for one in series], [name])
        for empty in ("", "veth1+", "+veth1"):
            self.assert_problem(self.ask("/v1/usage?interface=" + empty.replace("+", "%2B")), 400, "bad_parameter")

    def test_an_interface_that_is_named_again_and_again_is_one_series(self):
        named = "+".join(["veth1", "id:1"] * 500)
        series = self.ask("/v1/usage", interface=named, **{"from": "all"}).json["series"]
        ids = [one["interface"]["id"] for one in series]
        self.assertEqual(len(ids), len(set(ids)), ids)

    def test_the_status_tells_what_is_watched_and_what_is_not(self):
        status = self.served.client.status()
        self.assertEqual(status["namespace"]["inode"], os.stat("/proc/self/ns/net").st_ino)
        self.assertIn("not counted", status["namespace"]["note"])
        self.assertEqual(status["source"]["counter_bits"], 64)
        self.assertTrue(status["cross_check"]["agree"], status["cross_check"])
        self.assertEqual(status["store"]["state"], "ok")
        self.assertEqual(status["links"]["present"], 2)
        self.assertEqual(status["links"]["known"], 3)
        self.assertLess(status["sample"]["age_seconds"], 5)

    def test_an_unknown_route_is_not_found(self):
        for path in ("/v1/nothing", "/v2/status", "/v1", "/v1/interfaces/veth1/more", "/../etc/passwd"):
            self.assert_problem(self.ask(path), 404, "not_found")

    def test_an_unknown_interface_is_said_to_be_unknown(self):
        for path in ("/v1/interfaces/none0", "/v1/interfaces/id:9999", "/v1/usage?interface=none0&from=today"):
            problem = self.assert_problem(self.ask(path), 404, "unknown_interface")
            self.assertRegex(problem["detail"], "none0|id:9999")

    def test_bad_values_name_the_parameter(self):
        for query, name in (("from=lastish", "from"), ("from=today&to=2024-13-45", "to"),
                            ("from=today&resolution=fortnight", "resolution"), ("from=today&limit=-1", "limit"),
                            ("from=today&kind=pigeon", "kind")):
            problem = self.assert_problem(self.ask("/v1/usage?" + query), 400, "bad_parameter")
            self.assertIn(name, problem["detail"])

    def test_spans_of_any_length_are_answered(self):
        for span in ("from=1970-01-01&to=9999-12-31", "from=9000-01-01&to=9999-01-01", "from=all", "from=now&to=now"):
            for resolution in ("minute", "hour", "day", "year"):
                reply = self.ask(f"/v1/usage?{span}&resolution={resolution}")
                self.assertEqual(reply.status, 200, f"{span} {resolution}: {reply.text}")

    def test_a_span_without_a_beginning_begins_where_counting_did(self):
        self.assert_link(self.served, self.veth)
        reply = self.ask("/v1/usage?to=now&resolution=day").json
        self.assertEqual(reply["from"][:10], reply["as_of"][:10])
        sums = [each["sum"]["rx_bytes"] for each in reply["series"] if each["interface"]["name"] == "veth1"]
        self.assertEqual(sums, [1_000_000])

    def test_a_span_that_ends_before_it_begins_is_refused(self):
        for query in ("from=today&to=yesterday", "from=now&to=yesterday", "from=2024-05-02&to=2024-05-01"):
            self.assert_problem(self.ask("/v1/usage?" + query), 400, "bad_parameter")

    def test_an_unknown_parameter_is_refused_by_name(self):
        problem = self.assert_problem(self.ask("/v1/usage?from=today&colour=red"), 400, "unknown_parameter")
        self.assertIn("colour", problem["detail"])

    def test_a_wrong_method_is_told_the_right_ones(self):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            reply = self.ask("/v1/status", method=method)
            self.assert_problem(reply, 405, "method_not_allowed")
            self.assertIn("GET", reply.headers["Allow"])

    def test_head_answers_as_get_without_a_body(self):
        for path in ("/v1/status", "/v1/interfaces", "/metrics", "/"):
            reply = self.ask(path, method="HEAD")
            self.assertEqual((reply.status, reply.body), (200, b""), path)
            self.assertEqual(reply.headers.get_content_type(), self.ask(path).headers.get_content_type())

    def test_the_page_is_served(self):
        reply = self.ask("/")
        self.assertEqual(reply.headers.get_content_type(), "text/html")
        self.assertIn("estimate", reply.text.lower())

    def test_metrics_are_prometheus_text(self):
        reply = self.ask("/metrics")
        self.assertEqual(reply.headers["Content-Type"].replace(" ", ""),
                         "text/plain;version=0.0.4;charset=utf-8")
        for line in reply.text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{.*\})? [-+.0-9eE]+)$')
        self.assertIn("iftally_interface_info{", reply.text)

    def test_tcp_answers_loopback_names_and_refuses_other_hosts(self):
        for host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            self.assertEqual(ask_tcp(self.port, "/v1/status", headers={"Host": host}).status, 200)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example"):
            reply = ask_tcp(self.port, "/v1/status", headers={"Host": host})
            self.assert_problem(reply, 403, "forbidden_host")

    def test_broken_requests_do_not_end_the_service(self):
        for garbage in (b"\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET " + b"a" * 70_000, b"\r\n" * 1000,
                        b"POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"):
            with socket.socket(socket.AF_UNIX) as raw:
                raw.settimeout(5)
                raw.connect(self.served.socket)
                try:
                    raw.sendall(garbage)
                    raw.shutdown(socket.SHUT_WR)
                    while raw.recv(65536):
                        pass
                except (ConnectionError, TimeoutError):
                    pass
        self.assertEqual(self.ask("/v1/status").status, 200)
