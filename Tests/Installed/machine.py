"""A whole Debian with systemd in an emulator: it boots, does what it is told, and can be cut off at any moment.

Its disk is a file that outlives it. It has no network, as a machine in a cupboard may have none.
"""
import json
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
from waiting import until  # noqa: E402


class Machine:
    def __init__(self, folder, boot, disk, packages):
        self.folder, self.boot, self.disk, self.packages = folder, boot, disk, packages
        self.emulator, self.keyboard, self.boots = None, None, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self, kernel_words, options):
        ports = [word for name in ("keyboard", "radio") for word in (
            "-chardev", f"socket,id={name},path={self.path(name + '.sock')},server=on,wait=off",
            "-device", f"virtserialport,chardev={name},name={name}")]
        return ["qemu-system-x86_64", "-accel", os.environ.get("LAB_ACCELERATOR", "tcg"), "-cpu", "max", "-smp", "2", "-m", "1G",
                "-nodefaults", "-nographic", "-no-reboot", "-rtc", "base=utc",
                "-kernel", os.path.join(self.boot, "vmlinuz"), "-initrd", os.path.join(self.boot, "initrd.img"),
                "-append", f"root=/dev/vda console=ttyS0 panic=-1 quiet {kernel_words}", "-serial", "stdio",
                "-drive", f"file={self.disk},format=raw,if=virtio", "-drive", f"file={self.packages},format=raw,if=virtio,readonly=on",
                "-device", "virtio-serial", *ports, *options]

    def start(self, kernel_words="rw", *options):
        """Boots, and says how many seconds went by until its keyboard answered."""
        begun = time.monotonic()
        self.boots += 1
        with open(self.path(f"console-{self.boots}"), "wb") as console:
            self.emulator = subprocess.Popen(self.words(kernel_words, options), stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        link = socket.socket(socket.AF_UNIX)
        if not until(lambda: os.path.exists(self.path("keyboard.sock")) and link.connect_ex(self.path("keyboard.sock")) == 0, 30):
            raise RuntimeError("the emulator did not start; see its console")
        link.settimeout(600)
        self.keyboard = link.makefile("rwb", buffering=0)
        if not self.keyboard.readline():
            raise RuntimeError(f"the machine did not boot; see console-{self.boots}")
        return time.monotonic() - begun

    def run(self, command, seconds=120):
        """What a shell in it prints for `command`, and its status."""
        asked = {"words": ["sh", "-euc", command], "seconds": seconds}
        self.keyboard.write(json.dumps(asked).encode() + b"\n")
        told = json.loads(self.keyboard.readline() or b'{"status":125,"said":"the machine is gone"}')
        return told["said"].strip(), told["status"]

    def said(self, command, seconds=120):
        return self.run(command, seconds)[0]

    def cut(self):
        """As when the plug is pulled: what it had not written to its disk is lost."""
        self.emulator.kill()
        self.emulator.wait()
        self.keyboard.close()
        for name in ("keyboard", "radio"):
            if os.path.exists(self.path(name + ".sock")):
                os.unlink(self.path(name + ".sock"))
