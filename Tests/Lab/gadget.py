"""USB accessories without their hardware: gadgets on dummy controllers, plugged in and pulled out at will."""
import errno
import fnmatch
import glob
import os
import select
import subprocess
import time
import tty

from diary import Log

CONFIG = "/sys/kernel/config"
GADGETS = CONFIG + "/usb_gadget"
MODULES = ["libcomposite", "usb_f_acm", "usb_f_hid", "cdc_acm", "usbhid", "evdev"]
# Controllers, each with one port: what is plugged into one of them has the same place in the machine for ever.
PORTS = 4

# HID report descriptors. Six keys, their modifiers, and back from the machine the lights, as a BIOS takes it.
KEYS = ("050719e029e71500250175019508 8102 95017508 8103 050819012905 75019505 9102 75039501 9103"
        "9506750815002565 050719002965 8100")
# A byte string of the maker's own, to either side.
OWN = "150026ff007508 95{0:02x}0901 8102 95{0:02x}0902 9102"
# Reports without a number: keys, and nothing that the kernel makes an input device of.
KEYBOARD = bytes.fromhex("05010906a101" + KEYS + "c0")
SENSOR = bytes.fromhex("0600ff0901a101" + OWN.format(8) + "c0")
# Keys are report 1, and report 2 has seven bytes of the maker's own.
NUMBERED = bytes.fromhex("05010906a1018501" + KEYS + "c0" + "0600ff0901a1018502" + OWN.format(7) + "c0")


def load():
    """The controllers, with nothing plugged in that an earlier scenario may have left."""
    subprocess.run(["modprobe", "-a", *MODULES], check=True)
    subprocess.run(["modprobe", "dummy_hcd", f"num={PORTS}"], check=True)
    if not os.path.isdir(GADGETS):
        subprocess.run(["mount", "-t", "configfs", "none", CONFIG], check=True)
    for leftover in os.listdir(GADGETS):
        discard(os.path.join(GADGETS, leftover))


def put(path, value):
    with open(path, "wb" if isinstance(value, bytes) else "w") as file:
        file.write(value)


def discard(place):
    """Takes a gadget out of the kernel, plugged in or not."""
    with open(place + "/UDC") as file:
        if file.read().strip():
            put(place + "/UDC", "\n")
    config = place + "/configs/c.1"
    for name in os.listdir(config):
        if os.path.islink(os.path.join(config, name)):
            os.unlink(os.path.join(config, name))
    functions = glob.glob(place + "/functions/*")
    for folder in (config + "/strings/0x409", config, *functions, place + "/strings/0x409", place):
        os.rmdir(folder)


class Gadget:
    """An accessory in port `port`; `serial` is its number, or None for a make that has none.

    `functions` are "acm", a serial line, or report descriptors. Its diary is gadgetNAME.log; `said` has all that it
    said, with the instants, and `falls` the instants when it was pulled out.
    """

    def __init__(self, folder, name, *functions, port=0, serial=None, vendor=0x1209, product=0x0A01, title="Gadget"):
        self.name, self.port, self.functions = name, port, functions
        self.log = Log(os.path.join(folder, f"gadget{name}.log"))
        self.place = os.path.join(GADGETS, name)
        self.nodes, self.open, self.said, self.falls = [], {}, [], []
        strings, config = self.place + "/strings/0x409", self.place + "/configs/c.1"
        for folder in (self.place, strings, config, config + "/strings/0x409"):
            os.mkdir(folder)
        put(self.place + "/idVendor", f"{vendor:#06x}")
        put(self.place + "/idProduct", f"{product:#06x}")
        put(strings + "/manufacturer", "WakeBridge Lab")
        put(strings + "/product", title)
        if serial:
            put(strings + "/serialnumber", serial)
        for number, function in enumerate(functions):
            self.add(number, function, config)

    def add(self, number, function, config):
        kind = "acm" if function == "acm" else "hid"
        place = f"{self.place}/functions/{kind}.{self.name}{number}"
        os.mkdir(place)
        if kind == "acm":
            with open(place + "/port_num") as file:
                self.nodes.append("/dev/ttyGS" + file.read().strip())
        else:
            put(place + "/report_length", "64")
            put(place + "/report_desc", function)
            with open(place + "/dev") as file:
                self.nodes.append("/dev/hidg" + file.read().strip().split(":")[1])
        os.symlink(place, f"{config}/{kind}.{number}")

    # Its plug.

    def plug(self, port=None):
        self.port = self.port if port is None else port
        self.log("plug", port=self.port)
        put(self.place + "/UDC", f"dummy_udc.{self.port}")
        self.log.flush()
        return time.monotonic()

    def unplug(self):
        at = time.monotonic()
        self.log("unplug")
        put(self.place + "/UDC", "\n")
        self.close()
        self.log.flush()
        self.falls.append(at)
        return at

    def host_nodes(self, pattern):
        """What the machine that it is plugged into made of it: names below /dev, as `tty*`, `hidraw*`, `event*`."""
        hub = f"/sys/devices/platform/dummy_hcd.{self.port}"
        return sorted(name for _, folders, _ in os.walk(hub) for name in fnmatch.filter(folders, pattern)
                      if name[-1:].isdigit())

    # Its voice.

    def descriptor(self, number=0):
        """Of the accessory's own end of function `number`; a line hangs up at every unplug."""
        if number not in self.open:
            self.open[number] = os.open(self.nodes[number], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            if self.functions[number] == "acm":
                tty.setraw(self.open[number])
        return self.open[number]

    def close(self):
        for descriptor in self.open.values():
            os.close(descriptor)
        self.open.clear()

    def say(self, data, number=0, seconds=20, quiet=False):
        """Says it whole, as fast as it is listened to; says how much of it went out."""
        end, view = time.monotonic() + seconds, memoryview(data)
        if not quiet:
            self.said.append((time.monotonic(), bytes(data)))
            self.log("say", function=number, hex=data.hex())
        while view and time.monotonic() < end:
            try:
                view = view[os.write(self.descriptor(number), view):]
            except BlockingIOError:
                select.select([], [self.descriptor(number)], [], 0.2)
        if view:
            self.log("unsaid", function=number, bytes=len(view))
        self.log.flush()
        return len(data) - len(view)

    def told(self, number=0, seconds=0.0):
        """What the machine has written to it since it was asked last, waiting for the first byte so long."""
        heard, descriptor = b"", self.descriptor(number)
        while select.select([descriptor], [], [], 0 if heard else seconds)[0]:
            try:
                if not (chunk := os.read(descriptor, 4096)):
                    break
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EIO):
                    raise
                break
            self.log("told", function=number, hex=chunk.hex())
            heard += chunk
        self.log.flush()
        return heard

    def discard(self):
        self.close()
        discard(self.place)
