#!/usr/bin/env python3
"""Reads the messages that are sent to it, and counts those that it missed."""
import wakehandler

session = wakehandler.Session()
for event in session:
    with event:
        if event.kind == "message.received":
            session.log(f"{event.topic or 'message'}: {event.text if event.text is not None else event.bytes.hex()}")
        elif event.kind == "gap":
            session.log(f"{event.data['count']} messages were lost")
