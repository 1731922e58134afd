"""Typed on while the bridge stands still: what the kernel dropped of it is a gap, and no key is stuck after it."""
import struct

import gadget
from lab import now
from visit import LETTERS, Visit, batch, hid, press, profile

WAITS = True
# More than the kernel keeps for a reader, several times over.
STROKES = 300
HELD_BEFORE, TYPED, HELD_AFTER = 4, 5, 6


def down(heard):
    """The keys that are down to whoever believes what was heard."""
    keys = set()
    for one in heard:
        for kind, code, value in struct.iter_unpack("<HHi", one.raw):
            if kind == 1:
                (keys.add if value else keys.discard)(code)
    return keys


class Typed(Visit):
    def heard(self):
        """But for what the kernel repeats of keys that are held."""
        return [one for one in super().heard() if struct.unpack("<i", one.raw[-4:]) != (2,)]


def run(lab):
    bridge = lab.attach(profile("lab-keys", "input", properties=hid(0x0B06)))
    visit = Typed(lab, lab.uhid(gadget.KEYBOARD, product=0x0B06), "lab-keys", "event*")
    visit.comes()
    visit.wakes(press(HELD_BEFORE), batch(HELD_BEFORE, 1))
    came, pressed = visit.begun, bridge.of("lab-keys", "data")[-1].at

    def keys():
        return down(bridge.of("lab-keys", "data", since=came))

    begun = flood(lab, visit)
    lab.eventually("what was held before is up, and what was pressed unheard is down",
                   lambda: keys() == {LETTERS[HELD_AFTER]}, 20)
    told = [*bridge.of("lab-keys", "gap", since=begun), *(one for one in visit.heard() if one.at >= begun)]
    told = [one.kind for one in sorted(told, key=lambda one: one.event["seq"])]
    lab.claim("the gap comes first, then how the keys stand: no stroke of those in it is told", told == ["gap", "data"],
              told[:9])
    visit.begun = now()
    typed = [(usage, value) for usage in LETTERS if usage != HELD_AFTER for value in (1, 0)]
    visit.says([press(0), *(press(usage if value else 0) for usage, value in typed)],
               expected=[batch(HELD_AFTER, 0), *(batch(usage, value) for usage, value in typed)])
    lab.claim("in the end no key is down", not keys(), keys())
    gaps = bridge.gaps("lab-keys", since=begun)
    lab.claim("the gap is one", len(gaps) == 1, gaps)
    begin = gaps[0][0]
    lab.claim("it begins where the last key before it was pressed, not before", begin > pressed - 1, pressed - begin)
    visit.goes()


def flood(lab, visit):
    """Types while the bridge is stopped, from the instant on that it returns; claims that a gap spans all that."""
    bridge = lab.bridge
    bridge.daemon.stop()
    begun = now()
    for _ in range(STROKES):
        visit.device.say(press(TYPED), quiet=True)
        visit.device.say(press(0), quiet=True)
    visit.device.say(press(HELD_AFTER), quiet=True)
    ended = now()
    bridge.daemon.go_on()
    lab.eventually("a gap spans the time in which it was typed on", lambda: any(
        begin <= begun and ended <= end for begin, end in bridge.gaps("lab-keys")), 20)
    return begun
