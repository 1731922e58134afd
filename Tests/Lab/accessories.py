#!/usr/bin/python3
"""Writes the story in which umockdev plays accessories of the library and `wakebridge record` hears them (devices.py).

    accessories.py PROGRAMS WORK NAME ... >STORY

Each is attached, named, recorded, says its published messages and goes. WORK/NAME.trace is what was recorded. WORK/Devices
gets their profiles, each asking for the one device that is played: a recording says of it what its profile asks for.
"""
import json
import os
import sys

from published import Published

ROOT = "/sys/devices/usb1"
# As many recorders at a time as a small machine bears.
TOGETHER = 16
# Between two messages: longer than silences that end one.
PAUSE = 0.4
# A serial chip of general use.
CHIP = {"ID_VENDOR_ID": "1a86", "ID_MODEL_ID": "7523"}
# Attributes of the device or its interface, which udev makes these of.
MADE = {"ID_VENDOR_ID", "ID_MODEL_ID", "ID_USB_INTERFACE_NUM"}


class Part:
    """One accessory on a socket of its own, and the steps of its life."""

    def __init__(self, name, number, work):
        self.device, self.name, self.number = Published(name), name, number
        self.trace = f"{work}/{name}.trace"
        self.said = self.device.said()
        streams = {stream for stream, _, _ in self.said}
        self.node = self.device.profile.get("node") or (
            "serial" if "serial" in streams else "input" if "input" in streams else "hid")
        self.path = {"serial": f"/dev/ttyACM{number}", "hid": f"/dev/hidraw{number}",
                     "input": f"/dev/input/event{number}"}[self.node]
        self.place = f"{ROOT}/1-{number}/1-{number}:1.0"

    def descriptor(self):
        """The reports that it speaks of: those of its messages, as long as they are."""
        given = [one.vector["report_descriptor"] for one in self.device.messages if "report_descriptor" in one.vector]
        if given:
            return given[0]
        reports = {stream: len(pieces[0]) for stream, pieces, _ in self.said}
        items = "".join(
            (f"85{int(stream[7:]):02x}" if stream != "report-0" else "") + f"150026ff00750895{size:02x}09018102"
            for stream, size in reports.items())
        return f"0600ff0901a101{items}c0"

    def comes(self):
        wanted = self.device.properties
        usb = {**CHIP, **wanted}
        rest = " ".join(f"{key}={value.replace(' ', '%20')}" for key, value in wanted.items() if key not in MADE)
        number, name = self.number, self.node
        hidden = wanted.get("ID_USB_INTERFACE_NUM", "00")
        step = {"serial": "line", "hid": "reports", "input": "events"}[name]
        yield f"{step} {self.path} {self.descriptor() if name == 'hid' else ''}".rstrip()
        major, minor = {"serial": (166, number), "hid": (240, number), "input": (13, 64 + number)}[name]
        yield f"ready c{major}:{minor} 1000"
        yield (f"device usb 1-{number} {ROOT} DEVTYPE=usb_device a:idVendor={usb['ID_VENDOR_ID']} "
               f"a:idProduct={usb['ID_MODEL_ID']} a:serial={self.name}")
        yield f"device usb 1-{number}:1.0 {ROOT}/1-{number} DEVTYPE=usb_interface a:bInterfaceNumber={hidden}"
        subsystem, node = {"serial": "tty", "hid": "hidraw", "input": "input"}[name], self.path.rsplit("/", 1)[1]
        place = self.place
        if name == "hid":
            hid = f"0003:{usb['ID_VENDOR_ID']}:{usb['ID_MODEL_ID']}.{number:04X}".upper()
            yield f"device hid {hid} {place} b:report_descriptor={self.descriptor()}"
            place = f"{place}/{hid}"
        yield (f"device {subsystem} {node} {place} DEVNAME={self.path} MAJOR={major} MINOR={minor} {rest}").rstrip()
        self.leaf = f"{place}/{node}"

    def speaks(self, turn):
        """Its next message; a device that types says each key for itself."""
        if turn >= len(self.said):
            return
        stream, pieces, _ = self.said[turn]
        if stream == "input":
            if len(pieces[0]) % 8:
                return
            types = "decoder" in self.device.profile["streams"]["input"]
            pieces = [pieces[0][at:at + 8] for at in range(0, len(pieces[0]), 8)] if types else pieces
        yield f"send {self.path} " + " ".join(piece.hex() for piece in pieces)


def lay(profile, folder):
    os.makedirs(folder)
    with open(f"{folder}/profile.json5", "w") as file:
        json.dump(profile, file)


def story(programs, work, parts):
    tool = f"{programs}/wakebridge --runtime {work}/run"
    yield "device usb usb1 - DEVTYPE=usb_device TYPE=9/0/1 a:idVendor=1d6b a:idProduct=0002"
    yield f"beside {programs}/wakebridged --no-bluetooth --config {work}/config --state {work}/state --runtime {work}/run"
    yield f"until exit%200 {tool} status"
    for begin in range(0, len(parts), TOGETHER):
        yield from play(tool, parts[begin:begin + TOGETHER])


def play(tool, parts):
    for part in parts:
        # Listeners' queues are short.
        yield from (step for line in part.comes() for step in (line, "pause 0.03"))
    for part in parts:
        yield f"until exit%200 {tool} pair {part.path} --alias {part.name}"
        yield f"beside {tool} record {part.name} -o {part.trace}"
    for part in parts:
        yield f"until connect cat {part.trace}"
    for turn in range(max(len(part.said) for part in parts)):
        yield f"pause {PAUSE}"
        for part in parts:
            yield from part.speaks(turn)
    yield f"pause {PAUSE}"
    for part in parts:
        yield f"remove {part.leaf}"
        yield "pause 0.03"
    for part in parts:
        yield f"until disconnect cat {part.trace}"
        yield f"signal INT /{part.name}.trace"


if __name__ == "__main__":
    programs, work, *names = sys.argv[1:]
    parts = [Part(name, number, work) for number, name in enumerate(names, 1)]
    for part in parts:
        lay({**part.device.profile, "match": {"properties": part.device.properties}}, f"{work}/Devices/{part.name}")
    print(*story(programs, work, parts), sep="\n")
