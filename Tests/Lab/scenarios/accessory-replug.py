"""Pulled out and put in again within its grace it was never away: no disconnect, the same node, one folded connect."""
from lab import until
from visit import LINE, Visit, lines, profile

WAITS = True


def run(lab):
    bridge = lab.attach(profile("lab-loose", "serial", 0x0A07, replug_grace="20s", framing=LINE))
    visit = Visit(lab, lab.gadget("acm", product=0x0A07, serial="R0001"), "lab-loose", "ttyACM*")
    visit.comes()
    visit.says(lines("before", range(20)))
    lab.eventually("the handler is frozen", bridge.is_frozen, 15)
    # One that is plugged in before the daemon is ready has a gap from that on.
    away = visit.device.unplug()
    lab.eventually("the dead node is let go at once", lambda: not bridge.holds(), 10)
    visit.comes()
    lab.claim("the handler never heard that it was away", not bridge.of("lab-loose", "disconnected"))
    told = bridge.of("lab-loose", "connected")[-1]
    lab.claim("its return says that something was folded", told.data.get("folded", 0) > 0, told.data)
    lab.claim("and that something may be lost", until(lambda: len(bridge.gaps("lab-loose", since=away)) == 1, 5),
              bridge.gaps("lab-loose", since=away))
    visit.says(lines("after", range(20)))
