"""The virtual air of one scenario: kernel, btvirt, D-Bus, bluetoothd, and who is on it, each to be killed at will."""
import importlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback

import dbus

import capture
import dongle
from waiting import until
from written import whole_lines

BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"


class Late(RuntimeError):
    """What was waited for did not come in its time."""


class Process:
    """A program of the lab; what it says goes to a file in the scenario's folder."""

    def __init__(self, folder, name, *words):
        self.name = name
        self.said = os.path.join(folder, name + ".log")
        with open(self.said, "ab") as log:
            self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.child.pid

    @property
    def is_alive(self):
        return self.child.poll() is None

    def kill(self, how=signal.SIGKILL):
        if self.is_alive:
            self.child.send_signal(how)
        return self.child.wait(20)

    def stop(self):
        """Stops it, each of its threads."""
        self.child.send_signal(signal.SIGSTOP)
        until(lambda: all(state == "T" for state in self.states()))

    def go_on(self):
        self.child.send_signal(signal.SIGCONT)

    def states(self):
        """A letter for each of its threads, as the kernel has them."""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{thread}/stat") as file:
                yield file.read().rsplit(")", 1)[1].split()[0]

    def text(self):
        with open(self.said, errors="replace") as file:
            return file.read()

    def lines(self):
        """Those that it has said to their end."""
        return [line.decode(errors="replace") for line in whole_lines(self.said)]


def forked(body, said):
    """The process that runs `body`, with its output in the file `said`."""
    pid = os.fork()
    if pid == 0:
        log = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            body()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Strap:
    """A strap in a process of its own, forked from this one, which has already imported Bumble: that takes long."""

    def __init__(self, folder, number, options, kind="strap"):
        self.folder, self.number = folder, number
        self.address = f"C0:DE:00:00:00:{0x10 + number:02X}"
        self.log = os.path.join(folder, f"strap{number}.log")
        body = importlib.import_module(kind).main
        words = ["--dir", folder, "--number", str(number), *map(str, options)]
        self.pid = forked(lambda: body(words), os.path.join(folder, f"strap{number}.err"))
        if not until(lambda: os.path.exists(self.log) and self.entries("ready"), 60):
            raise Late(f"strap {number} did not come up; see strap{number}.err")

    def tell(self, line):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(os.path.join(self.folder, f"strap{self.number}.sock"))
            link.sendall((line + "\n").encode())
            return link.makefile().readline().strip()

    def entries(self, *words):
        """(seconds, word, fields) of its log; only those of `words` where some are named."""
        found = []
        for line in whole_lines(self.log):
            parts = line.decode().split()
            if len(parts) > 1 and (not words or parts[1] in words):
                found.append((float(parts[0]), parts[1], dict(p.split("=", 1) for p in parts[2:] if "=" in p)))
        return found

    def kill(self):
        if self.pid:
            end(self.pid)
        self.pid = None


class Air:
    """`radios` adapters that stay, or one that can be unplugged, which costs more time; `classic` ones know BR/EDR too."""

    def __init__(self, folder, radios=1, dongles=False, debug=True, classic=False):
        self.folder, self.radios, self.dongles, self.classic = folder, radios, dongles, classic
        # Its debugging lines tell a failure's story, and cost more than all its other work.
        # Instruments are taken by a plugin of its own, and shown to no other program.
        self.words = [BLUETOOTHD, "-n", "--noplugin=midi", *(["-d"] if debug else [])]
        self.straps, self.others, self.connections, self.dongle = [], [], [], None
        for place, options in (("/var/lib/bluetooth", "mode=0700"), ("/run/dbus", "mode=0755")):
            os.makedirs(place, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        self.start_bus()
        self.start_capture()
        self.start_radios()
        # How long bluetoothd took to start, last: what this machine is slow by.
        self.start_took = 0
        # The kernel gives a new radio two seconds for its first answer, which a busy host may not have: it stays dead.
        tries = 1
        while not self.start_bluetoothd(25):
            if tries == 4:
                raise Late("bluetoothd shows no powered adapter; see bluetoothd.log")
            tries += 1
            self.discard_radios()
            self.start_radios()

    def start_bus(self):
        for leftover in ("/run/dbus/pid", "/run/dbus/system_bus_socket"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        self.bus_process = Process(self.folder, "dbus", "dbus-daemon", "--system", "--nofork", "--nopidfile")
        until(lambda: os.path.exists("/run/dbus/system_bus_socket"))

    def start_radios(self):
        if os.path.exists("/tmp/bt-server-le"):
            os.unlink("/tmp/bt-server-le")
        fixed = [] if self.dongles else [*([] if self.classic else ["-L"]), f"-l{self.radios}"]
        self.btvirt = Process(self.folder, "btvirt", "btvirt", *fixed, "-s")
        until(lambda: os.path.exists("/tmp/bt-server-le"))
        if self.dongles:
            self.plug()

    def discard_radios(self):
        print("no radio came up; they are made again", flush=True)
        if self.dongle:
            self.unplug()
        for process in (self.bluetoothd, self.btvirt):
            process.kill()
        until(lambda: not os.listdir("/sys/class/bluetooth"), 10)

    def start_capture(self):
        sys.argv[1:] = [os.path.join(self.folder, "air.btsnoop")]
        self.capture = forked(capture.main, os.path.join(self.folder, "capture.err"))

    def plug(self):
        self.dongle = forked(dongle.main, os.path.join(self.folder, "dongle.err"))

    def unplug(self):
        end(self.dongle)
        self.dongle = None

    def start_bluetoothd(self, seconds=40):
        """Whether it has powered all adapters within so many seconds; it does so by itself."""
        begun = time.monotonic()
        self.bluetoothd = Process(self.folder, "bluetoothd", *self.words)
        is_up = until(lambda: sum(self.adapters().values()) >= self.radios, seconds, 0.1)
        if is_up:
            self.start_took = time.monotonic() - begun
        return is_up

    def revive_bluetoothd(self):
        """Starts it again where it has died, as systemd would; says whether it had."""
        if self.bluetoothd.is_alive:
            return False
        self.start_bluetoothd()
        return True

    def restart_bluetoothd(self, how=signal.SIGKILL):
        """Kills it and starts it again, and says at what instant its name was back."""
        self.bluetoothd.kill(how)
        self.start_bluetoothd(0)
        until(lambda: self.bus().name_has_owner("org.bluez"), 30, 0.005)
        return time.monotonic()

    def strap(self, *options, kind="strap"):
        """Another peripheral, as the module `kind` has it."""
        self.straps.append(Strap(self.folder, len(self.straps), options, kind))
        return self.straps[-1]

    def logger(self, *options, kind="logger"):
        """A classic device with a serial port, as the module `kind` has it."""
        found = self.strap(*options, kind=kind)
        found.address = found.entries("ready")[0][2]["address"]
        return found

    def crowd(self, *options):
        """Advertisers without end (crowd.py)."""
        self.beside("crowd", options)

    def broadcast(self, devices):
        """Devices of the library that broadcast (beacons.py)."""
        self.beside("beacons", devices)

    def beside(self, name, argument):
        """The module, as a process that goes on; it says so when it is ready."""
        said = os.path.join(self.folder, name + ".log")
        self.others.append(forked(lambda: importlib.import_module(name).main(argument), said))
        if not until(lambda: os.path.exists(said) and "ready" in open(said).read(), 30):
            raise Late(f"{name} did not come; see {name}.log")

    # What an operator would do by hand.

    def bus(self):
        """One connection for each life of the bus, never let go: a forked strap that frees it would hang."""
        if not self.connections or not self.connections[-1].get_is_connected():
            self.connections.append(dbus.SystemBus(private=True))
            self.connections[-1].set_exit_on_disconnect(False)
        return self.connections[-1]

    def objects(self):
        try:
            root = dbus.Interface(self.bus().get_object("org.bluez", "/", introspect=False),
                                  "org.freedesktop.DBus.ObjectManager")
            return root.GetManagedObjects(timeout=10)
        except dbus.DBusException:
            return {}

    def adapters(self):
        """Their paths, and whether each is powered."""
        return {path: bool(faces["org.bluez.Adapter1"]["Powered"]) for path, faces in self.objects().items()
                if "org.bluez.Adapter1" in faces}

    def addresses(self):
        return sorted(str(faces["org.bluez.Adapter1"]["Address"]) for faces in self.objects().values()
                      if "org.bluez.Adapter1" in faces)

    def device(self, strap, name=None):
        """All that bluetoothd says of a strap, or one property; None where it does not know it."""
        for path, faces in self.objects().items():
            facts = faces.get("org.bluez.Device1")
            if facts and facts["Address"] == strap.address:
                return facts.get(name) if name else (path, facts)
        return None

    def put(self, path, interface, name, value):
        properties = dbus.Interface(self.bus().get_object("org.bluez", path, introspect=False),
                                    "org.freedesktop.DBus.Properties")
        properties.Set("org.bluez." + interface, name, type(value)(value, variant_level=1), timeout=20)

    def power(self, on, path="/org/bluez/hci0"):
        self.put(path, "Adapter1", "Powered", dbus.Boolean(on))

    def rfkill(self, blocked):
        """The soft switch of every Bluetooth radio: struct rfkill_event with RFKILL_OP_CHANGE_ALL."""
        with open("/dev/rfkill", "wb", buffering=0) as switch:
            switch.write(struct.pack("<IBBBB", 0, 2, 3, int(blocked), 0))

    def end(self):
        for strap in self.straps:
            strap.kill()
        for pid in self.others:
            end(pid)
        for process in (self.bluetoothd, self.btvirt, self.bus_process):
            process.kill()
        for pid in filter(None, (self.capture, self.dongle)):
            end(pid)
        for place in ("/var/lib/bluetooth", "/run/dbus"):
            subprocess.run(["umount", "-l", place], check=False)
        until(lambda: not os.listdir("/sys/class/bluetooth"), 10)
