"""The visits of an accessory: plugged in it is connected at a handler that sleeps, is heard, and goes with a reason."""
import struct
import subprocess

from lab import Late, now, until

LINE = {"kind": "line"}


def profile(name, node, product=None, settle="200ms", replug_grace="300ms", properties=None, **more):
    """A profile of the lab's own make; quick, because a guest's time is short."""
    made = {"ID_VENDOR_ID": "1209", "ID_MODEL_ID": f"{product:04x}"} if product else properties
    return {"name": name, "title": name, "mode": "external-accessory", "match": {"properties": made}, "node": node,
            "settle": settle, "replug_grace": replug_grace, **more}


def hid(product, vendor=0x1209, bus=5):
    """How udev names what stands there without USB."""
    return {"HID_ID": f"{bus:04X}:{vendor:08X}:{product:08X}"}


def lines(word, numbers):
    return [f"{word} {number} {'.' * (number % 40)}\r\n".encode() for number in numbers]


# A keyboard's report for a letter, the number of its key, and what the kernel makes of both.
LETTERS = {4: 30, 5: 48, 6: 46, 7: 32, 8: 18, 9: 33, 10: 34, 11: 35}


def press(usage):
    return bytes([0, 0, usage, 0, 0, 0, 0, 0])


def batch(usage, value):
    """MSC_SCAN, then the key."""
    return struct.pack("<HHiHHi", 4, 4, 0x70000 + usage, 1, LETTERS[usage], value)


class Visit:
    """One after another of the same accessory; `pattern` are its nodes, as `ttyACM*`."""

    def __init__(self, lab, device, name, pattern):
        self.lab, self.bridge, self.device, self.name, self.pattern = lab, lab.bridge, device, name, pattern
        self.subject, self.node, self.begun = None, None, 0

    def comes(self):
        """Plugs it in; claims that it is connected, with the same name and node as ever."""
        asleep = self.bridge.handler is not None
        if asleep:
            self.lab.eventually(f"{self.name}: before its plug the handler is frozen", self.bridge.is_frozen, 15)
        known = len(self.bridge.of(self.name, "connected"))
        self.begun = self.device.plug()
        self.lab.eventually(f"{self.name}: plugged in, it is connected", lambda: self.connections() > known, 30)
        if self.connections() == known:
            raise Late(f"{self.name} never came; see wakebridged.log")
        told = self.bridge.of(self.name, "connected")[-1]
        self.lab.seconds(f"{self.name}: from its plug to 'connected' at the handler", told.at - self.begun)
        if asleep:
            since = [one.kind for one in self.bridge.heard() if self.begun <= one.at <= told.at]
            self.lab.claim(f"{self.name}: its handler slept, and was thawed for it",
                           "resumed" in since and "lab.start" not in since, since)
        # Where udev tells its last unplug only after its plug, the bridge has opened what it then has to open again.
        subprocess.run(["udevadm", "settle", "--timeout=20"], check=True)
        held = until(self.held, 10)
        self.lab.in_time(f"{self.name}: the bridge has its node open", len(held) == 1, (self.nodes(), self.bridge.holds()))
        if self.subject:
            self.lab.claim(f"{self.name}: it comes back under the same alias, on the same node",
                           (told.event["subject"], held) == (self.subject, self.node),
                           (told.event["subject"], held, self.subject, self.node))
        self.subject, self.node = told.event["subject"], held
        return told

    def nodes(self):
        return [f"/dev/{'input/' if name.startswith('event') else ''}{name}"
                for name in self.device.host_nodes(self.pattern)]

    def held(self):
        return [node for node in self.bridge.holds() if node in self.nodes()]

    def connections(self):
        return len(self.bridge.of(self.name, "connected"))

    def heard(self):
        return self.bridge.of(self.name, "data", since=self.begun)

    def says(self, messages, number=None, expected=None):
        """Says them; claims that each is heard once, in order, as `expected` has them, without the ends of lines."""
        said = []
        for place, message in enumerate(messages):
            said.append((now(), message.rstrip(b"\r\n") if expected is None else expected[place]))
            self.device.say(message) if number is None else self.device.say(message, number)
        until(lambda: len(self.heard()) >= len(said), 20)
        heard = [one for one in self.heard() if one.at >= said[0][0]]
        return self.lab.tally(self.name, said, heard, self.bridge.gaps(self.name))

    def wakes(self, message, expected=None):
        """Claims that the handler sleeps, and wakes for one message."""
        self.lab.eventually(f"{self.name}: with nothing said its handler is frozen", self.bridge.is_frozen, 15)
        at = now()
        self.device.say(message)
        self.lab.eventually(f"{self.name}: one message wakes it",
                            lambda: self.bridge.of(self.name, "data", since=at), 20)
        for one in self.bridge.of(self.name, "data", since=at)[:1]:
            self.lab.seconds(f"{self.name}: from a message to its frozen handler", one.at - at)
            self.lab.claim(f"{self.name}: and it is that message",
                           one.raw == (message.rstrip(b"\r\n") if expected is None else expected), one.raw)

    def goes(self):
        """Pulls it out; claims that its handler, which sleeps, is told so, and that its node is let go."""
        self.lab.eventually(f"{self.name}: before its unplug the handler is frozen", self.bridge.is_frozen, 15)
        at = self.device.unplug()
        took = self.lab.eventually(f"{self.name}: pulled out, it is disconnected", lambda: self.farewell(at), 30)
        self.lab.seconds(f"{self.name}: from its unplug to 'disconnected' at the handler", took)
        if told := self.farewell(at):
            # The line hangs up before udev says that the device is gone, and that may take it longer than the grace.
            self.lab.claim(f"{self.name}: and the reason is told", told.data.get("reason") in ("unplugged", "hung-up"),
                           told.data)
            self.lab.figure(f"{self.name}: the reason", told.data.get("reason"))
        self.lab.claim(f"{self.name}: its node is let go", not set(self.node) & set(self.bridge.holds()),
                       self.bridge.holds())

    def farewell(self, at):
        return next(iter(self.bridge.of(self.name, "disconnected", since=at)), None)
