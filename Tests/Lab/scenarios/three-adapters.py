"""Three straps, each on an adapter of its own, are heard at once; one that drops its link troubles no other."""
import time


def run(lab):
    air, bridge = lab.start(radios=3)
    straps = [air.strap() for _ in range(3)]
    for (number, strap), adapter in zip(enumerate(straps), air.addresses()):
        bridge.pair(strap, f"strap-{number}", "--adapter", adapter)

    for number, strap in enumerate(straps):
        lab.eventually(f"strap {number} is heard", lambda: bridge.beats(of=strap), 60)
    for strap in straps:
        lab.await_beats(of=strap)
    dropped = time.monotonic()
    straps[1].tell("drop")
    lab.eventually("the one that dropped its link is heard again", lambda: bridge.beats(dropped + 0.5, straps[1]),
                   60)
    lab.await_beats(2, straps[1])
    for number in (0, 2):
        lab.claim(f"strap {number} kept its link", not straps[number].entries("disconnected"))
    for strap in straps:
        lab.reckon(strap, settle=0.5)
