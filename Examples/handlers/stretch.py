#!/usr/bin/env python3
"""Sets an alarm for every hour when it is first started, and prints what the alarm carries when it fires."""
import wakehandler

session = wakehandler.Session()
# Alarms outlive the process, the daemon and the machine: what is pending need not be set again.
if not session.pending():
    session.alarm("stretch", every_s=3600, data={"say": "stretch your legs"})
session.declare_ready()
for event in session:
    with event:
        if event.kind == "alarm.fired":
            session.log(event.value["say"])
