#!/usr/bin/env python3
"""Gives a command a place of its own on this machine, which ends with the command.

    place.py checkout COMMAND...    the checkout at a path that every user may walk to, wherever it lies
    place.py process NAME COMMAND...
                                    processes, mounts, network, IPC and host name of its own; /tmp, /run, /dev/shm and terminals
                                    too; and a cgroup NAME below the caller's

Both need root. Without it, or where the kernel refuses, the command runs where it is, and a line says why.
"""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import sys
import tempfile

# Every Debian has this folder, and packages put nothing into it. Programs and paths inside builds are the same in each clone.
PLACE = "/srv"
CHECKOUT = f"{PLACE}/wakebridge"
SHARED = f"{PLACE}/shared"

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def check(result, attempt):
    if result != 0:
        raise OSError(ctypes.get_errno(), attempt)


def unshare(flags):
    check(libc.unshare(flags), "unshare namespaces")
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "make mounts private")


def mount(kind, target, flags=0, options=""):
    check(libc.mount(kind.encode(), target.encode(), kind.encode(), flags, options.encode()), f"mount {kind} on {target}")


def bind(source, target):
    check(libc.mount(source.encode(), target.encode(), None, MS_BIND | MS_REC, None), f"bind {source} to {target}")


def is_in_place():
    return os.getcwd() == CHECKOUT


def enter_checkout():
    """Binds the working directory, which may lie below PLACE itself, and the texts beside it."""
    unshare(NEWNS)
    beside = os.open("../shared", os.O_PATH | os.O_DIRECTORY) if os.path.isdir("../shared") else None
    mount("tmpfs", PLACE, MS_NOSUID | MS_NODEV, "mode=755")
    os.mkdir(CHECKOUT)
    bind(".", CHECKOUT)
    if beside is not None:
        os.mkdir(SHARED)
        os.fchdir(beside)
        bind(".", SHARED)
        os.close(beside)
    os.chdir(CHECKOUT)


def enter_own_system(temporary):
    """Called before the process is the first of its namespace; /proc follows in `be_first`."""
    unshare(NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET)
    bind(temporary, "/tmp")
    mount("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755")
    os.mkdir("/run/lock", 0o1777)
    mount("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777")
    mount("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    raise_loopback()


def raise_loopback():
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16xh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def be_first(command):
    """Process 1 of its namespace: reaps what others leave, and ends, with all of them, as the command ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    mount("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(exit_of(status))


def exit_of(status):
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def own_cgroup(name):
    """The folder of the cgroup that it makes and enters; nil where there is none of version 2."""
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    point = next((line.split()[4] for line in lines if " - cgroup2 " in line), None)
    within = next((line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"), None)
    if point is None or within is None:
        return None
    folder = pathlib.Path(point + within.rstrip("/"), f"tests-{os.getpid()}-{name}")
    folder.mkdir()
    (folder / "cgroup.procs").write_text(str(os.getpid()))
    return folder


def leave_cgroup(folder):
    (folder.parent / "cgroup.procs").write_text(str(os.getpid()))
    # Cgroups of version 2 are folders: those within go first.
    for place, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(place)


def run_in_own_system(name, command):
    temporary = tempfile.mkdtemp(prefix="tmp-", dir=os.environ.get("PLACE_TEMPORARY"))
    os.chmod(temporary, 0o1777)
    cgroup = own_cgroup(name)
    try:
        enter_own_system(temporary)
        first = os.fork()
        if first == 0:
            be_first(command)
        return exit_of(os.waitpid(first, 0)[1])
    finally:
        if cgroup is not None:
            leave_cgroup(cgroup)
        shutil.rmtree(temporary, ignore_errors=True)


def main():
    goal, *words = sys.argv[1:]
    if goal == "process":
        sys.exit(run_in_own_system(words[0], words[1:]))
    try:
        if not is_in_place():
            enter_checkout()
    except OSError as refusal:
        print(f"place.py: the checkout stays at {os.getcwd()}: {refusal}", file=sys.stderr)
    # A shell trusts PWD before it looks where it is.
    os.environ["PWD"] = os.getcwd()
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
