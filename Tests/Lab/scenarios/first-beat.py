"""A strap that is paired wakes a frozen handler with each beat, the first one soon."""
from lab import now, until
from waiting import pace


def run(lab):
    air, bridge = lab.start()
    strap = air.strap()
    begun = now()
    bridge.pair(strap, "chest-strap")
    lab.seconds("from the begin of the scan to a bond", now() - begun)
    lab.eventually("a first beat reaches the handler", bridge.beats, 60)
    took = bridge.beats()[0].at - begun
    lab.seconds("from the begin of the scan to the first beat at the handler", took)
    # An emulated machine on a busy host is slow in all: bluetoothd's start is the yardstick then.
    lab.seconds("bluetoothd's start", air.start_took)
    limit = min(max(15, 10 * air.start_took), 45)
    lab.in_time("scan, pairing and the first beat take less than 15 s, or than ten starts of bluetoothd", took < limit,
                f"{took:.1f} of {limit:.1f} s")
    lab.eventually("ten beats follow", lambda: len(bridge.beats()) >= 10, 40)
    frozen, looks, begin = 0, 250, now()
    for look in range(looks):
        pace(begin + look * 0.02)
        frozen += bridge.is_frozen()
    lab.figure("looks at the handler's cgroup that found it frozen", f"{frozen} of {looks}")
    lab.claim("the handler's cgroup is frozen between beats", frozen > looks / 2, f"{frozen} of {looks}")
    kinds = [one.kind for one in bridge.heard() if one.kind in ("gap", "connected", "data")]
    lab.claim("a gap is told first, then the connection, then what it said", kinds[:2] == ["gap", "connected"],
              kinds[:5])

    def woken():
        """Of each later beat whether it thawed the handler. What comes on the heels of another may find it awake still."""
        lines = bridge.heard()
        given = [one for one in lines if one.kind != "resumed"]
        rested = [one for before, one in zip(given, given[1:]) if one.at - before.at >= 0.5]
        return [before.kind == "resumed" for before, one in zip(lines, lines[1:])
                if one.beat is not None and one in rested and one.at > begun + took + 4]

    until(lambda: len(woken()) >= 5, 30, 0.5)
    lab.in_time("each later beat that comes after a rest thawed it", len(woken()) >= 5 and all(woken()), woken())
    lab.claim("its name is the one it was given", bridge.beats()[-1].event["subject"] == "chest-strap")
    sent = {int(fields["n"]): at for at, _, fields in strap.entries("notify")}
    delays = sorted(one.at - sent[one.beat] for one in bridge.beats() if one.beat in sent)
    lab.figure("from the strap to its frozen handler", f"median {delays[len(delays) // 2] * 1000:.0f} ms, "
               f"longest {delays[-1] * 1000:.0f} ms")
    lab.reckon(strap)
