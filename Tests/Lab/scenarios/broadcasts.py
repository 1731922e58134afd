"""Two hundred broadcast, twenty of them are named: those are told as often as is asked for, the others wake nothing, a strap
beside them misses no beat, a scan and a connection still succeed, and what it costs is printed beside a scanner of bleak's."""
import json
import os
import sys
import time

from air import Process, until

NAMED, COUNT, SECONDS, LATENCY = 20, 200, 60, 5
# Bluetoothd scans for ten seconds, and then rests for five; our own rest is two.
PAUSE = 8
PROFILE = """{name: "lab-tag", title: "Tag", mode: "bluetooth-central",
  match: {broadcast: [{company: "fffe", starts: "01"}]},
  advertisement: {manufacturer_data: {"fffe": {fields: [
    {name: "kind", type: "uint8", hidden: true}, {name: "tag", type: "uint16"}, {name: "count", type: "uint16"}]}}}}"""


def address(number):
    return f"C0:AA:00:00:{number >> 8:02X}:{number & 255:02X}"


def run(lab):
    watch = [{"profile": "lab-tag", "device": f"/bluetooth/{address(number)}", "policy": "latest",
              "max_latency": f"{LATENCY}s"} for number in range(NAMED)]
    air, strap, bridge = lab.paired("--interval", "0.5", own={"lab-tag": PROFILE}, extra={"watch": watch})
    air.crowd("--count", str(COUNT), "--tags")

    def heard(since=0):
        found = {}
        for one in bridge.of("lab-tag", "data", since=since):
            found.setdefault(one.event["source"].rsplit("/", 1)[1], []).append(one)
        return found

    named = {address(number) for number in range(NAMED)}
    lab.eventually("each of those that are named is heard", lambda: named <= set(heard()), 90, 0.5)

    begun, before = time.monotonic(), bridge.processor()
    time.sleep(SECONDS)
    ours = bridge.processor() - before
    told = heard(begun)
    lab.account("nothing but what is named was told of", set(heard()) <= named, sorted(set(heard()) - named)[:5])
    pauses = {}
    for tag in sorted(named):
        times = [begun, *(one.at for one in told.get(tag, [])), begun + SECONDS]
        pauses[tag] = max(b - a for a, b in zip(times, times[1:]))
    lab.figure("events of each in a minute", sorted(len(ones) for ones in told.values()))
    lab.figure("the longest pause between two", f"{max(pauses.values()):.1f} s")
    lab.in_time("each is told as often as its max_latency says, with the rests of a scan",
                max(pauses.values()) <= LATENCY + PAUSE + 3, {tag: round(one, 1) for tag, one in pauses.items()})
    lab.claim("none is told more often than its max_latency says",
              all(len(ones) <= SECONDS / LATENCY + 2 for ones in told.values()))
    wrong = [one.event["id"] for ones in told.values() for one in ones
             if address(one.data.get("value", {}).get("tag", -1)) != one.event["source"].rsplit("/", 1)[1]]
    lab.account("each value is of the tag that said it", not wrong, wrong[:5])

    # Beside us, as one would write it, for as long.
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    bleak = Process(lab.folder, "bleak-scanner", sys.executable, os.path.join(here, "bleak_scanner.py"))
    lab.eventually("bleak's scanner hears the same", lambda: "heard" in bleak.text(), 60)
    before = bridge.processor(bleak.pid)
    time.sleep(SECONDS)
    theirs = bridge.processor(bleak.pid) - before
    bleak.kill()
    lab.figure("processor time in a minute, wakebridged", f"{ours:.2f} s")
    lab.figure("processor time in a minute, bleak's scanner", f"{theirs:.2f} s")
    lab.not_yet("hearing them costs us at most a quarter of what it costs bleak", ours <= theirs / 4,
                f"{ours / theirs if theirs else 0:.2f} of it")

    # What others do with the radio.
    said, status = bridge.tool("scan", "--for", "20s", "--json")
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    lab.claim("a scan beside it ends well, and shows what they say", status == 0 and
              any(row.get("value", {}).get("tag") is not None for row in rows), said[-300:])
    other = air.strap("--interval", "1")
    bridge.pair(other, "other")
    lab.eventually("a strap is paired and heard beside them", lambda: bridge.beats(of=other), 90)
    lab.reckon(strap)
