"""Reads shipped recordings a second time, by tshark, which shares nothing with the bridge, and compares.

Usage: tshark_reading.py WAKEBRIDGE DEVICES FOLDER...

Each FOLDER of DEVICES has a `recording.trace` and the `expected.ndjson` that comes of it. WAKEBRIDGE exports the trace to btsnoop, and tshark
reads that. All bytes must be those of the trace, in its order. What tshark dissects by itself must have our values, member by member.
Prints how much was compared, by characteristic. Ends with 1, and says what differs, where something does.
"""
import bisect
import collections
import fractions
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import tshark_table

# Of btsnoop, with HCI as UARTs carry it.
HEAD = b"btsnoop\0" + struct.pack(">II", 1, 1002)
# Recordings that tshark gets at a time: what it says of them is long.
TOGETHER = 24
READ, ANSWERED, NOTIFIED, INDICATED = 0x0a, 0x0b, 0x1b, 0x1d
WANTED = (f"btatt.opcode in {{{NOTIFIED:#x}, {INDICATED:#x}, {ANSWERED:#x}}} || "
          "bthci_evt.le_meta_subevent in {0x02, 0x0d}")
DATE = [f"btatt.{part}" for part in ("year", "month", "day", "hours", "minutes", "seconds")]
MARKS = ("btatt.invalid_usage", "btatt.undecoded", "btatt.invalid_length", "btatt.bad_data", "btatt.unexpected_data")


class Members(list):
    """An object of tshark's, whose keys may come twice."""

    def get(self, *path):
        found = self
        for key in path:
            found = next((value for name, value in found if name == key), None) if isinstance(found, Members) else None
        return found

    def leaves(self):
        for name, value in self:
            if isinstance(value, Members):
                yield from value.leaves()
            elif isinstance(value, str):
                yield name, value


def json5(path):
    """As much of JSON5 as the shipped profiles have."""
    token = r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[A-Za-z_$][\w$]*(?=\s*:)'
    with open(path) as file:
        text = re.sub(token, lambda found: found[0] if found[0][0] == '"' else
                      "" if found[0][0] == "/" else f'"{found[0]}"', file.read(), flags=re.S)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def channel(text):
    """A UUID as traces have it; None for what is no characteristic."""
    return text.lower() if re.fullmatch(r"[0-9a-fA-F]{4}|[0-9a-fA-F]{8}|[0-9a-fA-F-]{36}", text) else None


def traced(path):
    """What the devices of a trace said: channel and bytes, in order."""
    with open(path) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if len(words) > 3 and words[0][0] == "+" and words[2] == "data":
                if words[3] == "advertisement" or channel(words[3]):
                    yield words[3].lower(), "".join(words[4:]).lower()


def told(path):
    """Our values, by what made them."""
    values = collections.defaultdict(list)
    with open(path) as lines:
        for line in lines:
            data = json.loads(line)["data"]
            if "raw" in data:
                values[data.get("characteristic") or data.get("stream"), data["raw"]].append(data.get("value"))
    return values


def records(capture):
    """Of each record of btsnoop: its bytes, and its head's other three numbers."""
    with open(capture, "rb") as file:
        whole = file.read()
    place = len(HEAD)
    while place < len(whole):
        size, _, *numbers = struct.unpack_from(">IIIIQ", whole, place)
        yield whole[place + 24:place + 24 + size], numbers
        place += 24 + size


def write(capture, found):
    with open(capture, "wb") as file:
        file.write(HEAD)
        for record, numbers in found:
            file.write(struct.pack(">IIIIQ", len(record), len(record), *numbers) + record)


def tshark(captures):
    """What it reads of each capture. It gets all of them as one: it takes longer to start than to read."""
    ends, found = [], []
    for capture in captures:
        found += records(capture)
        ends.append(len(found))
    with tempfile.NamedTemporaryFile(suffix=".btsnoop") as merged:
        write(merged.name, found)
        words = ["tshark", "-n", "-r", merged.name, "-Y", WANTED, "-T", "json", "-x", "-J", "frame btatt bthci_evt btcommon"]
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    readings = [[] for _ in captures]
    for packet in json.loads(ended.stdout or "[]", object_pairs_hook=Members):
        layers = packet.get("_source", "layers")
        place = bisect.bisect_left(ends, int(layers.get("frame", "frame.number")))
        readings[place].append(reading(layers))
    return readings


def uuid(attribute):
    for name, value in attribute.leaves():
        if name == "btatt.uuid16":
            return value[2:]
        if name == "btatt.uuid128":
            return value.replace(":", "")
    return None


def reading(layers):
    """Channel, bytes and fields of one packet."""
    data = layers.get("bthci_evt", "btcommon.eir_ad.advertising_data_raw")
    if data is not None:
        return "advertisement", data[0], []
    attribute = layers.get("btatt")
    whole = layers.get("btatt_raw")[0]
    fields = list(attribute.leaves())
    return uuid(attribute), whole[2 if whole[:2] == f"{ANSWERED:02x}" else 6:], fields


def rewritten(capture, opcode):
    """The capture with each notification as an indication, or as the answer to a read: some characteristics have no other."""
    made = []
    for record, (flags, drops, time) in records(capture):
        pair = [(record, flags)]
        is_first = len(record) > 11 and record[0] == 2 and record[2] & 0x30 == 0x20
        if is_first and record[9] == NOTIFIED and struct.unpack_from("<H", record, 5)[0] == len(record) - 9:
            if opcode == INDICATED:
                pair = [(record[:9] + bytes([INDICATED]) + record[10:], flags)]
            else:
                link = bytes([record[1], record[2] & 0x0f])
                ask = b"\2" + link + struct.pack("<HHHB", 7, 3, 4, READ) + record[10:12]
                size = len(record) - 11
                answer = record[:3] + struct.pack("<HHHB", size + 4, size, 4, ANSWERED) + record[12:]
                pair = [(ask, 0), (answer, 1)]
        made += [(one, (direction, drops, time)) for one, direction in pair]
    write(f"{capture}.{opcode:x}", made)
    return f"{capture}.{opcode:x}"


def is_dissected(fields):
    names = {name for name, _ in fields}
    return not names & set(MARKS) and any(
        name.startswith("btatt.") and name not in ("btatt.value", "btatt.request_in_frame")
        and not name.startswith(("btatt.opcode", "btatt.handle", "btatt.uuid", "btatt.service_uuid"))
        for name in names)


class Comparison:
    """Of one recording, whose counts are added to those of all."""

    def __init__(self, devices, folder, counts):
        self.devices, self.folder, self.counts, self.faults = devices, folder, counts, []
        profile = json5(os.path.join(devices, folder, "profile.json5"))
        self.own = {name.lower() for name in profile.get("characteristics", {})}

    def fault(self, sentence):
        self.faults.append(f"{self.folder}: {sentence}")

    def export(self, tool, scratch):
        """Whether it has anything to compare, and can be exported."""
        trace = os.path.join(self.devices, self.folder, "recording.trace")
        self.said = list(traced(trace))
        if not self.said:
            return False
        self.capture = os.path.join(scratch, f"{self.folder}.btsnoop")
        ended = subprocess.run([tool, "export", trace, "-o", self.capture],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if ended.returncode != 0:
            self.fault(f"it cannot be exported: {ended.stderr}")
        return ended.returncode == 0

    def compare_bytes(self, readings):
        """Keeps of each message the fields that tshark found in it."""
        self.read = [(name, data) for name, data, _ in readings]
        self.fields = [found if is_dissected(found) else None for _, _, found in readings]
        plain = [(name.replace("-", "") if len(name) == 36 else name, data) for name, data in self.said]
        for place, (ours, theirs) in enumerate(zip(plain, self.read)):
            if ours != theirs:
                return self.fault(f"message {place + 1} is {ours}, and tshark reads {theirs}")
            self.counts["bytes of advertisements" if ours[0] == "advertisement" else "bytes of characteristics"] += 1
        if len(plain) != len(self.read):
            self.fault(f"{len(plain)} messages, of which tshark reads {len(self.read)}")
        return None

    def lacks_fields(self):
        """Whether a notification of a characteristic that tshark knows was not dissected."""
        return not self.faults and any(
            not found and name in tshark_table.TABLE for found, (name, _) in zip(self.fields, self.read))

    def add(self, opcode, readings):
        """Fields that tshark finds in the same messages as an indication, or as an answer."""
        if [(name, data) for name, data, _ in readings] != self.read:
            return self.fault(f"rewritten to {opcode:#x}, tshark reads other bytes")
        self.fields = [found or (other if is_dissected(other) else None)
                       for found, (_, _, other) in zip(self.fields, readings)]
        return None

    def compare_values(self):
        if self.faults:
            return
        values = told(os.path.join(self.devices, self.folder, "expected.ndjson"))
        for (name, data), fields in zip(self.said, self.fields):
            if name not in tshark_table.TABLE or name in self.own:
                continue
            if not values[name, data]:
                self.fault(f"no event tells {data} of {name}")
                continue
            value = values[name, data].pop(0)
            if isinstance(value, dict) and fields:
                self.compare_fields(name, data, value, fields)

    def compare_fields(self, name, data, value, fields):
        definition = json5(os.path.join(self.devices, "gatt", f"{name}.json5"))
        forms = dict(definitions(definition))
        count = 0
        for line in filter(None, tshark_table.TABLE[name].splitlines()):
            field, member, *scale = line.split()
            scale = fractions.Fraction(scale[0]) if scale else 1
            names = {f"btatt.{one}" for one in field.split("|")}
            theirs = times(fields) if field == "time" else [found for key, found in fields if key in names and found]
            ours = members(value, member.strip("?"))
            if len(ours) != len(theirs):
                # A null may stand for what is not there.
                if any(found is not None for found in ours) or theirs and member[0] != "?":
                    self.fault(f"{name} {data}: {member} is {ours}, and tshark's {field} is {theirs}")
                continue
            form = forms.get(member.strip("?").split("|")[0].split(".")[-1], {})
            for our, their in zip(ours, theirs):
                count += 1
                if not is_same(our, their, scale, form):
                    self.fault(f"{name} {data}: {member} is {our}, and tshark's {field} is {their}")
        self.counts[f"values of {name} {definition['name']}"] += 1
        self.counts["members"] += count


def definitions(value):
    """Fields by name, wherever they stand."""
    if isinstance(value, list):
        for one in value:
            yield from definitions(one)
    elif isinstance(value, dict):
        if "type" in value:
            yield value["name"], value
        for one in value.values():
            yield from definitions(one)


def members(value, path):
    """The values of a member; of a list all, of several names those that are there."""
    if "|" in path:
        return [value[name] for name in path.split("|") if name in value]
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return []
    return value if isinstance(value, list) else [value]


def times(fields):
    parts = [int(found) for key, found in fields if key in DATE]
    return ["{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*parts)] if len(parts) == 6 else []


def is_same(our, their, scale, form):
    if isinstance(our, str):
        if our == their:
            return True
        word = {text: int(raw, 0) for raw, text in form.get("values", {}).items()}.get(our)
        return word is not None and word == number(their)
    if our is None:
        return is_none(their, form)
    theirs = number(their)
    if isinstance(our, bool) or theirs is None:
        return theirs is not None and bool(theirs) == our
    half = fractions.Fraction(1, 2 * 10 ** form.get("decimals", 0)) if "decimals" in form else 0
    return abs(fractions.Fraction(str(our)) - theirs * scale) <= half


def is_none(their, form):
    """A sentinel, a date without a day, a word that has no number."""
    if re.match(r"0000-|\d{4}-00-|\d{4}-\d\d-00", their) or their.lower() in ("nan", "nres", "inf", "-inf"):
        return True
    raw = number(their)
    return raw in form.get("null", []) or "values" in form and str(raw) not in form["values"]


def number(text):
    try:
        return fractions.Fraction(int(text, 16)) if text.startswith("0x") else fractions.Fraction(text)
    except ValueError:
        return None


def compare(comparisons):
    """Of some recordings at a time, in three readings at most."""
    for comparison, readings in zip(comparisons, tshark([one.capture for one in comparisons])):
        comparison.compare_bytes(readings)
    for opcode in (INDICATED, ANSWERED):
        lacking = [one for one in comparisons if one.lacks_fields()]
        captures = [rewritten(one.capture, opcode) for one in lacking]
        for comparison, readings in zip(lacking, tshark(captures) if lacking else []):
            comparison.add(opcode, readings)
    for comparison in comparisons:
        comparison.compare_values()


def main():
    tool, devices, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    counts = collections.Counter({"recordings": len(folders)})
    comparisons = [Comparison(devices, folder, counts) for folder in folders]
    with tempfile.TemporaryDirectory() as scratch:
        exported = [comparison for comparison in comparisons if comparison.export(tool, scratch)]
        for first in range(0, len(exported), TOGETHER):
            compare(exported[first:first + TOGETHER])
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    for name, reason in tshark_table.MISREAD.items():
        print(f"left out: {name}: {reason}")
    faults = [sentence for comparison in comparisons for sentence in comparison.faults]
    for sentence in faults:
        print(sentence, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
