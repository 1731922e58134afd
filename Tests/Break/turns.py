"""The log of turns beside a database, read without the bridge's code: what it says that the database does not know yet."""
import os
import struct
import zlib

HEADER = 64


def halves(content):
    """The two of the log by their generations; without one whose header is not what was written."""
    found, places = {}, [0]
    for place in places:
        half = content[place:]
        if len(half) >= HEADER and half[:8] == b"WkBrTrn1" and zlib.crc32(half[:24]) == struct.unpack_from("<I", half, 24)[0]:
            number, capacity = struct.unpack_from("<QQ", half, 8)
            found[number] = half[:capacity]
            if place == 0:
                places.append(capacity)
        elif place == 0:
            # Where the first does not say, they are of one size.
            places.append(len(content) // 2)
    return found


def records(content, seed):
    place = HEADER
    while place + 8 <= len(content):
        size, check = struct.unpack_from("<II", content, place)
        record = content[place + 8:place + 8 + size]
        if size == 0 or len(record) < size or zlib.crc32(record, seed & 0xFFFFFFFF) != check:
            return
        yield record
        place += 8 + size


class Reader:
    def __init__(self, record):
        self.record, self.place = record, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.record, self.place)
        self.place += struct.calcsize("<" + layout)
        return values

    def skip_sized(self):
        (size,) = self.take("I")
        self.place += size

    def skip_event(self):
        self.take("IBqqqB")
        self.skip_sized()

    def items(self):
        """What changes who is owed what."""
        while self.place < len(self.record):
            (tag,) = self.take("B")
            if tag == 1:
                seq, count = self.take("QH")
                owners = self.take(f"{count}I")
                self.skip_event()
                yield "append", seq, owners
            elif tag == 2:
                self.take("Q")
                self.skip_event()
            elif tag == 3:
                first, last, handler = self.take("QQI")
                yield "acknowledge", range(first, last + 1), handler
            elif tag == 4:
                self.take("QIqqq")
            elif tag == 5:
                self.skip_sized()
                self.skip_sized()
            elif tag == 6:
                self.take("q")
                self.skip_sized()
            else:
                raise ValueError(f"item {tag}")


def apply(path, named, owed):
    """Changes `owed`, pairs of handler's number and event's, as the log does that goes on from the database; returns how far
    numbers went."""
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        content = file.read()
    newest = 0
    for record in records(halves(content).get(named, b""), named):
        reader = Reader(record)
        newest = max(newest, reader.take("Qq")[0])
        for verb, what, whom in reader.items():
            if verb == "append":
                owed |= {(owner, what) for owner in whom}
            else:
                owed -= {(whom, seq) for seq in what}
    return newest
