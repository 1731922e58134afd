"""A strap that keeps its subscriptions, as the standard wants, is heard from the first moment of each link."""
import time


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.25")
    for _ in range(3):
        dropped = time.monotonic()
        strap.tell("drop")
        took = lab.beats_again("after a drop the strap is heard again", dropped + 0.2)
        lab.seconds("from the drop to the next beat at the handler", took)
        lab.await_beats(5)
    lab.claim("the strap restored what it kept", len(strap.entries("restored")) >= 3, len(strap.entries("restored")))
    lab.reckon(strap)
