"""Plays the life of a package on one machine: installed, set up, cut off, upgraded, starved, removed and purged.

    play.py DIR IMAGES SUITE VERSION HIGHER

IMAGES/SUITE.img is the disk it begins with, IMAGES/packages.img has both packages. DIR gets the consoles, the strap's log
and the machine's own journal. One line is printed for each claim and each figure; the status is 0 where all claims hold.
INSTALLED_QUIET_SECONDS says for how long the bytes written are counted (60).
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from account import Account
from machine import Machine

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Lab"))
from waiting import let_pass, pace, until  # noqa: E402

HANDLERS = "/etc/wakebridge/handlers.d"
QUIET_SECONDS = int(os.environ.get("INSTALLED_QUIET_SECONDS", "60"))


class Play:
    def __init__(self, folder, images, suite, version, higher):
        self.folder, self.suite, self.version, self.higher = folder, suite, version, higher
        disk = os.path.join(folder, "disk.img")
        subprocess.run(["cp", "--sparse=always", os.path.join(images, suite + ".img"), disk], check=True)
        self.machine = Machine(folder, os.path.join(images, suite), disk, os.path.join(images, "packages.img"))
        with open(os.path.join(folder, "around.log"), "wb") as log:
            self.around = subprocess.Popen([sys.executable, os.path.join(HERE, "around.py"), "--dir", folder], stdout=log, stderr=log)
        self.account, self.failed, self.claims = Account(), 0, 0

    # What is claimed and told.

    def claim(self, what, holds, said=""):
        self.claims += 1
        self.failed += not holds
        tail = "" if holds else f": {said}".replace("\n", " | ")
        print(f"installed: {self.suite}: {'PASS' if holds else 'FAILED'}: {what}{tail}", flush=True)

    def figure(self, what, value):
        print(f"installed: {self.suite}: {what}: {value}", flush=True)

    def expect(self, what, words, command, seconds=120):
        said, status = self.machine.run(command, seconds)
        self.claim(what, words in said, f"'{command}' ended with {status} and said: {said}")
        return said

    def eventually(self, what, condition, seconds=90):
        begun = time.monotonic()
        self.claim(what, until(condition, seconds, 0.5), f"not within {seconds} s")
        return time.monotonic() - begun

    # What is asked of the machine.

    def install(self, version):
        return self.machine.said("mkdir -p /mnt/packages; mountpoint -q /mnt/packages || mount -o ro /dev/vdb /mnt/packages; "
                                 f"DEBIAN_FRONTEND=noninteractive apt-get install --yes /mnt/packages/wakebridge_{version}_*.deb", 300)

    def line(self):
        """What the service says of itself; it follows what happens by a second."""
        return self.machine.said("systemctl show --property StatusText wakebridged")

    def handlers(self):
        """What status says of each, by its id."""
        return {one["id"]: one for one in json.loads(self.machine.said("wakebridge status --json"))["handlers"]}

    def wakes(self, handler):
        return self.handlers()[handler]["wakes"]

    def is_active(self):
        return self.machine.said("systemctl is-active wakebridged") == "active"

    def heard(self):
        """The lines that the keeper wrote down since the machine's boot."""
        return self.machine.said("cat /run/keeper/heard 2>/dev/null || true").splitlines()

    def has_heard(self, beats):
        """Whether the keeper has heard so many in all, over every boot."""
        self.account.enter(self.heard())
        return len(self.account.numbers()) >= beats

    def boot(self, *words):
        self.figure("seconds from power to a shell", f"{self.machine.start(*words):.0f}")

    def reckon(self, when):
        faults = self.account.faults(os.path.join(self.folder, "strap0.log"))
        self.claim(f"{when}, each of the strap's beats was heard once and in order, or is told in exactly one gap "
                   f"({len(self.account.numbers())} beats, {len(self.account.gaps)} gaps)", not faults, faults[:5])

    # The story.

    def install_without_adapter(self):
        self.boot()
        said = self.install(self.version)
        self.claim("apt installs it, and says what comes next", "Next: sudo wakebridge setup" in said, said)
        self.claim("the service is active without an adapter", self.is_active(), self.machine.said("systemctl status wakebridged"))
        self.expect("it starts at every boot", "enabled", "systemctl is-enabled wakebridged")
        self.expect("status says that there is no adapter", "no Bluetooth adapter", "wakebridge status")
        self.eventually("the service's own line says it too", lambda: "no Bluetooth adapter" in self.line())
        self.expect("setup ends with the one thing that is in the way", "plug one in", "wakebridge setup --yes || true")
        self.figure("systemd-analyze security", self.machine.said("systemd-analyze security wakebridged --no-pager | tail -1"))
        times = self.machine.said("systemctl show wakebridged --property ExecMainStartTimestampMonotonic,ActiveEnterTimestampMonotonic")
        begun, ready = sorted(int(line.partition("=")[2]) for line in times.splitlines())
        self.figure("from exec to ready on the emulated processor", f"{(ready - begun) / 1000:.0f} ms")
        self.figure("resident memory", self.machine.said("grep -E 'VmRSS|RssAnon' /proc/$(pidof wakebridged)/status | tr -s '\\n\\t ' ' '"))
        self.figure("installed size", self.machine.said("dpkg-query -W -f '${Installed-Size} KiB' wakebridge"))

    def set_up(self):
        with open(os.path.join(self.folder, "around.log")) as log:
            self.claim("the strap lives beside the machine", self.around.poll() is None, log.read()[-300:])
        self.machine.said("systemctl enable --now radio")
        self.eventually("the kernel finds the adapter", lambda: "hci0" in self.machine.said("ls /sys/class/bluetooth || true"))
        self.expect("a new handler is two files", "wrote /etc/wakebridge/handlers.d/hr.json5",
                    "wakebridge new handler hr --profile heart-rate-monitor")
        said, status = self.machine.run("wakebridge setup --yes --for 90s", 200)
        self.claim("an adapter and a strap appear, and setup ends with its first beat", status == 0 and "bpm=72" in said and "it works" in said, said)
        self.eventually("the handler that 'new handler' wrote prints the beats",
                        lambda: self.machine.said("wakebridge logs hr").count('"bpm":72') >= 3)

    def count_bytes(self):
        """Of the daemon, while a strap of 1 Hz wakes a handler whose events only memory keeps."""
        count = "sed -n 's/^write_bytes: //p' /proc/$(pidof wakebridged)/io"
        before, woken = int(self.machine.said(count)), self.wakes("hr")
        let_pass(QUIET_SECONDS, "what the daemon writes is counted by the minute")
        written, woken = int(self.machine.said(count)) - before, self.wakes("hr") - woken
        self.claim(f"of {woken} beats in {QUIET_SECONDS} s the daemon writes nothing to the disk", written == 0 and woken > QUIET_SECONDS / 2,
                   f"{written} bytes for {woken} beats")

    def drop(self, *files):
        for name, mode in files:
            with open(os.path.join(HERE, name)) as file:
                self.machine.said(f"cat >/tmp/{name} <<'END'\n{file.read()}END\ninstall -m {mode} /tmp/{name} {HANDLERS}/; sync")

    def add_keeper(self):
        self.drop(("keeper.sh", "755"), ("keeper.json5", "644"))
        self.eventually("a second handler, which keeps events on disk, hears beats", lambda: self.has_heard(5))

    def hold_socket(self):
        """A peer sends a number a second while the daemon is restarted and killed: systemd keeps the connection."""
        with open(os.path.join(HERE, "peer.py")) as file:
            self.machine.said(f"cat >/tmp/peer.py <<'END'\n{file.read()}END\nsystemd-run --unit peer python3 /tmp/peer.py")
        self.drop(("caller.py", "644"), ("caller.json5", "644"))

        def numbers():
            return self.machine.said("cat /run/caller/heard 2>/dev/null || true").splitlines()

        self.eventually("a handler hears what comes over its socket", lambda: len(numbers()) >= 3)
        for what, command in (("restarted", "systemctl restart wakebridged"), ("killed", "systemctl kill --signal KILL wakebridged")):
            # Right after a number the handler has written down what it took.
            before = len(numbers())
            until(lambda: len(numbers()) > before, 30)
            known = len(numbers())
            self.machine.said(command)
            self.eventually(f"the daemon is {what}: the handler hears more of the same connection", lambda: len(numbers()) >= known + 5)
        heard, book = numbers(), self.machine.said("cat /run/peer/book").splitlines()
        self.claim("the peer sees one connection, no end and no reset", book.count("connected") == 1 and not [
            line for line in book if line.startswith(("ended", "failed"))], "; ".join(book[-20:]))
        self.claim(f"the handler hears every number once and in order ({len(heard)})",
                   heard == [str(number) for number in range(1, len(heard) + 1)], "; ".join(heard[-20:]))
        self.machine.said(f"rm {HANDLERS}/caller.json5 {HANDLERS}/caller.py; systemctl stop peer")

    def move_file(self):
        """Half of a file is there while the daemon is restarted and killed: what moves it goes on, in a scope of its own."""
        with open(os.path.join(HERE, "library.py")) as file:
            self.machine.said(f"cat >/tmp/library.py <<'END'\n{file.read()}END\n"
                              "systemd-run --unit library python3 /tmp/library.py")
        self.drop(("reader.py", "644"), ("reader.json5", "644"))
        state, find = "/var/lib/wakebridge/handlers/reader", "pidof wakebridge-transferd || true"
        self.eventually("half of a file is there", lambda: self.machine.said(f"stat -c %s {state}/.transfers/*.part || true") == "524288")
        mover = self.machine.said(find)
        self.expect("what moves it has a scope of systemd's", "/wakebridge-transferd-", f"cat /proc/{mover}/cgroup")
        self.expect("it runs as the handler's user", "same",
                    f"[ \"$(stat -c %u /proc/{mover})\" = \"$(stat -c %u {state})\" ] && echo same; stat -c %U /proc/{mover} {state}")
        for what, command in (("restarted", "systemctl restart wakebridged"), ("killed", "systemctl kill --signal KILL wakebridged")):
            daemon = self.machine.said("pidof wakebridged")
            self.machine.said(command)
            self.eventually(f"the daemon is {what}, and there again", lambda: self.machine.said("pidof wakebridged || true") not in ("", daemon))
            self.eventually("it is ready", self.is_active)
        self.claim("what moves the file has outlived both", self.machine.said(find) == mover)
        self.machine.said("python3 -c 'import urllib.request; urllib.request.urlopen(\"http://127.0.0.1:8017/open\")'")
        self.eventually("the handler is told its end once", lambda: self.machine.said(f"cat {state}/heard || true").splitlines() == [
            "wakebridge.transfer.finished well", "wakebridge.transfer.settled well"])
        self.expect("the file is the server's", "same", f"python3 -c 'print(\"same\" if open(\"{state}/book\", \"rb\").read() "
                    "== bytes(range(256)) * 4096 else \"another\")'")
        self.machine.said(f"rm {HANDLERS}/reader.json5 {HANDLERS}/reader.py; systemctl stop library")

    def limit_flow(self):
        """A handler that works as hard as it can has a quarter of a processor while its flow is open, as its manifest says."""
        self.machine.said("touch /run/flowing")
        self.drop(("flower.py", "644"), ("flower.json5", "644"))
        self.eventually("a flow keeps a handler awake", lambda: self.handlers().get("flower", {}).get("flows") == ["rec"])
        leaf = f"/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/{self.handlers()['flower']['pid']}/cgroup)"
        self.eventually("its own cgroup has a quarter of a processor", lambda: self.machine.said(f"cat {leaf}/cpu.max") == "25000 100000")
        self.eventually("the kernel holds it back", lambda: self.machine.said(f"sed -n 's/^nr_throttled //p' {leaf}/cpu.stat") not in ("", "0"))
        self.machine.said("rm /run/flowing")
        self.eventually("it is frozen once the flow is over", lambda: self.handlers()["flower"]["state"] == "suspended")
        self.expect("its share is taken back with the flow", "max 100000", f"cat {leaf}/cpu.max")
        self.machine.said(f"rm {HANDLERS}/flower.json5 {HANDLERS}/flower.py")

    def cut_off(self):
        """The plug is pulled while the keeper has events that it did not acknowledge."""
        self.machine.said("touch /run/keeper/hold")

        def held():
            return self.machine.said("cat /run/keeper/held 2>/dev/null || true").splitlines()

        until(held, 60)
        # In this order: what is held meanwhile is in the second, and so counts as held.
        heard, unacknowledged = self.heard(), held()
        self.account.enter([line for line in heard if line not in unacknowledged])
        self.account.hold(unacknowledged)
        status = "" if self.account.held else self.machine.said("wakebridge status; tail -n 3 /run/keeper/heard")
        self.machine.cut()
        self.claim("an event is unacknowledged when the machine is cut off", bool(self.account.held), status)
        held = dict(self.account.held)
        self.boot()
        known = len(self.account.numbers())
        self.eventually("after the cut the service runs again by itself", self.is_active)
        took = self.eventually("the bonded strap reconnects by itself, and its beats wake the handler", lambda: self.has_heard(known + 3))
        self.figure("seconds from the shell to the third beat", f"{took:.0f}")
        again = [event for event in self.account.acknowledged.values() if event["id"] in held]
        self.claim("what was unacknowledged comes again, and says so", len(again) == len(held) and all(event.get("redelivered") for event in again),
                   f"{len(again)} of {len(held)}: {again[:2]}")
        self.reckon("over the cut")

    def upgrade(self):
        self.eventually("both handlers are frozen", lambda: {one["state"] for one in self.handlers().values()} == {"suspended"})
        said = self.install(self.higher)
        self.claim("a higher version installs over it", f"Setting up wakebridge ({self.higher})" in said, said)
        self.has_heard(0)
        known = len(self.account.numbers())
        took = self.eventually("the link is back within 30 s of the upgrade, and beats come", lambda: self.has_heard(known + 3), 30)
        self.claim("the service is active after the upgrade", self.is_active())
        self.figure("seconds from the end of apt to the third beat", f"{took:.1f}")
        self.reckon("over the upgrade")

    def restart_into(self, what, *boot):
        """Pulls the plug and boots into trouble: it starts all the same."""
        self.machine.cut()
        self.boot(*boot)
        self.eventually(f"{what}: the service is active", self.is_active)

    def lacks(self, what, words):
        """Claims that status says so, and the service's own line too."""
        self.eventually(f"{what}: status says '{words}'", lambda: words in self.machine.said("wakebridge status"))
        self.eventually(f"{what}: the service's own line says it too", lambda: "events are kept in memory only" in self.line())

    def flood(self, beats):
        """So many beats in a while: more than the journal has room for within its files. What comes faster than bluetoothd reads, the
        kernel drops: this air has no flow control."""
        for _ in range(beats // 20):
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(os.path.join(self.folder, "strap0.sock"))
                link.sendall(b"flood 20\n")
                link.makefile().readline()
            pace(time.monotonic() + 0.4)

    def starve(self):
        self.machine.said("for size in 1M 4k; do dd if=/dev/zero of=/fill.$size bs=$size 2>/dev/null || true; done; sync", 600)
        self.restart_into("a full disk")
        known = len(self.account.numbers())
        self.eventually("a full disk: beats come", lambda: self.has_heard(known + 3))
        self.flood(1000)
        self.lacks("a full disk", "disk is full")
        self.eventually("a full disk: the flood is heard", lambda: self.has_heard(known + 1000), 180)
        self.reckon("on the full disk")
        self.machine.said("rm -f /fill.*; sync")
        self.restart_into("a root that is read only", "ro")
        self.lacks("a root that is read only", "Read-only file system")
        self.restart_into("a clock that is not set", "rw", "-rtc", "base=2001-01-01T00:00:00")
        known = len(self.account.numbers())
        self.eventually("a clock that is not set: beats come", lambda: self.has_heard(known + 3))

    def remove(self):
        self.expect("removal says what stays", "To remove the state too: sudo apt purge wakebridge", "apt-get remove --yes wakebridge 2>&1")
        self.expect("removal stops the service", "inactive", "systemctl is-active wakebridged || true")
        self.expect("no handler is left", "none", "pgrep -f handlers.d || echo none")
        self.expect("removal keeps manifests", "keeper.json5", f"ls {HANDLERS}")
        self.expect("purge says that it removes the state", "Removed: events and state", "apt-get purge --yes wakebridge 2>&1")
        self.expect("nothing of the service is left", "not-found", "systemctl is-enabled wakebridged 2>&1 | sed 's/.*No such file.*/not-found/' || true")
        self.expect("its state is gone", "none", "ls -d /var/lib/wakebridge /run/wakebridge 2>/dev/null || echo none")

    def play(self):
        for part in (self.install_without_adapter, self.set_up, self.count_bytes, self.add_keeper, self.hold_socket, self.move_file,
                     self.limit_flow, self.cut_off, self.upgrade, self.starve, self.remove):
            part()

    def end(self):
        """Keeps the machine's own words where a claim failed."""
        if self.failed and self.machine.emulator and self.machine.emulator.poll() is None:
            with open(os.path.join(self.folder, "journal"), "w") as file:
                file.write(self.machine.said("journalctl --no-pager --output short-precise | tail -n 3000"))
        self.machine.cut()
        self.around.kill()


def main():
    folder, images, suite, version, higher = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    play = Play(folder, images, suite, version, higher)
    try:
        play.play()
    except Exception as error:
        play.claim("the play comes to its end", False, repr(error))
        raise
    finally:
        play.end()
    print(f"installed: {suite}: {'FAILED' if play.failed else 'PASS'}: {play.claims - play.failed} of {play.claims} claims hold", flush=True)
    sys.exit(bool(play.failed))


if __name__ == "__main__":
    main()
