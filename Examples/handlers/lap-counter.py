#!/usr/bin/env python3
"""Counts how often its strap came back into range. Its manifest gives each strap a process of its own."""
import json
import os
import sys

REPLIES = int(os.environ.get("WAKEBRIDGE_FD", "3"))
# A folder of this strap alone, so the file needs no name of it.
BOOK = os.path.join(os.environ.get("WAKEBRIDGE_STATE_DIR", "."), "laps")


def laps():
    try:
        with open(BOOK) as book:
            return int(book.read())
    except (FileNotFoundError, ValueError):
        return 0


def keep(count):
    with open(BOOK + ".new", "w") as book:
        book.write(str(count))
    os.replace(BOOK + ".new", BOOK)


count = laps()
for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "wakebridge.device.connected":
        count += 1
        keep(count)
        print(f"{event['subject']}: lap {count}", flush=True)
    if "seq" in event:
        os.write(REPLIES, b'{"ack":%d}\n' % event["seq"])
