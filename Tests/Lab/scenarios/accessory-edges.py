"""Hundreds of plugs and unplugs, as fast as they can be made (LAB_EDGES of them): all told or folded, no node kept."""
import os
import time

import gadget
from lab import now, until
from visit import hid, profile

EDGES = int(os.environ.get("LAB_EDGES", "400"))
LIMIT = EDGES // 5 + 240


def run(lab):
    bridge = lab.attach(profile("lab-edges", "hid", properties=hid(0x0B04), settle="0s", replug_grace="0s"))
    device = lab.uhid(gadget.SENSOR, product=0x0B04)
    device.plug()
    lab.eventually("it is connected", lambda: bridge.of("lab-edges", "connected"), 30)
    time.sleep(1)
    before, begun = (bridge.descriptors(), bridge.resident()), now()
    for _ in range(EDGES // 2):
        device.unplug()
        device.plug()
    lab.seconds(f"{EDGES} edges took", now() - begun)
    accounted = until(lambda: edges(bridge) >= EDGES + 1, 60 + EDGES / 20, 0.5)
    time.sleep(3)
    told, attention = bridge.of("lab-edges", "connected", "disconnected"), bridge.of("lab-edges", "attention")
    lab.figure("told", f"{len(told)}, and {edges(bridge) - len(told)} folded, {len(attention)} times attention, "
               f"all after {now() - begun:.1f} s")
    lab.claim("each edge is told, or counted in folded", accounted and edges(bridge) == EDGES + 1, edges(bridge))
    lab.claim("nobody is told that a node could not be opened",
              not [one for one in attention if one.data.get("kind") == "access-denied"], [one.data for one in attention])
    lab.claim("nobody is told as connected twice in a row", alternate(told), [one.kind for one in told][:20])
    last = now()
    device.say(b"still me")
    lab.eventually("in the end it is heard", lambda: bridge.of("lab-edges", "data", since=last), 30)
    after = bridge.descriptors(), bridge.resident()
    lab.figure("descriptors, then KiB of memory, before and after", f"{before} {after}")
    lab.claim("no descriptor leaks", after[0] <= before[0], f"{before[0]} to {after[0]}")
    lab.claim("its memory grows by less than 2 MiB", after[1] <= before[1] + 2048, f"{before[1]} to {after[1]} KiB")


def edges(bridge):
    return sum(1 + one.data.get("folded", 0) for one in bridge.of("lab-edges", "connected", "disconnected"))


def alternate(told):
    """A connect that folds an absence follows a connect."""
    return all(a.kind != b.kind or b.data.get("folded", 0) for a, b in zip(told, told[1:]))
