"""The guest's end of the door to the machine around it: see LAB_DOOR in machine.sh."""
import glob
import json
import os
import socket
import subprocess

from waiting import until

ADDRESS, PORT = "10.0.2.15", 8787
PEER = ("10.0.2.100", 8788)


def card():
    """The door's network card."""
    found = glob.glob("/sys/bus/virtio/drivers/virtio_net/virtio*/net/*")
    return os.path.basename(found[0]) if found else None


class Door:
    """Lets the machine around this one reach ADDRESS and PORT. Orders go to the program there, and are answered one by one."""

    def __init__(self):
        subprocess.run(["modprobe", "virtio_net"], check=True)
        if not until(card, 20):
            raise RuntimeError("this guest has no door; was it started without LAB_DOOR?")
        subprocess.run(["ip", "address", "replace", f"{ADDRESS}/24", "dev", card()], check=True)
        subprocess.run(["ip", "link", "set", card(), "up"], check=True)
        self.link = socket.create_connection(PEER, 20)
        self.answers = self.link.makefile()

    def order(self, seconds, **order):
        self.link.settimeout(seconds)
        self.link.sendall((json.dumps(order) + "\n").encode())
        line = self.answers.readline()
        # What a program says as it ends is no answer.
        return json.loads(line) if line.startswith("{") else {"outcome": "failed", "says": line}

    def close(self):
        self.answers.close()
        self.link.close()
