"""The manuals tell of every command and option, and of no other."""
import os
import pathlib
import re
import unittest

import program_help
from command_case import COMMAND, ROOT

DAEMON = str(pathlib.Path(COMMAND).with_name("iftallyd"))


def manual(name):
    return (ROOT / "man" / name).read_text(encoding="utf-8")


def section(text, name):
    return re.search(rf"(?ms)^\.S[hH] {name}$(.*?)(?=^\.S[hH] |\Z)", text)[1]


class Command(unittest.TestCase):
    TEXT = manual("iftally.1")

    def test_its_commands(self):
        told = re.findall(r"(?m)^\.It Cm (\S+)", section(self.TEXT, "COMMANDS"))
        self.assertEqual(sorted(told), sorted(program_help.commands()))

    def test_its_options_with_their_values(self):
        told = set()
        for line in re.findall(r"(?m)^\.It (Fl .*)$", section(self.TEXT, "OPTIONS")):
            flags, _, value = line.partition(" Ar ")
            told.add((tuple(f"-{flag}" for flag in flags.replace("Fl ", "").split(" , ")), value.upper() or None))
        self.assertEqual(told, program_help.every_option())

    def test_the_values_of_its_options(self):
        text = " ".join(section(self.TEXT, "OPTIONS").split())
        for option, command in (("--kind", ()), ("--unit", ()), ("--resolution", ("usage",))):
            described = re.search(rf"\.It (?:Fl \w , )?Fl {option[1:]} .*?(?= \.It | \.El |$)", text)[0]
            for value in program_help.values(option, *command):
                self.assertRegex(described, rf"\b{value}\b", option)

    def test_its_exit_codes(self):
        told = re.findall(r"(?m)^\.It (\d+)$", section(self.TEXT, "EXIT STATUS"))
        listed = program_help.said("help").split("Exit codes:")[1]
        self.assertEqual(told, re.findall(r"(?:^|,)\s*(\d+) ", listed))


class Daemon(unittest.TestCase):
    TEXT = manual("iftallyd.8")

    @classmethod
    def setUpClass(cls):
        if not os.access(DAEMON, os.X_OK):
            raise AssertionError(f"{DAEMON} is not there: build it with swift build, or set IFTALLY_BIN to its folder")
        cls.options = program_help.options_in(program_help.said("--help", program=DAEMON))

    def test_its_options_with_their_values(self):
        told = set()
        for line in re.findall(r"(?m)^\.TP\n\.B[IR]? (.*)$", section(self.TEXT, "OPTIONS")):
            words = re.sub(r"\\f.|[,\"]", " ", line.replace(r"\ ", " ").replace(r"\-", "-")).split()
            flags = tuple(word for word in words if word.startswith("-"))
            told.add((flags, next((word for word in words if not word.startswith("-")), None)))
        self.assertEqual(told, set(self.options))

    def test_it_takes_the_options_that_it_describes_and_no_other(self):
        source = (ROOT / "Sources" / "iftallyd" / "Options.swift").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'"(--?\w[\w-]*)"', source)), program_help.names(self.options))
        # An option before --help shows whether it is one without doing what it says.
        for flags, value in self.options:
            for flag in flags:
                said = program_help.said(flag, *(["/none"] if value else []), "--help", program=DAEMON)
                self.assertNotIn("unknown argument", said, flag)
