"""A strap that is away for seconds, and for a minute, is heard again when it comes back; the time between is told."""
import time

from lab import let_pass

WAITS = True


def run(lab):
    air, strap, bridge = lab.paired()
    for away in (4, 60):
        strap.tell("vanish")
        let_pass(away, "the strap is away for just so long")
        back = time.monotonic()
        strap.tell("appear")
        took = lab.beats_again(f"after {away} s away the strap is heard again", back)
        lab.seconds(f"from its return after {away} s to the next beat at the handler", took)
        lab.await_beats(2)
    lab.claim("the handler was told each time that the link was gone",
              len({one.event["id"] for one in bridge.heard("disconnected")}) == 2, len(bridge.heard("disconnected")))
    lab.reckon(strap)
