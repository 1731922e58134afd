"""Orders what a file lists when it is told of an alarm, acknowledges all else, and writes down what it is told.

Usage: handler.py DIARY ORDERS
"""
import json
import os
import sys

diary = open(sys.argv[1], "a", buffering=1)
replies = os.fdopen(3, "wb", buffering=0)


def say(line):
    replies.write(json.dumps(line).encode() + b"\n")


for text in sys.stdin:
    line = json.loads(text)
    kind = line["type"].removeprefix("wakebridge.")
    diary.write(json.dumps({"kind": kind, "seq": line.get("seq"), "data": line.get("data", {})}) + "\n")
    if kind == "alarm.fired":
        for order in open(sys.argv[2]):
            say(json.loads(order))
    if "seq" in line:
        say({"ack": line["seq"]})
