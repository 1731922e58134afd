"""Devices of the library, played by their published messages: each of their values reaches the handler as they are published.

With LAB_DEVICES, `all` or names of folders, those are played.
"""
import os
import signal

import beacons
import published
from air import end
from lab import now, until

# One that is asked and answers in pieces, one that is read, one that notifies of several things, and broadcasts of two kinds.
FEW = ("daly-bms", "airthings-wave-plus", "blood-pressure-monitor", "atc-thermometer", "govee-h5074")
ASKED = os.environ.get("LAB_DEVICES", "").split()
LIMIT = 1700 if ASKED == ["all"] else 120 + 60 * len(ASKED or FEW)
LIBRARY = True
# The made ones have scripts of their own.
OWN = ("heart-rate-monitor", "gps-receiver")
# Recorders at a time: the daemon takes 64 connections.
RECORDED = 35


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

    def count(self, word):
        return sum(f" {word}" in line for line in text(self.file).splitlines() if line.startswith("+"))

    def end(self):
        self.process.kill(signal.SIGINT)


class Visit:
    """A peripheral's life: bonded, gone, back while it is recorded, heard to its end, forgotten."""
    ENDS = "vanish"

    def __init__(self, lab, name):
        self.lab, self.name, self.device = lab, name, published.Published(name)
        self.strap = lab.air.strap("--device", name, kind="peripheral")
        lab.bridge.pair(self.strap, name)
        until(lambda: lab.bridge.of(name, "connected"), 20)
        self.strap.tell("vanish")
        until(lambda: lab.bridge.of(name, "disconnected"), 20)
        self.recording = Recording(lab, name, name)
        self.strap.tell("speak")
        self.strap.tell("appear")

    def conclude(self):
        until(lambda: self.strap.entries("done"), 60)
        # What is only read may come later.
        until(lambda: self.recording.count("data") >= len(self.device.values()), 5)
        self.strap.tell(self.ENDS)
        until(lambda: self.recording.count("disconnect"), 20)
        self.recording.end()
        self.lab.bridge.tool("forget", self.name)
        self.strap.kill()
        claim(self.lab, self.device)


class Call(Visit):
    """The same of a serial port over Bluetooth, which says nothing before it is told to."""
    ENDS = "drop"

    def __init__(self, lab, name):
        self.lab, self.name, self.device = lab, name, published.Published(name)
        self.strap = lab.air.logger("--device", name, kind="port")
        lab.pair_port(self.strap, name)
        until(lambda: self.strap.entries("open"), 30)
        self.recording = Recording(lab, name, name)
        until(lambda: self.recording.count("connect"), 20)
        self.strap.tell("speak")


def missing(lab, device):
    """What should have reached the handler and has not."""
    heard = [(one.data.get("characteristic") or one.data.get("stream"), one.data.get("value"))
             for one in lab.bridge.heard("data") if one.profile == device.name]
    return [(stream, value) for stream, value in device.values()
            if not any(stream == other and device.is_said(value, said) for other, said in heard)]


def claim(lab, device):
    lost = missing(lab, device)
    lab.claim(f"{device.name}: each value reaches the handler as it is published", not lost, lost[:2])


def address(number):
    return f"C0:CA:00:00:{number >> 8:02X}:{number & 255:02X}"


def run(lab):
    names = [name for name in published.names() if name not in OWN] if ASKED == ["all"] else ASKED or FEW
    devices = [published.Published(name) for name in names]
    broadcasters = [Broadcaster(number, one) for number, one in enumerate(devices) if one.kind == "broadcaster"]
    visitors = [one for one in devices if one.kind in ("peripheral", "logger")]
    watch = [{"profile": one.name} for one in visitors]
    lab.start(extra={"watch": watch}, classic=any(one.kind == "logger" for one in visitors))
    connect(lab, visitors)
    if broadcasters:
        hear(lab, broadcasters)


def connect(lab, devices):
    """One after the other: beside a link that is being made it takes long to pair."""
    waiting, failed = list(devices), set()
    while waiting:
        device = waiting.pop(0)
        begun = now()
        try:
            (Visit if device.kind == "peripheral" else Call)(lab, device.name).conclude()
            lab.seconds(device.name, now() - begun)
        except Exception as error:
            lab.figure(f"{device.name} did not come", error)
            lab.air.straps[-1].kill()
            lab.air.revive_bluetoothd()
            if device.name in failed:
                lab.claim(f"{device.name}: it comes", False, error)
            else:
                failed.add(device.name)
                waiting.append(device)


class Broadcaster:
    def __init__(self, number, device):
        self.device = device
        self.said = device.broadcasts(f"C0:CA:00:00:{number >> 8:02X}:{number & 255:02X}")
        self.data = [part for message in device.messages for part in message.structures()]
        self.sources = sorted({source for source, _ in self.said})
        self.watch = [{"profile": device.name, "device": f"/bluetooth/{one}", "policy": "all"} for one in self.sources]


def hear(lab, broadcasters):
    # Not before: beside a scan that goes on it takes a minute to pair.
    lab.bridge.watch([entry for one in broadcasters for entry in one.watch])
    for begin in range(0, len(broadcasters), RECORDED):
        hear_some(lab, broadcasters[begin:begin + RECORDED])


def end_complete(recordings, broadcasters):
    """Ends each recording that has all that its device sends; returns whether none goes on."""
    for one in [one for one in broadcasters if one.device.name in recordings]:
        if all(data.hex() in text(recordings[one.device.name].file) for data in one.data):
            recordings.pop(one.device.name).end()
    return not recordings


def hear_some(lab, broadcasters):
    lab.air.broadcast([one.said for one in broadcasters])
    known = lambda: {one.event["source"].rsplit("/", 1)[1] for one in lab.bridge.heard("data")}
    until(lambda: all(set(one.sources) <= known() for one in broadcasters), 40, 0.5)
    recordings = {one.device.name: Recording(lab, one.device.name, *sorted(set(one.sources) & known()))
                  for one in broadcasters if set(one.sources) & known()}
    # Each is recorded until it has said everything once.
    longest = beacons.HELD * (2 * max(len(one.said) for one in broadcasters) + 1)
    until(lambda: end_complete(recordings, broadcasters), longest, 0.2)
    for recording in recordings.values():
        recording.end()
    end(lab.air.others.pop())
    # A recording has a broadcast at once; the handler sleeps on for five seconds, so that more come along.
    until(lambda: not any(missing(lab, one.device) for one in broadcasters), 30, 0.5)
    for one in broadcasters:
        claim(lab, one.device)
