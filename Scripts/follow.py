"""Follows pages to the letter in a fresh Debian, as their reader would, and compares what is printed with what they show.

usage: follow.py BASE PACKAGE PAGE...     BASE is the folder of a Debian with systemd; PACKAGE is copied beside the reader
       follow.py --here PROGRAMS PAGE...   on this machine, with the tool in the folder PROGRAMS and no daemon; a folder is the root

All pages are followed one after the other by one user with sudo, in that user's home. Of a page:
- an `sh` block is commands, one a line; each must end well. One that goes on until Ctrl-C is ended by it once its output is there.
- a `text` block right after it is what these commands print together.
- an `sh` block that begins with #!, and a `json5`, `python` or `conf` block, is a file. Its name is the last word in backticks before it.
- <!-- needs: WHAT --> before a block says what its commands need beside the package. Where that is not had, they are not run,
  and the last line for the page counts them and says what plays them.

The output must be equal, but for these: a line "…" stands for any lines, and "…" in a line for anything there. Times of day,
measured durations, sizes and shares, and how often something was frozen may be others.
"""
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from container import Container

RECORDING = "/usr/share/wakebridge/Devices/heart-rate-monitor/recording.trace"
LIMIT = 1800
# What is not had in the container, and what plays the commands that need it.
ELSEWHERE = {
    "adapter": "the scenarios setup, crowded-room, first-beat and doctor in the lab's machine",
    "broker": "BrokerTests, with a mosquitto of their own",
    "checkout": "InstallTests, which installs to another folder",
    "Debian 13": "the run on Debian 13",
    "strap": "the same page in a fresh Debian, with a recorded one",
    "daemon": "the same page in a fresh Debian, or the scenarios of the lab",
    "receiver": "ScenarioTests of accessories, with emulated ones",
    "board": "the scenarios of the lab, with an emulated peripheral",
    "fleet": "nothing here: it needs several machines",
    "macOS": "nothing here: it needs a Mac",
}
VOLATILE = [
    (r"(\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"frozen \d+ times", "frozen N times"),
    (r"\d+(\.\d+)? (ms|s|min|h|%|KiB|MiB)(?![a-z])", r"N \2"),
    (r"\d+(\.\d+)? seconds", "N seconds"),
]


# What swift.org's page of Debian 12 wants from apt.
SWIFT_WANTS = (
    "binutils-gold gcc git libcurl4-openssl-dev libedit-dev libncurses-dev libpython3-dev libsqlite3-dev libstdc++-12-dev "
    "libxml2-dev pkg-config tzdata uuid-dev zlib1g-dev"
)


# The name of a file in the reader's own folder, or in a folder there.
IS_NAME = re.compile(r"(?:[\w-]+/)?[\w-]+\.\w+")


class Refusal(Exception):
    """How a page and what happened differ."""


class Block:
    def __init__(self, language, line, text, needs, said):
        self.language, self.line, self.text, self.needs = language, line, text, needs
        # The last word in backticks before it.
        self.said = said
        self.shown = None

    def is_file(self):
        return self.language in ("json5", "python", "conf") or self.language == "sh" and self.text.startswith("#!")

    def commands(self):
        return [line for line in self.text.splitlines() if line and not line.startswith("#")]


def blocks(path):
    """Those of a page that are commands or files, each with the output that is shown for it."""
    found, needs, said, opened, after = [], None, None, None, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if opened is not None:
                if line != "```":
                    opened.text += line + "\n"
                elif opened.language == "text":
                    if after is None:
                        raise Refusal("line %d: this output follows no commands" % opened.line)
                    after.shown, after, opened = opened.text, None, None
                else:
                    found.append(opened)
                    after, opened, needs = opened, None, None
            elif line.startswith("```"):
                opened = Block(line[3:], number, "", needs, said)
            elif line.startswith("<!-- needs: "):
                needs = line[len("<!-- needs: "):].split(" -->")[0]
            elif line:
                if needs:
                    raise Refusal("line %d: '%s' is needed by no block" % (number, needs))
                after = None
                said = (re.findall(r"`([^`]+)`", line) or [said])[-1]
    return [block for block in found if block.language in ("sh", "json5", "python", "conf")]


def plain(text):
    for pattern, word in VOLATILE:
        text = re.sub(pattern, word, text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def pattern(shown):
    """What is shown, as a pattern for what is printed."""
    lines = [r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in plain(shown).splitlines()]
    return re.compile("".join(lines))


class Reader:
    """Follows pages in one container, with one home and one folder where commands run."""

    def __init__(self, container, had):
        self.container, self.had, self.folder, self.strap = container, had, container.home, None

    def follow(self, path):
        name, counts, missing = os.path.basename(path), {"run": 0, "shown": 0, "files": 0, "strap": 0}, {}
        for block in blocks(path):
            try:
                if block.needs and block.needs not in self.had:
                    if block.needs not in ELSEWHERE:
                        raise Refusal("there is nothing that is called '%s'" % block.needs)
                    missing[block.needs] = missing.get(block.needs, 0) + len(block.commands())
                elif block.is_file():
                    self.save(block)
                    counts["files"] += 1
                else:
                    if block.needs == "strap":
                        self.bring_strap(name)
                        counts["strap"] += len(block.commands())
                    self.perform(block)
                    counts["run"] += len(block.commands())
                    counts["shown"] += block.shown is not None
            except Refusal as refusal:
                raise Refusal("%s:%d: %s" % (path, block.line, refusal)) from None
        said = "%d commands run" % counts["run"]
        if counts["strap"]:
            said += ", %d of them with a recorded strap" % counts["strap"]
        said += "; %d outputs compared, %d files saved" % (counts["shown"], counts["files"])
        for need, count in missing.items():
            said += "; %d not run for want of: %s (played by %s)" % (count, need, ELSEWHERE[need])
        print("follow: %s: %s" % (name, said), flush=True)

    def save(self, block):
        if not block.said or not IS_NAME.fullmatch(block.said):
            raise Refusal("this file has no name: write `NAME` before it")
        path = self.container.path("%s/%s" % (self.folder, block.said))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.container.text(block.text))
        self.container.give(path)

    def bring_strap(self, page):
        """A recorded strap comes near, in place of one with a radio, and beats for a minute and a half: once for a page."""
        if self.strap == page:
            return
        self.strap = page
        # A daemon goes on in a trace that it knows, so each page has its own.
        trace = "/etc/wakebridge/%s.trace" % page
        self.container.must(
            "(cat %s; echo '# %s') >%s && echo '{ replay: { file: \"%s\" } }' >/etc/wakebridge/wakebridge.json5 && "
            "systemctl restart wakebridged" % (RECORDING, page, trace, trace))

    def perform(self, block):
        printed, wanted = "", pattern(block.shown) if block.shown is not None else None
        commands = block.commands()
        for place, command in enumerate(commands):
            is_last = place == len(commands) - 1
            status, output = self.run(command, printed, wanted if is_last else None)
            printed += output
            if status not in (0, None):
                raise Refusal("'%s' ended with status %d and printed:\n%s" % (command, status, printed))
        if wanted is not None and not wanted.fullmatch(plain(printed)):
            raise Refusal("shown is:\n%s\nand printed was:\n%s" % (block.shown, printed))

    def run(self, command, before, wanted):
        """Its status and output. The status is None if it was ended by Ctrl-C, after it had printed what is shown."""
        inside = "cd %s && { %s\n}; status=$?; pwd >&9; exit $status" % (quoted(self.folder), command)
        told, tell = os.pipe()
        words = ["sh", "-c", 'exec 9>&"$0"; exec "$@"', str(tell)] + self.container.words(inside, "pi")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   pass_fds=[tell], start_new_session=True)
        os.close(tell)
        output, end, is_ended = b"", time.monotonic() + LIMIT, None
        while True:
            if is_ended and time.monotonic() > is_ended + 20:
                os.killpg(process.pid, signal.SIGKILL)
                raise Refusal("'%s' goes on after Ctrl-C" % command)
            if time.monotonic() > end:
                os.killpg(process.pid, signal.SIGKILL)
                raise Refusal("'%s' goes on and on; it printed:\n%s" % (command, output.decode(errors="replace")))
            if select.select([process.stdout], [], [], 0.2)[0]:
                more = os.read(process.stdout.fileno(), 65536)
                output += more
                if not more:
                    break
            if follows(command) and not is_ended:
                so_far = plain(before + output.decode(errors="replace"))
                if wanted is None or wanted.fullmatch(so_far):
                    os.killpg(process.pid, signal.SIGINT)
                    is_ended = time.monotonic()
                elif time.monotonic() > end - LIMIT + 60:
                    os.killpg(process.pid, signal.SIGKILL)
                    raise Refusal("'%s' does not print what is shown; it printed:\n%s" % (command, so_far))
        status = process.wait()
        with open(told, encoding="utf-8") as file:
            self.folder = file.read().strip() or self.folder
        return None if is_ended else status, output.decode(errors="replace")


def follows(command):
    """Whether it goes on until Ctrl-C."""
    words = command.split("#")[0].split()
    return "wakebridge" in words and ("watch" in words or "logs" in words and "-f" in words)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def furnish_apt(container):
    """An apt that knows its mirror, and does not ask."""
    settings = container.base + ".apt"
    if os.path.exists(settings):
        shutil.copy(settings, container.path("/etc/apt/apt.conf.d/mirror"))
    container.must("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/answer; apt-get -qq update")


def furnish(container, package):
    """What the reader has before the first page: the package and, where apt has none, Swift. Returns what blocks may need."""
    furnish_apt(container)
    shutil.copy(package, container.path(container.home))
    had = {"strap", "daemon"}
    if container.run("apt-cache show swiftlang")[0] == 0:
        return had | {"Debian 13"}
    lend_swift(container)
    return had


def lend_swift(container):
    """Where apt has no Swift, this machine's own stands for the toolchain of swift.org, with what its page wants from apt."""
    swift = shutil.which("swift")
    if not swift:
        raise SystemExit("follow: there is no Swift here to lend to %s" % container.base)
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(swift))))
    container.lend(home)
    container.must("apt-get -qq install --no-install-recommends %s >/dev/null 2>&1" % SWIFT_WANTS)
    container.must("echo 'PATH=%s/usr/bin:$PATH' >/etc/profile.d/swift.sh" % home)


class Here:
    """This machine in the place of a container. Places of the page become places below a folder, or in the checkout."""

    def __init__(self, programs):
        self.root = tempfile.mkdtemp(prefix="wakefollow")
        # What the reader writes as root, other users read.
        os.chmod(self.root, 0o755)
        self.home, self.bin = self.root + "/reader", self.root + "/bin"
        for folder in (self.home, self.bin, self.root + "/etc/wakebridge/handlers.d", self.root + "/etc/wakebridge/Devices"):
            os.makedirs(folder)
        os.symlink(os.path.abspath(programs) + "/wakebridge", self.bin + "/wakebridge")
        checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.install("sudo", 'exec "$@"')
        # A replay gives its handler no environment of ours. The package puts the module where every Python finds it.
        self.install("python3", "PYTHONPATH='%s/Packages/python' exec /usr/bin/python3 -B \"$@\"" % checkout)
        for name in os.listdir(checkout + "/Devices"):
            os.symlink("%s/Devices/%s" % (checkout, name), "%s/etc/wakebridge/Devices/%s" % (self.root, name))
        self.places = {
            "/usr/share/wakebridge/Devices": checkout + "/Devices", "/usr/bin/python3": self.bin + "/python3",
            "/etc/wakebridge": self.root + "/etc/wakebridge", "/opt/": self.root + "/opt/",
        }

    def install(self, name, command):
        with open("%s/%s" % (self.bin, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % command)
        os.chmod(file.name, 0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def text(self, text):
        for place, here in self.places.items():
            text = text.replace(place, here)
        return text

    def words(self, command, _):
        environment = [
            "PATH=%s:%s" % (self.bin, os.environ["PATH"]), "WAKEBRIDGE_DEVICES=%s/etc/wakebridge/Devices" % self.root]
        return ["env"] + environment + ["sh", "-c", self.text(command)]

    def path(self, inside):
        return inside

    def give(self, path):
        pass


def follow(place, reader, pages):
    since = time.monotonic()
    for page in pages:
        try:
            reader.follow(page)
        except Refusal as refusal:
            print("FAIL: %s on %s: %s" % (page, place, refusal), file=sys.stderr)
            return 1
    print("follow: %s: %d pages work as they say; this took %d s" % (place, len(pages), time.monotonic() - since))
    return 0


def main(words):
    if words[0] == "--here":
        with Here(words[1]) as machine:
            return follow("here", Reader(machine, set()), words[2:])
    with Container(words[0]) as container:
        return follow(os.path.basename(words[0]), Reader(container, furnish(container, words[1])), words[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
