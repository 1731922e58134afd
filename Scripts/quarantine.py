"""Reads Tests/quarantine.txt: files of tests that an outside program failed lately, and that may pass at their second try.

A line is `Target.File YYYY-MM-DD reason`. It holds from its date on for seven days, and at most three lines may be there.
"""
import collections
import datetime
import re

LIST = "Tests/quarantine.txt"
DAYS, MOST = 7, 3
LINE = re.compile(r"(\w+\.\S+) (\d{4}-\d\d-\d\d) (\S.*)")

Entry = collections.namedtuple("Entry", "name date reason")


def read(text):
    """The lines of the list by their numbers, each as an entry; None where a line is no entry."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.startswith("#"):
            yield number, entry(line)


def entry(line):
    match = LINE.fullmatch(line)
    try:
        return match and Entry(match[1], datetime.date.fromisoformat(match[2]), match[3])
    except ValueError:
        return None  # a day that no month has


def holds(entry, today):
    return 0 <= (today - entry.date).days <= DAYS


def names(text, today):
    """The files whose lines hold today. A list that is too long excuses none of them."""
    entries = [entry for _, entry in read(text)]
    return {entry.name for entry in entries if entry and holds(entry, today)} if len(entries) <= MOST else set()
