"""Network namespaces that die with this process, and the place where one test stands."""
import errno
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
import uuid

from . import kernel
from .truth import Truth

_numbers = itertools.count(1)
_home = None


def ip(*arguments, check=True):
    """Run one `ip` command in the calling thread's namespace; its output."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def batch(commands):
    """Many `ip` commands in one process."""
    text = "".join(command + "\n" for command in commands)
    done = subprocess.run(["ip", "-batch", "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip -batch: {done.stderr.strip()}")


def isolate():
    """Give this process mounts of its own and an empty /run: named namespaces, sockets and stores live there.

    The kernel takes all of it back when the process ends, however it ends, so nothing is ever left behind and
    nothing of this machine's own /run can be touched.
    """
    global _home
    if _home is not None:
        return
    _home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    kernel.unshare(kernel.CLONE_NEWNS)
    try:
        kernel.mount(None, "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    except OSError as error:
        if error.errno != errno.EINVAL:  # in a chroot "/" is no mount point; whoever made it keeps mounts private
            raise
    kernel.mount("lab", "/run", "tmpfs", options="mode=755,size=1g")
    os.makedirs("/run/netns")
    os.makedirs("/run/lab")


class Space:
    """A named network namespace without IPv6: nothing in it sends a byte unasked."""

    def __init__(self, name):
        self.name = name
        ip("netns", "add", name)
        self.call(_without_ipv6)
        ip("-n", name, "link", "set", "lo", "up")

    @property
    def path(self):
        return f"/run/netns/{self.name}"

    def enter(self):
        """Move the calling thread here; threads and processes that it starts from now on begin here too."""
        with open(self.path) as handle:
            kernel.setns(handle.fileno(), kernel.CLONE_NEWNET)

    def call(self, work):
        """The result of `work()`, run in a thread that stands here. A socket it opens stays bound to this place."""
        outcome = {}

        def body():
            try:
                self.enter()
                outcome["value"] = work()
            except BaseException as error:
                outcome["error"] = error

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    def ip(self, *arguments, check=True):
        return ip("-n", self.name, *arguments, check=check)

    def delete(self):
        """Drop the name; the namespace and its links die once no socket or process holds it."""
        ip("netns", "del", self.name, check=False)


def _without_ipv6():
    for which in ("all", "default"):
        try:
            with open(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6", "w") as handle:
                handle.write("1")
        except FileNotFoundError:
            pass


class Lab:
    """One test's world. Inside `with Lab() as lab` this process stands in `lab.here`, with the right /sys.

    `lab.peer` holds the other ends of links, `lab.away` is where links are moved to, `lab.folder` is for files.
    """

    def __enter__(self):
        isolate()
        number = next(_numbers)
        prefix = f"lab{os.getpid()}n{number}"
        self.truth = Truth()
        self.folder = tempfile.mkdtemp(prefix=f"{number}-", dir="/run/lab")
        os.chmod(self.folder, 0o755)
        self._closing = []
        self.spaces = []
        self.here = self.space(prefix)
        self.peer = self.space(prefix + "p")
        self.away = self.space(prefix + "a")
        self.here.enter()
        kernel.mount("lab", "/sys", "sysfs")  # the one in sight shows the namespace of whoever mounted it
        return self

    def __exit__(self, *_):
        for close in reversed(self._closing):
            close()
        kernel.unmount("/sys")
        kernel.setns(_home, kernel.CLONE_NEWNET)
        for space in self.spaces:
            space.delete()
        shutil.rmtree(self.folder, ignore_errors=True)

    def space(self, name):
        made = Space(name)
        self.spaces.append(made)
        return made

    def container(self):
        """One more namespace, for something whose death takes its links along."""
        return self.space(f"{self.here.name}c{len(self.spaces)}")

    def at_exit(self, close):
        """Call `close()` before the namespaces go, last added first."""
        self._closing.append(close)

    def disk(self, name, size):
        """A small file system of its own (tmpfs): its path. `size` as mount(8) takes it, for example "512k"."""
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        kernel.mount("lab", path, "tmpfs", options=f"mode=755,size={size}")
        self.at_exit(lambda: kernel.unmount(path))
        return path

    def new_boot(self):
        """Give the kernel another boot id, as after a reboot, for all that starts from now on."""
        path = os.path.join(self.folder, f"boot{next(_numbers)}")
        with open(path, "w") as handle:
            handle.write(f"{uuid.uuid4()}\n")
        boot_id = "/proc/sys/kernel/random/boot_id"
        kernel.mount(path, boot_id, flags=kernel.MS_BIND)
        self.at_exit(lambda: kernel.unmount(boot_id))

    def make_read_only(self, path, value=True):
        """Remount what `disk` made."""
        kernel.mount(None, path, None, kernel.MS_REMOUNT | (kernel.MS_RDONLY if value else 0))
