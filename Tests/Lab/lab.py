"""What a scenario is written with: its own air, straps, the bridge, and claims that pass or fail one by one."""
import json
import os
import subprocess
import time

import dbus

import gadget
import schedule
from air import Air, Late, Process
from bridge import Bridge
from reckoning import Reckoning
from tally import Tally
from uhid import Uhid
from waiting import let_pass, until

__all__ = ["Lab", "Late", "let_pass", "until", "now"]


def now():
    return time.monotonic()


class Lab:
    """`say` writes a line to the report; `boot` counts those of a machine that boots more than once."""

    def __init__(self, folder, programs, say, boot=0):
        self.folder, self.programs, self.say, self.boot = folder, programs, say, boot
        self.air = self.bridge = None
        self.accessories = []
        self.will_be_looked_at = "LAB_KEEP" in os.environ
        os.makedirs(folder, exist_ok=True)

    # Claims.

    def claim(self, sentence, holds, detail="", word="FAIL"):
        detail = f" ({str(detail)[:1000]})" if detail != "" else ""
        self.say(f"PASS: {sentence}" if holds else f"{word}: {sentence}{detail}")
        self.will_be_looked_at |= not holds
        return bool(holds)

    def account(self, sentence, holds, detail=""):
        """Claims that nothing is lost, whatever came late before it."""
        return self.claim(sentence, holds, detail, "LOST")

    def in_time(self, sentence, holds, detail=""):
        """Claims what is only true of a machine that has its processors."""
        return self.claim(sentence, holds, detail, "LATE")

    def not_yet(self, sentence, holds, detail=""):
        """Claims what the bridge still owes: told loudly as such while it does not hold, and fails nothing."""
        self.say(f"PASS: {sentence}" if holds else f"NOT-YET: {sentence} ({detail})")

    def eventually(self, sentence, condition, seconds=30, every=0.05):
        """Claims that it holds within `seconds`, and says after how many it did."""
        begun = now()
        holds = until(condition, seconds, every)
        self.in_time(sentence, holds, f"not within {seconds} s")
        return now() - begun if holds else None

    def skip(self, why):
        """Nothing can be claimed here; whoever reads the tests is told."""
        self.say(f"SKIP: {why}")

    def figure(self, what, value):
        self.say(f"FIGURE: {what}: {value}")

    def seconds(self, what, value):
        self.figure(what, "never" if value is None else f"{value:.2f} s")

    # What there is.

    def start(self, own={}, extra={}, settings={}, **air):
        """`own` are profiles by their names, beside the shipped ones; `extra` is what else the manifest has; `settings` are the
        daemon's."""
        self.air = Air(self.folder, **air)
        self.bridge = Bridge(self.folder, self.programs, extra=extra, settings=settings, **own)
        return self.air, self.bridge

    def attach(self, *profiles, timers={}):
        """The bridge alone, with no radio and no bus about it, and controllers to plug accessories into."""
        gadget.load()
        self.bridge = Bridge(self.folder, self.programs, timers, **{one["name"]: json.dumps(one) for one in profiles})
        return self.bridge

    def schedule(self, **keys):
        """The bridge alone, its handler having what is scheduled by these keys of its manifest; see schedule.py."""
        self.bridge = Bridge(self.folder, self.programs, scheduled=keys)
        return schedule.Schedule(self.bridge)

    def gadget(self, *functions, **more):
        """One that is not plugged in yet; see gadget.py."""
        self.accessories.append(gadget.Gadget(self.folder, f"lab{len(self.accessories)}", *functions, **more))
        return self.accessories[-1]

    def uhid(self, descriptor, **more):
        self.accessories.append(Uhid(self.folder, len(self.accessories), descriptor, **more))
        return self.accessories[-1]

    def process(self, name, *words):
        """A program beside, to be ended by the scenario; what it says goes to NAME.log."""
        return Process(self.folder, name, *words)

    def paired(self, *options, alias="strap", **air):
        """The air, a strap on it that is bonded and watched, and the bridge that has heard its first beats."""
        self.start(**air)
        strap = self.air.strap(*options)
        self.bridge.pair(strap, alias)
        if not until(lambda: self.bridge.beats(), 60):
            raise self.bridge.late("no beat reached the handler; see wakebridged.log and bluetoothd.log")
        return self.air, strap, self.bridge

    def pair_port(self, logger, alias):
        """As people do: found, paired, trusted and named."""
        said = open(os.path.join(self.folder, "bluetoothctl.log"), "ab")
        tool = subprocess.Popen(["bluetoothctl", "--agent", "NoInputNoOutput"], stdin=subprocess.PIPE, stdout=said)

        def order(*commands):
            tool.stdin.write("".join(one + "\n" for one in commands).encode())
            tool.stdin.flush()

        order("default-agent", "scan bredr")
        self.eventually("it is discovered", lambda: self.air.device(logger), 60)
        order("scan off", f"pair {logger.address}")
        self.eventually("it is paired, and its serial port known", lambda: self.air.device(logger, "Bonded") and any(
            "1101" in one for one in self.air.device(logger, "UUIDs")), 60)
        order(f"trust {logger.address}")
        self.eventually("it is trusted", lambda: self.air.device(logger, "Trusted"))
        self.air.put(self.air.device(logger)[0], "Device1", "Alias", dbus.String(alias))
        order("quit")
        tool.wait(20)
        said.close()

    def beats_again(self, sentence, since, seconds=60):
        """Claims that a beat reaches the handler after the instant `since`; says after how many seconds it did."""
        if self.eventually(sentence, lambda: self.bridge.beats(since), seconds) is None:
            return None
        return self.bridge.beats(since)[0].at - since

    def await_beats(self, count=3, of=None, seconds=10):
        """Waits until so many more have reached the handler, for the reckoning to compare; claims nothing."""
        since = now()
        until(lambda: len(self.bridge.beats(since, of)) >= count, seconds, 0.1)

    def reckon(self, strap, cuts=(), settle=2.5, others=False):
        """Claims that every beat is heard once and in order, or told in one gap.

        `others`: another program has subscribed too, so that bluetoothd tells each value once for each of the two.
        """
        # A beat that is said later and heard shows that what was said by now had its time. Where none comes, it is given
        # `settle`, and longer where bluetoothd has a crowd to forget first: late is not lost.
        entries = strap.entries()
        last = max((int(fields["n"]) for _, _, fields in entries if "n" in fields), default=0)
        until(lambda: any(0 < (one.beat - last & 0xFFFF) < 0x8000 for one in self.bridge.beats(of=strap)), settle, 0.1)
        until(lambda: not Reckoning(strap, entries, self.bridge, cuts).may_come, 60, 1)
        reckoning = Reckoning(strap, entries, self.bridge, cuts)
        self.figure(f"strap {strap.number}", reckoning)
        self.account("every beat sent on an armed link is delivered", not reckoning.lost, reckoning.lost)
        self.account("every other beat lies between from and to of exactly one gap",
                     not (reckoning.untold or reckoning.twice_told), f"{reckoning.untold} {reckoning.twice_told}")
        self.account("no beat comes before an earlier one", not reckoning.disorder, reckoning.disorder)
        (self.not_yet if others else self.account)("no beat is delivered as two events", not reckoning.repeated,
                                                   reckoning.repeated)
        return reckoning

    def tally(self, what, said, heard, gaps=()):
        """Claims that every message was heard once, whole and in order. What the kernel drops while the machine stands still
        lies in one of the gaps."""
        tally = Tally(said, heard)
        self.figure(what, tally)
        self.account(f"{what}: no message is heard twice, or in parts, or before an earlier one", tally.is_true, tally)
        self.account(f"{what}: what is lost lies in a gap", not tally.untold(gaps), (tally, gaps[:3]))
        self.in_time(f"{what}: each message is heard", not tally.lost, tally)
        return tally

    def end(self):
        if self.bridge:
            alive = self.bridge.daemon.is_alive
            if alive and self.will_be_looked_at:
                self.bridge.testify()
            self.claim("the daemon lives to the end, and ends when asked to", alive and self.bridge.end())
        for accessory in self.accessories:
            accessory.discard()
        if self.air:
            self.air.end()
