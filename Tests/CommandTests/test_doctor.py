"""The examination: each check with both of its outcomes, each trouble with its remedy."""
import json
import os
import shutil
import unittest

from command_case import COMMAND, CommandCase
from fake_daemon import golden, problem


class DoctorCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.systemctl("exit 1")

    def systemctl(self, script):
        """The systemctl that the command finds."""
        file = self.folder / "bin" / "systemctl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n" + script)
        file.chmod(0o755)

    def environment(self, **extra):
        return super().environment(**{"PATH": f"{self.folder}/bin:{os.environ['PATH']}", **extra})

    def findings(self, exit, *arguments, **how):
        output = json.loads(self.run_command("doctor", "--json", *arguments, exit=exit, **how).stdout)
        self.assertEqual(output["ok"], exit == 0)
        for finding in output["findings"]:
            if finding["verdict"] != "ok":
                self.assertTrue(finding.get("remedy"), finding)
        return {finding["check"]: finding for finding in output["findings"]}

    def status(self, section=None, **change):
        """The daemon's status with some of it changed; None takes a field away."""
        status = golden("status")
        part = status[section] if section else status
        part.update(change)
        for key in [key for key, value in part.items() if value is None]:
            del part[key]
        self.daemon.answers["/v1/status"] = status


class Doctor(DoctorCase):
    def test_a_healthy_daemon(self):
        findings = self.findings(0)
        for check in ("socket", "permission", "daemon", "sample", "source", "cross-check", "store", "gaps"):
            self.assertEqual(findings[check]["verdict"], "ok", check)
        self.assertIn("root" if os.geteuid() == 0 else "mode 0666", findings["socket"]["detail"])

    def test_a_troubled_daemon(self):
        self.daemon.answers["/v1/status"] = golden("status-troubled")
        findings = self.findings(1)
        self.assertEqual(findings["store"]["verdict"], "failed")
        self.assertIn("disk I/O error", findings["store"]["detail"])
        self.assertEqual(findings["cross-check"]["verdict"], "failed")
        self.assertIn("eth0", findings["cross-check"]["detail"])
        for check in ("commits", "gaps", "clock", "warning"):
            self.assertEqual(findings[check]["verdict"], "warning", check)

    def test_each_lesser_trouble_is_a_warning(self):
        def with_change(section, **change):
            status = golden("status")
            status[section] = {**status[section], **change}
            self.daemon.answers["/v1/status"] = status
            return self.findings(0)

        self.assertIn("32-bit", with_change("source", counter_bits=32)["source"]["detail"])
        self.assertIn("timedatectl", with_change("clock", synchronized=False)["clock"]["remedy"])
        self.assertIn("rmem_max", with_change("events", overruns=3)["events"]["remedy"])
        self.assertEqual(with_change("sample", age_seconds=900)["sample"]["verdict"], "warning")
        self.assertEqual(with_change("store", state="loading")["store"]["verdict"], "warning")
        self.assertEqual(with_change("namespace", inode=1)["namespace"]["verdict"], "warning")
        status = golden("status")
        status["version"] = "9.0.0"
        self.daemon.answers["/v1/status"] = status
        self.assertIn("9.0.0", self.findings(0)["daemon"]["detail"])

    def test_the_store_is_examined_and_has_room(self):
        findings = self.findings(0)
        self.assertIn("/v1/status?check=store", self.daemon.targets)
        self.assertIn("every page", findings["integrity"]["detail"])
        self.assertEqual(findings["room"]["verdict"], "ok")
        self.status("store", integrity="the store is damaged (row 5 missing)")
        finding = self.findings(1)["integrity"]
        self.assertEqual(finding["verdict"], "failed")
        self.assertIn("row 5", finding["detail"])
        self.assertIn("iftally restore", finding["remedy"])
        self.status("store", free_bytes=15 << 20)
        self.assertIn("df /var/lib", self.findings(0)["room"]["remedy"])
        self.status("store", free_bytes=100 << 20, size_bytes=51 << 20)
        self.assertEqual(self.findings(0)["room"]["verdict"], "warning")

    def test_a_daemon_that_cannot_examine_its_store_is_asked_for_the_rest(self):
        status = golden("status")
        for key in ("integrity", "free_bytes"):
            del status["store"][key]
        del status["service"]
        self.daemon.answers["/v1/status"] = lambda _, query: (
            problem("unknown_parameter", 400, "there is no parameter 'check' here") if query else status)
        findings = self.findings(0)
        self.assertEqual(findings["store"]["verdict"], "ok")
        self.assertFalse({"integrity", "room", "service"} & set(findings))

    def test_a_clock_that_is_not_set_is_told(self):
        self.status(warnings=[{"code": "clock_not_set", "message": "the wall clock is earlier than it can be",
                               "remedy": "set the clock"}])
        self.assertIn("set the clock", self.findings(0)["warning"]["remedy"])

    def test_the_event_socket(self):
        self.assertIn("inherited", self.findings(0)["event socket"]["detail"])
        self.status("source", events="own")
        finding = self.findings(0)["event socket"]
        self.assertEqual(finding["verdict"], "warning")
        self.assertIn("systemctl enable --now iftallyd-links.socket", finding["remedy"])
        self.daemon.answers["/v1/status"]["service"].pop("manager")
        self.assertEqual(self.findings(0)["event socket"]["verdict"], "ok")
        self.status("source", events="polled")
        findings = self.findings(0)
        self.assertNotIn("event socket", findings)
        self.assertIn("AF_NETLINK", findings["source"]["remedy"])

    @unittest.skipIf(os.geteuid() != 0 and os.environ.get("CI") != "true", "needs root for another /etc/group")
    def test_the_group(self):
        command = str(self.folder / "iftally")
        shutil.copy(COMMAND, command)
        group = self.folder / "group"
        group.write_text("root:x:0:\niftally:x:64999:\n")
        group.chmod(0o644)
        script = f'mount --bind "{group}" /etc/group && exec setpriv --reuid=65534 --regid=65534 "$@"'

        def finding(*groups):
            prefix = ("unshare", "-m", "sh", "-c", script, "sh", *groups, "--")
            return self.findings(0, command=command, prefix=prefix)["group"]

        self.assertIn("in the group iftally", finding("--groups=64999")["detail"])
        self.assertIn("may read", finding("--clear-groups")["detail"])
        group.write_text("root:x:0:\n")
        none = finding("--clear-groups")
        self.assertEqual(none["verdict"], "warning")
        self.assertIn("addgroup --system iftally", none["remedy"])

    def test_no_data_yet(self):
        self.daemon.answers["/v1/status"] = problem("loading", 503, "the first sample is not taken yet")
        self.assertEqual(self.findings(1)["first sample"]["verdict"], "failed")

    def test_no_socket_and_no_daemon(self):
        self.daemon.stop()
        findings = self.findings(1)
        self.assertIn("No such file", findings["socket"]["detail"])
        self.assertEqual(list(findings), ["socket"])
        self.assertIn("systemctl start iftallyd", findings["socket"]["remedy"])
        (self.folder / "iftally.sock").write_text("")
        self.assertIn("is a file", self.findings(1)["socket"]["detail"])


class DoctorUnderSystemd(DoctorCase):
    """What systemctl shows of the units, as systemd 252 writes it."""

    SERVICE = {
        "Id": "iftallyd.service", "LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled",
        "MainPID": "612", "NeedDaemonReload": "no", "DropInPaths": "", "User": "iftally", "NoNewPrivileges": "yes",
        "ProtectSystem": "strict", "PrivateDevices": "yes", "PrivateNetwork": "no", "PrivateUsers": "no",
        "ProcSubset": "all", "MemoryDenyWriteExecute": "yes", "CapabilityBoundingSet": "",
        "RestrictAddressFamilies": "AF_NETLINK AF_UNIX",
    }
    TCP = {"Id": "iftallyd-tcp.socket", "LoadState": "loaded", "ActiveState": "inactive", "UnitFileState": "disabled",
           "NeedDaemonReload": "no", "Listen": "127.0.0.1:8460 (Stream)"}

    ALERT = {"Id": "iftally-alert.service", "LoadState": "loaded", "ActiveState": "inactive",
             "UnitFileState": "disabled", "NeedDaemonReload": "no", "ConditionResult": "no", "Result": "success"}

    def shown(self, tcp=None, alert=None, **service):
        units = [{**self.SERVICE, **service}, {"Id": "iftallyd-links.socket", "LoadState": "loaded"},
                 {**self.TCP, **(tcp or {})}, {**self.ALERT, **(alert or {})}]
        text = "\n".join("".join(f"{key}={value}\n" for key, value in unit.items()) for unit in units)
        (self.folder / "shown").write_text(text)
        self.systemctl(f'[ "$1" = show ] && cat "{self.folder}/shown"')
        return self.findings(0)

    def assert_warned(self, finding, *words):
        self.assertEqual(finding["verdict"], "warning", finding)
        for word in words:
            self.assertIn(word, finding["detail"] + finding["remedy"])

    def test_a_service_as_it_comes(self):
        findings = self.shown()
        for check in ("service", "event socket", "unit files", "sandbox", "TCP socket", "alerts"):
            self.assertEqual(findings[check]["verdict"], "ok", check)
        self.assertEqual(findings["sandbox"]["detail"], "as it comes")
        self.assertIn("612", findings["service"]["detail"])

    def test_a_sandbox_that_blocks_what_is_needed(self):
        drop_in = "/etc/systemd/system/iftallyd.service.d/more.conf"
        for change in ({"PrivateNetwork": "yes"}, {"PrivateUsers": "yes"}, {"ProcSubset": "pid"},
                       {"RestrictAddressFamilies": "AF_UNIX"}, {"RestrictAddressFamilies": "~AF_NETLINK"}):
            (key, value), = change.items()
            self.assert_warned(self.shown(DropInPaths=drop_in, **change)["sandbox"], "takes away", f"{key}={value}",
                               drop_in, "systemctl revert")

    def test_a_sandbox_that_is_looser_than_it_needs_to_be(self):
        for change in ({"NoNewPrivileges": "no"}, {"ProtectSystem": "no"}, {"PrivateDevices": "no"}, {"User": "root"},
                       {"MemoryDenyWriteExecute": "no"}, {"CapabilityBoundingSet": "cap_net_admin cap_net_broadcast"}):
            (key, value), = change.items()
            self.assert_warned(self.shown(**change)["sandbox"], "looser", f"{key}={value.split()[0]}")

    def test_the_drop_ins_of_the_manual_are_well(self):
        drop_in = "/etc/systemd/system/iftallyd.service.d/peers.conf"
        for change in ({"CapabilityBoundingSet": "cap_net_broadcast"},
                       {"RestrictAddressFamilies": "AF_INET AF_INET6 AF_NETLINK AF_UNIX"}):
            finding = self.shown(DropInPaths=drop_in, **change)["sandbox"]
            self.assertEqual(finding["verdict"], "ok")
            self.assertIn(drop_in, finding["detail"])

    def test_the_tcp_socket(self):
        self.assertIn("off", self.shown()["TCP socket"]["detail"])
        on = {"ActiveState": "active", "UnitFileState": "enabled"}
        self.assertEqual(self.shown(tcp=on)["TCP socket"]["detail"], "listens on 127.0.0.1:8460 (Stream)")
        until = self.shown(tcp={**on, "UnitFileState": "disabled"})["TCP socket"]
        self.assertIn("until the next boot", until["detail"])
        self.assert_warned(self.shown(tcp={**on, "ActiveState": "inactive"})["TCP socket"], "does not listen", "restart")
        self.assert_warned(self.shown(tcp={**on, "Listen": "0.0.0.0:8460 (Stream)"})["TCP socket"], "other machines")
        self.assertEqual(self.shown(tcp={"LoadState": "not-found"})["TCP socket"]["detail"], "not installed")

    def test_the_alerts(self):
        self.assertIn("off", self.shown()["alerts"]["detail"])
        on = {"ActiveState": "active", "UnitFileState": "enabled", "ConditionResult": "yes"}
        self.assertEqual(self.shown(alert=on)["alerts"]["detail"], "iftally-alert.service runs")
        until = self.shown(alert={**on, "UnitFileState": "disabled"})["alerts"]
        self.assertIn("until the next boot", until["detail"])
        failed = {**on, "ActiveState": "activating", "Result": "exit-code"}
        self.assert_warned(self.shown(alert=failed)["alerts"], "does not run: exit-code", "journalctl")
        missing = {**on, "ActiveState": "inactive", "ConditionResult": "no"}
        self.assert_warned(self.shown(alert=missing)["alerts"], "no program at /etc/iftally/alert", "chmod 755")
        self.assertEqual(self.shown(alert={"LoadState": "not-found"})["alerts"]["detail"], "not installed")

    def test_units_that_changed_since_they_were_read(self):
        self.assert_warned(self.shown(NeedDaemonReload="yes")["unit files"], "iftallyd.service", "daemon-reload")

    def test_a_daemon_that_is_not_the_services(self):
        self.status("service", manager=None, pid=77)
        self.assert_warned(self.shown()["service"], "process 77", "systemctl start iftallyd")
        self.systemctl("exit 1")
        self.assertIn("nobody starts again", self.findings(0)["service"]["detail"])

    def test_a_systemctl_that_hangs_or_raves_holds_nothing_up(self):
        for script in ("exec sleep 60", "exec yes", "kill -SEGV $$"):
            self.systemctl(script)
            findings = self.findings(0)
            self.assertNotIn("sandbox", findings)


if __name__ == "__main__":
    unittest.main()
