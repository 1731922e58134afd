"""What udev told, and when, by its own tool: nobody hears it sooner."""
from lab import until


class Udev:
    def __init__(self, lab, subsystem):
        words = ["stdbuf", "-oL", "udevadm", "monitor", "--udev", "--subsystem-match=" + subsystem]
        self.process = lab.process("udev-" + subsystem, *words)
        if not until(lambda: "received" in self.process.text(), 10):
            raise RuntimeError("udevadm monitor says nothing")

    def told(self, action=None, node=None, since=0):
        """(instant, action, the last part of the path), of one action and one node where they are named."""
        found = []
        for line in self.process.lines():
            if line.startswith("UDEV ") and "[" in line:
                at, words = float(line.split("[")[1].split("]")[0]), line.split("]")[1].split()
                name = words[1].rsplit("/", 1)[1]
                if at >= since and action in (None, words[0]) and node in (None, name):
                    found.append((at, words[0], name))
        return found

    def awaited(self, action, node=None, since=0, seconds=30):
        """The instant of the first such word; None where there was none in time."""
        return next((at for at, *_ in until(lambda: self.told(action, node, since), seconds)), None)

    def end(self):
        self.process.kill()
