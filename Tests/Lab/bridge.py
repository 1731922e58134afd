"""The bridge under test: the daemon as it was built, its one handler, and what the handler heard."""
import calendar
import json
import os
import signal
import subprocess
import time

from air import Process, until

HERE = os.path.dirname(os.path.abspath(__file__))


class Heard:
    """One line that the handler was given."""

    def __init__(self, at, event):
        self.at, self.event = at, event
        self.kind = event["type"].removeprefix("wakebridge.").removeprefix("device.")
        self.data = event.get("data") or {}

    @property
    def beat(self):
        """The strap's running number, where it is one of its beats."""
        raw = bytes.fromhex(self.data.get("raw", ""))
        if self.kind == "data" and self.data.get("characteristic") == "2a37" and len(raw) >= 4:
            return raw[2] | raw[3] << 8
        return None


class Bridge:
    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.work = os.path.join(folder, "bridge")
        # The bridge's clock of events is the wall's, the strap's is not.
        self.wall = time.time() - time.monotonic()
        os.makedirs(os.path.join(self.work, "config", "handlers.d"))
        manifest = {
            "exec": ["/usr/bin/python3", os.path.join(HERE, "beats.py"), folder], "user": "root",
            "modes": ["bluetooth-central"], "watch": [{"profile": "heart-rate-monitor"}]}
        with open(os.path.join(self.work, "config", "handlers.d", "beats.json5"), "w") as file:
            json.dump(manifest, file)
        self.daemon = None
        self.start()

    def start(self):
        places = [f"--{name}={os.path.join(self.work, name)}" for name in ("config", "state", "runtime")]
        self.daemon = Process(self.folder, "wakebridged", os.path.join(self.programs, "wakebridged"), *places)
        self.socket = os.path.join(self.work, "runtime", "control.sock")
        until(lambda: os.path.exists(self.socket) or not self.daemon.is_alive, 60)

    def tool(self, *words):
        """What `wakebridge WORDS` prints, and its exit status."""
        command = [os.path.join(self.programs, "wakebridge"), "--socket", self.socket, *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=120)
        return done.stdout.decode(errors="replace"), done.returncode

    def pair(self, strap, alias, adapter=None):
        """As an operator would; raises with what the tool said where it did not come to pass."""
        words = ["pair", "--yes", "--alias", alias] + (["--adapter", adapter] if adapter else [])
        said, status = self.tool(*words, strap.address)
        with open(os.path.join(self.folder, "pair.log"), "a") as file:
            file.write(said)
        if status:
            raise RuntimeError(f"wakebridge pair: {said}")

    # What the handler heard.

    def heard(self, *kinds):
        found = []
        path = os.path.join(self.folder, "heard.log")
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    if line.endswith("\n"):
                        at, event = line.split(" ", 1)
                        found.append(Heard(float(at), json.loads(event)))
        return [one for one in found if not kinds or one.kind in kinds]

    def beats(self, since=0):
        return [one for one in self.heard("data") if one.beat is not None and one.at >= since]

    def instant(self, text):
        """CLOCK_MONOTONIC seconds of an event's time."""
        whole, _, part = text.rstrip("Z").partition(".")
        return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (part or "0")) - self.wall

    # The handler's process.

    @property
    def handler(self):
        """The process that is the handler now, or was it last."""
        starts = self.heard("lab.start")
        return starts[-1].event["pid"] if starts else None

    def is_frozen(self):
        try:
            with open(f"/proc/{self.handler}/cgroup") as file:
                path = file.read().strip().split("::", 1)[1]
            with open(f"/sys/fs/cgroup{path}/cgroup.events") as file:
                return "frozen 1" in file.read()
        except OSError:
            return False

    def kill_handler(self):
        os.kill(self.handler, signal.SIGKILL)

    def order(self, *lines):
        """Has the handler say these lines to the bridge at its next event."""
        path = os.path.join(self.folder, "orders")
        with open(path + ".new", "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        os.rename(path + ".new", path)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def resident(self):
        """KiB of memory that are the daemon's own."""
        with open(f"/proc/{self.daemon.pid}/status") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

    def end(self):
        """Whether the daemon ended well when asked to."""
        for name in ("why", "status"):
            words = ("why", "beats") if name == "why" else (name,)
            with open(os.path.join(self.folder, name + ".txt"), "w") as file:
                file.write(self.tool(*words)[0])
        return self.daemon.kill(signal.SIGTERM) == 0
