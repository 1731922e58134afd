"""Runs a program without openat2, as systemd's RestrictSUIDSGID= does: the kernel's filter says that there is no such call.

    without_openat2.py PROGRAM ARGUMENT...
"""
import ctypes
import errno
import os
import struct
import sys

OPENAT2 = 437
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050000 | errno.ENOSYS, 0x7FFF0000
steps = b"".join(struct.pack("=HBBI", *step) for step in (
    (LOAD_NUMBER, 0, 0, 0), (IF_EQUAL, 0, 1, OPENAT2), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)))
kept = ctypes.create_string_buffer(steps, len(steps))
filter_program = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(kept)))
libc = ctypes.CDLL(None, use_errno=True)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
if os.geteuid() and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
    sys.exit("no filter can be set")
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_program, 0, 0):
    sys.exit(f"no filter can be set: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
