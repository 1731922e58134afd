"""A heart at training, and what a strap says of it: Heart Rate Measurement of the Heart Rate Service 1.0."""
import math
import struct


def target(second):
    """Beats a minute: rest, a climb, a short hold, recovery."""
    if second < 15:
        return 62.0
    if second < 50:
        return 62 + 78 * (1 - math.cos(math.pi * (second - 15) / 35)) / 2
    if second < 56:
        return 140.0
    return 92 + 48 * math.exp(-(second - 56) / 16)


class Heart:
    """It is at rest until its first measurement; `contact` is whether the strap feels the skin."""

    def __init__(self):
        self.begun, self.clock, self.said = None, 0.0, 0
        self.rate, self.contact = 62, True

    def intervals(self, second):
        """The lengths in 1/1024 s of the beats that ended since the last call; breath varies them, less when fast."""
        ended = []
        while True:
            rate = target(self.clock)
            breath = 1 + 0.045 * 62 / rate * math.sin(2 * math.pi * self.clock / 4.3)
            interval = round(1024 * 60 / rate * breath)
            if self.clock + interval / 1024 > second:
                return ended
            self.clock += interval / 1024
            ended.append(interval)

    def measurement(self, now):
        """Flags, rate (in two bytes now and then), energy expended in kJ now and then, RR-Intervals."""
        self.begun = self.begun or now - 1.1
        ended = self.intervals(now - self.begun)
        if not self.contact:
            ended = []
        if ended:
            self.rate = round(60 * 1024 * len(ended) / sum(ended))
        wide, energetic = self.said % 16 == 9, self.said % 12 == 11
        flags = wide | (0b110 if self.contact else 0b100) | energetic << 3 | bool(ended) << 4
        body = struct.pack("<BH" if wide else "<BB", flags, self.rate if self.contact else 0)
        if energetic:
            body += struct.pack("<H", 2 + self.said * self.said // 160)
        self.said += 1
        return body + b"".join(struct.pack("<H", interval) for interval in ended)
