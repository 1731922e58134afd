"""Words that no closed list has, gathered from the code that writes them: the reference must explain each.

They are why a device is disconnected, conditions of the bridge, why a handler does not wake, and the codes of the HTTP API.
"""
import glob
import itertools
import re

from rules import missing, rule
from rules.document import filled

HERE = "Scripts/rules/reasons.py"
EVENTS, WAKES, HTTP = "docs/reference/events-and-replies.md", "docs/reference/what-wakes-when.md", "docs/reference/http-api.md"
# Lines on which a source gives the reason why a device went.
MARKS = ("endLink(", "goDown(", "endPresence(", "disconnected(reason:")
WITH_CODES = ["Sources/WakeControl/**/*.swift", "Sources/WakeAPI/**/*.swift"]


def literals(line):
    """The pieces in quotes on a line."""
    return line.split('"')[1::2]


def lines(tree, path):
    return tree.text(path).split("\n")


def compared(tree, page, heading, written, explained):
    """A violation for each word that only one side has."""
    for word in sorted(set(written) - set(explained)):
        yield missing(tree, page, heading, f"'{word}' is written by the code and not explained here; add it to the table")
    for word in sorted(set(explained) - set(written)):
        yield missing(tree, page, f"`{word}`", f"'{word}' is explained here and no code writes it; take it away")


def too_few(tree, name, *counts):
    if any(found < least for found, least in counts):
        yield missing(tree, HERE, f'@rule("{name}"', "this rule finds too few words in the code; correct where it looks")


@rule("reasons", "every reason that a source gives, and every word for a code of HCI, is explained")
def reasons(tree):
    heading = "### Why a device is disconnected"
    sources = [line for file in tree.swift if file.module == "WakeSources" for line in file.lines]
    said = [word for line in sources if any(mark in line for mark in MARKS) for word in literals(line)]
    facts = lines(tree, "Sources/WakeSources/Bluetooth/LinkFacts.swift")
    absences = [word for line in facts if "case " in line and ' = "' in line for word in literals(line)]
    codes = [word for line in lines(tree, "Sources/WakeHCI/HCIReason.swift") if "case 0x" in line for word in literals(line)]
    yield from too_few(tree, "reasons", (len(said), 10), (len(absences), 2), (len(codes), 16))
    explained = set(tree.page(EVENTS).words_below(heading))
    yield from compared(tree, EVENTS, heading, said + absences + codes, explained & set(said + absences + codes))


@rule("refusals", "every code with which the control API refuses is in its page, and no other")
def refusals(tree):
    paths = [path for pattern in WITH_CODES for path in sorted(glob.glob(f"{tree.root}/{pattern}", recursive=True))]
    text = "".join(tree.text(path[len(tree.root) + 1:]) for path in paths).replace("\n", "")
    codes = {found[1] for found in re.finditer(r'(?:code: |badRequest\( *)"([a-z-]+)"', text)}
    yield from too_few(tree, "refusals", (len(codes), 15))
    rows = [line for line in tree.page(HTTP).lines if line.startswith(("| 4", "| 5"))]
    cells = [filled(row.split("|"))[1:2] for row in rows]
    yield from compared(tree, HTTP, "| 4", codes, {word for cell in cells for word in filled(re.split("[ ,`]", "".join(cell)))})


@rule("sleeps", "every reason for which a wake does not happen is in the page of wakes, and no other")
def sleeps(tree):
    heading = "## What `wakebridge why` lists"
    declared = itertools.dropwhile(lambda line: "enum NotWoken" not in line, lines(tree, "Sources/WakeCore/Decision.swift"))
    reasons = [line[line.index('"') + 1:line.rindex('"')] for line in itertools.takewhile(lambda line: line != "}", declared)
               if line.count('"') > 1]
    said = [reason.replace('\\"', '"') for reason in reasons]
    yield from too_few(tree, "sleeps", (len(said), 14))
    yield from compared(tree, WAKES, heading, said, tree.page(WAKES).words_below(heading))


@rule("conditions", "every condition of the bridge that handlers are told of is explained")
def conditions(tree):
    heading = "### Conditions of the bridge"
    said = [word for file in tree.swift for line in file.lines if ".bridge(condition:" in line for word in literals(line)]
    yield from compared(tree, EVENTS, heading, said, tree.page(EVENTS).words_below(heading))
