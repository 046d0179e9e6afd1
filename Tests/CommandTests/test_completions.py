"""Completion in bash, zsh and fish, tried in the shells themselves: what is offered is what the programs know."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import program_help
from command_case import COMMAND, ROOT, CommandCase
from fake_daemon import golden

FILES = ROOT / "packaging" / "completions"
BIN = os.path.dirname(COMMAND)
KINDS = program_help.values("--kind")
NAMES = {"wlan0", "wg0", "%24%28reboot%29", "a%60b", "x%2By", "%2Drf", "ö%2A"}
UNITS = program_help.values("--unit")


class Offers:
    """The same for every shell; offered(line, program) is the set of words that it would put at the end of the line."""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.shell):
            if os.environ.get("CI") == "true":
                self.fail(f"{self.shell} is not installed")
            self.skipTest(f"{self.shell} is not installed")
        self.daemon.answers["/v1/interfaces"] = self.interfaces("wlan0", "wg0", "$(reboot)", "a`b", "x+y", "-rf", "ö*")

    def interfaces(self, *names):
        reply = golden("interfaces")
        reply["interfaces"] = [{**reply["interfaces"][0], "name": name} for name in names]
        return reply

    def shell_environment(self):
        return self.environment(PATH=f"{BIN}:{os.environ['PATH']}", HOME=str(self.folder), TERM="dumb")

    def test_every_command(self):
        self.assertEqual(self.offered("iftally "), program_help.commands())
        self.assertEqual(self.offered("iftally -i wlan0 "), program_help.commands())
        self.assertEqual(self.offered("iftally m"), {"minutes", "months", "merge"})
        self.assertEqual(self.offered("iftally help "), program_help.commands())
        self.assertFalse(self.offered("iftally status ") & program_help.commands())

    def test_every_option_of_every_command(self):
        for command in program_help.commands() | {""}:
            with self.subTest(command):
                line = f"iftally {command} -" if command else "iftally -"
                self.assertEqual(self.offered(line), program_help.names(program_help.options(command)))

    def test_values(self):
        self.assertEqual(self.offered("iftally --kind "), KINDS)
        self.assertEqual(self.offered("iftally days --kind v"), {"vlan", "virtual"})
        self.assertEqual(self.offered("iftally live --unit "), UNITS)
        self.assertEqual(self.offered("iftally usage -r "), program_help.values("--resolution", "usage"))
        self.assertIn("this-month", self.offered("iftally days --from "))
        self.assertEqual(self.offered("iftally days --limit "), set())

    def test_interfaces_of_the_daemon_with_what_a_shell_would_read_otherwise_escaped(self):
        self.assertEqual(self.offered("iftally -i "), NAMES)
        self.assertEqual(self.offered("iftally days --interface wl"), {"wlan0"})
        self.assertEqual({word.split("+")[-1] for word in self.offered("iftally -i wlan0+")}, NAMES)

    def test_what_can_be_changed_and_taken_back(self):
        change = {"at": "", "uid": 0, "action": "forget", "interface": {"id": "id:3", "name": "wg0"}}
        self.daemon.answers["/v1/changes"] = {
            "nature": "estimate", "as_of": "", "changes": [{"id": 7, **change}, {"id": 5, **change}]}
        for command in ("rename", "merge", "forget", "explain"):
            self.assertEqual(self.offered(f"iftally {command} "), NAMES, command)
        self.assertEqual(self.offered("iftally undo "), {"7", "5"})

    def test_silence_without_a_daemon(self):
        self.daemon.stop()
        self.assertEqual(self.offered("iftally -i "), set())

    def test_the_daemons_options(self):
        listed = program_help.options_in(program_help.said("--help", program=os.path.join(BIN, "iftallyd")))
        self.assertEqual(self.offered("iftallyd -"), program_help.names(listed))


class Terminal:
    """A shell on a pseudo-terminal, spoken to one line at a time."""

    def __init__(self, arguments, environment):
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execvpe(arguments[0], arguments, environment)

    def answer(self, keys, until):
        """Types the keys and returns what matches, or all that was written when nothing does within 20 s."""
        os.write(self.master, keys.encode())
        written, end = "", time.monotonic() + 20
        while not (found := re.search(until, written)) and time.monotonic() < end:
            if select.select([self.master], [], [], 1)[0]:
                written += os.read(self.master, 65536).decode(errors="replace")
        return found or written

    def close(self):
        os.close(self.master)
        os.waitpid(self.process, 0)


class Bash(Offers, CommandCase):
    shell = "bash"
    OFFER = r"""
        . "$1"
        read -ra COMP_WORDS <<<"${2//=/ = }"
        case $2 in *[\ =]) COMP_WORDS+=('') ;; esac
        case $2 in *=) unset "COMP_WORDS[-1]" ;; esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        "_${COMP_WORDS[0]}"
        [ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
    """

    def offered(self, line):
        script = FILES / f"{line.split()[0]}.bash"
        result = subprocess.run(
            ["bash", "--norc", "-c", self.OFFER, "bash", script, line], capture_output=True, encoding="utf-8",
            env=self.shell_environment(), timeout=60, check=False)
        self.assertEqual(result.stderr, "", line)
        return set(result.stdout.split())

    def test_values_after_an_equals_sign(self):
        self.assertEqual(self.offered("iftally --kind="), KINDS)
        self.assertEqual(self.offered("iftally --unit=b"), {"bytes"})
        self.assertEqual(self.offered("iftally --kind=wifi d"), {"days", "doctor"})

    def test_the_tab_key(self):
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.shell_environment())
        self.addCleanup(terminal.close)
        terminal.answer(f". '{FILES}/iftally.bash'; PS1=; echo rea''dy\n", r"ready\r?\n")
        for typed, completed in (("iftally int", "iftally interfaces"), ("iftally days --ki", "iftally days --kind"),
                                 ("iftally -i wla", "iftally -i wlan0"), ("iftally --unit=b", "iftally --unit=bytes")):
            # Ctrl-A goes to the line's beginning, so that the completed line is shown and not run.
            answer = terminal.answer(f"{typed}\t\x01echo '<' \x05 '>'\n", r"(?m)^< (.*) >\r?$")
            self.assertEqual(answer if isinstance(answer, str) else answer[1], completed)


class Fish(Offers, CommandCase):
    shell = "fish"

    def offered(self, line):
        result = subprocess.run(
            ["fish", "--no-config", "-c", f"source {FILES}/{line.split()[0]}.fish; complete -C $argv", line],
            capture_output=True, encoding="utf-8", env=self.shell_environment(), timeout=60, check=False)
        self.assertEqual(result.stderr, "", line)
        return {each.split("\t")[0] for each in result.stdout.splitlines()}


class Zsh(Offers, CommandCase):
    shell = "zsh"
    # Ctrl-X puts all matches into the line.
    SETUP = r"""
        PS1= RPS1=; unsetopt zle_bracketed_paste prompt_sp; fpath=({files} $fpath)
        autoload -Uz compinit; compinit -u -D; zle -C all-matches complete-word _generic; bindkey '^X' all-matches
        zstyle ':completion:all-matches:*' completer _all_matches _complete
        zstyle ':completion:all-matches:*' insert yes; echo rea''dy
    """

    def setUp(self):
        super().setUp()
        self.terminal = Terminal(["zsh", "-f", "-i"], self.shell_environment())
        self.addCleanup(self.terminal.close)
        setup = "; ".join(line.strip() for line in self.SETUP.format(files=FILES).strip().splitlines())
        self.assertNotIsInstance(self.terminal.answer(setup + "\n", r"(?m)^ready\r?$"), str)

    def offered(self, line):
        answer = self.terminal.answer(f"{line}\x18\x01print -r -- '<' \x05 '>'\n", r"(?m)^< (.*) >\r?$")
        self.assertNotIsInstance(answer, str, f"{line}: {answer}")
        return set(answer[1].split()[len((line + "|").split()) - 1:])
