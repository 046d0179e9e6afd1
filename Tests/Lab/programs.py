"""Where the programs under test and their tools are, and what is missing to run a test at all."""
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def program(name):
    """The path of a built program: in $IFTALLY_BIN, else in the debug build."""
    folder = os.environ.get("IFTALLY_BIN") or os.path.join(ROOT, ".build", "debug")
    return os.path.join(os.path.abspath(folder), name)


def missing(*programs, tools=("ip", "setpriv")):
    """Why the laboratory cannot run here, in one sentence, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root: run the tests as root"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun is missing: load the kernel module tun"
    for tool in tools:
        if not shutil.which(tool):
            return f"{tool} is missing: install the Debian package {PACKAGES.get(tool, tool)}"
    for name in programs:
        if not os.access(program(name), os.X_OK):
            return f"{program(name)} is missing: run swift build, or set IFTALLY_BIN to the folder that holds it"
    return None


def record(passed, failed):
    """Add to the counts of the part of `make check` that is running, if one is."""
    if os.environ.get("IFTALLY_RESULTS"):
        with open(os.environ["IFTALLY_RESULTS"], "a") as handle:
            handle.write(f"{passed} {failed} 0\n")


def conclude(wrong, daemon):
    """Ends a check of its own: prints what was wrong with the end of the daemon's log, and exits accordingly."""
    for sentence in wrong[:40]:
        print("WRONG", sentence)
    if wrong:
        print(daemon.log()[-4000:])
    record(0 if wrong else 1, 1 if wrong else 0)
    sys.exit(1 if wrong else 0)


PACKAGES = {"ip": "iproute2", "setpriv": "util-linux"}


def must_run():
    """In CI nothing may be skipped: what is missing fails."""
    return os.environ.get("CI") == "true"
