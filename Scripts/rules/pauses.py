"""Fixed pauses in tests: a test that sleeps is slow, and fails on a busy machine. Tests/pauses.txt lists those that are left.

A count in the list may only fall. A pause of a world that a test made up, such as `clock.sleep(for:)`, is none.
"""
import io
import re
import tokenize

from rules import Violation, rule

LIST = "Tests/pauses.txt"
# A bare call, or one of those that really sleep; neither a declaration nor a method of another value.
SLEEPERS = r"Task|Glibc|Thread|time|asyncio|ContinuousClock\(\)|SuspendingClock\(\)"
PAUSE = re.compile(rf"(?<![\w.])(?:(?:{SLEEPERS})\.)?(?:usleep|nanosleep|clock_nanosleep|sleep|pause)\(")
# A step of a script for made-up devices, such as `pause 0.3`.
STEP = re.compile(r"(?<!\w)pause \d")
# Newer Pythons have a token of its own for the text of an f-string.
NO_CODE = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
DECLARATION = re.compile(r"\b(?:func|def|case)\s+$")


def python_code(text):
    """The text with comments and literals blanked."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in NO_CODE:
            for number in range(token.start[0] - 1, token.end[0]):
                start = token.start[1] if number == token.start[0] - 1 else 0
                end = token.end[1] if number == token.end[0] - 1 else len(lines[number])
                lines[number] = lines[number][:start] + " " * (end - start) + lines[number][end:]
    return "\n".join(lines)


def pauses(file):
    """The lines on which a file pauses, one for each call and for each step of a script."""
    if "sleep" not in file.text and "pause" not in file.text:
        return []
    code = file.code if file.path.endswith(".swift") else python_code(file.text)
    calls = [found.start() for found in PAUSE.finditer(code)
             if not DECLARATION.search(code, max(0, found.start() - 20), found.start())]
    lines = [code.count("\n", 0, start) for start in calls]
    lines += [file.text.count("\n", 0, found.start()) for found in STEP.finditer(file.text)]
    return sorted(line + 1 for line in lines)


def listed(tree):
    """The files of the list, each with its line and its count; a line that is no entry comes with no count."""
    for number, line in enumerate(tree.text(LIST).split("\n"), 1):
        if line and not line.startswith("#"):
            words = line.split(" ", 2)
            yield words[0], number, int(words[1]) if len(words) == 3 and words[1].isdigit() else None


@rule("pauses", "no test pauses for a fixed time but where Tests/pauses.txt says so, whose counts only fall")
def no_pauses(tree):
    found = {file.path: pauses(file) for file in tree.below("Tests", (".swift", ".py"))}
    entries = {path: (number, count) for path, number, count in listed(tree)}
    for path, lines in found.items():
        number, count = entries.get(path, (1, 0))
        if lines and path not in entries:
            yield from (Violation(path, line, "a test pauses here; wait for the event itself, or use the stepped clock")
                        for line in lines)
        elif count is not None and len(lines) > count:
            yield Violation(path, lines[-1], f"{len(lines)} pauses are here, and {LIST} allows {count}; wait for the event")
    for path, (number, count) in entries.items():
        left = len(found.get(path, []))
        if count is None:
            yield Violation(LIST, number, "this line is not a path, a count and a reason; write these three")
        elif count == 0 or left < count:
            advice = "remove the line" if left == 0 else f"lower the count to {left}"
            yield Violation(LIST, number, f"{path} has {left} pauses, not {count}; {advice}")
