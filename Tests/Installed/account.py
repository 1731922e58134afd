"""What became of each beat of the strap: acknowledged by the handler that keeps them, or told in exactly one gap."""
import calendar
import json
import time

# The machine's clock is the emulator's: so many seconds it may be beside the strap's.
BESIDE = 1.5


def instant(text):
    """Seconds since 1970 of an event's time."""
    whole, _, part = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (part or "0"))


def beat(event):
    """The strap's running number, where the event is one of its beats."""
    data = event.get("data") or {}
    raw = bytes.fromhex(data.get("raw", ""))
    if event["type"] == "wakebridge.device.data" and data.get("characteristic") == "2a37" and len(raw) >= 4:
        return raw[2] | raw[3] << 8
    return None


def events(lines):
    """Those of the lines that want an acknowledgement."""
    return [event for event in map(json.loads, lines) if "seq" in event]


class Account:
    """All lines that the handler was given, over every boot of the machine."""

    def __init__(self):
        # Events by their id: acknowledged ones, and those that were still unacknowledged when the machine was cut off.
        self.acknowledged, self.held, self.gaps = {}, {}, {}

    def enter(self, lines):
        for event in events(lines):
            if event["type"] == "wakebridge.device.gap":
                self.gaps[event["id"]] = instant(event["data"]["from"]), instant(event["data"]["to"])
            self.acknowledged.setdefault(event["id"], event)

    def hold(self, lines):
        self.held.update((event["id"], event) for event in events(lines))

    def numbers(self):
        return [number for number in map(beat, self.acknowledged.values()) if number is not None]

    def count_gaps(self, at, beside):
        return sum(begin - beside <= at <= end + beside for begin, end in self.gaps.values())

    def faults(self, log):
        """What must not be, of the beats in the strap's log between the first and the last that was heard."""
        numbers = self.numbers()
        wall = time.time() - time.monotonic()
        sent = {}
        with open(log, encoding="utf-8") as file:
            for line in file:
                at, word, *fields = line.split()
                if word in ("notify", "unsubscribed", "alone"):
                    sent[int(fields[0].partition("=")[2])] = float(at) + wall
        faults = [f"beat {number} came as more than one event" for number in set(numbers) if numbers.count(number) > 1]
        faults += [f"beat {after} came before {before}" for after, before in zip(numbers[1:], numbers) if after < before]
        for number, at in sent.items():
            if min(numbers) <= number <= max(numbers) and number not in numbers:
                if not self.count_gaps(at, BESIDE):
                    faults.append(f"beat {number} is neither heard nor told in a gap")
                if self.count_gaps(at, -BESIDE) > 1:
                    faults.append(f"beat {number} is told in more than one gap")
        return faults
