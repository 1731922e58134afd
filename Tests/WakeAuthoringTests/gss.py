"""Prints the smallest message of each characteristic that the Bluetooth SIG's supplement describes: its UUID and how long it is.

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
RENAMED = {"cooking_conditions": "2c2a", "cooking_zone_perceived_power": "2c2b"}


def least(size):
    """Bytes at least: `2`, `0 or 4`, `1 or 2`, `0–18`, `variable`."""
    digits = re.match(r"\d+", size.strip("'\" "))
    return int(digits[0]) if digits else 0


def main():
    archive = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob("bluetooth_sig-*.whl")))
    names = archive.namelist()
    text = archive.read(next(name for name in names if name.endswith(UUIDS))).decode()
    uuids = {found[1]: found[0].lower() for found in
             re.findall(r"uuid: 0x([0-9A-Fa-f]{4})\s+name: .*\s+id: org\.bluetooth\.characteristic\.(\S+)", text)}
    for name in sorted(name for name in names if "/gss/" in name and name.endswith(".yaml")):
        lines = archive.read(name).decode().splitlines()
        identifier = next(line for line in lines if "identifier:" in line).split("characteristic.")[1].strip("'\" ")
        found = [line for line in lines if re.match(r"\s+(- )?size:", line)]
        # Parts of fields stand deeper.
        depth = min(line.index("size:") for line in found)
        sizes = [line.split("size:")[1] for line in found if line.index("size:") == depth]
        count = sum(map(least, sizes)) // 8 if identifier in IN_BITS else sum(map(least, sizes))
        print(uuids.get(identifier) or RENAMED.get(identifier, identifier), count, len(sizes))


main()
