"""What udev or systemd would start for an event, in Python: reads it, says when it had it, answers with a byte.

    event.py BOARD
"""
import json
import sys
import time

event = json.loads(sys.stdin.readline())
read_at = time.monotonic_ns()
print(event["raw"], flush=True)

# What follows is the benchmark's own and not measured.
from board import Board  # noqa: E402

Board(sys.argv[1]).note(read_at)
