#!/usr/bin/python3
"""Speaks as a GPS receiver with a u-blox 7 does, on standard output, by the clock; place, sky and walk are made up.

    receiver.py SECONDS

First what it is, then each second RMC, VTG, GGA, GSA, GSV and GLL: without a position for the first five, and then
walking north-east along a shore.
"""
import datetime
import math
import os
import sys
import time

from waiting import pace

BEGIN = datetime.datetime(2026, 11, 22, 10, 0, 0)
LATITUDE, LONGITUDE = 54.181667, 7.886667
KNOTS, COURSE = 2.6, 37.5
# Number, elevation, azimuth, signal; the last two are seen and not used.
SKY = [(3, 62, 118, 41), (6, 47, 251, 38), (9, 31, 64, 35), (14, 22, 301, 33), (17, 71, 205, 44), (19, 18, 150, 29),
       (22, 12, 32, 0), (28, 8, 334, 21)]
GREETING = ["u-blox ag - www.u-blox.com", "HW  UBX-G70xx   00070000", "ROM CORE 1.00 (59842) Jun 27 2012 17:43:52",
            "PROTVER 14.00", "ANTSUPERV=AC SD PDoS SR", "ANTSTATUS=OK"]


def sentence(*words):
    body, check = ",".join(words), 0
    for byte in body.encode():
        check ^= byte
    return f"${body}*{check:02X}\r\n"


def angle(degrees, width, marks):
    """Degrees and minutes, as `5410.90000,N`."""
    whole = int(abs(degrees))
    return f"{whole:0{width}d}{(abs(degrees) - whole) * 60:08.5f}", marks[degrees < 0]


def sky(second):
    """Signals move a little."""
    seen = [(number, up, round_, signal and signal + (second * number) % 3 - 1) for number, up, round_, signal in SKY]
    parts = [seen[place:place + 4] for place in range(0, len(seen), 4)]
    for number, part in enumerate(parts, 1):
        words = [f"{value:0{width}d}" if value else "" for one in part for value, width in zip(one, (2, 2, 3, 2))]
        yield sentence("GPGSV", str(len(parts)), str(number), f"{len(seen):02d}", *words)


def blind(second):
    at = (BEGIN + datetime.timedelta(seconds=second)).strftime("%H%M%S.00")
    return [sentence("GPRMC", at, "V", *[""] * 9, "N"), sentence("GPVTG", *[""] * 8, "N"),
            sentence("GPGGA", at, *[""] * 4, "0", "00", "99.99", *[""] * 6),
            sentence("GPGSA", "A", "1", *[""] * 12, "99.99", "99.99", "99.99"), sentence("GPGSV", "1", "1", "00"),
            sentence("GPGLL", *[""] * 4, at, "V", "N")]


def located(second):
    moment = BEGIN + datetime.timedelta(seconds=second)
    at, way = moment.strftime("%H%M%S.00"), KNOTS * second / 3600 / 60
    north = LATITUDE + way * math.cos(math.radians(COURSE))
    east = LONGITUDE + way * math.sin(math.radians(COURSE)) / math.cos(math.radians(LATITUDE))
    place = *angle(north, 2, "NS"), *angle(east, 3, "EW")
    speed = KNOTS + second % 4 * 0.05
    used = [f"{number:02d}" for number, *_ in SKY[:6]]
    return [
        sentence("GPRMC", at, "A", *place, f"{speed:.3f}", f"{COURSE:.2f}", moment.strftime("%d%m%y"), "", "", "A"),
        sentence("GPVTG", f"{COURSE:.2f}", "T", "", "M", f"{speed:.3f}", "N", f"{speed * 1.852:.3f}", "K", "A"),
        sentence("GPGGA", at, *place, "1", "06", "1.32", f"{7.4 + second % 3 * 0.1:.1f}", "M", "41.2", "M", "", ""),
        sentence("GPGSA", "A", "3", *used, *[""] * 6, "2.31", "1.32", "1.90"), *sky(second),
        sentence("GPGLL", *place, at, "A", "A")]


def main():
    begun = time.monotonic()
    os.write(1, "".join(sentence("GPTXT", "01", "01", "02", text) for text in GREETING).encode())
    for second in range(int(sys.argv[1])):
        pace(begun + second + 0.3)
        # A receiver's bytes come as they come, not as sentences do.
        stream = "".join(blind(second) if second < 5 else located(second)).encode()
        for place in range(0, len(stream), 64):
            os.write(1, stream[place:place + 64])
            pace(time.monotonic() + 0.002)


if __name__ == "__main__":
    main()
