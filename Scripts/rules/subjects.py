"""How commits are called: `area: imperative`, at most 72 characters, without a full stop."""
import re
import subprocess

from rules import Violation, rule

NEWEST, LONGEST = 50, 72
SUBJECT = re.compile(r"[a-z0-9][a-z0-9.-]*: [^A-Z\s].*[^.\s]")


def faults(subjects):
    for subject in subjects:
        if len(subject) > LONGEST:
            yield f"the commit '{subject}' has {len(subject)} characters; write at most {LONGEST}"
        elif not SUBJECT.fullmatch(subject):
            yield f"the commit '{subject}' is not 'area: imperative'; amend it"


@rule("subjects", "each new commit is called 'area: imperative' in at most 72 characters")
def subjects(tree):
    """A package of the sources has no history, and nothing to check."""
    if tree.exists(".git"):
        log = subprocess.run(["git", "-C", tree.root, "log", f"-{NEWEST}", "--format=%s"], capture_output=True, text=True)
        yield from (Violation(".git", 1, sentence) for sentence in faults(log.stdout.splitlines()))
