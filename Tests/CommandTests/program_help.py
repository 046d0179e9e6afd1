"""What the built programs say of their own commands, options and values."""
import re
import subprocess

from command_case import COMMAND


def said(*arguments, program=COMMAND):
    result = subprocess.run([program, *arguments], capture_output=True, encoding="utf-8", timeout=60, check=False)
    return result.stdout + result.stderr


def commands():
    """Names, without that of the summary, which has none."""
    listed = said("help").split("Commands:\n")[1].split("\n\n")[0]
    return {line.split()[0] for line in listed.splitlines()} - {"(none)"}


def options_in(text):
    """[(names, value or None)] of a help text's options: (("-l", "--limit"), "N")."""
    found = re.findall(r"(?m)^ +(-\w, )?(--[a-z-]+)(?: ([A-Z]+))?(?:  .*)?$", text)
    return [((short[:2], long) if short else (long,), value or None) for short, long, value in found]


def options(command=""):
    """Of one command; of the summary without a name."""
    return options_in(said("help", command).split("Options:\n")[1])


def names(listed):
    return {name for each, _ in listed for name in each}


def every_option():
    return {option for command in commands() | {""} for option in options(command)}


def values(option, *command):
    """What an option with a fixed set of values takes."""
    refusal = said(*command, option, "nonsense")
    return set(re.search(r" is none of ([a-z_, ]+)\.", refusal)[1].split(", "))
