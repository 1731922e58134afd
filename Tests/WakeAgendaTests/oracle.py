#!/usr/bin/env python3
"""How often alarms come, reckoned a second time: by the zones of Python, day by day, and with nothing of the bridge.

Reads one JSON object a line from the file that it is given, and prints one line for each.

{"offsets": [["Europe/Berlin", 1700000000], ...]}
    prints the seconds east of UTC at each instant.
{"instants": [["Europe/Berlin", "2026-03-29 02:30:00"], ...]}
    prints the instant at which the zone's clock shows that or something later for the first time.
{"start": instant, "alarms": [...], "plays": [[word, number, ...], ...]}
    prints for each alarm how many of its occurrences the story holds.

What counts. An alarm of the calendar has nominal instants: each of its times on each of its days, by the clock of its
zone. A time that the clock leaves out is the first instant after the gap, a doubled one is the first of both, and two
that fall on one instant are one. `accounted` is the wall time up to which they have been counted, and `furthest` how
far the wall clock has ever been, both since the last correction. Whenever the bridge runs and looks:

1. A clock that is more than three hours behind `furthest` has been corrected. `accounted` goes back to it where it was
   later, and so does `furthest`.
2. The nominal instants after `accounted` and up to the clock count, once each, and `accounted` becomes the clock.

So what wall time passes over counts once, whether the bridge ran, the machine slept or was off, or the clock was set
forward. Hours gone through again because the clock was set back a little count once. After a correction they count
again. While the machine has a false clock after boot, the bridge does not look.

An alarm that repeats in real time counts one occurrence a period, however the clock is set.
"""
import bisect
import datetime
import functools
import json
import sys
import zoneinfo

HOUR = 3600
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)


@functools.lru_cache(maxsize=None)
def zone(name):
    return zoneinfo.ZoneInfo(name)


def shown(name, instant):
    """What the clock of the zone shows, as seconds since 1970 of that clock."""
    here = datetime.datetime.fromtimestamp(instant, UTC).astimezone(zone(name))
    return instant + int(here.utcoffset().total_seconds())


@functools.lru_cache(maxsize=None)
def first(name, civil):
    """The first instant at which the clock shows the civil second or a later one: by steps, then halved."""
    early, late = civil - 27 * HOUR, civil + 27 * HOUR
    if shown(name, early) - early == shown(name, late) - late == shown(name, civil) - civil:
        return civil - (shown(name, civil) - civil)
    instant = civil - 27 * HOUR
    while shown(name, instant) < civil:
        instant += HOUR // 4
    low, high = instant - HOUR // 4, instant
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(name, middle) >= civil else (middle, high)
    return high


@functools.lru_cache(maxsize=None)
def nominal(name, times, days, day):
    """The nominal instants that a day of the calendar brings."""
    if (day + 3) % 7 not in days:
        return ()
    return tuple(first(name, day * 86400 + time) for time in times)


def passed(alarm, start, end):
    """How many nominal instants lie after `start` and up to `end`."""
    if end <= start:
        return 0
    found = set()
    for day in range(int(start // 86400) - 3, int(end // 86400) + 3):
        found.update(nominal(alarm["zone"], alarm["times"], alarm["days"], day))
    ordered = sorted(found)
    return bisect.bisect_right(ordered, end) - bisect.bisect_right(ordered, start)


class Calendar:
    def __init__(self, alarm, wall):
        self.alarm = alarm
        self.accounted = wall
        self.total = 0

    def look(self, wall, furthest):
        if furthest - wall > 3 * HOUR:
            self.accounted = min(self.accounted, wall)
        if wall > self.accounted:
            self.total += passed(self.alarm, self.accounted, wall)
            self.accounted = wall


class Once:
    def __init__(self, alarm, wall):
        self.at, self.total = alarm["at"], 0

    def look(self, wall, furthest):
        if wall >= self.at:
            self.total = 1


class Interval:
    def __init__(self, alarm, wall):
        self.period, self.elapsed = alarm["every"], 0

    def look(self, wall, furthest):
        pass

    @property
    def total(self):
        return self.elapsed // self.period


def read(alarm, wall):
    if "every" in alarm:
        return Interval(alarm, wall)
    if "at" in alarm:
        return Once(alarm, wall)
    alarm = dict(alarm)
    alarm["times"] = tuple(sorted(int(t[:2]) * HOUR + int(t[3:5]) * 60 for t in alarm["daily"]))
    alarm["days"] = frozenset(DAYS.index(day) for day in alarm.get("days", DAYS))
    return Calendar(alarm, wall)


class Story:
    def __init__(self, story):
        self.wall = self.furthest = story["start"]
        self.alarms = [read(alarm, self.wall) for alarm in story["alarms"]]
        for word, *numbers in story["plays"]:
            getattr(self, word)(*numbers)

    def go(self, seconds):
        self.wall += seconds
        for alarm in self.alarms:
            if isinstance(alarm, Interval):
                alarm.elapsed += seconds

    def look(self):
        for alarm in self.alarms:
            alarm.look(self.wall, self.furthest)
        if self.furthest - self.wall > 3 * HOUR:
            self.furthest = self.wall
        self.furthest = max(self.furthest, self.wall)

    def run(self, seconds):
        self.go(seconds)
        self.look()

    sleep = hold = stop = run

    def set(self, seconds):
        self.wall += seconds
        self.look()

    def restart(self, seconds, change):
        self.go(seconds)
        self.furthest = max(self.furthest, self.wall)
        self.wall += change
        self.look()

    def reboot(self, seconds):
        self.run(seconds)

    def dark(self, off, until_true):
        """Rebooted with a false clock, which becomes true while the bridge still waits for it."""
        self.go(off + until_true)
        self.look()


def answer(line):
    if "offsets" in line:
        return [shown(name, instant) - instant for name, instant in line["offsets"]]
    if "instants" in line:
        return [
            first(name, int((datetime.datetime.fromisoformat(text) - EPOCH).total_seconds()))
            for name, text in line["instants"]
        ]
    return [alarm.total for alarm in Story(line).alarms]


with open(sys.argv[1], encoding="utf-8") as lines:
    for text in lines:
        print(json.dumps(answer(json.loads(text))))
