"""What a handler may have at most is held by the kernel: memory, and processes, each told in its log; others go on."""
import json
import os
import signal

from lab import until
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
    lab.eventually("and its log says how many it did not get", lambda: "could not start a process or thread at limits.processes, 1 time" in log("bomb"), 60)
    visit = Visit(lab, lab.uhid(KEYBOARD, product=0x0B07), "lab-limits", "event*")
    visit.comes()
    visit.wakes(press(4), batch(4, 1))
    lab.figure("kept from the loop at most", status()["loop"])
    visit.goes()
    service(lab)


def service(lab):
    """A daemon of its own, in a cgroup that holds nothing else, as a service manager starts one."""
    home, work = "/sys/fs/cgroup/lab-service", os.path.join(lab.folder, "service")
    os.mkdir(home)
    places = [f"--{name}={os.path.join(work, name)}" for name in ("config", "state", "runtime")]
    program = os.path.join(lab.programs, "wakebridged")
    daemon = lab.process("service", "/bin/sh", "-c", f'echo $$ >{home}/cgroup.procs && exec "$0" "$@"', program, *places,
                         "--no-bluetooth", "--no-accessories")
    group = f"{home}/wakebridge-daemon/cgroup.procs"
    lab.eventually("a daemon alone in its cgroup goes one down", lambda: os.path.exists(group) and open(group).read(), 60)
    lab.eventually("it is up", lambda: os.path.exists(os.path.join(work, "runtime", "control.sock")), 60)
    tree = next(name for name in os.listdir(home) if name.startswith("wakebridge-") and name != "wakebridge-daemon")
    with open(f"{home}/{tree}/cgroup.controllers") as file:
        lab.claim("and both controllers are passed to its handlers", {"memory", "pids"} <= set(file.read().split()))
    os.kill(daemon.pid, signal.SIGTERM)
    until(lambda: not daemon.is_alive, 30)
    left = [name for name in os.listdir(home) if os.path.isdir(os.path.join(home, name))]
    with open(f"{home}/cgroup.subtree_control") as file:
        lab.claim("at its end the cgroup is as it found it", not left and not file.read().strip(), left)
    os.rmdir(home)
