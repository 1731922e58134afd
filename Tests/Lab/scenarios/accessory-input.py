"""Keyboards, on USB and as Bluetooth has them: what happens together is one event, and nobody else hears the keys."""
import gadget
from visit import LETTERS, Visit, batch, hid, press, profile


def run(lab):
    lab.attach(profile("lab-keys", "input", 0x0A03), profile("lab-air-keys", "input", properties=hid(0x0B03)))
    keyboards = (
        Visit(lab, lab.gadget(gadget.KEYBOARD, product=0x0A03, serial="K0001"), "lab-keys", "event*"),
        Visit(lab, lab.uhid(gadget.KEYBOARD, product=0x0B03, uniq="c0:de:00:00:00:72"), "lab-air-keys", "event*"))
    for visit in keyboards:
        visit.comes()
        typed = [(usage, value) for usage in LETTERS for value in (1, 0)]
        visit.says([press(usage if value else 0) for usage, value in typed],
                   expected=[batch(usage, value) for usage, value in typed])
        lab.claim(f"{visit.name}: all of it is the stream input",
                  {one.data.get("stream") for one in visit.heard()} == {"input"}, visit.heard()[:1])
        visit.goes()
        visit.comes()
        visit.wakes(press(4), batch(4, 1))
        visit.device.say(press(0))
        visit.goes()
