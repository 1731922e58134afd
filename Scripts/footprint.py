"""What the package costs on the machine it is installed on: sizes, memory, time to start, and what is written to the disk.

usage: footprint.py BASE PACKAGE     BASE is the folder of a Debian with systemd

Prints a line for each figure. Fails if the daemon or a handler wrote to the disk for events of durability `run`.
The strap of ten minutes is played SPEED times as fast as it beats: what is written for an event does not depend on the time between.
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
    """A trace of ten minutes with a beat a second, which begins when the daemon has long started."""
    lines = ["wakebridge-trace 1", "clock 2026-11-21T07:00:00Z",
             'device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d', "+%d 1 connect" % (4 * SPEED)]
    return "\n".join(lines + ["+1 1 data 2a37 00%02x" % (60 + beat % 40) for beat in range(BEATS)] + ["end", ""])


def written(container, process):
    return numbers(container, process, "io")["write_bytes"]


def play(container):
    """What a strap and a handler that logs each beat make these write: the daemon, the handler, and the system's journal."""
    with open(container.path("/etc/wakebridge/strap.trace"), "w", encoding="utf-8") as file:
        file.write(strap())
    settings = '{ replay: { file: "strap.trace", speed: %d } }' % SPEED
    container.must("echo '%s' >/etc/wakebridge/wakebridge.json5" % settings)
    container.must("wakebridge new handler hr --profile heart-rate-monitor")
    container.must("systemctl restart " + UNIT)
    time.sleep(1)
    daemon = properties(container, "MainPID")["MainPID"]
    log = container.must("systemctl show systemd-journald --property=MainPID").strip().split("=")[1]
    before = written(container, daemon), written(container, log)
    end = time.monotonic() + BEATS / SPEED + 60
    while time.monotonic() < end:
        handler = json.loads(container.must("wakebridge handlers --json"))["handlers"][0]
        acknowledged = sum(handler[result] for result in ("useful", "nothing", "failed", "unsaid"))
        if acknowledged > BEATS:
            return (written(container, daemon) - before[0], written(container, handler["pid"]), written(container, log) - before[1])
        time.sleep(0.5)
    raise SystemExit("FAIL: only %d of %d beats were acknowledged: %s" % (acknowledged, BEATS, handler))


def main(base, package):
    with Container(base) as container:
        furnish_apt(container)
        with open(package, "rb") as source, open(container.path("/root/wakebridge.deb"), "wb") as copy:
            copy.write(source.read())
        container.must("apt-get -qq install /root/wakebridge.deb >/dev/null 2>&1")
        size = int(container.must("dpkg-query --show --showformat='${Installed-Size}' wakebridge"))
        print("package: %.1f MB; installed: %.1f MB" % (os.path.getsize(package) / 1e6, size * 1024 / 1e6))
        starts = sorted(start_time(container) for _ in range(STARTS))
        print("start until READY=1: median %.1f ms of %d, at most %.1f ms" % (statistics.median(starts), STARTS, starts[-1]))
        time.sleep(5)
        memory = numbers(container, properties(container, "MainPID")["MainPID"], "status")
        print("idle memory: %.1f MB resident, %.1f MB of it its own" % (memory["VmRSS"] * 1024 / 1e6, memory["RssAnon"] * 1024 / 1e6))
        daemon, handler, log = play(container)
        print("written to disk for %d beats with durability run: daemon %d bytes, handler %d bytes; systemd's journal, which has "
              "what the handler printed: %d bytes" % (BEATS, daemon, handler, log))
        if daemon or handler:
            print("FAIL: durability run must write nothing to the disk", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
