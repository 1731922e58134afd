"""The way of one event through the code, for census.py: which functions run for it, and which of them hand on.

wakebridged, built for debugging, runs below callgrind on a bus of its own with the bluetoothd of the tests, and a handler is
woken by one notification at a time. Callgrind writes down what ran whenever the loop begins to wait:
- notification: from frozen and quiet until the line is read, the handler is thawed, and all is quiet again
- acknowledgement: from the line that acknowledges until all is quiet again; the commit is among it
- back to sleep: from there until the handler is frozen
A function ran if it did so for every event, and if it is declared in Sources: what the compiler makes and accessors of
properties are none, and a closure counts as the function that it stands in. Of those that ran, one hands on if it calls a
function of another file, operators and `init` aside: there a reader of the way has to turn the page. The rest are details
of one file, and words such as `Instant.<`, which a reader takes by their names.
Valgrind has no clone3, so the handler is suspended by signals here, not by a cgroup.
"""
import collections
import os
import re
import shutil
import subprocess
import tempfile
import time

BLUEZ = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/Tests/TestBench/bluez.py"
KINDS = ("notification", "acknowledgement", "back to sleep")
HANDLER = r"""
import json, os, select, sys
folder, waiting, resumed, text = sys.argv[1], [], False, b""
while True:
    open(folder + "/beat", "w").close()  # who is frozen has none
    if select.select([0], [], [], 0.05)[0]:
        text += os.read(0, 65536)
    *lines, text = text.split(b"\n")
    for event in map(json.loads, lines):
        resumed = resumed or event["type"] == "wakebridge.resumed"
        if "seq" in event:
            waiting.append(event["seq"])
            name = "%s/read-%d" % (folder, event["seq"])
            with open(name + ".new", "w") as file:
                file.write("resumed" if resumed else "")
            os.rename(name + ".new", name)
            resumed = False
    if waiting and os.path.exists("%s/acknowledge-%d" % (folder, waiting[0])):
        os.write(3, b'{"ack":%d}\n' % waiting.pop(0))
"""


class Refusal(Exception):
    """Why the way of an event cannot be measured here; a sentence."""


class Run:
    """A daemon below callgrind, its bus, its bluetoothd and its handler, all in one folder."""

    def __init__(self, program, devices):
        self.folder, self.children = tempfile.mkdtemp(prefix="wakebridge-census-"), []
        try:
            self.start(program, devices)
        except BaseException:
            self.end()
            raise

    def start(self, program, devices):
        folder = self.folder
        for name in ("config/handlers.d", "run", "counts"):
            os.makedirs(f"{folder}/{name}")
        with open(folder + "/handler.py", "w") as file:
            file.write(HANDLER)
        user = 'user: "root", ' if os.geteuid() == 0 else ""
        with open(folder + "/config/handlers.d/census.json5", "w") as file:
            file.write(f'{{ exec: ["/usr/bin/python3", "{folder}/handler.py", "{folder}"], {user}'
                       'modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor" }],\n'
                       'timers: { linger: "4s", budget: "60s" } }')
        # Valgrind reads no debug information of this size.
        subprocess.run(["objcopy", "--strip-debug", program, folder + "/wakebridged"], check=True)
        bus = self.child(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"])
        environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=bus.stdout.readline().strip(), WAKEBRIDGE_DEVICES=devices)
        self.bluez = self.child(["/usr/bin/python3", BLUEZ], environment)
        self.bluez.stdout.readline()
        for command in ("adapter hci0", "peripheral 1 hci0", "live"):
            self.tell(command)
        self.daemon = self.child(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts/part", "--dump-before=epoll_*",
             folder + "/wakebridged", "--config", folder + "/config", "--state", folder + "/state",
             "--runtime", folder + "/run"], environment)

    def child(self, words, environment=None):
        self.children.append(subprocess.Popen(words, env=environment, text=True, stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE, stderr=open(self.folder + "/log", "a")))
        return self.children[-1]

    def end(self):
        for child in reversed(self.children):
            child.terminate()
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, command):
        self.bluez.stdin.write(command + "\n")
        self.bluez.stdin.flush()
        self.bluez.stdout.readline()

    def events(self, step):
        return {name for name in os.listdir(self.folder) if re.fullmatch(step + "-[0-9]+", name)}

    def acknowledge(self):
        for name in self.events("read"):
            open(f"{self.folder}/{name.replace('read', 'acknowledge')}", "w").close()

    def is_frozen(self):
        return time.time() - os.stat(self.folder + "/beat").st_mtime > 0.7

    def wait(self, condition, what):
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end or self.daemon.poll() is not None:
                with open(self.folder + "/log") as log:
                    raise Refusal(f"{what} did not come about: {log.read()[-2000:]}")
            time.sleep(0.02)

    def last_part(self, quiet):
        """The latest part of the counts, once the daemon has waited for so long; it looks at locks now and then."""
        end = time.monotonic() + 3
        last, since = None, time.monotonic()
        while time.monotonic() < end and time.monotonic() - since < quiet:
            parts = max(int(name.split(".")[1]) for name in os.listdir(self.folder + "/counts") if "." in name)
            if parts != last:
                last, since = parts, time.monotonic()
            time.sleep(0.02)
        return last

    def measure(self, events):
        """For each event the parts between which its notification, its acknowledgement and its end lie."""
        self.wait(lambda: self.events("read"), "a first event")
        self.wait(lambda: self.acknowledge() or self.is_frozen(), "a first suspension")
        before = None  # the marks of the event before, if it was a wake
        while events > 0:
            known, marks = self.events("read"), [self.last_part(0.1)]
            self.tell("say 70")
            self.wait(lambda: self.events("read") != known, "a notification")
            marks.append(self.last_part(0.4))
            with open(f"{self.folder}/{max(self.events('read') - known)}") as file:
                is_wake = file.read() == "resumed"  # on a busy machine it may only have seemed frozen
            self.acknowledge()
            time.sleep(0.2)
            marks.append(self.last_part(0.4))
            self.wait(self.is_frozen, "a suspension")
            if before and is_wake:
                yield before + marks[:1]
                events -= 1
            before = marks if is_wake else None

    def part(self, number):
        """The symbols that ran, and who called whom. What was on the stack all the time has no cost of its own."""
        names, ran, calls, is_call = {}, set(), set(), False
        with open(f"{self.folder}/counts/part.{number}") as file:
            for line in file:
                if found := re.match(r"(c?)fn=\((\d+)\)(?: ([^'\n]*))?", line):
                    names.setdefault(found[2], found[3])
                    caller, called = (caller, names[found[2]]) if found[1] else (names[found[2]], None)
                elif line.startswith("calls="):
                    calls.add((caller, called))
                    is_call = True
                elif line[0] in "+-*0123456789":
                    ran |= set() if is_call else {caller}
                    is_call = False
        return ran, calls


def ways(root, sources, events=8):
    """For each way the functions that ran, and those of them that hand on."""
    program = root + "/.build/debug/wakebridged"
    if not os.path.exists(program):
        raise Refusal("nothing is built here; run: swift build --product wakebridged")
    missing = [name for name in ("valgrind", "objcopy", "nm", "addr2line", "dbus-daemon") if not shutil.which(name)]
    if missing or subprocess.run(["/usr/bin/python3", "-c", "import dbus, gi"], stderr=subprocess.DEVNULL).returncode:
        raise Refusal(f"{', '.join(missing) or 'python3-dbus or python3-gi'} is missing; run: Scripts/prepare.sh tests")
    seen, edges = {kind: collections.Counter() for kind in KINDS}, {kind: set() for kind in KINDS}
    run = Run(program, root + "/Devices")
    try:
        for marks in list(run.measure(events)):
            for kind, first, last in zip(KINDS, marks, marks[1:]):
                parts = [run.part(number) for number in range(first + 1, last + 1)]
                seen[kind].update(set().union(*(ran for ran, _ in parts)))
                edges[kind].update(*(calls for _, calls in parts))
    finally:
        run.end()
    owner = owners(root, program, sources, set().union(*seen.values()))
    result = {}
    for kind in KINDS:
        symbols = {symbol for symbol, count in seen[kind].items() if count == events}
        ran = {owner.get(symbol) for symbol in symbols} - {None, ""}
        result[kind] = (ran, {caller for caller, called in hops(symbols, edges[kind], owner)
                              if caller.path != called.path and re.match(r"(?!init$)\w", called.name)})
    both = [result[kind] for kind in KINDS[:2]]
    return {"both of these": tuple(set.union(*sets) for sets in zip(*both)), **result}


def owners(root, program, sources, symbols):
    """The function in whose lines a symbol begins; "" for an accessor and for the thunks that calls pass through."""
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    places = {words[2]: words[0] for words in map(str.split, table.splitlines()) if len(words) == 3}
    symbols = [symbol for symbol in symbols if symbol in places]
    answer = subprocess.run(["addr2line", "-e", program], input="\n".join(places[symbol] for symbol in symbols),
                            capture_output=True, text=True, check=True).stdout.splitlines()
    functions, found = {source.path: source.functions for source in sources}, {}
    for symbol, place in zip(symbols, answer):
        path, _, line = place.split(" ")[0].rpartition(":")
        path = os.path.relpath(path, os.path.realpath(root))
        if path in functions and line.isdigit():
            around = [one for one in functions[path] if one.first <= int(line) <= one.last]
            found[symbol] = min(around, key=lambda one: one.last - one.first, default="")
        elif re.search(r"T[WAj]$", symbol):
            found[symbol] = ""
    return found


def hops(symbols, edges, owner):
    """Which function calls which, through accessors, closures and thunks."""
    called = collections.defaultdict(set)
    for one, other in edges:
        if one in symbols and other in symbols and other in owner:
            called[one].add(other)
    for symbol in symbols:
        todo, passed = [symbol] if owner.get(symbol) else [], set()
        while todo:
            for other in called[todo.pop()] - passed:
                passed.add(other)
                if owner[other] in ("", owner[symbol]):
                    todo.append(other)
                else:
                    yield owner[symbol], owner[other]
