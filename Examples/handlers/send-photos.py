#!/usr/bin/env python3
"""Hands each photo in the folder `out` of the state directory over to be sent, and removes it when the server has it.

usage: send-photos.py SERVER
"""
import os
import sys

import wakehandler

state = os.environ.get("WAKEBRIDGE_STATE_DIR", ".")


class Outbox(wakehandler.TransferDelegate):
    def finished(self, task, path, event):
        os.remove(os.path.join(state, path))

    def failed(self, task, why, event):
        session.log(f"{task.id} stays here: {why}")

    def settled(self, transfers, finished, failed, event):
        session.log(f"{finished} sent, {failed} not")


session = wakehandler.Session()
photos = session.transfers("photos", Outbox())
os.makedirs(os.path.join(state, "out"), exist_ok=True)
for name in sorted(os.listdir(os.path.join(state, "out"))):
    # One that an earlier process handed over already is the same one.
    photos.upload_task(name, f"out/{name}", f"{sys.argv[1]}/{name}").resume()
session.declare_ready()
for event in session.events():
    event.done("nothing")
