"""Accessories that keep their drivers waiting, to take a report and to be closed, keep nobody else waiting."""
import gadget
from lab import now, until
from visit import LINE, Visit, profile

WAITS = True


def run(lab):
    bridge = lab.attach(profile("lab-line", "serial", 0x0A01, framing=LINE), profile("lab-mute", "serial", 0x0A03),
                        profile("lab-reports", "hid", 0x0A02))
    line = Visit(lab, lab.gadget("acm", serial="S1"), "lab-line", "ttyACM*")
    mute = Visit(lab, lab.gadget("acm", product=0x0A03, serial="S2", port=1), "lab-mute", "ttyACM*")
    deaf = Visit(lab, lab.gadget(gadget.NUMBERED, product=0x0A02, serial="S3", port=2), "lab-reports", "hidraw*")
    for visit in (line, mute, deaf):
        visit.comes()
    numbers = iter(range(10_000))

    def wait():
        """How long the next message of the line is on its way."""
        said, at = b"word %d" % next(numbers), now()
        line.device.say(said + b"\n")
        until(lambda: any(one.raw == said for one in line.heard()), 40, 0.01)
        return now() - at

    usual = max(wait() for _ in range(10))
    lab.seconds("a message to its handler, at most", usual)

    def answers(refs):
        found = bridge.heard("reply", "error")
        return [one for one in found if {one.data.get("ref"), one.event.get("ref")} & set(refs)]

    def watched(refs):
        """The longest way of a message until all of `refs` are answered, and how long that took."""
        begun, longest = now(), 0
        while len(answers(refs)) < len(refs) and now() < begun + 120:
            longest = max(longest, wait())
        return longest, now() - begun

    # Nobody reads the gadget's end: it takes a few, and has the driver wait for the others to time out.
    refs = list(range(1, 9))
    bridge.order(*({"write": {"device": deaf.subject, "stream": "report-2", "hex": b"\2written".hex()}, "ref": ref}
                   for ref in refs))
    longest, took = watched(refs)
    told = answers(refs)
    lab.claim("each report is answered once", sorted(one.data.get("ref") or one.event.get("ref") for one in told) == refs,
              [one.event for one in told])
    lab.claim("some were not taken, after the kernel's time for it", any(one.kind == "error" for one in told) and took > 3,
              took)
    lab.figure("why not", sorted({str(one.data.get("sentence")) for one in told if one.kind == "error"}))
    lab.seconds("for a device that takes no reports its driver waited", took)
    lab.seconds("a message of the line meanwhile, at most", longest)
    lab.in_time("and the line was heard all the while", longest < 2.5, (longest, usual))

    # Nobody has the gadget's line open: what is written to it is never sent, and closing it waits for that.
    bridge.order({"write": {"device": mute.subject, "stream": "serial", "hex": bytes(2000).hex()}, "ref": 100})
    watched([100])
    lab.claim("what the kernel has taken is answered", [one.kind for one in answers([100])] == ["reply"],
              [one.event for one in answers([100])])
    bridge.tool("devices")
    begun = now()
    bridge.tool("devices")
    lab.seconds("any word of the tool takes", now() - begun)
    begun = now()
    said, status = bridge.tool("session", "close", mute.subject)
    took = now() - begun
    lab.claim("its session is closed", status == 0, said)
    longest = max(wait() for _ in range(5))
    lab.seconds("closing the session took", took)
    lab.seconds("a message of the line after that, at most", longest)
    lab.in_time("the bridge does not wait for what is not sent", took < 15 and longest < 2.5, (took, longest))
    begun = now()
    ended = bridge.end()
    lab.seconds("the daemon's end took", now() - begun)
    lab.in_time("nor does its end", now() - begun < 15, now() - begun)
    lab.claim("it ends well", ended)
    bridge.start()
