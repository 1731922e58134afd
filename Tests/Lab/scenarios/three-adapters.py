"""Three straps, each on an adapter of its own, are heard at once; one that drops its link troubles no other."""
import time

from lab import until


def run(lab):
    air, bridge = lab.start(radios=3)
    straps = [air.strap() for _ in range(3)]
    for (number, strap), adapter in zip(enumerate(straps), air.addresses()):
        bridge.pair(strap, f"strap-{number}", "--adapter", adapter)

    for number, strap in enumerate(straps):
        lab.eventually(f"strap {number} is heard", lambda: bridge.beats(of=strap), 60)
    time.sleep(5)
    dropped = time.monotonic()
    straps[1].tell("drop")
    lab.eventually("the one that dropped its link is heard again", lambda: bridge.beats(dropped + 0.5, straps[1]),
                   60)
    time.sleep(3)
    for number in (0, 2):
        lab.claim(f"strap {number} kept its link", not straps[number].entries("disconnected"))
    for strap in straps:
        lab.reckon(strap, settle=0.5)
