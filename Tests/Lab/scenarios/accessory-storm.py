"""While `udevadm trigger` never ends, plugs and unplugs are told within a second of udev, and nothing else is."""
import subprocess
import sys
import time

from lab import now, until
from visit import LINE, lines, profile

ROUNDS = 4


def run(lab):
    bridge = lab.attach(profile("lab-storm", "serial", 0x0A08, settle="0s", replug_grace="0s", framing=LINE),
                        profile("lab-calm", "serial", 0x0A09, settle="0s", replug_grace="0s", framing=LINE))
    calm, storm = (lab.gadget("acm", product=0x0A09, serial="C", port=1), lab.gadget("acm", product=0x0A08, serial="S"))
    calm.plug()
    lab.eventually("the one that stays is connected", lambda: bridge.of("lab-calm", "connected"), 30)
    time.sleep(1)
    before, worked, begun = bridge.descriptors(), bridge.processor(), now()
    udev = Monitor(lab)
    loop = lab.process("trigger", "sh", "-c", "while udevadm trigger --settle; do echo; done")
    try:
        told = [one for round in range(ROUNDS) for one in edges(lab, storm, round, udev, calm)]
    finally:
        loop.kill()
    lab.figure("events of udev meanwhile", f"{len(udev.lines())} of serial lines, {loop.text().count(chr(10))} whole triggers")
    lab.figure("processor time of the bridge meanwhile", f"{bridge.processor() - worked:.2f} s in {now() - begun:.1f} s")
    lab.figure("from udev's word to the bridge's event", ", ".join(f"{late * 1000:.0f} ms" for late in told))
    lab.claim("each edge is told within 1 s of udev's word", len(told) == 2 * ROUNDS and max(told) <= 1, told)
    lab.claim("of the one that stayed nothing was told but its data",
              [one.kind for one in bridge.of("lab-calm", "connected", "disconnected", "gap", "attention")] == ["connected"],
              [one.event for one in bridge.of("lab-calm", "disconnected", "gap", "attention")])
    lab.tally("the one that stayed", [(at, said.rstrip()) for at, said in calm.said], bridge.of("lab-calm", "data"))
    lab.eventually("with the storm over the descriptors are as they were", lambda: bridge.descriptors() <= before, 10)
    lab.figure("descriptors before and after", f"{before} {bridge.descriptors()}")
    udev.process.kill()


class Monitor:
    """When udev told what of serial lines, by its own tool: to nobody sooner than to the bridge."""

    def __init__(self, lab):
        self.process = lab.process("monitor", "stdbuf", "-oL", "udevadm", "monitor", "--udev", "--subsystem-match=tty")
        until(lambda: "UDEV" in self.process.text(), 10)

    def lines(self):
        return [line for line in self.process.text().splitlines() if line.startswith("UDEV ") and "[" in line]

    def told(self, action, node, since):
        for line in self.lines():
            at = float(line.split("[")[1].split("]")[0])
            words = line.split("]")[1].split()
            if at >= since and words[0] == action and words[1].endswith("/" + node):
                return at
        return None


def edges(lab, storm, round, udev, calm):
    """How much later than udev the bridge told a plug, and an unplug."""
    bridge = lab.bridge
    for action, kind in (("add", "connected"), ("remove", "disconnected")):
        begun = storm.plug() if action == "add" else storm.unplug()
        for line in lines(f"calm {round} {action}", range(10)):
            calm.say(line)
        if not until(lambda: bridge.of("lab-storm", kind, since=begun), 60):
            lab.claim(f"round {round}: {kind} is told", False)
            return
        if action == "add":
            node = storm.host_nodes("ttyACM*")[0]
        at = until(lambda: udev.told(action, node, begun), 20)
        one = bridge.of("lab-storm", kind, since=begun)[0]
        yield bridge.instant(one.event["time"]) - at if at else sys.maxsize
