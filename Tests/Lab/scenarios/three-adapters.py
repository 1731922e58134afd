"""Three straps, each on an adapter of its own, are heard at once; one that drops its link does not trouble the others."""
import time

from lab import until


def run(lab):
    air, bridge = lab.start(radios=3)
    straps = [air.strap() for _ in range(3)]
    for (number, strap), adapter in zip(enumerate(straps), air.addresses()):
        bridge.pair(strap, f"strap-{number}", adapter)

    def heard(strap, since=0):
        return [one for one in bridge.beats(since) if one.event["source"].endswith(strap.address)]

    for number, strap in enumerate(straps):
        lab.eventually(f"strap {number} is heard", lambda: heard(strap), 60)
    time.sleep(5)
    dropped = time.monotonic()
    straps[1].tell("drop")
    lab.eventually("the one that dropped its link is heard again", lambda: heard(straps[1], dropped + 0.5), 60)
    time.sleep(3)
    for number in (0, 2):
        lab.claim(f"strap {number} kept its link", not straps[number].entries("disconnected"))
    for strap in straps:
        lab.reckon(strap, settle=0.5)
