"""Alarms: what was ordered, what fired, what is pending; and the machine's clock and sleep, at a scenario's will."""
import calendar
import ctypes
import struct
import subprocess
import time

from waiting import until

# Of struct timex: what a program that keeps the clock tells the kernel.
ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS = 0x4, 0x8, 0x10
TIMEX_SIZE = 208


def instant(text):
    """Seconds since 1970 of `2031-03-10T12:30:00Z`, without their fraction."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# The clock.

def set_clock(seconds):
    """As a person does; the kernel then trusts the clock no more, until a program keeps it."""
    subprocess.run(["date", "-u", "-s", f"@{seconds}"], check=True, stdout=subprocess.DEVNULL)


def keep_clock():
    """As a program does that has asked for the time: the clock is right from now on."""
    state = bytearray(TIMEX_SIZE)
    struct.pack_into("=I4xqqqqi", state, 0, ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS, 0, 0, 1000, 1000, 0)
    buffer = (ctypes.c_char * TIMEX_SIZE).from_buffer(state)
    if ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")


def boottime():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def sleep_machine(seconds):
    """Suspends this machine to its memory; its hardware clock wakes it. Returns for how many seconds it slept."""
    before = boottime() - time.monotonic()
    for value in ("0", f"+{seconds}"):
        with open("/sys/class/rtc/rtc0/wakealarm", "w") as alarm:
            alarm.write(value)
    with open("/sys/power/state", "w") as state:
        state.write("mem")
    return boottime() - time.monotonic() - before


class Schedule:
    def __init__(self, bridge):
        self.bridge, self.asked = bridge, 0

    def fired(self, alarm, since=0):
        """The events of it, in order; each once, though it may have been given again."""
        heard = [one for one in self.bridge.heard("alarm.fired") if one.data["id"] == alarm and one.at >= since]
        return list({one.event["id"]: one for one in heard}.values())

    def count(self, *alarms):
        return [len(self.fired(alarm)) for alarm in alarms]

    def say(self, order):
        """What the bridge answers the handler, which is woken where it sleeps, so that it says this.
        It may be frozen again before it reads the answer; then the next wake brings it."""
        self.asked += 1
        self.bridge.order({**order, "ref": self.asked})
        end = time.monotonic() + 120
        while not (answers := self.answers()) and time.monotonic() < end:
            self.bridge.tool("simulate", "wake", "beats")
            until(self.answers, 2)
        if not answers:
            raise self.bridge.late(f"{order} was not answered; see heard.log and wakebridged.log")
        return answers[0]

    def answers(self):
        """Those to the newest order."""
        return [one for one in self.bridge.heard("reply", "error")
                if self.asked in (one.data.get("ref"), one.event.get("ref"))]

    def pending(self):
        """Each entry by its id."""
        return {one["id"]: one for one in self.say({"pending": True}).data["pending"]}

    def due(self, alarm):
        """When it comes next, as `pending` has it."""
        return self.pending().get(alarm, {}).get("due", "never")[:19]
