"""What a handler may have at most is held by the kernel: memory, and processes, each told in its log; others go on."""
import json
import os

from gadget import KEYBOARD
from visit import Visit, batch, hid, press, profile

WAITS = True
GLUTTON = "blocks = []\nwhile True: blocks.append(b'x' * (1 << 20))"
BOMB = """
import os, time
started = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
except OSError:
    print("started", started, flush=True)
os._exit(3)
"""


def add(bridge, name, script, **limits):
    """A handler that is launched at once and never ready, so that it runs as long as it likes."""
    manifest = {
        "exec": ["/usr/bin/python3", "-c", script], "user": "root", "modes": ["external-accessory"],
        "watch": [{"profile": "lab-limits"}], "autostart": True, "ready": "explicit", "limits": limits}
    with open(os.path.join(bridge.work, "config", "handlers.d", name + ".json5"), "w") as file:
        json.dump(manifest, file)


def run(lab):
    bridge = lab.attach(profile("lab-limits", "input", properties=hid(0x0B07)))

    def status():
        return json.loads(bridge.tool("status", "--json")[0])["bridge"]

    def log(name):
        return bridge.tool("logs", name)[0]

    lab.claim("this machine lends both controllers", status()["uncontained"] is None, status())
    add(bridge, "glutton", GLUTTON, memory="64MiB")
    add(bridge, "bomb", BOMB, processes=20)
    lab.eventually("a handler that takes more memory than it may is killed, and its log says why",
                   lambda: "was killed by the kernel at limits.memory" in log("glutton"), 60)
    lab.eventually("one that forks without end gets as many processes as it may have", lambda: "started 19" in log("bomb"), 60)
    lab.eventually("and its log says how many it did not get", lambda: "1 processes or threads at limits.processes" in log("bomb"), 60)
    visit = Visit(lab, lab.uhid(KEYBOARD, product=0x0B07), "lab-limits", "event*")
    visit.comes()
    visit.wakes(press(4), batch(4, 1))
    lab.figure("kept from the loop at most", status()["loop"])
    visit.goes()
