"""A serial accessory at three million bits a second and a HID accessory at a thousand reports: nothing is lost.

An emulated processor does not carry that to a daemon that was built for tests: it gets a twentieth of it, and says so;
LAB_RATES=1 asks for all.
"""
import os
import time

import gadget
from air import forked
from lab import now, until
from visit import LINE, hid, profile

with open("/proc/cpuinfo") as file:
    SHARE = float(os.environ.get("LAB_RATES") or (0.05 if "TCG" in file.read() else 1))
# 8N1: ten bits a byte.
SIZE, SECONDS = 1000, 5
LINES, REPORTS = (int(rate * SHARE * SECONDS) for rate in (3_000_000 / 10 / SIZE, 1000))


def paced(count, seconds, say):
    """Says so many in so many seconds; what is late is caught up with, up to half of what hidraw keeps for a reader."""
    due, step = now(), seconds / count
    for number in range(count):
        say(number)
        due = max(due + step, now() - 0.03)
        time.sleep(max(0, due - now()))


def line(number):
    return b"%08d " % number + b"x" * (SIZE - 10) + b"\n"


def run(lab):
    bridge = lab.attach(
        profile("lab-fast-line", "serial", 0x0A0A, serial={"baud": 3_000_000}, framing=LINE),
        profile("lab-fast-hid", "hid", properties=hid(0x0B05)))
    lab.figure("share of the full rates (LAB_RATES)", SHARE)
    port, sensor = lab.gadget("acm", product=0x0A0A, serial="F"), lab.uhid(gadget.SENSOR, product=0x0B05)
    for device, name in ((port, "lab-fast-line"), (sensor, "lab-fast-hid")):
        device.plug()
        lab.eventually(f"{name}: connected", lambda: bridge.of(name, "connected"), 30)

    def tell(number):
        port.say(line(number), quiet=True)

    def report(number):
        sensor.say(number.to_bytes(8, "little"), quiet=True)

    for name, count, say, number in (("lab-fast-line", LINES, tell, lambda raw: int(raw[:8])),
                                     ("lab-fast-hid", REPORTS, report, lambda raw: int.from_bytes(raw, "little"))):
        measure(lab, name, count, say, number)


def measure(lab, name, count, say, number):
    bridge = lab.bridge
    lab.eventually(f"{name}: before it speaks the handler is frozen", bridge.is_frozen, 15)
    before, begun = (bridge.processor(), bridge.processor(bridge.handler)), now()
    child = forked(lambda: (paced(count, SECONDS, say), os._exit(0)), os.path.join(lab.folder, name + ".err"))
    lab.claim(f"{name}: it said all", os.waitpid(child, 0)[1] == 0)
    spoken = now() - begun
    until(lambda: len(bridge.of(name, "data")) >= count, 60, 0.5)
    heard = [number(one.raw) for one in sorted(bridge.of(name, "data"), key=lambda one: one.event["seq"])]
    took = bridge.heard()[-1].at - begun
    after = bridge.processor(), bridge.processor(bridge.handler)
    lab.figure(f"{name}: said",
               f"{count} in {spoken:.2f} s; all heard after {took:.2f} s, {len(heard) / took:.0f} a second")
    lab.figure(f"{name}: processor time of the bridge and of the handler",
               ", ".join(f"{b - a:.2f} s, {(b - a) / count * 1e6:.0f} us each" for a, b in zip(before, after)))
    missing = sorted(set(range(count)) - set(heard))
    lab.claim(f"{name}: nothing is lost, and all is in order", heard == list(range(count)),
              f"{len(heard)} of {count}, missing {missing[:5]}...{missing[-5:]} ({len(missing)})")
    gaps = bridge.of(name, "gap")
    lab.claim(f"{name}: no gap is told", not gaps, [one.data for one in gaps])
    lab.claim(f"{name}: one handler was awake for all of it", len(bridge.heard("lab.start")) == 1)
