"""What a round left behind, read without any code of the bridge: the trace, the handlers' records, the faults, the journals."""
import glob
import json
import os
import re
import sqlite3
from collections import namedtuple

import turns

UNNOTED = 0.002  # seconds by which a handler may read late without a note of it, as in handler.c

Event = namedtuple("Event", "time key attempt again device kind content process")
Process = namedtuple("Process", "pid daemon born events saying answers refused notices beats moods left last given warnings")


class Round:
    def __init__(self, folder):
        self.folder = folder
        with open(f"{folder}/round.json") as file:
            self.facts = json.load(file)
        self.theme = self.facts["theme"]
        self.handlers = self.facts["handlers"]
        self.faults = Faults(f"{folder}/faults.log")
        self.expected = read_trace(f"{folder}/made.trace")
        self.processes = {name: read_processes(folder, name) for name in self.handlers}

        self.is_damaged = any(words[0] == "damage" and words[-1] != "none" for _, words in self.faults.all)
        self.deliveries = {name: sorted((event for one in found for event in one.events), key=lambda event: event.time)
                           for name, found in self.processes.items()}

        self.ended = {int(words[1]) for _, words in self.faults.all if words[0] in ("kill-bridge", "bridge-died")}
        # Whose every number is, as far as anybody was given it.
        self.devices = {event.key: event.device for found in self.deliveries.values() for event in found}

    def events(self, name):
        """Every delivery to the handler, in the order of time."""
        return self.deliveries[name]

    def is_lossy(self):
        """Whether faults may take what the bridge could not keep; it says so, and plays again what it knows no more of."""
        return self.is_damaged or self.theme == "full"


def read_trace(path):
    """By alias, what its handlers must be given, in order: (kind, content)."""
    aliases, expected = {}, {}
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[0] == "device":
                aliases[words[1]] = re.search(r'alias="([^"]*)"', line).group(1)
                expected[aliases[words[1]]] = []
            elif words[0].startswith("+"):
                what = {"connect": ("connected", "-"), "data": ("data", words[-1])}.get(words[2])
                what = what or ("disconnected", words[-1].split("=")[1])
                expected[aliases[words[1]]].append(what)
    return expected


def read_processes(folder, name):
    found = []
    for path in glob.glob(f"{folder}/heard/heard-{name}.*"):
        with open(path, errors="replace") as file:
            # A kill may cut the last line short.
            lines = [line.split() for line in file.read().split("\n")[:-1]]
        # A process number may be given again.
        starts = [place for place, words in enumerate(lines) if words and words[0] == "P"]
        for start, end in zip(starts, starts[1:] + [len(lines)]):
            found.append(read_process(int(path.rsplit(".", 1)[1]), lines[start:end]))
    return sorted(found, key=lambda one: one.born)


def read_process(pid, lines):
    process = Process(pid, int(lines[0][1]), float(lines[0][2]), [], [], [], [], [], [], [], [], 0.0, [], [])
    late = None
    for words in lines[1:]:
        time = float(words[1])
        process = process._replace(last=time)
        process.saying.clear()
        if words[0] == "E":
            again = words[5] == "1"
            process.events.append(Event(time, key(words[2], words[3]), int(words[4]), again, *words[6:8],
                                        " ".join(words[8:]), pid))
            process.given.append((time, late or time))
        elif words[0] == "S":
            process.saying.append(time)
        elif words[0] == "A":
            process.answers.append((time, int(words[2])))
        elif words[0] == "R":
            process.refused.append((time, int(words[2])))
        elif words[0] == "N":
            process.notices.append((time, words[2], words[3]))
            if words[2] == "wakebridge.expiring":
                process.warnings.append((time, words[3], process.given[-1] if process.given else None))
            if words[2] == "wakebridge.resumed":
                process.given.append((time, late or time))
        elif words[0] == "L":
            late = float(words[2]) if time - float(words[2]) > UNNOTED else None
        elif words[0] == "B":
            process.beats.append(time)
        elif words[0] == "M":
            process.moods.append((time, words[2]))
        elif words[0] == "X":
            process.left.append(time)
    return process


def key(_, seq):
    """Numbers go on in a new journal: both databases know how far they went, and no fault takes both."""
    return int(seq)


def answered(process, is_oneshot=False, or_saying=False):
    """The keys that the process acknowledged: an answer counts for everything that was given before it and not refused. Where it
    was killed while it said one, nobody knows whether it has."""
    end = process.last if process.left and is_oneshot else process.answers[-1][0] if process.answers else 0
    if or_saying and process.saying:
        end = process.last
    done = {event.key for event in process.events if event.time <= end}
    # What was refused may have come again, and been acknowledged then.
    refused = {seq: time for time, seq in process.refused}
    latest = {event.key: event.time for event in process.events}
    return {one for one in done if one not in refused or refused[one] < latest[one] <= end}


class Faults:
    def __init__(self, path):
        with open(path) as file:
            self.all = [(float(line.split()[0]), line.split()[1:]) for line in file if line.strip()]

    def times(self, word, *rest):
        return [time for time, words in self.all if words[0] == word and words[1:1 + len(rest)] == list(rest)]

    def killed(self):
        return {int(words[1]) for _, words in self.all if words[0] == "kill-handler"}

    def has(self, word):
        return bool(self.times(word))

    def silent(self):
        """Spans in which no bridge could do anything: stopped, or between two lives."""
        spans, since = [], None
        for time, words in self.all:
            if words[0] in ("stop-bridge", "kill-bridge", "end-bridge", "bridge-died") and since is None:
                since = time
            elif words[0] in ("continue-bridge", "start-bridge") and since is not None:
                spans.append((since, time))
                since = None
        return spans

    def silence(self, start, end):
        """How much of the span that was."""
        return sum(max(0, min(end, last) - max(start, first)) for first, last in self.silent())


class Journal:
    """A copy of both databases and of the log beside one."""

    def __init__(self, folder, is_killed=False):
        self.owed, self.letters, self.newest, self.sound = set(), set(), 0, True
        # How far each of the two knows numbers to have gone.
        self.reach = {}
        for name in ("run.sqlite", "journal.sqlite"):
            path = f"{folder}/{name}"
            # A daemon that was killed before it made its tables leaves an empty file.
            if os.path.exists(path) and not (is_killed and os.path.getsize(path) == 0):
                try:
                    self.read(path)
                # Flipped bits also make texts that are no numbers, and numbers that are no texts.
                except (sqlite3.Error, ValueError, TypeError, IndexError):
                    self.sound = False

    def read(self, path):
        database = sqlite3.connect(path)
        names = dict(database.execute("SELECT id,name FROM handlers"))
        owed, newest, shared = set(), 0, {}
        for seq, handler in database.execute("SELECT seq,handler FROM owed"):
            shared.setdefault(seq, []).append(handler)
        for seq, owner, monotonic in database.execute("SELECT seq,owner,monotonic FROM events"):
            # A note stands below the events; where an event has its instant, it says how far numbers went.
            newest = max(newest, seq if seq > 0 else monotonic)
            if seq > 0:
                owed |= {(one, seq) for one in ([owner] if owner else shared.get(seq, []))}
        named = [int(value.split()[0]) for (value,) in database.execute("SELECT value FROM facts WHERE name='turns'") if value]
        newest = max(newest, turns.apply(path + "-turns", named[0] if named else None, owed))
        self.newest = max(self.newest, newest)
        self.reach[path.rsplit("/", 1)[1]] = newest
        self.owed |= {(names.get(one), seq) for one, seq in owed}
        for seq, handler in database.execute("SELECT seq,handler FROM dead_letters"):
            self.letters.add((names.get(handler), seq))
        database.close()
