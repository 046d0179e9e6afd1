"""What /proc says of a process and its threads, and what strace sees of their waits."""
import os
import re
import signal
import subprocess


def _read(path):
    with open(path) as handle:
        return handle.read()


def _fields(text):
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def threads(pid):
    """{thread id: name}; the one whose id is the process id is the loop."""
    return {int(each): _read(f"/proc/{pid}/task/{each}/comm").strip() for each in os.listdir(f"/proc/{pid}/task")}


def switches(pid):
    """{thread id: how often it has gone to sleep of its own accord}."""
    return {each: int(_fields(_read(f"/proc/{pid}/task/{each}/status"))["voluntary_ctxt_switches"])
            for each in threads(pid)}


def cpu_seconds(pid):
    """On a processor, all threads that live."""
    return sum(int(_read(f"/proc/{pid}/task/{each}/schedstat").split()[0]) for each in threads(pid)) / 1e9


def written_bytes(pid):
    """Bytes made dirty in page cache that goes to a disk, less those deleted before they reached it."""
    fields = _fields(_read(f"/proc/{pid}/io"))
    return int(fields["write_bytes"]) - int(fields["cancelled_write_bytes"])


def memory(pid):
    """KiB: Private_Dirty, Pss and Rss, with the page cache written out so that only memory of its own is dirty."""
    os.sync()
    fields = _fields(_read(f"/proc/{pid}/smaps_rollup"))
    return {key: int(fields[key].split()[0]) for key in ("Private_Dirty", "Pss", "Rss")}


class Waits:
    """Counts returns from epoll_wait and its kin by thread, with strace."""

    RETURN = re.compile(r"^(\d+) +(\d+\.\d+) .*epoll_p?wait2?\b.*\) += -?\d+", re.M)

    def __init__(self, pid, output):
        self.output = output
        self.process = subprocess.Popen(
            ["strace", "-f", "-ttt", "-e", "trace=epoll_wait,epoll_pwait,epoll_pwait2", "-p", str(pid), "-o", output],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self, since):
        """Let go of the process; {thread id: returns after the wall-clock time `since`}."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        counts = {}
        for thread, at in self.RETURN.findall(_read(self.output)):
            if float(at) >= since:
                counts[int(thread)] = counts.get(int(thread), 0) + 1
        return counts
