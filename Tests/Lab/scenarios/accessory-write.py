"""A handler writes: to a serial line, reports with a number and without; what cannot be written is an error."""
import gadget
from lab import until
from visit import LINE, Visit, hid, profile


def run(lab):
    bridge = lab.attach(profile("lab-line", "serial", 0x0A01, framing=LINE), profile("lab-reports", "hid", 0x0A02),
                        profile("lab-air", "hid", properties=hid(0x0B02)))
    line = Visit(lab, lab.gadget("acm", serial="W1"), "lab-line", "ttyACM*")
    wired = Visit(lab, lab.gadget(gadget.NUMBERED, product=0x0A02, serial="W2", port=1), "lab-reports", "hidraw*")
    wireless = Visit(lab, lab.uhid(gadget.SENSOR, product=0x0B02, uniq="c0:de:00:00:00:73"), "lab-air", "hidraw*")
    for visit in (line, wired, wireless):
        visit.comes()
    refs = iter(range(1, 100))

    def write(visit, stream, data):
        """The answer to a write that the handler says when it hears the next message of the line."""
        ref = next(refs)
        bridge.order({"write": {"device": visit.subject, "stream": stream, "hex": data.hex()}, "ref": ref})

        def answers():
            return [one for one in bridge.heard("reply", "error") if ref in (one.data.get("ref"), one.event.get("ref"))]

        # What comes when the handler is frozen already is not worth a wake: it is read at the next one.
        for nudge in range(5):
            line.device.say(b"go %d %d\n" % (ref, nudge))
            if found := until(answers, 3):
                return found[0]
        return None

    def arrives(what, visit, stream, data, hears):
        answer = write(visit, stream, data)
        lab.claim(f"{what}: the write is answered", answer and answer.kind == "reply", answer and answer.event)
        heard = hears()
        lab.claim(f"{what}: the accessory has it, whole", heard == data, heard)

    def refused(what, visit, stream, data):
        answer = write(visit, stream, data)
        lab.claim(f"{what} is an error", answer and answer.kind == "error", answer and answer.event)
        lab.figure(what, answer and answer.data.get("sentence"))

    long = bytes(number % 251 for number in range(6000))
    arrives("a line", line, "serial", b"AT\r\n", lambda: line.device.told(0, 10))
    arrives("6000 bytes", line, "serial", long, lambda: gather(line.device, len(long)))
    arrives("report 2", wired, "report-2", b"\2written", lambda: wired.device.told(0, 10))
    arrives("a report without a number", wireless, "report-0", b"\0no number",
            lambda: b"".join(wireless.device.told(10)))
    refused("a stream that it has not", line, "report-1", b"\1")
    refused("a report under another's number", wired, "report-2", b"\1written")
    wired.goes()
    refused("a write to what was pulled out", wired, "report-2", b"\2written")


def gather(device, count):
    """A write that long comes in parts."""
    heard = b""
    while len(heard) < count and (more := device.told(0, 10)):
        heard += more
    return heard
