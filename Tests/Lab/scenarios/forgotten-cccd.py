"""A strap that forgets its subscriptions at every link is subscribed to again, even where it ignores the first try."""
import time


def run(lab):
    air, strap, bridge = lab.paired("--forget-cccd")
    for round in range(3):
        if round == 1:
            strap.tell("deaf 1")
        dropped = time.monotonic()
        strap.tell("drop")
        took = lab.beats_again("after a drop the strap is heard again" if round == 0 else
                               "after a drop the strap is heard again, though it ignored a subscription", dropped + 0.3)
        lab.seconds("from the drop to the next beat at the handler", took)
        lab.await_beats(2)
    lab.claim("the strap did ignore subscriptions", len(strap.entries("ignored")) >= 2, len(strap.entries("ignored")))
    lab.reckon(strap)
