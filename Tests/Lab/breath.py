"""How long the machine itself stood still: whoever has the first turn on each of its processors notes how late that came."""
import os
import time

from waiting import pace
from written import whole_lines

PAUSE, NOTED = 0.02, 0.1


def begin(path):
    """Writes `INSTANT SECONDS` to the file at `path` whenever a turn came so late, for as long as the machine lives."""
    for processor in range(os.cpu_count()):
        if os.fork() == 0:
            os.setpgid(0, 0)
            os.sched_setaffinity(0, {processor})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
            watch(path)


def watch(path):
    with open(path, "a", buffering=1) as file:
        while True:
            begun = time.monotonic()
            pace(begun + PAUSE)
            late = time.monotonic() - begun - PAUSE
            if late > NOTED:
                file.write(f"{begun:.3f} {late:.3f}\n")


def standstills(path, since):
    """The instant and the seconds of each that began after `since`."""
    if not os.path.exists(path):
        return []
    found = [tuple(map(float, line.split())) for line in whole_lines(path)]
    return [(at, late) for at, late in found if at >= since]
