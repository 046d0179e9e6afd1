"""The event stream of a real daemon over real links: in order, resumed, choosy, bounded, and at no cost when quiet."""
import time

from Lab import links
from Lab.client import ask_tcp
from Lab.stream import Stream

from .case import LabCase


def told(event):
    """An event in words."""
    name = (event.get("interface") or {}).get("name", "all")
    detail = event.get("change") or event.get("reason") or event.get("code") or ""
    return " ".join(word for word in (event["event"], name, detail) if word)


class Streams(LabCase):
    def stream(self, daemon, query="?interval=0", **how):
        stream = Stream(daemon.socket, query, **how)
        self.addCleanup(stream.close)
        self.assertEqual(stream.status, 200, stream.head)
        return stream

    def assert_told(self, stream, expected):
        """These events, in this order, and no other."""
        stream.until(lambda events: len(events) >= len(expected))
        stream.read(0.3)
        self.assertEqual([told(event) for event in stream.events], expected)

    def test_links_that_come_are_renamed_and_go_are_told_in_order(self):
        daemon = self.daemon()
        stream = self.stream(daemon)
        self.assertIn("text/event-stream", stream.head)
        tun = links.Tun(self.lab, "tun0")
        tun.rename("vpn0")
        tun.delete()
        links.Tun(self.lab, "vpn0")
        self.assert_told(stream, ["link tun0 came", "link vpn0 renamed", "link vpn0 went", "link vpn0 came"])
        came, renamed, went, again = stream.events
        self.assertEqual((came["cause"], came["incarnation"], again["incarnation"]), ("born", 1, 2))
        self.assertEqual((renamed["former_name"], went["cause"]), ("tun0", "deleted"))
        self.assertEqual({event["interface"]["id"] for event in stream.events}, {came["interface"]["id"]})
        self.assertEqual(came["interface"]["kind"], "tunnel")
        ids = [event["id"] for event in stream.events]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertTrue(all(event["nature"] == "estimate" for event in stream.events))

    def test_rates_come_at_the_interval(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        stream = self.stream(daemon, "?interval=1&events=rates&interface=veth1")
        stream.until(lambda events: len(events) >= 2)
        veth.push(3_000_000, 1_000_000)
        moving = lambda events: any(speed["rate"] and speed["rate"]["rx_bytes_per_second"] > 0
                                    for event in events for speed in event["interfaces"])
        events = stream.until(moving)
        self.assertTrue(moving(events), events)
        self.assertEqual({event["event"] for event in events}, {"rates"})
        self.assertEqual({speed["interface"]["name"] for event in events for speed in event["interfaces"]}, {"veth1"})

    def test_a_stream_with_rates_counts_as_somebody_who_watches(self):
        daemon = self.daemon()
        samples = lambda: daemon.client.status()["sample"]["count"]
        stream = self.stream(daemon, "?interval=3")
        stream.until(lambda events: len(events) >= 2)
        before = samples()
        time.sleep(2.6)
        # One is for the question, none for rates.
        self.assertGreaterEqual(samples() - before, 3)

    def test_a_stream_without_rates_has_no_finer_samples_and_wakes_nobody(self):
        daemon = self.daemon()
        self.stream(daemon)
        time.sleep(1)
        wake_ups = lambda: daemon.client.metrics()["iftally_loop_wakeups_total", frozenset()]
        # Right after a minute's tick there is a quiet span before the next one and the keepalive.
        if time.time() % 30 > 20:
            time.sleep(31 - time.time() % 30)
        first = wake_ups()
        time.sleep(4)
        # The question itself is a handful.
        self.assertLess(wake_ups() - first, 15)

    def test_who_comes_back_gets_what_was_not_seen_and_nothing_twice(self):
        daemon = self.daemon()
        stream = self.stream(daemon)
        links.Tun(self.lab, "tun1")
        self.assert_told(stream, ["link tun1 came"])
        stream.close()
        links.Tun(self.lab, "tun2")
        links.Tun(self.lab, "tun3")
        daemon.client.interfaces()
        resumed = self.stream(daemon, last=stream.last)
        self.assert_told(resumed, ["link tun2 came", "link tun3 came"])
        # One that was cut off before any event knows its place too.
        silent = self.stream(daemon)
        silent.until(lambda _: silent.last)
        silent.close()
        links.Tun(self.lab, "tun4")
        daemon.client.interfaces()
        self.assert_told(self.stream(daemon, last=silent.last), ["link tun4 came"])

    def test_a_stop_ends_it_at_once_and_after_the_restart_the_loss_is_told(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.daemon()
        stream = self.stream(daemon)
        links.Tun(self.lab, "tun1")
        self.assert_told(stream, ["link tun1 came"])
        begun = time.monotonic()
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.assertLess(time.monotonic() - begun, 5)
        stream.until(lambda _: stream.is_closed)
        self.assertTrue(stream.is_closed)
        tun.delete()
        daemon.start()
        resumed = self.stream(daemon, last=stream.last)
        events = resumed.until(lambda events: len(events) >= 4)
        self.assertEqual([told(event) for event in events][:2], ["missed all restarted", "gap all not_running"])
        self.assertIn("link tun0 went", [told(event) for event in events])
        self.assertGreater(min(event["id"] for event in events), stream.last)
        fresh = self.stream(daemon)
        self.assertEqual(fresh.read(0.3), [])

    def test_who_comes_too_late_is_told_so(self):
        daemon = self.daemon()
        stream = self.stream(daemon)
        links.Tun(self.lab, "first")
        self.assert_told(stream, ["link first came"])
        stream.close()
        for number in range(150):
            links.Tun(self.lab, f"t{number}").delete()
        daemon.client.interfaces()
        events = self.stream(daemon, last=stream.last).until(lambda events: len(events) >= 257)
        self.assertEqual([told(event) for event in events][:1], ["missed all too_old"])
        self.assertEqual(told(events[-1]), "link t149 went")
        self.assertEqual(len(events), 257)

    def test_one_may_choose_events_interfaces_and_kinds(self):
        daemon = self.daemon()
        named = self.stream(daemon, "?interval=0&interface=tun1+tun2")
        kinds = self.stream(daemon, "?events=link&kind=bridge")
        problems = self.stream(daemon, "?events=problem")
        for name in ("tun1", "tun2", "tun3"):
            links.Tun(self.lab, name)
        links.Bridge(self.lab, "br0")
        self.assert_told(named, ["link tun1 came", "link tun2 came"])
        self.assert_told(kinds, ["link br0 came"])
        self.assert_told(problems, [])

    def test_a_problem_is_told_when_it_is_raised_and_when_it_is_cleared(self):
        daemon = self.daemon()
        stream = self.stream(daemon, "?events=problem")
        with open(daemon.configuration) as handle:
            good = handle.read()
        daemon.configure("[Nonsense]\n")
        daemon.reload()
        self.assert_told(stream, ["problem all reload_refused"])
        self.assert_told(self.stream(daemon, "?events=problem"), ["problem all reload_refused"])
        daemon.configure(good)
        daemon.reload()
        self.assert_told(stream, ["problem all reload_refused"] * 2)
        self.assertEqual([event["state"] for event in stream.events], ["raised", "cleared"])
        self.assertTrue(stream.events[0]["remedy"])
        warnings = [warning["code"] for warning in daemon.client.status()["warnings"]]
        self.assertNotIn("reload_refused", warnings)

    def test_there_is_a_bound_and_clients_that_ended_do_not_count(self):
        daemon = self.daemon()
        streams = [self.stream(daemon) for _ in range(8)]
        reply = daemon.client.ask("/v1/stream")
        self.assertEqual((reply.status, reply.json["code"]), (503, "too_many_streams"))
        self.assertTrue(reply.json["remedy"])
        self.assertEqual(daemon.client.ask("/v1/status").status, 200)
        streams[3].close()
        again = self.stream(daemon)
        links.Tun(self.lab, "tun0")
        for stream in [*streams[:3], *streams[4:], again]:
            self.assert_told(stream, ["link tun0 came"])

    def test_a_client_that_does_not_read_holds_up_nobody_and_is_told_what_it_missed(self):
        daemon = self.daemon()
        slow = self.stream(daemon, buffer=2048)
        other = self.stream(daemon)
        for number in range(400):
            links.Tun(self.lab, f"t{number % 7}").delete()
            if number % 50 == 0:
                other.read()
        links.Tun(self.lab, "last")
        last = lambda events: bool(events) and told(events[-1]) == "link last came"
        self.assertTrue(last(other.until(last)))
        self.assertEqual([told(event) for event in other.events if event["event"] != "link"], [])
        self.assertEqual(len(other.events), 801)
        self.assertTrue(last(slow.until(last)))
        self.assertEqual({told(event) for event in slow.events if event["event"] != "link"}, {"missed all too_old"})
        self.assertLess(len(slow.events), 801)
        ids = [event["id"] for event in slow.events]
        self.assertEqual(ids, sorted(ids))

    def test_what_is_asked_wrongly_is_refused_with_a_remedy(self):
        daemon = self.daemon()
        for query in ("interval=3601", "interval=x", "interval=-1", "interval=1&interval=2", "events=link,nonsense",
                      "events=", "kind=nonsense", "interface=", "nonsense=1"):
            reply = daemon.client.ask("/v1/stream?" + query)
            self.assertEqual((reply.status, bool(reply.json["remedy"])), (400, True), query)
        self.assertEqual(daemon.client.ask("/v1/stream", method="POST").status, 405)
        head = daemon.client.ask("/v1/stream", method="HEAD")
        self.assertEqual((head.status, head.body), (200, b""))

    def test_an_id_of_nobody_is_another_process(self):
        daemon = self.daemon()
        for last in ("nonsense", 1, 1 << 62, "99999999999999999999999"):
            stream = self.stream(daemon, last=last)
            events = stream.until(lambda events: len(events) >= 1)
            self.assertEqual(told(events[0]), "missed all restarted", last)

    def test_over_tcp_strangers_are_refused(self):
        daemon = self.daemon(api="Tcp=127.0.0.1:8461")
        self.lab.here.ip("link", "set", "lo", "up")
        reply = ask_tcp(8461, "/v1/stream", headers={"Host": "evil.example"})
        self.assertEqual(reply.status, 403)
        self.assertEqual(ask_tcp(8461, "/v1/stream", method="HEAD").status, 200)
