#!/usr/bin/env python3
"""Writes the SHA-256 of each file in FOLDER to fingerprints.txt, and waits for the folder where it is not there."""
import hashlib
import os

import wakehandler

FOLDER = os.environ["FOLDER"]


def fingerprint(job):
    names = sorted(name for name in os.listdir(FOLDER) if os.path.isfile(os.path.join(FOLDER, name)))
    with open("fingerprints.txt", "w", encoding="utf-8") as output:
        for done, name in enumerate(names, 1):
            with open(os.path.join(FOLDER, name), "rb") as file:
                output.write(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\n")
            job.progress(done, len(names))


for event in wakehandler.Session().events():
    try:
        if event.kind == "job.due":
            fingerprint(event)
        event.done()
    except wakehandler.Expired:
        event.retry()
    except FileNotFoundError:
        # It comes again, without a charge, as soon as something is mounted there.
        event.retry(until=["mount:" + FOLDER])
