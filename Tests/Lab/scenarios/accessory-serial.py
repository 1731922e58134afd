"""A serial accessory is plugged in, heard, pulled out, and comes back to a handler that slept all the while."""
import fcntl
import os
import struct

from visit import LINE, Visit, lines, profile

TIOCGEXCL = 0x80045440


def is_exclusive(node):
    """Root alone may open it to ask."""
    line = os.open(node, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    answer = struct.unpack("i", fcntl.ioctl(line, TIOCGEXCL, bytes(4)))[0]
    os.close(line)
    return bool(answer)


def run(lab):
    lab.attach(profile("lab-line", "serial", 0x0A01, serial={"baud": 115200}, framing=LINE))
    visit = Visit(lab, lab.gadget("acm", serial="L0001"), "lab-line", "ttyACM*")
    first = visit.comes()
    visit.says(lines("first", range(60)))
    lab.claim("no other program may open it (TIOCEXCL)", is_exclusive(visit.node[0]))
    visit.goes()
    visit.comes()
    visit.wakes(b"alone\n")
    visit.says(lines("second", range(60)))
    # Cut in the midst of a line: what there was of it is no message, and was read together with the line before it.
    visit.wakes(b"whole\r\nhalf a li", b"whole")
    visit.goes()
    told = lab.bridge.of("lab-line", "data", "attention", "disconnected", since=visit.begun)[-3:]
    lab.claim("half a line is told as what it is, before the disconnect",
              [one.kind for one in told] == ["attention", "data", "disconnected"] and
              told[0].data.get("kind") == "undecodable" and
              (told[1].data.get("fragment"), told[1].raw) == ("cut-short", b"half a li"),
              [one.data for one in told])
    lab.figure("half a line", told[0].data.get("detail"))
    # One that is plugged in before the daemon is ready has a gap before its first visit too.
    gaps = lab.bridge.gaps("lab-line", since=first.at)
    lab.claim("a gap is told between its visits at most", all(end <= visit.device.falls[-1] for _, end in gaps) and
              len(gaps) <= 1, gaps)
