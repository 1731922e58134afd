"""Runs in the machine under test, as root: its radio, or its keyboard.

    within.py radio       lends the kernel the controller outside, through /dev/vhci, while it runs
    within.py keyboard    runs each command that comes from outside, and answers with its status and what it said

Both talk through a port that the machine's emulator lends it: bytes of H4, or one JSON document a line.
"""
import json
import os
import subprocess
import sys

import dongle
from waiting import until

PORTS = "/dev/virtio-ports/"


def port(name):
    """At boot this may run before udev has named it."""
    until(lambda: os.path.exists(PORTS + name), 600, 0.2)
    return os.open(PORTS + name, os.O_RDWR)


def radio():
    outside = port("radio")
    kernel = os.open("/dev/vhci", os.O_RDWR)
    os.write(kernel, b"\xff\x00")
    dongle.lend(outside, kernel)


def answer(words, seconds):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        return 124, error.stdout or b""
    except OSError as error:
        return 127, str(error).encode()


def tell(outside, told):
    rest = json.dumps(told).encode() + b"\n"
    while rest:
        rest = rest[os.write(outside, rest):]


def keyboard():
    outside = port("keyboard")
    tell(outside, {"ready": True})
    heard = b""
    while chunk := os.read(outside, 65536):
        *lines, heard = (heard + chunk).split(b"\n")
        for line in filter(None, lines):
            asked = json.loads(line)
            status, said = answer(asked["words"], asked["seconds"])
            tell(outside, {"status": status, "said": said.decode(errors="replace")})


if __name__ == "__main__":
    {"radio": radio, "keyboard": keyboard}[sys.argv[1]]()
