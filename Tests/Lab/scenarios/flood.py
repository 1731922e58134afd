"""A strap that floods, as fast as this machine carries it: every beat is one event, in order, none lost unsaid."""
import time

from lab import until

BEATS = 1200


def run(lab):
    air, strap, bridge = lab.paired("--interval", "2", debug=False)
    before = bridge.resident()
    began = time.monotonic()
    answer = strap.tell(f"flood {BEATS}")
    lab.figure("the strap said", answer)
    sent = {int(fields["n"]) & 0xFFFF: at for at, _, fields in strap.entries("notify") if at >= began}
    lab.claim("it said them all to a subscriber", len(sent) >= BEATS, len(sent))
    last = list(sent)[-1]
    drained = until(lambda: bridge.beats() and (bridge.beats()[-1].beat - last) & 0xFFFF < 0x8000, 90, 0.5)
    lab.claim("the handler has caught up", drained)
    heard = [one for one in bridge.beats() if one.beat in sent]
    times = [one.at for one in heard]
    if times:
        lab.figure("the handler heard", f"{len(heard)}, {len(heard) / (times[-1] - times[0]):.0f} a second")
        late = sorted(one.at - sent[one.beat] for one in heard)
        lab.figure("from the strap to its handler", f"median {late[len(late) // 2] * 1000:.0f} ms, "
                   f"longest {late[-1] * 1000:.0f} ms")
    lab.figure("gaps", [(one.data["cause"], one.data["count"]) for one in bridge.heard("gap")])
    lab.figure("the daemon's own memory, before and after", f"{before} KiB, {bridge.resident()} KiB")
    lab.claim("the link never fell for it", not strap.entries("disconnected"))
    lab.reckon(strap)
