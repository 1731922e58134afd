"""By the printed udev rules an accessory is its group's, awake and no modem; the doctor tells with and without them."""
import glob
import grp
import json
import os
import stat
import subprocess

from gadget import SENSOR
from visit import LINE, profile

FILE = "/run/udev/rules.d/70-wakebridge.rules"
# Any that Debian has, and that no other rule gives such nodes to.
GROUP = "games"


def udevadm(*words):
    return subprocess.run(["udevadm", *words], check=True, stdout=subprocess.PIPE).stdout.decode()


def run(lab):
    bridge = lab.attach(profile("lab-line", "serial", 0x0A01, framing=LINE), profile("lab-report", "hid", 0x0A01))
    os.environ["WAKEBRIDGE_DEVICES"] = os.path.join(bridge.work, "config", "Devices")
    device = lab.gadget("acm", SENSOR, serial="R0001")

    def nodes():
        return [f"/dev/{name}" for pattern in ("ttyACM*", "hidraw*") for name in device.host_nodes(pattern)]

    def plug():
        device.plug()
        lab.eventually("plugged in, it has a line and a hidraw node", lambda: len(nodes()) == 2, 20)
        udevadm("settle")

    def look():
        """What is told of accessories, by its codes."""
        ours = ("udev-", "rules-", "group-", "node-", "accessory", "modemmanager", "brltty")
        found = json.loads(bridge.tool("doctor", "--json")[0])["findings"]
        return [one for one in found if one["code"].startswith(ours)]

    def show(found):
        return "; ".join(f"{one['level']} {one['code']}: {one['what']}" for one in found)

    plug()
    found = look()
    lab.claim("without the rules the doctor warns of that, and hears udevd",
              [one["code"] for one in found if one["level"] != "ok"] == ["rules-absent"] and
              found[0]["level"] == "warning", show(found))
    device.unplug()

    rules, status = bridge.tool("udev-rules", "--group", GROUP)
    lab.claim("the rules are printed", status == 0 and "lab-line" in rules and "lab-report" in rules, rules)
    os.makedirs(os.path.dirname(FILE), exist_ok=True)
    with open(FILE, "w") as file:
        file.write(rules)
    udevadm("control", "--reload")
    plug()
    for node in nodes():
        state = os.stat(node)
        lab.claim(f"{node} is open to its group and to nobody else",
                  stat.S_IMODE(state.st_mode) == 0o660 and grp.getgrgid(state.st_gid).gr_name == GROUP,
                  f"{state.st_mode:o} {state.st_gid}")
        said = udevadm("info", "-q", "property", "-n", node)
        name = "lab-line" if "ttyACM" in node else "lab-report"
        lab.claim(f"{node} is marked, and no modem",
                  f"WAKEBRIDGE_PROFILE={name}\n" in said and "ID_MM_PORT_IGNORE=1\n" in said and
                  ":wakebridge:" in said, said)
    controls = [path for path in glob.glob("/sys/bus/usb/devices/*/power/control")
                if os.path.exists(os.path.dirname(path) + "/../serial") and
                open(os.path.dirname(path) + "/../serial").read() == "R0001\n"]
    lab.claim("its USB device is kept awake", [open(path).read() for path in controls] == ["on\n"], controls)
    found = look()
    lab.claim("with the rules the doctor finds the line and the hidraw node well, and nothing else",
              [(one["level"], one["code"]) for one in found] == [("ok", "accessory")] * 2, show(found))
    os.unlink(FILE)
    udevadm("control", "--reload")
    device.unplug()
