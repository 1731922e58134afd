"""The bridge under test: the daemon as it was built, its one handler, and what the handler heard."""
import calendar
import json
import os
import signal
import subprocess
import time

from air import Late, Process
from waiting import until
from written import whole_lines

HERE = os.path.dirname(os.path.abspath(__file__))


class Heard:
    """One line that the handler was given."""

    def __init__(self, at, event):
        self.at, self.event = at, event
        self.kind = event["type"].removeprefix("wakebridge.").removeprefix("device.")
        self.data = event.get("data") or {}
        self.raw = bytes.fromhex(self.data.get("raw", ""))
        # The strap's running number, where it is one of its beats.
        self.beat = None
        if self.kind == "data" and self.data.get("characteristic") == "2a37" and len(self.raw) >= 4:
            self.beat = self.raw[2] | self.raw[3] << 8

    @property
    def profile(self):
        return self.data.get("profile")


class Bridge:
    """Its handler, with `timers` of its own, watches the shipped profile of straps, and those of `own`: JSON5 by its name.
    With `scheduled`, keys of its manifest, it watches nothing, and no source of devices is there. What its manifest has beside
    that is `extra`; entries of `watch` are added. The daemon has `settings`."""

    def __init__(self, folder, programs, timers={}, scheduled=None, extra={}, settings={}, **own):
        self.folder, self.programs = folder, programs
        self.work = os.path.join(folder, "bridge")
        # The bridge's clock of events is the wall's, the strap's is not.
        self.wall = time.time() - time.monotonic()
        # A machine's second boot finds what the first one left.
        os.makedirs(os.path.join(self.work, "config", "handlers.d"), exist_ok=True)
        manifest = {
            "exec": ["/usr/bin/python3", os.path.join(HERE, "beats.py"), folder], "user": "root", "timers": timers}
        self.options = []
        if scheduled is None:
            manifest["modes"] = ["bluetooth-central", "external-accessory"]
            manifest["watch"] = [{"profile": name} for name in ("heart-rate-monitor", *own)]
            manifest["watch"] += extra.get("watch", [])
            manifest.update({key: value for key, value in extra.items() if key != "watch"})
        else:
            manifest.update(scheduled)
            self.options = ["--no-bluetooth", "--no-accessories"]
        self.manifest = manifest
        self.write_manifest()
        if settings:
            with open(os.path.join(self.work, "config", "wakebridge.json5"), "w") as file:
                json.dump(settings, file)
        for name, text in own.items():
            os.makedirs(os.path.join(self.work, "config", "Devices", name))
            with open(os.path.join(self.work, "config", "Devices", name, "profile.json5"), "w") as file:
                file.write(text)
        self.daemon, self.lines, self.read = None, [], 0
        self.start()

    def start(self):
        places = [f"--{name}={os.path.join(self.work, name)}" for name in ("config", "state", "runtime")]
        self.daemon = Process(self.folder, "wakebridged", os.path.join(self.programs, "wakebridged"), *places,
                              *self.options)
        self.socket = os.path.join(self.work, "runtime", "control.sock")
        until(lambda: os.path.exists(self.socket) or not self.daemon.is_alive, 60)

    def late(self, words):
        """What is raised where it did not come in time: only a daemon that lives was late."""
        return Late(words) if self.daemon.is_alive else RuntimeError(words)

    def write_manifest(self):
        with open(os.path.join(self.work, "config", "handlers.d", "beats.json5"), "w") as file:
            json.dump(self.manifest, file)

    def watch(self, entries):
        """Its handler watches these too, from now on."""
        self.manifest["watch"] += entries
        self.write_manifest()
        if not until(lambda: self.tool("reload")[1] == 0, 60, 1):
            raise RuntimeError("wakebridge reload: " + self.tool("reload")[0])

    def command(self, *words):
        return [os.path.join(self.programs, "wakebridge"), "--socket", self.socket, *words]

    def background(self, name, *words):
        """`wakebridge WORDS` as a process that goes on; what it says goes to NAME.log."""
        return Process(self.folder, name, *self.command(*words))

    def tool(self, *words):
        """What `wakebridge WORDS` prints, and its exit status."""
        command = self.command(*words)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=120)
        return done.stdout.decode(errors="replace"), done.returncode

    def pair(self, strap, alias, *more):
        """As an operator would; raises with what the tool said where it did not come to pass."""
        said, status = self.tool("pair", "--yes", "--alias", alias, *more, strap.address)
        with open(os.path.join(self.folder, "pair.log"), "a") as file:
            file.write(said)
        if status:
            raise RuntimeError(f"wakebridge pair: {said}")

    # What the handler heard.

    def heard(self, *kinds):
        """Each line is read once: a long run has thousands of them, and is asked often."""
        path = os.path.join(self.folder, "heard.log")
        if os.path.exists(path):
            for line in whole_lines(path, self.read):
                self.read += len(line)
                at, event = line.split(b" ", 1)
                self.lines.append(Heard(float(at), json.loads(event)))
        return [one for one in self.lines if not kinds or one.kind in kinds]

    def beats(self, since=0, of=None):
        """Those of one strap, or of all."""
        return [one for one in self.heard("data") if one.beat is not None and one.at >= since and
                (of is None or one.event["source"].endswith(of.address))]

    def of(self, profile, *kinds, since=0):
        """What was heard of devices of a profile; each event once, though it came again. Gaps do not name it."""
        sources = {one.event["source"] for one in self.heard("connected") if one.profile == profile}
        return list({one.event["id"]: one for one in self.heard(*kinds) if one.at >= since and
                     (one.profile == profile or one.event.get("source") in sources)}.values())

    def gaps(self, profile, since=0):
        """From when to when something of such a device may have been lost, of those that were told after `since`."""
        told = self.of(profile, "gap", since=since)
        return [(self.instant(one.data["from"]), self.instant(one.data["to"])) for one in told]

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

    def holds(self):
        """The nodes of accessories that it has open."""
        found = set()
        for number in os.listdir(f"/proc/{self.daemon.pid}/fd"):
            try:
                found.add(os.readlink(f"/proc/{self.daemon.pid}/fd/{number}"))
            except OSError:
                pass
        return sorted(path for path in found if path.startswith(("/dev/tty", "/dev/hidraw", "/dev/input/")))

    def processor(self, pid=None):
        """Seconds of processor time that it, or another process, has taken."""
        with open(f"/proc/{pid or self.daemon.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """KiB of memory that are the daemon's own."""
        with open(f"/proc/{self.daemon.pid}/status") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

    def testify(self):
        """What it says of itself goes to files; each takes a second, so only where somebody will look."""
        for name, *words in (("why", "beats"), ("logs", "-n", "10000"), ("status",), ("devices",)):
            with open(os.path.join(self.folder, name + ".txt"), "w") as file:
                file.write(self.tool(name, *words)[0])

    def end(self):
        """Whether the daemon ended well when asked to."""
        return self.daemon.kill(signal.SIGTERM) == 0
