#!/usr/bin/env python3
"""Appends heart rates to a file in its own directory, once each, and writes a summary under an extension task.

Try it without a bridge:
cat Devices/heart-rate-monitor/expected.ndjson | python3 Examples/handlers/log-heart-rate.py 3>/dev/null
"""
import json
import os
import sys

REPLIES = int(os.environ.get("WAKEBRIDGE_FD", "3"))
DIRECTORY = os.environ.get("WAKEBRIDGE_STATE_DIR", ".")
SUMMARY_EVERY = 60


def reply(**members):
    # One write a line. os.write goes on after a signal or a thaw by itself.
    os.write(REPLIES, (json.dumps(members) + "\n").encode())


class Log:
    """The heart rates, and the id of the last one, so that an event that comes twice is written once."""

    def __init__(self, path):
        self.file = open(path, "a+", encoding="utf-8")
        self.file.seek(0)
        self.rates = []
        self.ids = set()
        for line in self.file:
            fields = line.split()
            if len(fields) == 3 and fields[2].isdigit():
                self.ids.add(fields[0])
                self.rates.append(int(fields[2]))

    def append(self, event):
        value = event["data"].get("value") or {}
        if event["id"] in self.ids or "bpm" not in value:
            return False
        self.file.write(f"{event['id']} {event['time']} {value['bpm']}\n")
        # On disk before the acknowledgement: what is acknowledged is forgotten by the bridge.
        self.file.flush()
        os.fsync(self.file.fileno())
        self.ids.add(event["id"])
        self.rates.append(value["bpm"])
        return True


def summarise(log):
    # Longer work stands between begin and end; beginning comes first, so that the time counts from there.
    reply(begin="summary")
    with open(os.path.join(DIRECTORY, "summary.txt"), "w", encoding="utf-8") as file:
        file.write(f"{len(log.rates)} beats, mean {sum(log.rates) / len(log.rates):.1f} bpm\n")
    reply(end="summary")


def main():
    log = Log(os.path.join(DIRECTORY, "heart-rate.log"))
    for line in sys.stdin:
        event = json.loads(line)
        kind = event["type"]
        if kind == "wakebridge.expiring":
            # Everything here is short and on disk already; a longer worker would stop and end its tasks now.
            print("expiring:", event["data"]["reason"], flush=True)
        elif kind == "wakebridge.error":
            print("refused:", event["data"]["sentence"], event["data"]["advice"], flush=True)
        if "seq" not in event:
            continue
        is_new = kind == "wakebridge.device.data" and log.append(event)
        if is_new and len(log.rates) % SUMMARY_EVERY == 0:
            summarise(log)
        reply(ack=event["seq"], result="useful" if is_new else "nothing")


if __name__ == "__main__":
    main()
