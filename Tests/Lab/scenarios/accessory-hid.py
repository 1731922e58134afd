"""HID accessories, on USB with numbered reports and as Bluetooth has them: reports wake a handler, by their numbers."""
import gadget
from visit import Visit, hid, profile

WAITS = True


def reports(head, count):
    """Eight bytes each."""
    return [head + number.to_bytes(8 - len(head), "little") for number in range(1, count + 1)]


def run(lab):
    lab.attach(profile("lab-reports", "hid", 0x0A02), profile("lab-air", "hid", properties=hid(0x0B02)))
    wired = Visit(lab, lab.gadget(gadget.NUMBERED, product=0x0A02, serial="H0001"), "lab-reports", "hidraw*")
    wired.comes()
    wired.says(reports(b"\2", 40))
    wired.goes()
    wired.comes()
    wired.wakes(b"\2another")
    wired.device.say(b"\1\0\0\4\0\0\0\0\0")
    wired.device.say(b"\1\0\0\0\0\0\0\0\0")

    def streams():
        return [one.data.get("stream") for one in wired.heard()]

    lab.eventually("reports of both numbers come as streams of their own",
                   lambda: streams() == ["report-2", "report-1", "report-1"], 15)
    lab.figure("the streams", streams())
    wired.goes()
    wireless = Visit(lab, lab.uhid(gadget.SENSOR, product=0x0B02, uniq="c0:de:00:00:00:71"), "lab-air", "hidraw*")
    wireless.comes()
    wireless.says(reports(b"", 40))
    lab.claim("reports without a number are stream report-0",
              {one.data.get("stream") for one in wireless.heard()} == {"report-0"}, wireless.heard()[0].data)
    wireless.goes()
    wireless.comes()
    wireless.wakes(b"wireless")
    wireless.goes()
