"""Style: how each source file begins, which names and words it avoids, and how large it may be."""
import re

import census
from rules import missing, rule

HERE = "Scripts/rules/style.py"
# `value!`, `call()!`, `array[0]!` and `Type!`; never `a != b` and `!condition`.
FORCED = r"[\w)\]}\"]!(?!=)"
# Files that may vouch for one value, each with its reason.
VOUCHERS = {"Sources/WakeJournal/Statement.swift": "a pointer to one byte that is never written again"}
# Types that may have more than 20 stored properties, each with its reason. None may be added.
LARGE_TYPES = {}
# Unowned and weak references, and properties that are closures, as the census counted them. Lower them with what you remove.
MOST_REFERENCES, MOST_CLOSURES = 119, 64
VAGUE = re.compile(r"(Manager|Helper|Util|Utils|Utilities)$")
KINDS = {"class", "struct", "enum", "protocol", "typealias", "func"}
# Spelled apart, or this file would be among those found.
UNDONE = r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b"
MACHINES = "|".join(["/wo" + "rk/", "/ho" + "me/", "/Use" + "rs/", "/ro" + "ot/"])


def sources(tree):
    return tree.swift + tree.examples


@rule("sees-sources", "the rules see the sources")
def sees_sources(tree):
    if len(sources(tree)) <= 100 or not any(file.path.startswith("Tests/ArchitectureTests/") for file in tree.tests):
        yield missing(tree, HERE, "def sees_sources", "the rules find too few Swift files; look at Scripts/rules/tree.py")


@rule("forces", "no source forces: no try!, no as!, no unwrapping by force")
def forces(tree):
    for file in sources(tree):
        yield from file.places(FORCED, "this forces a value; return an error, or make the state impossible")


@rule("vouches", "no source vouches for itself to the compiler: nothing is @unchecked, nonisolated(unsafe) or @preconcurrency")
def vouches(tree):
    for file in sources(tree):
        if file.path not in VOUCHERS:
            yield from file.places(r"@unchecked|nonisolated\(unsafe\)|@preconcurrency",
                                   "this silences the compiler; prove it to the compiler instead")
    for path, reason in VOUCHERS.items():
        if not tree.exists(path) or "nonisolated(unsafe)" not in tree.file(path).code:
            yield missing(tree, HERE, path, f"{path} is listed for '{reason}' and vouches for nothing; remove the entry")


@rule("undone", "nothing is left undone: no source calls fatalError, and no file says that something is still to do")
def undone(tree):
    for file in sources(tree):
        yield from file.places("fatalError", "this ends the program; return an error")
    for file in tree.everything:
        yield from file.text_places(UNDONE, "something is left to do here; do it, or take the mark away")


@rule("short", "no function is longer than 60 lines, and no type has more than 20 stored properties but those that say why")
def short(tree):
    for file in tree.counted:
        for one in file.functions:
            if one.last - one.first >= census.LONGEST_FUNCTION:
                yield tree.file(one.path).at(one.first, f"{one.name} is longer than {census.LONGEST_FUNCTION} lines; split it")
    large = {row.split(" ")[0]: row for row in census.large_types([file for file in tree.counted if file.is_swift])}
    for name in sorted(large.keys() ^ LARGE_TYPES.keys()):
        path = next((file.path for file in tree.counted if name in file.types), HERE)
        word = re.escape(name.split(".")[-1])
        line = next((number for number, text in enumerate(tree.file(path).code.split("\n"), 1)
                     if re.search(rf"\b(struct|class|enum|actor)\s+{word}\b", text)), 1)
        yield tree.file(path).at(line, f"{large.get(name, name)} properties, and LARGE_TYPES in {HERE} differs; split the type")


@rule("owns-plainly", "references that own nothing, and properties that hold closures, become fewer and never more")
def owns_plainly(tree):
    swift = [file for file in tree.counted if file.is_swift]
    aliases = {alias for file in swift for alias in file.aliases}
    references, closures = sum(file.references for file in swift), len(list(census.closures(swift, aliases)))
    for found, most, kind in [(references, MOST_REFERENCES, "unowned and weak references"),
                              (closures, MOST_CLOSURES, "properties that are closures")]:
        if found > most:
            yield missing(tree, HERE, "MOST_REFERENCES,", f"there are {found} {kind}, and {most} are allowed; remove yours")


@rule("opening", "every file opens with a comment on what it owns")
def opening(tree):
    for file in sources(tree) + tree.tests + tree.c:
        if not file.text.startswith(("// ", "/* ")):
            yield file.at(1, "this file opens with no comment; write first what it owns")


@rule("vague-names", "nothing is named after its vagueness: no Manager, Helper, Util or Utils")
def vague_names(tree):
    sentence = "this name is vague; name what the thing does"
    for file in sources(tree) + tree.tests:
        if VAGUE.search(file.name.removesuffix(".swift")):
            yield file.at(1, sentence)
        # The code is looked at only where the text has such a word at all.
        if not re.search(VAGUE.pattern.rstrip("$"), file.text):
            continue
        for number, line in enumerate(file.code.split("\n"), 1):
            words = re.findall(r"[^\W_]+", line)
            if any(kind in KINDS and VAGUE.search(name) for kind, name in zip(words, words[1:])):
                yield file.at(number, sentence)


@rule("machines", "no file names a path of one developer's machine")
def machines(tree):
    for file in tree.everything:
        yield from file.text_places(MACHINES, "this path is of one machine; name a path that every machine has")


@rule("faults", "a fault of a value is written in one style: \"X must be Y; got Z\"")
def faults(tree):
    for file in tree.swift:
        yield from file.text_places(r"here stands|, expected \\\(", "this is the style of a second reader; write \"… must be …; got …\"")
