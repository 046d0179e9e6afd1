"""Stops, deaths and starts: what passed meanwhile is counted once, and what nobody could see is labelled."""
import time

from Lab import links
from Lab.traffic import Steady

from .case import LabCase
from .kills import kill_again_and_again


class Restarts(LabCase):
    def quality(self, daemon, name):
        return daemon.client.interface(name)["total"]["quality"]

    def gap(self, daemon, reason):
        return [gap for gap in daemon.client.status()["gaps"] if gap["reason"] == reason]

    def test_a_stop_commits_and_a_start_goes_on(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.assertEqual(daemon.stop(), 0, daemon.log())
        veth.push(300_000, 200_000)
        daemon.start()
        veth.push(40_000, 30_000)
        self.assert_link(daemon, veth)
        self.assertEqual(daemon.client.interface("veth1")["incarnations"], 1)
        self.assertTrue(self.gap(daemon, "not_running"))
        self.assertEqual(self.quality(daemon, "veth1")["completeness"], "complete")

    def test_stops_under_traffic_lose_and_double_nothing(self):
        lasting = [links.Veth(self.lab, "veth1"), links.Tun(self.lab, "tun0"), links.Bridge(self.lab, "br0")]
        daemon = self.daemon()
        with Steady(lasting):
            for _ in range(5):
                daemon.restart()
                time.sleep(0.05)
        self.assert_truth(daemon)

    def test_twenty_kills_under_traffic_lose_and_double_nothing(self):
        outcome, daemon = kill_again_and_again(self.lab, kills=20, seed=2)
        self.assertEqual(outcome.wrong(), [], f"{outcome.table()}\n{daemon.log()}")

    def test_the_very_first_baseline_survives_a_kill_right_after_the_first_answer(self):
        veth = links.Veth(self.lab, "veth1")
        veth.push(1_000_000, 1_000_000)
        daemon = self.daemon()
        before = veth.since_base()
        daemon.kill()
        veth.push(200_000, 100_000)
        daemon.start()
        self.assert_total(daemon, "veth1", veth.since_base().minus(before))

    def test_bytes_of_a_stop_across_a_minute_are_placed_by_proportion(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        daemon.stop()
        veth.push(600_000, 500_000)
        time.sleep(60 - time.time() % 60 + 2.5)
        daemon.start()
        self.assert_link(daemon, veth)
        self.assertNotEqual(self.quality(daemon, "veth1")["completeness"], "at_least")
        reply = daemon.client.get("/v1/usage", interface="veth1", **{"from": "all"}, resolution="minute")
        points = reply["series"][0]["points"]
        self.assertEqual(sum(point["rx_bytes"] for point in points), 2_600_000)
        self.assertIn("placed", [point["completeness"] for point in points])

    def check_made_anew_while_stopped(self, first, second):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.daemon()
        tun.push(*first)
        self.assert_link(daemon, tun)
        daemon.stop()
        tun.push(100_000, 50_000)
        tun.delete()
        links.Tun(self.lab, "tun0").push(*second)
        daemon.start()
        self.assertEqual([each["incarnations"] for each in daemon.client.interfaces() if each["name"] == "tun0"], [2])
        counted, truth = daemon.client.total("tun0"), self.lab.truth.of("tun0")
        self.assertEqual(counted.rx_bytes, truth.rx_bytes - 100_000)
        self.assertEqual(counted.tx_bytes, truth.tx_bytes - 50_000)
        self.assertEqual(self.quality(daemon, "tun0")["completeness"], "at_least")
        self.assertTrue(any(gap["lossy"] for gap in daemon.client.status()["gaps"]))

    def test_made_anew_while_stopped_with_lower_counters(self):
        self.check_made_anew_while_stopped((4_000_000, 1_000_000), (1_500_000, 500_000))

    def test_made_anew_while_stopped_with_higher_counters(self):
        self.check_made_anew_while_stopped((1_500_000, 500_000), (4_000_000, 2_000_000))

    def test_the_same_name_address_and_index_again_while_stopped_are_another_life(self):
        address = "02:00:00:00:aa:01"
        first = links.Veth(self.lab, "veth1", index=400, address=address)
        daemon = self.daemon()
        first.push(1_500_000, 500_000)
        self.assert_link(daemon, first)
        daemon.stop()
        first.delete()
        links.Veth(self.lab, "veth1", index=400, address=address).push(4_000_000, 2_000_000)
        daemon.start()
        self.assert_truth(daemon, "at_least")

    def test_two_links_that_swapped_names_while_stopped_keep_their_histories(self):
        first, second = links.Veth(self.lab, "one"), links.Veth(self.lab, "two")
        daemon = self.daemon()
        first.push(4_000_000, 1_000_000)
        second.push(300_000, 200_000)
        ids = {name: daemon.client.interface(name)["id"] for name in ("one", "two")}
        totals = first.since_base(), second.since_base()
        daemon.stop()
        first.rename("aside")
        second.rename("one")
        first.rename("two")
        first.push(50_000, 40_000)
        daemon.start()
        self.assertEqual(daemon.client.interface("two")["id"], ids["one"])
        self.assert_total(daemon, "two", totals[0].plus(first.since_base()))
        self.assert_total(daemon, "one", totals[1].plus(second.since_base()))

    def test_a_link_deleted_while_stopped_is_gone_and_labelled(self):
        tun = links.Tun(self.lab, "tun0")
        daemon = self.daemon()
        tun.push(1_000_000, 500_000)
        seen = tun.since_base()
        daemon.stop()
        tun.push(70_000, 70_000)
        tun.delete()
        daemon.start()
        self.assert_total(daemon, "tun0", seen)
        self.assertFalse(daemon.client.interface("tun0")["present"])
        self.assertEqual(self.quality(daemon, "tun0")["completeness"], "at_least")

    def test_a_new_boot_counts_from_zero(self):
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        self.assert_link(daemon, veth)
        daemon.stop()
        self.lab.new_boot()
        daemon.start()
        whole = veth.since_base()
        self.assert_total(daemon, "veth1", whole.plus(whole))
        self.assertEqual(daemon.client.interface("veth1")["incarnations"], 2)
        self.assertTrue(self.gap(daemon, "reboot"))

    def test_a_link_born_while_stopped_counts_from_zero(self):
        daemon = self.daemon()
        daemon.stop()
        tun = links.Tun(self.lab, "tun7")
        tun.push(800_000, 700_000)
        daemon.start()
        self.assert_link(daemon, tun)
        self.assertNotEqual(self.quality(daemon, "tun7")["completeness"], "at_least")

    def test_no_reply_after_a_restart_shows_less_than_what_was_counted(self):
        """Every answer from the first moment on is loading, or has the whole history."""
        veth = links.Veth(self.lab, "veth1")
        daemon = self.daemon()
        veth.push(2_000_000, 1_000_000)
        daemon.stop()
        truth = veth.since_base()
        for _ in range(5):
            daemon.start(wait=False)
            answers, end = 0, time.monotonic() + 20
            while answers < 3 and time.monotonic() < end:
                try:
                    reply = daemon.client.ask("/v1/interfaces/veth1")
                except OSError:
                    continue
                if reply.status == 503:
                    self.assertEqual(reply.json["code"], "loading")
                    continue
                self.assertEqual(reply.status, 200, reply)
                total = reply.json["interface"]["total"]
                self.assertEqual((total["rx_bytes"], total["tx_bytes"]), (truth.rx_bytes, truth.tx_bytes))
                today = reply.json["interface"]["today"]
                if today is not None:
                    self.assertEqual((today["rx_bytes"], today["tx_bytes"]), (truth.rx_bytes, truth.tx_bytes))
                answers += 1
            self.assertEqual(answers, 3, daemon.log())
            daemon.stop()
