"""A strap with other firmware, whose characteristics have moved, is subscribed to where they are now."""
import time


def run(lab):
    air, strap, bridge = lab.paired()
    for round in ("once", "twice"):
        changed = time.monotonic()
        answer = strap.tell("change-services")
        lab.claim(f"the strap indicates its change ({round})", answer == "ok indicated", answer)
        took = lab.beats_again(f"the strap is heard again ({round})", changed + 0.5)
        lab.seconds("from the change to the next beat at the handler", took)
        lab.await_beats(2)
    lab.claim("the link never fell for it", not strap.entries("disconnected"), len(strap.entries("disconnected")))
    lab.reckon(strap)
