"""Reaches: a part of the bridge is handed to those that need it, and fewer and fewer files reach for it through the bridge."""
import re

from rules import missing, rule

HERE = "Scripts/rules/reaches.py"
# `bridge.turn.ingest`: a part that needs the turn gets the turn.
REACH = re.compile(r"(?<!\w)bridge\.(?:loop|engine|turn|catalog|journal|executor|accounts|clockWatch|containment)\.")
# How many there are. Lower it with what you remove.
MOST = 17


@rule("reaches", "parts of the bridge are reached through it in fewer and fewer places")
def reaches(tree):
    files = [(file, len(REACH.findall(file.code))) for file in tree.swift if file.path.startswith("Sources/")]
    count = sum(found for _, found in files)
    if count == MOST:
        return
    worst = max(files, key=lambda one: one[1])[0].path
    advice = f"most are in {worst}; hand the part over" if count > MOST else "lower MOST"
    yield missing(tree, HERE, "MOST = ", f"there are {count} reaches through the bridge, and {MOST} are written here; {advice}")
