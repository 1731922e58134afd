"""Twins keep their aliases: without serial numbers by the port they are in, with them wherever they are plugged in."""
from lab import until
from visit import LINE, profile

WAITS = True


class Twin:
    """Each line that it says begins with its name, by which its events are known whatever the bridge calls it."""

    def __init__(self, lab, name, **more):
        self.lab, self.bridge, self.name, self.spoken = lab, lab.bridge, name, 0
        self.gadget = lab.gadget("acm", product=0x0A05, title="Twin", **more)

    def comes(self, **port):
        """Plugs it in; says how it is called, and on which node it is."""
        known = len(self.bridge.of("lab-twin", "connected"))
        self.gadget.plug(**port)
        self.lab.eventually(f"{self.name} is connected",
                            lambda: len(self.bridge.of("lab-twin", "connected")) > known, 30)
        self.spoken += 1
        line = f"{self.name} {self.spoken}".encode()
        self.gadget.say(line + b"\n")
        told = until(lambda: [one for one in self.bridge.of("lab-twin", "data") if one.raw == line], 20)
        self.lab.claim(f"{self.name} is heard", told)
        nodes = self.gadget.host_nodes("ttyACM*")
        self.lab.figure(self.name, f"{told and told[0].event['subject']}, {told and told[0].event['source']}, {nodes}")
        return told[0].event["subject"] if told else None, nodes

    def goes(self):
        known = len(self.bridge.of("lab-twin", "disconnected"))
        self.gadget.unplug()
        self.lab.eventually(f"{self.name} is disconnected",
                            lambda: len(self.bridge.of("lab-twin", "disconnected")) > known, 30)


def run(lab):
    lab.attach(profile("lab-twin", "serial", 0x0A05, framing=LINE))
    left, right = Twin(lab, "left", port=0), Twin(lab, "right", port=1)
    called = left.comes(), right.comes()
    lab.claim("without numbers they have two names", called[0][0] != called[1][0], called)
    for twin in (left, right):
        twin.goes()
    right_again, left_again = right.comes(), left.comes()
    lab.claim("switched on the other way round they have each other's nodes",
              (left_again[1], right_again[1]) == (called[1][1], called[0][1]), (called, left_again, right_again))
    lab.claim("and their own names", (left_again[0], right_again[0]) == (called[0][0], called[1][0]),
              (called, left_again, right_again))
    left.goes()
    lab.eventually("the handler is frozen", lab.bridge.is_frozen, 15)
    back = left.comes()
    lab.claim("pulled out and put in while the handler is frozen, it has its name and its node again",
              back == left_again, (back, left_again))
    for twin in (left, right):
        twin.goes()

    one, two = Twin(lab, "one", port=2, serial="T1"), Twin(lab, "two", port=3, serial="T2")
    called = one.comes()[0], two.comes()[0]
    for twin in (one, two):
        twin.goes()
    again = two.comes(port=2)[0], one.comes(port=3)[0]
    lab.claim("with numbers they have their own names in each other's ports",
              called[0] != called[1] and again == called[::-1], (called, again))
    for twin in (one, two):
        twin.goes()
