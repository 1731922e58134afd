"""HID accessories without USB, by /dev/uhid: as fast as a program speaks, and as Bluetooth's stand in udev."""
import errno
import glob
import os
import select
import struct
import subprocess
import time

from diary import Log

BUS_BLUETOOTH = 5
# Kinds of struct uhid_event.
OPEN, CLOSE, OUTPUT, GET, GET_REPLY, CREATE, INPUT, SET, SET_REPLY = 4, 5, 6, 9, 10, 11, 12, 13, 14
# Its kind, then the largest of its forms, which is that of CREATE.
SIZE = 4 + 128 + 64 + 64 + 2 + 2 + 4 * 4 + 4096


class Uhid:
    """What bluetoothd makes of a Bluetooth keyboard is one of these, on BUS_BLUETOOTH, with its address as `uniq`."""

    def __init__(self, folder, name, descriptor, bus=BUS_BLUETOOTH, uniq="", vendor=0x1209, product=0x0B01,
                 title="Uhid"):
        subprocess.run(["modprobe", "-a", "uhid", "evdev", "hid_generic"], check=True)
        self.log = Log(os.path.join(folder, f"uhid{name}.log"))
        self.identity = struct.pack("<128s64s64sHHIIII", title.encode(), b"", uniq.encode(), len(descriptor), bus,
                                    vendor, product, 1, 0) + descriptor
        self.numbers = bus, vendor, product
        self.link, self.said = None, []

    def plug(self):
        self.link = os.open("/dev/uhid", os.O_RDWR | os.O_NONBLOCK)
        self.log("plug")
        os.write(self.link, struct.pack("<I", CREATE) + self.identity)
        self.log.flush()
        return time.monotonic()

    def unplug(self):
        at = time.monotonic()
        self.log("unplug")
        os.close(self.link)
        self.link = None
        self.log.flush()
        return at

    def say(self, report, quiet=False):
        if not quiet:
            self.said.append((time.monotonic(), bytes(report)))
            self.log("say", hex=report.hex())
        os.write(self.link, struct.pack("<IH", INPUT, len(report)) + report)

    def host_nodes(self, pattern):
        """What the machine made of it: names below /dev, as `hidraw*` and `event*`."""
        wanted = "{:04X}:{:08X}:{:08X}".format(*self.numbers)
        found = []
        for place in glob.glob("/sys/devices/virtual/misc/uhid/*:*.*"):
            with open(place + "/uevent") as file:
                if f"HID_ID={wanted}\n" in file.read():
                    found += glob.glob(f"{place}/hidraw/{pattern}") + glob.glob(f"{place}/input/input*/{pattern}")
        return sorted(map(os.path.basename, found))

    def told(self, seconds=0.0):
        """The reports that the machine has sent it since it was asked last, waiting for the first one so long."""
        heard, end = [], time.monotonic() + seconds
        while select.select([self.link], [], [], max(0, 0 if heard else end - time.monotonic()))[0]:
            event = os.read(self.link, SIZE)
            kind, = struct.unpack_from("<I", event)
            if kind == OUTPUT:
                size, = struct.unpack_from("<H", event, 4 + 4096)
                heard.append(event[4:4 + size])
                self.log("told", hex=heard[-1].hex())
            elif kind in (GET, SET):
                self.refuse(kind, event)
            elif kind in (OPEN, CLOSE):
                self.log("opened" if kind == OPEN else "closed")
        self.log.flush()
        return heard

    def refuse(self, kind, event):
        """Whoever asks waits five seconds for an answer."""
        number, = struct.unpack_from("<I", event, 4)
        answer = struct.pack("<IIH", GET_REPLY, number, errno.EIO) + struct.pack("<H", 0)
        os.write(self.link, answer if kind == GET else struct.pack("<IIH", SET_REPLY, number, errno.EIO))

    def discard(self):
        if self.link is not None:
            self.unplug()
