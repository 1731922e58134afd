#!/usr/bin/env python3
"""Runs a command while time comes in small pieces: on a quarter of a core, with a slow disk and a process that stops now and then.

    shake.py [COMMAND...]   the command is `Scripts/test.py shaken` unless another is given

The command and all that it starts share a quarter of a core. Each fsync takes 25 ms longer, and in each second one process is
stopped for 300 ms. A test that fails only here counts on time that a busy machine does not give.

The kernel shares the core by a cgroup, of version 2 or 1. Where neither has the cpu controller, all processes are stopped for most
of each period instead, on one processor. SHAKE_ROUNDS (1) is how often the command runs. SHAKE_SEED draws the stops; without it
a seed is drawn, and printed. A process that is stopped already is left alone, as a test may count on that.
"""
import ctypes
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIM = ROOT / ".build/shake/slow-fsync.so"
GROUPS = pathlib.Path("/sys/fs/cgroup")
SHARE = 0.25
PERIOD_S = 0.2
STOP_S = 0.3
TICK_S = 0.02
BECOME_SUBREAPER = 36


def report(text):
    print(f"shake: {text}", flush=True)


class Group:
    """A cgroup whose processes share a quarter of a core."""

    def __init__(self, folder, settings):
        self.folder = folder
        self.how = "by a cgroup"
        folder.mkdir()
        try:
            for name, value in settings.items():
                # A file of a kernel's is there already; one that is not must not be made.
                with open(folder / name, "r+") as file:
                    file.write(value)
        except OSError:
            folder.rmdir()
            raise

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def tick(self, now, look):
        pass

    def close(self):
        """The last processes are gone a moment after they were killed."""
        for _ in range(100):
            for path, _, _ in os.walk(self.folder, topdown=False):
                try:
                    os.rmdir(path)
                except OSError:
                    time.sleep(TICK_S)
            if not self.folder.exists():
                return
        report(f"{self.folder} is left behind")


class Duty:
    """Lets all processes run for a quarter of each period, on one processor."""

    how = "by stops of all processes, as no cgroup here has the cpu controller"

    def __init__(self):
        self.stopped = []

    def enter(self):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def tick(self, now, look):
        runs = now % PERIOD_S < PERIOD_S * SHARE
        if runs and self.stopped:
            send(signal.SIGCONT, self.stopped)
            self.stopped = []
        elif not runs:
            fresh = [pid for pid in look() if pid not in self.stopped]
            send(signal.SIGSTOP, fresh)
            self.stopped += fresh

    def close(self):
        pass


class Stops:
    """Stops one process for 300 ms at some instant of each second."""

    def __init__(self, chance):
        self.chance = chance
        self.count = 0
        self.victim = None
        self.due = time.monotonic() + chance.random()

    def tick(self, now, look):
        if now < self.due:
            return
        if self.victim:
            send(signal.SIGCONT, [self.victim])
            self.victim = None
            self.due = now + self.chance.uniform(0.4, 1.0)
            return
        pids = sorted(look())
        if pids:
            self.victim = self.chance.choice(pids)
            send(signal.SIGSTOP, [self.victim])
            self.count += 1
            self.due = now + STOP_S


def send(number, pids):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def quarter():
    """The best way that this machine has to share a core."""
    name = f"wakebridge-shake-{os.getpid()}"
    kinds = [(GROUPS, {"cpu.max": "25000 100000"}), (GROUPS / "unified", {"cpu.max": "25000 100000"}),
             (GROUPS / "cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "25000"})]
    for folder, settings in kinds:
        try:
            return Group(folder / name, settings)
        except OSError:
            continue
    return Duty()


def processes():
    """The parent and the state of each process."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(folder.name), int(words[1]), words[0]


def descendants(states):
    """The processes of the run that have not ended and whose state is another one. Orphans among them are children of this one."""
    children = {}
    for pid, parent, state in processes():
        children.setdefault(parent, []).append((pid, state))
    found, left = [], [os.getpid()]
    while left:
        for pid, state in children.get(left.pop(), []):
            left.append(pid)
            if state not in states:
                found.append(pid)
    return found


def running():
    return descendants("ZTtX")


def start(command, share):
    """A child that joins the share before it becomes the command."""
    child = os.fork()
    if child:
        return child
    try:
        share.enter()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        preloaded = f"{SHIM}:{os.environ.get('LD_PRELOAD', '')}".rstrip(":")
        os.execvpe(command[0], command, {**os.environ, "LD_PRELOAD": preloaded})
    except OSError as reason:
        report(f"{command[0]}: {reason.strerror}")
    os._exit(127)


def reap(child):
    """Waits for whatever has ended; gives the status of the command once that has."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == child:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            return None


def end_all(child):
    """No process of a round outlives it, but for what the kernel itself does not end within ten seconds."""
    end = time.monotonic() + 10
    left = descendants("Z")
    while left and time.monotonic() < end:
        send(signal.SIGKILL, left)
        time.sleep(TICK_S)
        reap(child)
        left = descendants("Z")
    reap(child)


def play(command, chance):
    """One round; gives the status of the command, and how many stops there were."""
    share, stops = quarter(), Stops(chance)
    report(f"a quarter of a core {share.how}, fsync 25 ms longer, a stop of 300 ms in each second")
    child = start(command, share)
    try:
        status = None
        while status is None:
            now = time.monotonic()
            share.tick(now, running)
            stops.tick(now, running)
            time.sleep(TICK_S)
            status = reap(child)
        return status, stops.count
    finally:
        end_all(child)
        share.close()


def build_shim():
    SHIM.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", SHIM, ROOT / "Scripts/slow-fsync.c", "-ldl"], check=True)


def stop(number, _):
    sys.exit(128 + number)


def main(words):
    command = words or [str(ROOT / "Scripts/test.py"), "shaken"]
    rounds = int(os.environ.get("SHAKE_ROUNDS", "1"))
    seed = int(os.environ.get("SHAKE_SEED") or random.randrange(1_000_000))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    build_shim()
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1)
    begun = time.monotonic()
    for count in range(1, rounds + 1):
        report(f"round {count} of {rounds}, SHAKE_SEED={seed}: {' '.join(command)}")
        status, stops = play(command, random.Random(seed + count))
        if status:
            print(f"FAIL: round {count} of {rounds} ended with {status} after {stops} stops, SHAKE_SEED={seed}")
            return 1
    print(f"PASS: {rounds} rounds with SHAKE_SEED={seed}, {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
