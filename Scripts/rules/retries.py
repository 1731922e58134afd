"""The files of tests that may pass at their second try: those that Tests/quarantine.txt names, and for a week only."""
import datetime

import quarantine
from rules import Violation, rule


def complaint(entry, known, today):
    """Why a line of the list may not be there; None where it may."""
    if entry is None:
        return "this line is not a file, a date and a reason; write Target.File YYYY-MM-DD reason"
    if entry.name not in known:
        return f"no file with the tag .outside has the name {entry.name}; only those are tried again, so remove the line"
    if entry.date > today:
        return f"{entry.date} is yet to come; write the day on which the file was first seen to fail"
    if not quarantine.holds(entry, today):
        return f"the line is older than {quarantine.DAYS} days; mend what fails, and remove the line"
    return None


def violations(text, known, today):
    """What may not be in a list, while the files of these names are tried again."""
    names = set()
    for count, (number, entry) in enumerate(quarantine.read(text), 1):
        sentence = complaint(entry, known, today)
        if not sentence and entry.name in names:
            sentence = f"{entry.name} is listed twice; remove the line"
        if not sentence and count > quarantine.MOST:
            sentence = f"more than {quarantine.MOST} files are listed; mend one, and remove its line"
        if sentence:
            yield Violation(quarantine.LIST, number, sentence)
        names.add(entry and entry.name)


@rule("quarantine", "at most three files of tests may pass at their second try, each for a week, on account of an outside program")
def few_retries(tree):
    status, output = tree.run(["python3", "Scripts/test.py", "list", "outside"])
    if status != 0 or not output:
        yield Violation("Scripts/test.py", 1, f"Scripts/test.py list outside ends with {status} or lists nothing; mend it")
    yield from violations(tree.text(quarantine.LIST), set(output.split()), datetime.date.today())
