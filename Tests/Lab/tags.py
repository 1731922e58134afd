"""Tags that broadcast: their profile, their addresses, and a handler of some of them."""
import json
import os

from bridge import Heard
from written import whole_lines

LAB = os.path.dirname(os.path.abspath(__file__))
PROFILE = """{name: "lab-tag", title: "Tag", mode: "bluetooth-central",
  match: {broadcast: [{company: "fffe", starts: "01"}]},
  advertisement: {manufacturer_data: {"fffe": {fields: [
    {name: "kind", type: "uint8", hidden: true}, {name: "tag", type: "uint16"}, {name: "count", type: "uint16"}]}}}}"""


def address(number):
    return f"C0:AA:00:00:{number >> 8:02X}:{number & 255:02X}"


def watched(count, **more):
    """The first tags, as a manifest names them."""
    return [{"profile": "lab-tag", "device": f"/bluetooth/{address(number)}", **more} for number in range(count)]


class Listener:
    """A handler of the tags alone: nothing but they wakes it."""

    def __init__(self, bridge, watch):
        self.folder = os.path.join(bridge.folder, "tags")
        os.makedirs(self.folder)
        manifest = {"exec": ["/usr/bin/python3", os.path.join(LAB, "beats.py"), self.folder], "user": "root",
                    "modes": ["bluetooth-central"], "watch": watch}
        with open(os.path.join(bridge.work, "config", "handlers.d", "tags.json5"), "w") as file:
            json.dump(manifest, file)
        said, status = bridge.tool("reload")
        if status:
            raise RuntimeError(f"wakebridge reload: {said}")

    def lines(self, kind, since=0):
        path = os.path.join(self.folder, "heard.log")
        for line in whole_lines(path) if os.path.exists(path) else []:
            at, event = line.split(b" ", 1)
            one = Heard(float(at), json.loads(event))
            if one.kind == kind and one.at >= since:
                yield one

    def heard(self, since=0):
        """By address, each event once."""
        found = {}
        for one in self.lines("data", since):
            found.setdefault(one.event["source"].rsplit("/", 1)[1], {})[one.event["id"]] = one
        return {tag: list(ones.values()) for tag, ones in found.items()}
