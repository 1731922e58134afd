"""What the package costs on the machine it is installed on: sizes, memory, time to start, and what is written to the disk.

usage: footprint.py BASE PACKAGE     BASE is the folder of a Debian with systemd

Prints a line for each figure. Fails if the daemon or a handler wrote to the disk for events of durability `run`.
The strap is played SPEED times as fast as it beats: what is written for an event does not depend on the time between. The first ten
minutes are not counted: the daemon's start writes its databases, once.
"""
import json
import os
import statistics
import sys
import time

from container import Container
from follow import furnish_apt

STARTS, BEATS, SPEED = 11, 600, 20
UNIT = "wakebridged"


def properties(container, *names):
    shown = container.must("systemctl show %s %s" % (UNIT, " ".join("--property=" + name for name in names)))
    return dict(line.split("=", 1) for line in shown.splitlines())


def numbers(container, process, file):
    """The numbers of a file of /proc, by their names."""
    lines = container.must("cat /proc/%s/%s" % (process, file)).splitlines()
    pairs = [line.split(":", 1) for line in lines if ":" in line]
    return {name: int(rest.split()[0]) for name, rest in pairs if rest.split() and rest.split()[0].isdigit()}


def start_time(container):
    """Milliseconds from the daemon's start by systemd until it says READY=1."""
    container.must("systemctl restart " + UNIT)
    times = properties(container, "ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic")
    return (int(times["ActiveEnterTimestampMonotonic"]) - int(times["ExecMainStartTimestampMonotonic"])) / 1000


def strap():
    """A trace of twenty minutes with a beat a second."""
    lines = ["wakebridge-trace 1", "clock 2026-11-21T07:00:00Z",
             'device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d', "+0 1 connect"]
    return "\n".join(lines + ["+1 1 data 2a37 00%02x" % (60 + beat % 40) for beat in range(2 * BEATS)] + ["end", ""])


class Written:
    """Bytes for the disk so far: of the daemon, of the handler, and of the system's journal."""

    def __init__(self, container, daemon, handler):
        log = container.must("systemctl show systemd-journald --property=MainPID").strip().split("=")[1]
        self.daemon, self.handler, self.log = (numbers(container, each, "io")["write_bytes"] for each in (daemon, handler, log))


def play(container):
    """What was written when ten minutes of a strap and a handler that logs each beat were over, and ten minutes later."""
    with open(container.path("/etc/wakebridge/strap.trace"), "w", encoding="utf-8") as file:
        file.write(strap())
    settings = '{ replay: { file: "strap.trace", speed: %d } }' % SPEED
    container.must("echo '%s' >/etc/wakebridge/wakebridge.json5" % settings)
    container.must("wakebridge new handler hr --profile heart-rate-monitor")
    container.must("systemctl restart " + UNIT)
    daemon = properties(container, "MainPID")["MainPID"]
    return [await_beats(container, daemon, beats) for beats in (BEATS, 2 * BEATS)]


def await_beats(container, daemon, beats):
    end = time.monotonic() + BEATS / SPEED + 60
    while time.monotonic() < end:
        handler = json.loads(container.must("wakebridge handlers --json"))["handlers"][0]
        acknowledged = sum(handler["work"][result] for result in ("useful", "nothing", "failed", "unsaid"))
        if acknowledged >= beats:
            return Written(container, daemon, handler["pid"])
        time.sleep(0.5)
    raise SystemExit("FAIL: only %d of %d beats were acknowledged: %s" % (acknowledged, beats, handler))


def main(base, package):
    with Container(base) as container:
        furnish_apt(container)
        with open(package, "rb") as source, open(container.path("/mnt/wakebridge.deb"), "wb") as copy:
            copy.write(source.read())
        container.must("apt-get -qq install /mnt/wakebridge.deb >/dev/null 2>&1")
        size = int(container.must("dpkg-query --show --showformat='${Installed-Size}' wakebridge"))
        print("package: %.1f MB; installed: %.1f MB" % (os.path.getsize(package) / 1e6, size * 1024 / 1e6))
        starts = sorted(start_time(container) for _ in range(STARTS))
        print("start until READY=1: median %.1f ms of %d, at most %.1f ms" % (statistics.median(starts), STARTS, starts[-1]))
        time.sleep(5)
        memory = numbers(container, properties(container, "MainPID")["MainPID"], "status")
        print("idle memory: %.1f MB resident, %.1f MB of it its own" % (memory["VmRSS"] * 1024 / 1e6, memory["RssAnon"] * 1024 / 1e6))
        first, then = play(container)
        daemon, handler = then.daemon - first.daemon, then.handler - first.handler
        print("written to the disk in ten minutes, %d beats with durability run: daemon %d bytes, handler %d bytes; systemd's "
              "journal, for what the handler printed: %.1f MB" % (BEATS, daemon, handler, (then.log - first.log) / 1e6))
        print("written once, from the start until ten minutes before: daemon %d bytes, handler %d bytes" % (first.daemon, first.handler))
        if daemon or handler:
            print("FAIL: for durability run nothing may be written to the disk", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
