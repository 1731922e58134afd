#!/usr/bin/env python3
"""Writes recording.trace: a synthetic first recording, until one of a real strap replaces it.

Deterministic: the same lines on every run. Usage: make-recording.py > recording.trace
"""
import math
import struct

SECONDS = 90
LOST = range(41, 46)  # notifications during which the strap has lost the skin


def target(second):
    """Beats a minute: rest, a climb, a short hold, recovery."""
    if second < 15:
        return 62.0
    if second < 50:
        return 62 + 78 * (1 - math.cos(math.pi * (second - 15) / 35)) / 2
    if second < 56:
        return 140.0
    return 92 + 48 * math.exp(-(second - 56) / 16)


def beats():
    """The end of every beat, in seconds, and its length in 1/1024 s; breathing makes it vary, less when it is fast."""
    clock = 0.4
    while clock < SECONDS:
        rate = target(clock)
        depth = 0.045 * 62 / rate
        interval = round(1024 * 60 / rate * (1 + depth * math.sin(2 * math.pi * clock / 4.3)))
        clock += interval / 1024
        yield clock, interval


def measurement(index, intervals):
    """Heart Rate Measurement: flags, rate, energy expended (kJ), RR intervals."""
    lost = index in LOST
    intervals = [] if lost else intervals
    rate = round(60 * 1024 * len(intervals) / sum(intervals)) if intervals else 0
    wide, energetic = index % 16 == 9, index % 12 == 11
    flags = wide | (0b100 if lost else 0b110) | energetic << 3 | bool(intervals) << 4
    body = struct.pack("<BH" if wide else "<BB", flags, rate)
    if energetic:
        body += struct.pack("<H", 2 + index * index // 160)
    return body + b"".join(struct.pack("<H", interval) for interval in intervals)


def main():
    print("wakebridge-trace 1")
    print("clock 2026-11-21T07:42:46.727125Z")
    print("# Synthetic: made by make-recording.py, until a recording of a real strap replaces it.")
    print('device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" name="Heart rate strap" service=180d service=180f')
    print("+0.000000 1 connect")
    print("+0.300000 1 data 2a19 57")
    all_beats, sent, clock, index = list(beats()), 0, 0.3, 0
    moment = 1.8
    while moment < SECONDS - 1:
        jitter = 0.004 * math.sin(index * 2.4)
        now = round(moment + jitter, 6)
        ready = [length for end, length in all_beats[sent:] if end <= moment]
        sent += len(ready)
        if ready or index in LOST:
            print(f"+{now - clock:.6f} 1 data 2a37 {measurement(index, ready).hex()}")
            clock = now
            index += 1
        if index == 60:
            print("+0.015000 1 data 2a19 56")
            clock += 0.015
            index += 1
        moment += 1.0
    print(f"+{SECONDS - clock:.6f} 1 disconnect reason=remote-user")
    print("end")


main()
