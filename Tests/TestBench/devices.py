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
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
import nodes  # noqa: E402
from waiting import pace, until  # noqa: E402

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


class Beside:
    """Programs that run beside the story, each found by a word of its command."""

    def __init__(self):
        self.processes = []

    def begin(self, words, output=None):
        file = open(output, "w") if output else None
        self.processes.append(subprocess.Popen(words, stdout=file, stderr=subprocess.DEVNULL))

    def found(self, word):
        found = [one for one in self.processes if any(word in part for part in one.args) and one.poll() is None]
        return found[-1] if found else fail(f"nothing runs beside that is called {word}")

    def signal(self, name, word):
        """Of one that is to end, the end is awaited."""
        process = self.found(word)
        process.send_signal(getattr(signal, "SIG" + name))
        if name in ("INT", "TERM", "KILL"):
            print("ended", process.wait(PATIENCE), flush=True)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
                process.send_signal(signal.SIGCONT)
        for process in self.processes:
            process.wait(PATIENCE)


def run_until(wanted, words):
    """Runs it again and again, until it says this."""
    said = []
    if not until(lambda: said.append(run(words)) or wanted in said[-1], PATIENCE):
        fail(f"{words} never said {wanted}, but {said[-1]}")
    return said[-1]


class World:
    def __init__(self):
        self.testbed = None
        self.nodes, self.answering, self.streams = {}, {}, []

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
        binary = pairs(word[2:] for word in words if word.startswith("b:"))
        properties = pairs(word for word in words if word[:2] not in ("a:", "b:"))
        path = self.bed.add_device(subsystem, name, None if parent == "-" else parent, attributes, properties)
        for key, digits in zip(binary[::2], binary[1::2]):
            self.bed.set_attribute_binary(path, key, bytes.fromhex(digits))
        print("made", path, flush=True)

    def node(self, path, make):
        """What stands there for the programs of the story."""
        place = self.bed.get_root_dir() + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        self.nodes[path] = make(place)

    def answer(self, path, answer):
        """Umockdev answers for every node below /dev; this one's questions are answered so."""
        from gi.repository import UMockdev

        class Answering(UMockdev.IoctlBase):
            def do_handle_ioctl(self, client):
                client.complete(*answer(client))
                return True

        if path not in self.answering:
            self.answering[path] = Answering()
            self.bed.attach_ioctl(path, self.answering[path])

    def line(self, path):
        """Its terminal answers itself."""
        self.answer(path, lambda client: client.execute())
        self.node(path, nodes.Line)

    def events(self, path):
        """A device that does all that is asked of it, and has nothing whose state could be asked."""
        self.answer(path, lambda client: (0, 0))
        self.node(path, nodes.Events)

    def reports(self, path, descriptor):
        self.node(path, nodes.Reports)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(nodes.answers(path, descriptor))
            file.flush()
            self.bed.load_ioctl(None, file.name)

    def say(self, path, words):
        for word in words:
            self.nodes[path].say(os.fsencode(word) + b"\n")

    def greet(self, path, word, wanted, file):
        """Until a follower, which tells nobody when it has begun to listen, has written that it heard."""

        def is_written():
            if os.path.exists(file) and wanted in open(file, encoding="utf-8").read():
                return True
            self.say(path, [word])
            return False

        if not until(is_written, PATIENCE, 0.1):
            fail(f"{file} never said {wanted}")

    def ready(self, name, born, words):
        """What udevd keeps of a device whose rules have run."""
        with open(f"/run/udev/data/{name}", "w") as file:
            file.write("".join([f"I:{born}\n"] + [f"E:{word}\n" for word in words]))


def play(world, beside):
    listener = None
    for line in sys.stdin:
        words = [os.fsdecode(urllib.parse.unquote_to_bytes(word)) for word in line.split()]
        match words:
            case []:
                pass
            case ["load", file] if file.endswith(".udevadm"):
                world.bed.add_from_string(described(file))
            case ["load", file]:
                world.bed.add_from_file(file)
            case ["device", subsystem, name, parent, *rest]:
                world.device(subsystem, name, parent, rest)
            case ["ready", name, born, *rest]:
                world.ready(name, born, rest)
            case ["event", path, action]:
                world.bed.uevent(path, action)
            case ["property", path, key, value]:
                world.bed.set_property(path, key, value)
            case ["remove", path]:
                world.bed.uevent(path, "remove")
                world.bed.remove_device(path)
            case ["vanish", path]:
                world.bed.remove_device(path)
            case ["write", path, file, text]:
                with open(world.bed.get_root_dir() + path + "/" + file, "wb") as attribute:
                    attribute.write(os.fsencode(text))
            case ["flood", first, last, *rest]:
                flood(listener, int(first), int(last), *rest)
            case ["line", path]:
                world.line(path)
            case ["reports", path, descriptor]:
                world.reports(path, bytes.fromhex(descriptor))
            case ["events", path]:
                world.events(path)
            case ["say", path, *rest]:
                world.say(path, rest)
            case ["read", path]:
                if not until(world.nodes[path].is_read, PATIENCE, 0.01):
                    fail(f"what was said to {path} is not read")
            case ["send", path, *rest]:
                for word in rest:
                    world.nodes[path].say(bytes.fromhex(word))
            case ["hear", path, word]:
                if not world.nodes[path].hear(os.fsencode(word), PATIENCE):
                    fail(f"nobody wrote {word} to {path}")
            case ["voice", path, *rest]:
                subprocess.run(rest, stdout=world.nodes[path].device, check=True)
            case ["greet", path, word, wanted, file]:
                world.greet(path, word, wanted, file)
            case ["stream", path, first, count, seconds, size]:
                words = int(first), int(count), float(seconds), int(size)
                world.streams.append(nodes.stream(world.nodes[path], *words))
            case ["spoken"]:
                while world.streams:
                    os.waitpid(world.streams.pop(), 0)
            case ["processor", word]:
                print("processor", nodes.processor(beside.found(word).pid), flush=True)
            case ["pause", seconds]:
                pace(time.monotonic() + float(seconds))
            case ["beside", *rest]:
                beside.begin(rest)
            case ["into", file, *rest]:
                beside.begin(rest, file)
            case ["signal", name, word]:
                beside.signal(name, word)
            case ["run", *rest]:
                print(run(rest), end="", flush=True)
            case ["until", wanted, *rest]:
                print(run_until(wanted, rest), end="", flush=True)
            case ["listen"]:
                # From here on programs are shown the testbed; without umockdev they are shown the machine.
                if "umockdev" in os.environ.get("LD_PRELOAD", ""):
                    world.bed.get_root_dir()
                listener = Listener(sys.argv[1])
                beside.processes.append(listener.process)
            case ["tell", *rest]:
                listener.tell(" ".join(rest))
            case ["expect", *rest]:
                listener.expect(" ".join(rest))
            case _:
                fail(f"no such step: {line}")


def main():
    os.makedirs("/run/udev/data")
    open("/run/udev/control", "w").close()
    # The testbed must outlive those who ask its nodes.
    world, beside = World(), Beside()
    try:
        play(world, beside)
    finally:
        beside.end()


main()
