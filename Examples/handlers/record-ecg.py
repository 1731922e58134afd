#!/usr/bin/env python3
"""Writes down what a chest strap sends, in one file for each time that it is worn, without being frozen between two beats."""
import datetime
import json
import os

import wakehandler

# The manifest says that the strap's data keeps it awake: flows: [{ name: "ecg", from: "device:chest-strap" }]
session = wakehandler.Session()
folder = os.environ.get("WAKEBRIDGE_STATE_DIR", ".")
book = None
for event in session.events():
    if event.kind == "flow.started":
        # It is left open: done() would end the flow, and the process would be frozen between two beats again.
        start = event.time.astimezone(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        book = open(os.path.join(folder, f"{start}.jsonl"), "a")
        continue
    if event.kind == "data" and book:
        book.write(json.dumps(event.value) + "\n")
    elif event.kind in ("flow.ended", "flow.interrupted") and book:
        book.close()
        book = None
        session.log(f"the recording is whole: {event.reason}")
    event.done()
