"""A strap that drops its link five times loses no beat unsaid; its handler, killed meanwhile, never drops the link."""
import time

from lab import until


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.5")
    back = []
    for round in range(5):
        dropped = time.monotonic()
        if round < 3:
            strap.tell("drop")
        else:
            strap.tell("vanish")
            until(lambda: [one for one in bridge.heard("disconnected") if one.at > dropped], 20)
            strap.tell("appear")
        found = until(lambda: bridge.beats(since=dropped + 0.3), 40)
        back.append(found[0].at - dropped if found else None)
        if round in (1, 3):
            bridge.kill_handler()
        lab.await_beats()
    lab.claim("after each of five drops beats come again", None not in back, back)
    lab.figure("from a drop to the next beat at the handler",
               ", ".join("never" if b is None else f"{b:.1f} s" for b in back))
    falls = len(strap.entries("disconnected"))
    lab.claim("the link fell for the five drops only, not for a handler that was killed", falls == 5, falls)
    starts = len(bridge.heard("lab.start"))
    lab.claim("the killed handler was started again", starts >= 3, starts)
    lab.reckon(strap)
    # An event that a killed handler left is heard twice, under the same id.
    told = list({one.event["id"]: one.kind for one in bridge.heard("gap", "connected")}.values())
    lab.claim("the first arming and each return are told: a gap, then connected", told == ["gap", "connected"] * 6, told)
