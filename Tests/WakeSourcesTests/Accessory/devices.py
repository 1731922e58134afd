"""Makes devices up for a listener, by umockdev, or floods it by netlink, as a story on standard input says.

devices.py LISTENER <STORY: every line one step, words apart by spaces, %20 for a space within a word and %ff for a byte.
Run it below umockdev-wrapper, in a mount namespace of its own with a fresh /run; prints what the listener printed."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.parse

PATIENCE = 20


def fail(why):
    print("FAILED:", why, flush=True)
    sys.exit(1)


class Listener:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.heard = b""

    def expect(self, wanted):
        """Waits for a line that holds this; what came before it is passed over."""
        end = time.monotonic() + PATIENCE
        while True:
            while b"\n" in self.heard:
                line, self.heard = self.heard.split(b"\n", 1)
                print(line.decode(errors="replace"), flush=True)
                if wanted.encode() in line:
                    return
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                fail(f"nothing said {wanted}")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                fail(f"the listener ended ({self.process.wait()}) before it said {wanted}")
            self.heard += chunk

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()


def murmur(text):
    """MurmurHash2 with seed 0, which udev's messages are filtered by."""
    m, data = 0x5BD1E995, text.encode()
    h = len(data)
    while len(data) >= 4:
        k = struct.unpack("<I", data[:4])[0] * m & 0xFFFFFFFF
        k = (k ^ k >> 24) * m & 0xFFFFFFFF
        h = h * m & 0xFFFFFFFF ^ k
        data = data[4:]
    if data:
        h = (h ^ int.from_bytes(data, "little")) * m & 0xFFFFFFFF
    h = (h ^ h >> 13) * m & 0xFFFFFFFF
    return h ^ h >> 15


def announce(sock, number, action, path, subsystem):
    """One message as udevd sends it."""
    words = {"ACTION": action, "DEVPATH": path, "SUBSYSTEM": subsystem, "SEQNUM": number, "PADDING": "x" * 900}
    text = b"".join(f"{key}={value}\0".encode() for key, value in words.items())
    head = b"libudev\0" + struct.pack(">I", 0xFEEDCAFE) + struct.pack("=III", 40, 40, len(text))
    sock.sendto(head + struct.pack(">IIII", murmur(subsystem), 0, 0, 0) + text, (0, 2))


def flood(listener, first, last, subsystem="power_supply"):
    """Perhaps more messages than any buffer holds, to a listener that is stopped."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
    listener.process.send_signal(signal.SIGSTOP)
    for number in range(first, last + 1):
        announce(sock, number, "add", f"/devices/virtual/power/ghost{number % 100}", subsystem)
    listener.process.send_signal(signal.SIGCONT)


def described(file):
    """What `udevadm info -a` printed, as umockdev reads it."""
    lines = []
    for line in open(file, encoding="utf-8", errors="replace"):
        line = line.strip()
        if line.startswith("looking at "):
            lines.append("\nP: " + line.split("'")[1])
        elif line.startswith("SUBSYSTEM") and not line.endswith('""'):
            lines.append("E: SUBSYSTEM=" + line.split('"')[1])
        elif line.startswith("ATTR") and "/" not in line and "(not readable)" not in line:
            name, value = line.split("{", 1)[1].split('}=="', 1)
            lines.append(f"A: {name}={value[:-1]}")
            types = {"idVendor": "usb_device", "bInterfaceNumber": "usb_interface"}
            if name in types:
                lines.append("E: DEVTYPE=" + types[name])
    devices = "\n".join(lines).strip().split("\n\n")
    # Parents come once for each of their children.
    devices = {device.split("\n")[0]: device for device in devices if "SUBSYSTEM" in device}
    return "\n\n".join(devices.values()) + "\n"


def pairs(words):
    return [part for word in words for part in word.split("=", 1)]


def run(words):
    """A program beside the made-up devices, to its end."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    return "".join(f"{line}\n" for line in [f"exit {done.returncode}", done.stdout.strip(), done.stderr.strip()] if line)


def until(wanted, words):
    """Runs it again and again, until it says this."""
    end = time.monotonic() + PATIENCE
    while wanted not in (said := run(words)):
        if time.monotonic() > end:
            fail(f"{words} never said {wanted}, but {said}")
        time.sleep(0.05)
    return said


class World:
    def __init__(self):
        self.testbed = None

    @property
    def bed(self):
        if self.testbed is None:
            import gi

            gi.require_version("UMockdev", "1.0")
            from gi.repository import UMockdev

            self.testbed = UMockdev.Testbed.new()
        return self.testbed

    def device(self, subsystem, name, parent, words):
        attributes = pairs(word[2:] for word in words if word.startswith("a:"))
        properties = pairs(word for word in words if not word.startswith("a:"))
        path = self.bed.add_device(subsystem, name, None if parent == "-" else parent, attributes, properties)
        print("made", path, flush=True)

    def ready(self, name, born, words):
        """What udevd keeps of a device whose rules have run."""
        with open(f"/run/udev/data/{name}", "w") as file:
            file.write("".join([f"I:{born}\n"] + [f"E:{word}\n" for word in words]))


class Stage:
    """What a story's steps are about."""

    def __init__(self):
        self.world, self.listener, self.beside = World(), None, []

    def clear(self):
        for process in self.beside + ([self.listener.process] if self.listener else []):
            process.terminate()
            process.wait()

    def step(self, line):
        words = [os.fsdecode(urllib.parse.unquote_to_bytes(word)) for word in line.split()]
        match words:
            case []:
                pass
            case ["load", file] if file.endswith(".udevadm"):
                self.world.bed.add_from_string(described(file))
            case ["load", file]:
                self.world.bed.add_from_file(file)
            case ["device", subsystem, name, parent, *rest]:
                self.world.device(subsystem, name, parent, rest)
            case ["ready", name, born, *rest]:
                self.world.ready(name, born, rest)
            case ["event", path, action]:
                self.world.bed.uevent(path, action)
            case ["property", path, key, value]:
                self.world.bed.set_property(path, key, value)
            case ["remove", path]:
                self.world.bed.uevent(path, "remove")
                self.world.bed.remove_device(path)
            case ["vanish", path]:
                self.world.bed.remove_device(path)
            case ["write", path, file, text]:
                with open(self.world.bed.get_root_dir() + path + "/" + file, "wb") as attribute:
                    attribute.write(os.fsencode(text))
            case ["flood", first, last, *rest]:
                flood(self.listener, int(first), int(last), *rest)
            case ["beside", *rest]:
                self.beside.append(subprocess.Popen(rest, stderr=open("/dev/null", "w")))
            case ["run", *rest]:
                print(run(rest), end="", flush=True)
            case ["until", wanted, *rest]:
                print(until(wanted, rest), end="", flush=True)
            case ["listen"]:
                # From here on programs are shown the testbed; without umockdev they are shown the machine.
                if "umockdev" in os.environ.get("LD_PRELOAD", ""):
                    self.world.bed.get_root_dir()
                self.listener = Listener(sys.argv[1])
            case ["tell", *rest]:
                self.listener.tell(" ".join(rest))
            case ["expect", *rest]:
                self.listener.expect(" ".join(rest))
            case _:
                fail(f"no such step: {line}")


def main():
    os.makedirs("/run/udev/data")
    open("/run/udev/control", "w").close()
    stage = Stage()
    # Whoever is left running holds what this prints, and keeps who reads it waiting.
    try:
        for line in sys.stdin:
            stage.step(line)
    finally:
        stage.clear()


main()
