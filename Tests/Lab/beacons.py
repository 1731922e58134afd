"""Devices of the library that broadcast, on btvirt's virtual air, each by its published messages.

Every message is said for a while, all devices at a time; then comes the next one of each, and the first one again.
"""
import itertools
import time

from crowd import Radio
from waiting import pace

# Advertisements a second, and seconds for which each is said.
RATE, HELD = 200, 3


def radio_bytes(address):
    return bytes.fromhex(address.replace(":", ""))[::-1]


def main(devices):
    """`devices` are lists of (address, advertisement), one for each device."""
    radios = itertools.cycle([Radio("/tmp/bt-server-le") for _ in range(4)])
    print("ready", flush=True)
    due = time.monotonic()
    for turn in itertools.count():
        said = [messages[turn % len(messages)] for messages in devices]
        end = time.monotonic() + HELD
        while time.monotonic() < end:
            for address, advertisement in said:
                next(radios).advertise(radio_bytes(address), advertisement)
                due = max(due + 1 / RATE, time.monotonic() - 0.1)
                pace(due)
