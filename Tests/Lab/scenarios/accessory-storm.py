"""While `udevadm trigger` never ends, plugs and unplugs are told within a second of udev, and nothing else is."""
import sys

from lab import now, until
from udev import Udev
from visit import LINE, lines, profile

# So many whole triggers must there have been, and so many rounds are played to have them.
TRIGGERS, ROUNDS = 2, 8
with open("/proc/cpuinfo") as file:
    IS_EMULATED = "TCG" in file.read()


def run(lab):
    quick = {"settle": "0s", "replug_grace": "0s", "framing": LINE}
    bridge = lab.attach(profile("lab-storm", "serial", 0x0A08, **quick), profile("lab-calm", "serial", 0x0A09, **quick))
    calm = lab.gadget("acm", product=0x0A09, serial="C", port=1)
    storm = lab.gadget("acm", product=0x0A08, serial="S")
    calm.plug()
    lab.eventually("the one that stays is connected", lambda: bridge.of("lab-calm", "connected"), 30)
    lab.eventually("its node is open, and with nothing said its handler is frozen", lambda: bridge.holds() and bridge.is_frozen())
    before, worked, begun = bridge.descriptors(), bridge.processor(), now()
    udev = Udev(lab, "tty")
    # Two of them: while one waits for udev to end its round the other has it begin again.
    loops = [lab.process(f"trigger{number}", "sh", "-c", "while udevadm trigger --settle; do echo; done")
             for number in range(2)]
    try:
        told = []
        while len(told) < 2 * ROUNDS and (not told or triggers(loops) < TRIGGERS):
            told += edges(lab, storm, len(told) // 2, udev, calm)
    finally:
        for loop in loops:
            loop.kill()
    lab.figure("events of udev meanwhile", f"{len(udev.told())} of serial lines, "
               f"{triggers(loops)} whole triggers")
    lab.figure("processor time of the bridge", f"{bridge.processor() - worked:.2f} s in {now() - begun:.1f} s")
    taken, noticed, heard = zip(*told)
    lab.figure("from the plug or unplug to udev's word", ", ".join(f"{one * 1000:.0f} ms" for one in taken))
    lab.figure("from udev's word to the bridge's event", ", ".join(f"{one * 1000:.0f} ms" for one in noticed))
    # One that comes and goes so often is folded in the end, and told when it has come to rest.
    lab.figure("and to the handler", ", ".join(f"{one * 1000:.0f} ms" for one in heard))
    # An emulated machine in a storm is slow in all: udev, which has to come first, is the yardstick then.
    limit = max(1, *taken) if IS_EMULATED else 1
    lab.in_time("each edge is noticed within 1 s of udev's word, in an emulated machine within what udev took for one",
                max(noticed) <= limit, (noticed, limit))
    lab.in_time("half of the edges are noticed within 1 s anywhere", sorted(noticed)[len(noticed) // 2] <= 1, noticed)
    lab.claim("there was a storm", triggers(loops) >= TRIGGERS, triggers(loops))
    others = bridge.of("lab-calm", "connected", "disconnected", "gap", "attention")
    lab.claim("of the one that stayed nothing was told but its data", [one.kind for one in others] == ["connected"],
              [one.event for one in others])
    said = [(at, message.rstrip(b"\r\n")) for at, message in calm.said]
    until(lambda: len(bridge.of("lab-calm", "data")) >= len(said), 20)
    lab.tally("the one that stayed", said, bridge.of("lab-calm", "data"))
    lab.eventually("with the storm over the descriptors are as they were", lambda: bridge.descriptors() <= before, 10)
    lab.figure("descriptors before and after", f"{before} {bridge.descriptors()}")
    udev.end()


def triggers(loops):
    return sum(loop.text().count("\n") for loop in loops)


def edges(lab, storm, round, udev, calm):
    """How long udev took for a plug, and an unplug, how much later the bridge noticed it, and its handler heard of it."""
    bridge, node = lab.bridge, None
    for action, kind in (("add", "connected"), ("remove", "disconnected")):
        begun = storm.plug() if action == "add" else storm.unplug()
        for line in lines(f"calm {round} {action}", range(10)):
            calm.say(line)
        if not until(lambda: bridge.of("lab-storm", kind, since=begun), 60):
            raise TimeoutError(f"round {round}: {kind} was never told")
        node = node or storm.host_nodes("ttyACM*")[0]
        at = udev.awaited(action, node, begun)
        event = bridge.of("lab-storm", kind, since=begun)[0]
        yield (at - begun, bridge.instant(event.event["time"]) - at, event.at - at) if at else (0, sys.maxsize, 0)
