"""A serial accessory at three million bits a second and a HID accessory at a thousand reports: nothing is lost.

An emulated processor that another guest shares does not carry that: it gets a twentieth of it, and says so;
LAB_RATES=1 asks for all. What comes more seldom is also waited for longer before the handler is frozen.
"""
import array
import os

import gadget
from air import forked
from lab import now, until
from visit import LINE, hid, profile
from waiting import pace

with open("/proc/cpuinfo") as file:
    SHARE = float(os.environ.get("LAB_RATES") or (0.05 if "TCG" in file.read() else 1))
# 8N1: ten bits a byte.
SIZE, SECONDS = 1000, 5
# Its default, as much longer.
LINGER = f"{int(20 / SHARE)}ms"
LINES, REPORTS = (int(rate * SHARE * SECONDS) for rate in (3_000_000 / 10 / SIZE, 1000))


def paced(count, seconds, say, path):
    """Says so many in so many seconds; what is late is caught up with, up to half of what hidraw keeps for a reader.

    The file at `path` gets the instants.
    """
    due, step, instants = now(), seconds / count, array.array("d")
    for number in range(count):
        say(number)
        instants.append(now())
        due = max(due + step, now() - 0.03)
        pace(due)
    with open(path, "wb") as file:
        instants.tofile(file)


def line(number):
    return b"%08d " % number + b"x" * (SIZE - 10) + b"\n"


def run(lab):
    bridge = lab.attach(
        profile("lab-fast-line", "serial", 0x0A0A, serial={"baud": 3_000_000}, framing=LINE),
        profile("lab-fast-hid", "hid", properties=hid(0x0B05)), timers={"linger": LINGER})
    lab.figure("share of the full rates (LAB_RATES)", SHARE)
    port, sensor = lab.gadget("acm", product=0x0A0A, serial="F"), lab.uhid(gadget.SENSOR, product=0x0B05)
    for device, name in ((port, "lab-fast-line"), (sensor, "lab-fast-hid")):
        device.plug()
        lab.eventually(f"{name}: connected", lambda: bridge.of(name, "connected"), 30)

    measure(lab, "lab-fast-line", LINES, line, lambda data: port.say(data, quiet=True))
    measure(lab, "lab-fast-hid", REPORTS, lambda number: number.to_bytes(8, "little"),
            lambda data: sensor.say(data, quiet=True))


def measure(lab, name, count, message, say):
    bridge = lab.bridge
    lab.eventually(f"{name}: before it speaks the handler is frozen", bridge.is_frozen, 15)
    before, begun = (bridge.processor(), bridge.processor(bridge.handler)), now()
    path = os.path.join(lab.folder, name)
    child = forked(lambda: (paced(count, SECONDS, lambda number: say(message(number)), path), os._exit(0)),
                   path + ".err")
    lab.claim(f"{name}: it said all", os.waitpid(child, 0)[1] == 0)
    spoken = now() - begun
    # One more, when nothing waits any more: what was dropped before it is told before it.
    lab.eventually(f"{name}: with all of it heard the handler is frozen", bridge.is_frozen, 60)
    last = now()
    say(message(count))
    until(lambda: bridge.of(name, "data", since=begun + spoken) and heard(bridge, name)[-1].raw == bare(message(count)),
          60, 0.5)
    took = bridge.of(name, "data")[-1].at - begun
    after = bridge.processor(), bridge.processor(bridge.handler)
    lab.figure(f"{name}: said", f"{count} in {spoken:.2f} s; all heard after {took:.2f} s")
    lab.figure(f"{name}: processor time of the bridge and of the handler",
               ", ".join(f"{b - a:.2f} s, {(b - a) / count * 1e6:.0f} us each" for a, b in zip(before, after)))
    instants = array.array("d")
    with open(path, "rb") as file:
        instants.fromfile(file, count)
    said = [(at, bare(message(number))) for number, at in enumerate([*instants, last])]
    gaps = bridge.gaps(name, since=begun)
    lab.tally(name, said, heard(bridge, name), gaps)
    lab.in_time(f"{name}: no gap is told", not gaps, gaps[:3])
    thaws = [one.at - begun for one in bridge.heard("resumed") if begun <= one.at < begun + spoken]
    lab.claim(f"{name}: one handler heard all of it", len(bridge.heard("lab.start")) == 1)
    lab.in_time(f"{name}: thawed once, it was awake for all of it", len(thaws) == 1, thaws)


def bare(message):
    return message.rstrip(b"\n") if len(message) == SIZE else message


def heard(bridge, name):
    return sorted(bridge.of(name, "data"), key=lambda one: one.event["seq"])
