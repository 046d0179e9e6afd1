"""Small C libraries that stand between a program under test and the kernel, by LD_PRELOAD."""
import os
import shutil
import subprocess

FOLDER = os.path.dirname(os.path.abspath(__file__))


def compiler():
    """A C compiler, or None."""
    return shutil.which("cc") or shutil.which("clang")


def library(lab, name):
    """The path of the library made from NAME.c in this folder."""
    built = os.path.join(lab.folder, name + ".so")
    if not os.path.exists(built):
        source = os.path.join(FOLDER, name + ".c")
        subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", built, source], check=True)
    return built


def small_queue(lab, size):
    """The environment of a process whose sockets get receive buffers of at most `size` bytes (the kernel doubles it)."""
    return {"LD_PRELOAD": library(lab, "small_queue"), "SMALL_QUEUE": str(size)}


def hardware(lab):
    """The environment of a process to which the links that are `links.Card` are network cards."""
    return {"LD_PRELOAD": library(lab, "hardware")}
