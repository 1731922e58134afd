"""Two hundred broadcast, twenty of them are named: those are told as often as is asked for, the others wake nothing.
A strap beside them misses no beat, a scan succeeds, the strap comes back; the cost is printed beside bleak's scanner.
"""
import json
import os
import sys
import time

from air import Process
from lab import let_pass, until
from tags import LAB, PROFILE, Listener, address, watched

NAMED, COUNT, SECONDS, LATENCY = 20, 200, 60, 5
# Bluetoothd scans for ten seconds, and then rests for five; our own rest is two.
PAUSE = 8
# Bleak takes long to come where the processor is emulated.
LIMIT = 600
LIBRARY = True


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.5", own={"lab-tag": PROFILE})
    listener = Listener(bridge, watched(NAMED, policy="latest", max_latency=f"{LATENCY}s"))
    # What the strap alone costs, whose every beat wakes a handler: bleak's scanner does nothing of the kind.
    before = bridge.processor()
    let_pass(SECONDS / 2, "the strap alone costs processor time by the minute")
    alone = 2 * (bridge.processor() - before)
    air.crowd("--count", str(COUNT), "--tags")
    named = {address(number) for number in range(NAMED)}
    lab.eventually("each of those that are named is heard", lambda: named <= set(listener.heard()), 90, 0.5)

    begun, before = time.monotonic(), bridge.processor()
    let_pass(SECONDS, "how often each is told, and at what cost, is counted by the minute")
    whole = bridge.processor() - before
    ours = max(whole - alone, 0)
    told = listener.heard(begun)
    everyone = {one.event["source"].rsplit("/", 1)[1] for one in bridge.of("lab-tag", "data")} | set(listener.heard())
    lab.account("nothing but what is named was told of", everyone <= named, sorted(everyone - named)[:5])
    pauses = {}
    for tag in sorted(named):
        times = [begun, *(one.at for one in told.get(tag, [])), begun + SECONDS]
        pauses[tag] = max(b - a for a, b in zip(times, times[1:]))
    lab.figure("events of each in a minute", sorted(len(ones) for ones in told.values()))
    lab.figure("the longest pause between two", f"{max(pauses.values()):.1f} s")
    lab.in_time("each is told as often as its max_latency says, with the rests of a scan",
                max(pauses.values()) <= LATENCY + PAUSE + 3, {tag: round(one, 1) for tag, one in pauses.items()})
    wakes = [one for one in listener.lines("resumed", begun) if one.at <= begun + SECONDS]
    lab.figure("times in a minute that the handler of the tags was woken", len(wakes))
    lab.claim("a handler of nothing else is told no more often than max_latency says, though twenty speak",
              0 < len(wakes) <= 2 * (SECONDS / LATENCY + 2), len(wakes))
    most = max((len(ones) for ones in told.values()), default=0)
    lab.claim("each is told no more often than that either", most <= SECONDS / LATENCY + 2, most)
    wrong = [one.event["id"] for ones in told.values() for one in ones
             if address(one.data.get("value", {}).get("tag", -1)) != one.event["source"].rsplit("/", 1)[1]]
    lab.account("each value is of the tag that said it", not wrong, wrong[:5])

    # Beside us, as one would write it, for as long.
    bleak = Process(lab.folder, "bleak-scanner", sys.executable, os.path.join(LAB, "bleak_scanner.py"))
    lab.eventually("bleak's scanner hears the same", lambda: "heard" in bleak.text(), 120)
    before = bridge.processor(bleak.pid)
    let_pass(SECONDS, "bleak's cost is counted by the minute too")
    theirs = bridge.processor(bleak.pid) - before
    bleak.kill()
    lab.figure("processor time in a minute, wakebridged", f"{whole:.2f} s, of which the strap {alone:.2f} s")
    lab.figure("processor time in a minute, bleak's scanner", f"{theirs:.2f} s")
    lab.not_yet("hearing them costs us at most a quarter of what it costs bleak", ours <= theirs / 4,
                f"{ours / theirs if theirs else 0:.2f} of it")

    # What others do with the radio. A scan needs no daemon, and so does not know where the profile is.
    os.environ["WAKEBRIDGE_DEVICES"] = os.path.join(bridge.work, "config", "Devices")
    said, status = bridge.tool("scan", "--for", "20s", "--json")
    del os.environ["WAKEBRIDGE_DEVICES"]
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    lab.claim("a scan beside it ends well, and shows what they say", status == 0 and
              any(row.get("value", {}).get("tag") is not None for row in rows), said[-300:])
    # At the end of the last scan bluetoothd forgets those that it heard, and hands on no beat meanwhile.
    until(lambda: bridge.beats(of=strap)[-1].beat == int(strap.entries("notify")[-1][2]["n"]) & 0xFFFF, 60)
    strap.tell("vanish")
    lab.eventually("a strap that goes is told of beside them",
                   lambda: bridge.of("heart-rate-monitor", "disconnected"), 90)
    back = time.monotonic()
    strap.tell("appear")
    lab.eventually("it is connected and heard again when it is back", lambda: bridge.beats(since=back), 120)
    lab.reckon(strap)
