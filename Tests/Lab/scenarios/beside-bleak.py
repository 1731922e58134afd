"""The same beats for bleak and for a handler that is frozen between them: how soon each has one, and at what cost."""
import os
import sys
import time

import capture
from air import Process
from lab import until

# They are counted for so many.
BEATS = 36


def median(values):
    return sorted(values)[len(values) // 2] if values else None


def spent(pid):
    """Seconds of processor time, of every thread."""
    folder = f"/proc/{pid}/task"
    total = 0
    for task in os.listdir(folder):
        with open(f"{folder}/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.5")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    bleak = Process(lab.folder, "bleak", sys.executable, os.path.join(here, "bleak_client.py"), strap.address,
                    air.device(strap)[0])
    lab.eventually("bleak hears it beside us", lambda: "beat" in bleak.text(), 60)
    since, before = time.monotonic(), [spent(bridge.daemon.pid), spent(bleak.pid)]

    def heard():
        """Beats, not events: while two subscribe, the bridge gets each twice."""
        return len({one.beat for one in bridge.beats(since=since)})

    until(lambda: heard() >= BEATS, 60, 0.5)
    after, count = [spent(bridge.daemon.pid), spent(bleak.pid)], heard()
    # Ended in any gentler way it would take the link down for everybody.
    bleak.kill()
    began = {}
    for at, opcode, _, packet in capture.records(os.path.join(lab.folder, "air.btsnoop")):
        if opcode == 5 and len(packet) >= 15 and packet[8] == 0x1B and packet[11:13] == b"\x16\x48":
            began[packet[13] | packet[14] << 8] = at - bridge.wall
    theirs = {int(n): float(at) for word, at, n in (line.split() for line in bleak.lines()
                                                    if line.startswith("beat")) if word == "beat"}
    ours, times = {}, {}
    for one in bridge.beats():
        ours.setdefault(one.beat, one.at)
        times.setdefault(one.beat, one.event["time"])
    both = sorted(set(ours) & set(theirs) & set(began))
    lab.claim("both hear the same beats, at least twenty", len(both) >= 20, len(both))
    if not both:
        return lab.figure("bleak said", bleak.text()[-300:])
    mine = median([ours[n] - began[n] for n in both])
    other = median([theirs[n] - began[n] for n in both])
    lab.figure("from the air to the frozen handler", f"median {mine * 1000:.1f} ms")
    lab.figure("from the air to bleak's callback", f"median {other * 1000:.1f} ms")
    # Up to here ours went the way of bleak's: through bluetoothd and the bus.
    common = median([bridge.instant(times[n]) - began[n] for n in both])
    lab.figure("from the air to the bridge, by the time that it gives the event", f"median {common * 1000:.1f} ms")
    lab.not_yet("our median is at most half of bleak's", mine <= other / 2, f"{mine / other:.2f} of it")
    costs = [(after[side] - before[side]) / max(count, 1) for side in (0, 1)]
    lab.figure("processor time a notification, wakebridged", f"{costs[0] * 1000:.2f} ms")
    lab.figure("processor time a notification, the program with bleak", f"{costs[1] * 1000:.2f} ms")
    lab.not_yet("a notification costs us at most a quarter of what it costs with bleak", costs[0] <= costs[1] / 4,
                f"{costs[0] / costs[1]:.2f} of it")
    lab.reckon(strap, others=True)
