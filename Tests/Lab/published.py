"""A device of the library, as its profile and its published messages (vectors.json5) make it: what it shows, and what it says."""
import os
import re

import json5

DEVICES = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "Devices"))
BASE = "-0000-1000-8000-00805f9b34fb"
# Of an advertisement as every controller sends it.
ROOM = 31
# Broadcasts of one device: they take turns.
MOST = 6
ENDS = {"line": "0d0a"}


def names():
    """Those of all devices that have published messages."""
    return sorted(name for name in os.listdir(DEVICES) if os.path.exists(os.path.join(DEVICES, name, "vectors.json5")))


def short(uuid):
    """As traces write it: 4 digits where it is one of the Bluetooth SIG's."""
    uuid = uuid.lower()
    return uuid[4:8] if uuid.startswith("0000") and uuid.endswith(BASE) else uuid


def structure(kind, data):
    return bytes([len(data) + 1, kind]) + data


def pattern(text):
    """Bytes that fit such a pattern of hexadecimal digits."""
    return bytes.fromhex(text.replace("?", "0"))


def seconds(span):
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|m|h|d)", span).groups()
    return float(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


def parts(advertisement):
    """Its AD structures, each without its length."""
    while advertisement:
        size = advertisement[0] + 1
        yield advertisement[1:size]
        advertisement = advertisement[size:]


def knows(condition, advertisement):
    """Whether one of `match.broadcast` fits a part of an advertisement, as far as its beginning and length go."""
    head = Message({**condition, "hex": ""}).structures()[0][1:]
    least, _, most = str(condition.get("length", "0-255")).partition("-")
    start = condition.get("starts", "").replace("?", ".")
    return any(part.startswith(head) and int(least) <= len(part) - len(head) <= int(most or least) and
               re.match(start, part[len(head):].hex()) for part in parts(advertisement))


class Message:
    """One of vectors.json5, as the device says it: in pieces, where it comes so."""

    def __init__(self, vector):
        self.vector = vector
        self.pieces = [bytes.fromhex(piece.replace(" ", "")) for piece in
                       vector.get("pieces", [vector["hex"]] if "hex" in vector else [])] or [vector["text"].encode()]
        self.stream = short(vector["stream"]) if "stream" in vector else "advertisement"
        self.pause = seconds(vector["after"]) if "after" in vector else 0
        self.address = vector.get("address", "").upper()
        self.value = vector.get("value")

    @property
    def is_usual(self):
        return "undecodable" not in self.vector

    @property
    def fits(self):
        """Whether an advertisement has room for it."""
        return self.stream != "advertisement" or all(len(part) <= ROOM for part in self.structures())

    def framed(self, framings):
        """Its pieces, with the end that its framing has where it is written without one."""
        if "pieces" in self.vector:
            return self.pieces
        whole = self.pieces[0]
        fits = [one for one in framings if whole.startswith(bytes.fromhex(one.get("start", "")))]
        framing = (fits or framings or [{"kind": "none"}])[0]
        end = "" if "tail" in framing else framing.get("delimiter", ENDS.get(framing["kind"], ""))
        return [whole + bytes.fromhex(end)]

    def structures(self):
        """What a broadcast carries of it."""
        if self.stream == "advertisement" and "stream" in self.vector:
            return list(self.pieces)
        if "service_data" in self.vector:
            uuid = bytes.fromhex(short(self.vector["service_data"]).replace("-", ""))[::-1]
            return [structure(0x16 if len(uuid) == 2 else 0x21, uuid + piece) for piece in self.pieces]
        company = self.vector.get("manufacturer_data") or self.vector["company"]
        number = b"" if company == "any" else bytes.fromhex(company)[::-1]
        return [structure(0xFF, number + piece) for piece in self.pieces]


class Published:
    def __init__(self, name):
        self.name = name
        self.profile = json5.read(os.path.join(DEVICES, name, "profile.json5"))
        vectors = json5.read(os.path.join(DEVICES, name, "vectors.json5"))["vectors"]
        messages = [Message(vector) for vector in vectors]
        usual = [one for one in messages if one.is_usual]
        if self.kind == "broadcaster":
            usual = sorted((one for one in usual if one.fits), key=lambda one: "key" in one.vector)[:MOST]
        # A message that is spoilt may spoil what comes after it.
        self.messages = usual + [one for one in messages if not one.is_usual and one.fits][:1]

    @property
    def kind(self):
        """What plays it."""
        if self.profile["mode"] == "external-accessory":
            return "logger" if self.profile.get("node") == "rfcomm" else "accessory"
        return "peripheral" if "notify" in self.profile or "read" in self.profile else "broadcaster"

    # What it shows.

    @property
    def match(self):
        return self.profile["match"]

    @property
    def services(self):
        return [short(uuid) for uuid in self.match.get("services", [])]

    @property
    def prefix(self):
        prefix = self.match.get("name_prefix", "")
        return prefix if isinstance(prefix, str) else prefix[0]

    def shown(self):
        """Data by which a peripheral is known, or none."""
        for one in self.match.get("broadcast", [])[:1]:
            least = int(str(one.get("length", 0)).split("-")[0])
            data = bytearray(pattern(one.get("starts", "")).ljust(least, b"\0"))
            for place, digits in one.get("at", {}).items():
                put = pattern(digits)
                data = data.ljust(int(place) + len(put), b"\0")
                data[int(place):int(place) + len(put)] = put
            return Message({**one, "hex": data.hex()}).structures()[0]
        return b""

    def listed(self):
        """The services that it advertises, as AD structures."""
        raw = [bytes.fromhex(uuid.replace("-", ""))[::-1] for uuid in self.services]
        short, long = b"".join(one for one in raw if len(one) == 2), b"".join(one for one in raw if len(one) == 16)
        return [structure(kind, data) for kind, data in ((0x03, short), (0x07, long)) if data]

    # What it says.

    def framings(self, stream):
        framing = self.profile.get("characteristics", {}).get(stream, {}).get("framing")
        if self.profile["mode"] == "external-accessory":
            framing = self.profile.get("framing")
        return framing if isinstance(framing, list) else [framing] if framing else []

    def said(self):
        """(stream, pieces, pause before it), in the order of the file."""
        return [(one.stream, one.framed(self.framings(one.stream)), one.pause) for one in self.messages]

    @property
    def notified(self):
        return self.listed_in("notify")

    @property
    def was_read(self):
        return self.listed_in("read")

    def listed_in(self, key):
        included = ["2a19"] if "battery" in self.profile.get("include", []) else []
        return {short(uuid) for uuid in [*self.profile.get(key, []), *included]}

    def broadcasts(self, address):
        """(address, advertisement) of each of its messages, and of what it shows beside them."""
        name = structure(0x09, self.prefix.encode()) if self.prefix else b""
        said = []
        for one in self.messages:
            for whole in one.structures():
                packed = [b"".join([*self.listed(), whole, name]), b"".join([*self.listed(), whole])]
                together = next((index for index, data in enumerate(packed) if len(data) <= ROOM), None)
                apart = {0: packed[:1], 1: [packed[1], name], None: [*self.listed(), name, whole]}[together]
                said += [(one.address or address, part) for part in apart if part]
        # What it is known by comes first.
        conditions = self.match.get("broadcast", [])
        if conditions and not any(knows(one, said[0][1]) for one in conditions):
            said = [(source, self.shown()) for source in sorted({source for source, _ in said})] + said
        return said

    def is_said(self, value, heard):
        """Whether a value is one that was heard; a rate of several messages may stand beside what was published of one."""
        if isinstance(value, dict) and isinstance(heard, dict):
            return all(heard.get(name) == part for name, part in value.items())
        return value == heard

    def values(self):
        """(stream, value) that must come of its messages: of those that need no key and none before them, and are heard."""
        heard, found = self.notified | {"advertisement", "serial"}, []
        for one in self.messages:
            is_first = one.stream not in [stream for stream, _ in found]
            if one.value is not None and not {"key", "after"} & set(one.vector) and (
                    one.stream in heard or is_first and one.stream in self.was_read):
                found.append((one.stream, one.value))
        return found
