#!/usr/bin/python3
"""Writes the event lines that must come of a shipped recording; shares nothing with the bridge but published formats.

    decoder.py Devices/NAME/recording.trace

Heart Rate Measurement, Body Sensor Location and Battery Level as the Bluetooth SIG has them, sentences as NMEA 0183 has
them, the trace and the events as docs/reference/trace.md and docs/reference/events-and-replies.md have them, for one device that plays without
a handler.
"""
import datetime
import decimal
import json
import os
import shlex
import struct
import sys

PLACES = ["other", "chest", "wrist", "finger", "hand", "ear-lobe", "foot"]


def seconds(ticks):
    """Three decimals at most, half away from zero, the zeros at the end cut: 1, and not 1.0."""
    exact = (decimal.Decimal(ticks) / 1024).quantize(decimal.Decimal("0.001"), decimal.ROUND_HALF_UP)
    return int(exact) if exact == int(exact) else float(exact)


def measurement(raw):
    flags, at = raw[0], 1
    value = {"bpm": struct.unpack_from("<H", raw, 1)[0] if flags & 1 else raw[1]}
    at += 2 if flags & 1 else 1
    if flags & 4:
        value["contact"] = bool(flags & 2)
    if flags & 8:
        value["energy_kj"] = struct.unpack_from("<H", raw, at)[0]
        at += 2
    if flags & 16:
        value["rr_s"] = [seconds(ticks) for ticks, in struct.iter_unpack("<H", raw[at:])]
    return value


FIXES = ["none", "gnss", "differential", "precise", "rtk-fixed", "rtk-float", "estimated", "manual", "simulated"]
PLANES = {1: "none", 2: "2d", 3: "3d"}


def number(text):
    exact = decimal.Decimal(text)
    return int(exact) if exact == int(exact) else float(exact)


def degrees(text, mark):
    """`5410.90000` and `N`, to seven decimals."""
    whole, minutes = divmod(decimal.Decimal(text), 100)
    exact = (whole + minutes / 60).quantize(decimal.Decimal("1e-7"), decimal.ROUND_HALF_UP)
    return number(-exact if mark in "SW" else exact)


def clock(text):
    return f"{text[:2]}:{text[2:4]}:{text[4:]}"


# What stands in a sentence, in its order: a name and what makes the value; a position takes two, and None is passed over.
PLACE = [("latitude_deg", degrees), ("longitude_deg", degrees)]
SIGHTS = [part for place in range(1, 5) for part in (
    (f"satellite_{place}_id", str), (f"elevation_{place}_deg", number), (f"azimuth_{place}_deg", number),
    (f"signal_{place}_db", number))]
SENTENCES = {
    "RMC": [("time", clock), ("status", str), *PLACE, ("speed_kn", number), ("course_deg", number), ("date_ddmmyy", str),
            ("magnetic_variation_deg", number), ("variation_side", str), ("mode", str)],
    "VTG": [("course_deg", number), None, ("course_magnetic_deg", number), None, ("speed_kn", number), None,
            ("speed_kmh", number), None, ("mode", str)],
    "GGA": [("time", clock), *PLACE, ("fix", lambda text: FIXES[int(text)]), ("satellite_count", int),
            ("hdop_ratio", number), ("altitude_m", number), None, ("geoid_separation_m", number), None,
            ("correction_age_s", number), ("station_id", str)],
    "GSA": [("selection", str), ("fix", lambda text: PLANES[int(text)]),
            *[(f"satellite_{place}_id", str) for place in range(1, 13)], ("pdop_ratio", number), ("hdop_ratio", number),
            ("vdop_ratio", number)],
    "GSV": [("message_count", int), ("message_number", int), ("in_view_count", int), *SIGHTS],
    "GLL": [*PLACE, ("time", clock), ("status", str), ("mode", str)],
    "TXT": [("message_count", int), ("message_number", int), ("text_type_id", int), ("text", str)],
}


def sentence(raw):
    """Whole, if what stands between `$` and `*` has the sum behind it."""
    body, mark, check = raw[1:].rpartition(b"*")
    made = 0
    for byte in body:
        made ^= byte
    if raw[:1] + mark + check != b"$*%02X" % made:
        raise ValueError(f"{raw} is no sentence")
    kind, *words = body.decode("ascii").split(",")
    value = {}
    for part in SENTENCES[kind[2:]]:
        if not words:
            break
        text = words.pop(0)
        if part and part[1] is degrees:
            mark = words.pop(0)
            value[part[0]] = degrees(text, mark) if text else None
        elif part:
            value[part[0]] = part[1](text) if text else None
    return value


DECODERS = {"serial": sentence, "2a37": measurement, "2a19": lambda raw: {"battery_percent": raw[0]},
            "2a38": lambda raw: {"location": PLACES[raw[0]]}}


def told(kind, words):
    """An operation's data, beside the profile."""
    if kind == "data":
        raw = bytes.fromhex(words[1])
        channel = "stream" if words[0] == "serial" else "characteristic"
        return {channel: words[0], "value": DECODERS[words[0]](raw), "raw": words[1]}
    return dict(word.split("=", 1) for word in words)


def events(lines):
    micros, device = 0, None
    for line in lines:
        words = shlex.split(line, comments=True)
        if not words or words[0] in ("wakebridge-trace", "end"):
            continue
        if words[0] == "clock":
            start = datetime.datetime.fromisoformat(words[1].replace("Z", "+00:00"))
        elif words[0] == "device":
            device = dict(word.split("=", 1) for word in words[4:] if not word.startswith("service="))
            device["source"] = f"/{words[2]}/{words[3]}"
        else:
            micros += int(decimal.Decimal(words[0]) * 1000000)
            time = (start + datetime.timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            kind = {"connect": "connected", "disconnect": "disconnected"}.get(words[2], words[2])
            yield device, time, kind, told(words[2], words[3:])


def main():
    profile = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[1])))
    with open(sys.argv[1], encoding="utf-8") as lines:
        for number, (device, time, kind, data) in enumerate(events(lines), 1):
            print(json.dumps({
                "specversion": "1.0", "id": f"replay-{number}", "source": device["source"],
                "type": f"wakebridge.device.{kind}", "subject": device["alias"], "time": time,
                "datacontenttype": "application/json", "authenticated": False, "seq": number,
                "attempt": 1, "budgetms": 10000, "data": {"profile": profile, **data}}, separators=(",", ":")))


main()
