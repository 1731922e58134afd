"""How comments of the sources are written: each opens with a subject, and names what programs do in the field's words.

Scripts/rules/comments.txt has two counts for each folder, and a count only falls. `comments.py --counts` prints the list anew.
"""
import collections
import pathlib
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from rules import Violation, rule  # noqa: E402

LIST = "Scripts/rules/comments.txt"
COMMENT = re.compile(r"\s*///?\s?(.*)")
# A clause without a noun: the reader has to guess what it is about.
HEADLESS = re.compile(r"(What|Who|Whoever|Whatever|Those|Of|One|None|So much|So many|So long|Nothing) ")
# Devices send, files contain and the daemon reports.
SPOKEN = re.compile(r"\b(told|tells?|telling|said|says?|saying|spoke|speaks?|heard?|hears|hearing|deaf|stands?|stood|lies?|lets? go)\b")


def folder(path):
    """`Sources/WakeAgenda/Alarms` of a file below it: modules with folders are counted by folder."""
    return "/".join(path.split("/")[:-1][:3])


def found(tree):
    """The lines of each folder, as (path, line): headless openings, and comments with a spoken word."""
    headless, spoken = collections.defaultdict(list), collections.defaultdict(list)
    for file in tree.swift:
        is_open = False
        for number, line in enumerate(file.lines, 1):
            comment = COMMENT.fullmatch(line)
            if comment:
                if not is_open and HEADLESS.match(comment[1]):
                    headless[folder(file.path)].append((file.path, number))
                if SPOKEN.search(comment[1]):
                    spoken[folder(file.path)].append((file.path, number))
            is_open = comment is not None
    return headless, spoken


def listed(tree):
    """The counts of each folder, with the line of the list."""
    for number, line in enumerate(tree.text(LIST).split("\n"), 1):
        words = line.split(" ")
        if line and not line.startswith("#") and len(words) == 3:
            yield words[0], number, int(words[1]), int(words[2])


@rule("comments", "comments open with a subject and use the field's verbs; the counts of what is left in a folder only fall")
def comments(tree):
    headless, spoken = found(tree)
    allowed = {path: (number, *counts) for path, number, *counts in listed(tree)}
    for path in sorted({*headless, *spoken, *allowed}):
        number, *most = allowed.get(path, (1, 0, 0))
        left = len(headless[path]), len(spoken[path])
        for places, count, kind in [(headless[path], most[0], "open without a subject"), (spoken[path], most[1], "have a spoken word")]:
            if len(places) > count:
                where, line = places[-1]
                yield Violation(where, line, f"{len(places)} comments of {path} {kind}, and {LIST} allows {count}; name what acts")
        if left != tuple(most) and left[0] <= most[0] and left[1] <= most[1]:
            yield Violation(LIST, number, f"{path} has {left[0]} and {left[1]} now; lower the counts")


def main():
    from rules.tree import Tree
    headless, spoken = found(Tree(str(pathlib.Path(__file__).resolve().parents[2])))
    print("# Comments that are left in each folder: openings without a subject, and lines with a spoken word. Counts only fall.")
    for path in sorted({*headless, *spoken}):
        print(path, len(headless[path]), len(spoken[path]))


if __name__ == "__main__":
    main()
