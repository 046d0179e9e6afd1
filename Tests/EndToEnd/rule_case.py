"""The base of the tests of rules: a daemon with some, and others put in force while it runs."""
from Lab.daemon import wait_for

from .case import LabCase


class RuleCase(LabCase):
    def reload(self, daemon, more):
        """Put other rules in force, and wait until they are."""
        names = [line[6:-1] for line in more.splitlines() if line.startswith("[Rule ")]
        commits = daemon.client.status()["commit"]["count"]
        daemon.configure(self.plain + more)
        daemon.reload()
        wait_for(lambda: [rule["name"] for rule in daemon.client.get("/v1/rules")["rules"]
                          if not rule["built_in"]] == names, "the rules are in force")
        wait_for(lambda: daemon.client.status()["commit"]["count"] > commits, "a commit")

    def with_rules(self, more=""):
        daemon = self.daemon(more=more)
        with open(daemon.configuration) as handle:
            self.plain = handle.read().removesuffix(more)
        return daemon
