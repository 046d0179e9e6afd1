"""The few system calls that Python's library lacks: namespaces and mounts."""
import ctypes
import os
import socket
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
MS_RDONLY = 0x1
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags):
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd, flags):
    """Move the calling thread into the namespace behind `fd`."""
    _checked(_libc.setns(ctypes.c_int(fd), ctypes.c_int(flags)), "setns")


def mount(source, target, kind=None, flags=0, options=None):
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    source_, target_, kind_, options_ = encoded
    _checked(_libc.mount(source_, target_, kind_, ctypes.c_ulong(flags), options_), f"mount on {target}")


def unmount(target):
    """Detach a mount, also while something in it is still open."""
    MNT_DETACH = 2
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(MNT_DETACH)), f"umount {target}")


def bind_packet(bound, name, protocol):
    """Bind a packet socket to a link whose name is no UTF-8 (a str of os.fsdecode), which Python's bind refuses."""
    index = socket.if_nametoindex(name)
    address = struct.pack("=HHiHBB8s", socket.AF_PACKET, socket.htons(protocol), index, 0, 0, 0, b"")
    _checked(_libc.bind(bound.fileno(), address, len(address)), f"bind to {name!a}")
