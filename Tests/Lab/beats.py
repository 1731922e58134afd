#!/usr/bin/python3
"""The lab's handler: notes every line with the instant it came, and acknowledges it at once.

In the folder that is its argument: `heard.log` gets `CLOCK_MONOTONIC-seconds LINE`; a file `orders` there is sent to
the bridge, line by line, at the next event, and removed.
"""
import json
import os
import sys
import time

folder = sys.argv[1]
orders = os.path.join(folder, "orders")
heard = open(os.path.join(folder, "heard.log"), "a", buffering=1)
heard.write(f'{time.monotonic():.6f} {{"type":"lab.start","pid":{os.getpid()}}}\n')
while line := sys.stdin.readline():
    at = time.monotonic()
    heard.write(f"{at:.6f} {line}")
    if os.path.exists(orders):
        with open(orders, "rb") as file:
            os.write(3, file.read())
        os.unlink(orders)
    seq = json.loads(line).get("seq")
    if seq is not None:
        os.write(3, b'{"ack":%d}\n' % seq)
