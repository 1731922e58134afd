"""Plugs and unplugs (LAB_EDGES of them), and then faster than udev can follow: each is told or folded, no node kept."""
import os
import subprocess

import gadget
from lab import now, until
from udev import Udev
from visit import hid, profile

EDGES = int(os.environ.get("LAB_EDGES", "60"))
BURST = 200
LIMIT = EDGES + 240
WAITS = True


def run(lab):
    bridge = lab.attach(profile("lab-edges", "hid", properties=hid(0x0B04), settle="0s", replug_grace="0s"))
    device, udev = lab.uhid(gadget.SENSOR, product=0x0B04), Udev(lab, "hidraw")
    device.plug()
    lab.eventually("it is connected", lambda: bridge.of("lab-edges", "connected"), 30)
    lab.eventually("its node is open, and with nothing said its handler is frozen", lambda: bridge.holds() and bridge.is_frozen())
    before, begun = (bridge.descriptors(), bridge.resident()), now()
    for _ in range(EDGES // 2):
        edge(udev, device.unplug, "remove", lambda: not bridge.holds())
        edge(udev, device.plug, "add", bridge.holds)
    lab.seconds(f"{EDGES} edges took", now() - begun)
    accounted = until(lambda: edges(bridge) > EDGES, 60 + EDGES / 20, 0.5)
    told, attention = bridge.of("lab-edges", "connected", "disconnected"), bridge.of("lab-edges", "attention")
    lab.figure("told", f"{len(told)}, and {edges(bridge) - len(told)} folded; attention: "
               f"{[one.data.get('kind') for one in attention]}; all after {now() - begun:.1f} s")
    lab.claim("each edge is told, or counted in folded", accounted and edges(bridge) == EDGES + 1, edges(bridge))
    begun = now()
    for _ in range(BURST // 2):
        device.unplug()
        device.plug()
    lab.seconds(f"{BURST} edges that udev cannot follow took", now() - begun)
    subprocess.run(["udevadm", "settle", "-t", "60"], check=True)
    last = now()

    def is_heard():
        # What it says before its node is open again lies in the gap.
        device.say(b"still me")
        return until(lambda: bridge.of("lab-edges", "data", since=last), 1)

    lab.eventually("after them it is heard", is_heard, 60)
    told, attention = bridge.of("lab-edges", "connected", "disconnected"), bridge.of("lab-edges", "attention")
    denied = [one.data for one in attention if one.data.get("kind") == "access-denied"]
    lab.claim("nobody is told that a node could not be opened", not denied, denied)
    lab.claim("connects and disconnects take turns, but for what was folded", take_turns(told),
              [(one.kind, one.data.get("folded")) for one in told])
    after = bridge.descriptors(), bridge.resident()
    lab.figure("descriptors, then KiB of memory, before and after", f"{before} {after}")
    lab.claim("no descriptor leaks", after[0] <= before[0], f"{before[0]} to {after[0]}")
    lab.claim("its memory grows by less than 2 MiB", after[1] <= before[1] + 2048, f"{before[1]} to {after[1]} KiB")
    udev.end()


def edge(udev, act, action, is_noticed):
    """What udev tells is gone already cannot be known: hidraw's own events do not say what it was."""
    at = act()
    udev.awaited(action, since=at)
    until(is_noticed, 30, 0.01)


def edges(bridge):
    return sum(1 + one.data.get("folded", 0) for one in bridge.of("lab-edges", "connected", "disconnected"))


def take_turns(told):
    return all(a.kind != b.kind or b.data.get("folded", 0) for a, b in zip(told, told[1:]))
