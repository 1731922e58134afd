"""Devices of the library, played by their published messages: each of their values reaches the handler as they are published.

With LAB_RECORDING, `all` or names of folders, those are played, and NAME.trace is what `wakebridge record` made of each.
"""
import os
import signal
import time

import published
from lab import until

# One that is asked and answers in pieces, one that is read, one that notifies of several things, and broadcasts of two kinds.
FEW = ("daly-bms", "airthings-wave-plus", "blood-pressure-monitor", "atc-thermometer", "govee-h5074")
ASKED = os.environ.get("LAB_RECORDING", "").split()
LIMIT = 1700 if ASKED else 240
# The made ones have scripts of their own.
OWN = ("heart-rate-monitor", "gps-receiver")
TOGETHER = 3


def text(file):
    if not os.path.exists(file):
        return ""
    with open(file) as lines:
        return lines.read()


class Recording:
    """What `wakebridge record` writes of a device, from before it connects."""

    def __init__(self, lab, name, *sources):
        self.file = os.path.join(lab.folder, name + ".trace")
        self.process = lab.bridge.background("record-" + name, "record", *sources, "-o", self.file)
        until(lambda: "device 1" in text(self.file) or not self.process.is_alive, 20)

    def has(self, word):
        return any(f" {word}" in line for line in text(self.file).splitlines() if line.startswith("+"))

    def end(self):
        return self.process.kill(signal.SIGINT) == 0


class Visit:
    """A peripheral's life: bonded, gone, back while it is recorded, heard to its end, forgotten."""

    def __init__(self, lab, name):
        self.lab, self.name, self.device = lab, name, published.Published(name)
        self.strap = lab.air.strap("--device", name, kind="peripheral")
        lab.bridge.pair(self.strap, name)
        self.strap.tell("vanish")
        until(lambda: lab.bridge.of(name, "disconnected"), 20)
        self.recording = Recording(lab, name, name)
        self.strap.tell("speak")
        self.strap.tell("appear")
        self.end = time.monotonic() + 60

    def is_over(self):
        return bool(self.strap.entries("done")) or time.monotonic() > self.end

    def conclude(self):
        until(lambda: not missing(self.lab, self.device), 3)
        self.strap.tell("vanish")
        until(lambda: self.recording.has("disconnect"), 20)
        is_well = self.recording.end()
        self.lab.bridge.tool("forget", self.name)
        self.strap.kill()
        claim(self.lab, self.device)
        return is_well


def missing(lab, device):
    """What should have reached the handler and has not."""
    heard = [(one.data.get("characteristic") or one.data.get("stream"), one.data.get("value"))
             for one in lab.bridge.heard("data") if one.profile == device.name]
    return [one for one in device.values() if one not in heard]


def claim(lab, device):
    lost = missing(lab, device)
    lab.claim(f"{device.name}: each value reaches the handler as it is published", not lost, lost[:2])


def address(number):
    return f"C0:CA:00:00:{number >> 8:02X}:{number & 255:02X}"


def run(lab):
    names = [name for name in published.names() if name not in OWN] if ASKED == ["all"] else ASKED or FEW
    devices = [published.Published(name) for name in names]
    peripherals = [one.name for one in devices if one.kind == "peripheral"]
    broadcasters = {one.name: one.broadcasts(address(number)) for number, one in enumerate(devices)
                    if one.kind == "broadcaster"}
    watch = [{"profile": name} for name in peripherals]
    watch += [{"profile": name, "device": f"/bluetooth/{source}", "policy": "all"}
              for name, said in broadcasters.items() for source in sorted({source for source, _ in said})]
    lab.start(extra={"watch": watch})
    connect(lab, peripherals)
    if broadcasters:
        hear(lab, broadcasters)


def connect(lab, names):
    waiting, under_way = list(names), []
    while waiting or under_way:
        if waiting and len(under_way) < TOGETHER:
            name = waiting.pop(0)
            try:
                under_way.append(Visit(lab, name))
            except Exception as error:
                lab.claim(f"{name}: it is paired", False, error)
        for visit in [one for one in under_way if one.is_over()]:
            visit.conclude()
            under_way.remove(visit)
        time.sleep(0.1)


def hear(lab, said):
    devices = {name: published.Published(name) for name in said}
    lab.air.broadcast(list(said.values()))
    recordings = {}
    for name, messages in said.items():
        sources = sorted({source for source, _ in messages})
        until(lambda: {one.event["source"] for one in lab.bridge.heard("data")} >= {f"/bluetooth/{one}" for one in sources}, 30)
        recordings[name] = Recording(lab, name, *sources)
    until(lambda: not any(missing(lab, device) for device in devices.values()), 60, 0.5)
    # Each once more, for those that are recorded.
    time.sleep(3 * max(map(len, said.values())) + 2)
    for name, recording in recordings.items():
        recording.end()
        claim(lab, devices[name])
