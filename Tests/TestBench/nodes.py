"""Nodes of made-up devices: a terminal as a serial line, and pipes that keep and drop reports as hidraw does, and events."""

import fcntl
import os
import select
import struct
import time
import tty

from waiting import pace, until


class Line:
    """What is said waits in the terminal until it is read: nothing is lost, whoever is late."""

    def __init__(self, place):
        self.device, node = os.openpty()
        tty.setraw(node)
        self.name = os.ttyname(node)
        os.symlink(self.name, place)
        os.close(node)

    # Seconds that who speaks through it makes up for when it was late.
    MAKES_UP = float("inf")

    def say(self, data):
        while data:
            data = data[os.write(self.device, data):]
        return True

    def is_read(self):
        """Whether nothing of what was said waits any more."""
        node = os.open(self.name, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return not select.select([node], [], [], 0)[0]
        finally:
            os.close(node)

    def hear(self, wanted, seconds):
        """Whether this was written to it within so long; what came with it is heard too."""
        heard = b""

        def is_heard():
            nonlocal heard
            try:
                if select.select([self.device], [], [], 0.1)[0]:
                    heard += os.read(self.device, 4096)
            except OSError:
                # As long as nobody has the line open.
                pass
            return wanted in heard

        return until(is_heard, seconds, 0.01)


class Reports:
    """Each write is one report, as many are kept as hidraw keeps, and what comes then is dropped without a word."""

    KEPT = 64
    # A device has no more to say for having been late: what it missed, it says later. Else who is late by as much as is kept
    # fills the node by itself, and the reader would be blamed.
    MAKES_UP = 0.008

    def __init__(self, place):
        os.mkfifo(place)
        self.device = os.open(place, os.O_RDWR)
        # One write is one read.
        fcntl.fcntl(self.device, fcntl.F_SETFL, os.O_NONBLOCK | os.O_DIRECT)
        fcntl.fcntl(self.device, fcntl.F_SETPIPE_SZ, self.KEPT * os.sysconf("SC_PAGE_SIZE"))

    def say(self, data):
        try:
            return os.write(self.device, data) == len(data)
        except BlockingIOError:
            return False


class Events(Reports):
    """What is said are events as event lines have them, which happen together: evdev ends them with a SYN_REPORT."""

    def say(self, data):
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        stamp = struct.pack("<qq", int(now), int(now % 1 * 1e6))
        events = [data[place:place + 8] for place in range(0, len(data), 8)] + [bytes(8)]
        return super().say(b"".join(stamp + event for event in events))


def answers(node, descriptor):
    """What the ioctls of a hidraw node answer, as umockdev reads it: the kernel's whole struct."""
    size, room = struct.pack("<I", len(descriptor)), bytes(4096 - len(descriptor))
    whole = (size + descriptor + room).hex()
    return f"@DEV {node}\nHIDIOCGRDESCSIZE 0 {size.hex()}\nHIDIOCGRDESC 0 {whole}\n"


def numbered(number, size):
    """A message of a stream that tells whether it is whole and which it is: a line, or 8 bytes of a report."""
    return b"%08d " % number + b"x" * (size - 10) + b"\n" if size > 8 else number.to_bytes(8, "little")


def stream(node, first, count, seconds, size):
    """Says so many in so many seconds by the clock, in a process of its own; its number, for `os.waitpid`."""
    child = os.fork()
    if child:
        return child
    begun, dropped = time.monotonic(), []
    due = begun
    for number in range(count):
        pace(due)
        if not node.say(numbered(first + number, size)):
            dropped.append(time.time())
        due = max(due, time.monotonic() - node.MAKES_UP) + seconds / count
    took = time.monotonic() - begun
    told = "".join(f" {instant(at)}" for at in dropped)
    print(f"said {count} in {took:.2f} s, dropped {len(dropped)}{told}", flush=True)
    os._exit(0)


def instant(at):
    """As event lines write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e6):06d}Z"


def processor(process):
    """Seconds of processor time that it has taken, and those that all processors were idle, had, and were kept from by the
    host of a virtual machine."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open("/proc/stat") as file:
        shares = [int(word) for word in file.readline().split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    return " ".join(f"{ticks / second:.2f}" for ticks in (int(fields[11]) + int(fields[12]), shares[3], sum(shares), shares[7]))
