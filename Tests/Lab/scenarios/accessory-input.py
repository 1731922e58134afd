"""Keyboards, on USB and as Bluetooth has them: what happens together is one event, and nobody else hears the keys."""
import os

import gadget
from visit import LETTERS, Visit, batch, hid, press, profile

WAITS = True


def is_silent(node):
    try:
        return not os.read(node, 4096)
    except BlockingIOError:
        return True


def run(lab):
    lab.attach(profile("lab-keys", "input", 0x0A03), profile("lab-air-keys", "input", properties=hid(0x0B03)))
    keyboards = (
        Visit(lab, lab.gadget(gadget.KEYBOARD, product=0x0A03, serial="K0001"), "lab-keys", "event*"),
        Visit(lab, lab.uhid(gadget.KEYBOARD, product=0x0B03, uniq="c0:de:00:00:00:72"), "lab-air-keys", "event*"))
    for visit in keyboards:
        visit.comes()
        other = os.open(visit.node[0], os.O_RDONLY | os.O_NONBLOCK)
        typed = [(usage, value) for usage in LETTERS for value in (1, 0)]
        visit.says([press(usage if value else 0) for usage, value in typed],
                   expected=[batch(usage, value) for usage, value in typed])
        lab.claim(f"{visit.name}: all of it is the stream input",
                  {one.data.get("stream") for one in visit.heard()} == {"input"}, visit.heard()[:1])
        lab.claim(f"{visit.name}: nobody else hears the keys", is_silent(other))
        os.close(other)
        visit.goes()
        visit.comes()
        visit.wakes(press(4), batch(4, 1))
        visit.device.say(press(0))
        visit.goes()
