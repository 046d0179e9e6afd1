#!/usr/bin/env python3
"""Becomes another program that may not make netlink sockets, as under RestrictAddressFamilies= or a container's seccomp.

usage: without_netlink.py ERRNO PROGRAM [ARGUMENT ...]
"""
import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD+W+ABS, BPF_JMP+JEQ+K, BPF_RET+K
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER, FIRST_ARGUMENT = 0, 16  # offsets in struct seccomp_data
SOCKET = {"x86_64": 41, "aarch64": 198, "riscv64": 198}
AF_NETLINK = 16


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def deny(code):
    """From now on socket(AF_NETLINK, ...) fails with this errno in this process and what it becomes."""
    steps = [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 3, SOCKET[platform.machine()]), (LOAD, 0, 0, FIRST_ARGUMENT),
             (EQUAL, 0, 1, AF_NETLINK), (RETURN, 0, 0, REFUSE | code), (RETURN, 0, 0, ALLOW)]
    program = Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    no_more = [ctypes.c_ulong(0)] * 3
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *no_more) or \
            libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(program)):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    deny(getattr(errno, sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
