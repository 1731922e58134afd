#!/usr/bin/env python3
"""Sets an alarm for every hour when it is first started, and prints what the alarm carries when it fires."""
import json
import os
import sys


def reply(**members):
    os.write(int(os.environ.get("WAKEBRIDGE_FD", "3")), (json.dumps(members) + "\n").encode())


for line in sys.stdin:
    event = json.loads(line)
    # Alarms outlive the process, the daemon and the machine: what is pending need not be set again.
    if event["type"] == "wakebridge.restored" and not event["data"].get("pending"):
        reply(alarm={"id": "stretch", "every_s": 3600, "data": {"say": "stretch your legs"}}, ref=1)
    elif event["type"] == "wakebridge.error":
        print(event["data"]["sentence"], flush=True)
    elif event["type"] == "wakebridge.alarm.fired":
        print(event["data"]["data"]["say"], flush=True)
        reply(ack=event["seq"], result="useful")
