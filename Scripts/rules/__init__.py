"""Rules over the text of the repository. A rule has a name, a sentence, and a function that yields what breaks it.

Each module of this package is about one subject. Scripts/rules.py reads all of them, so a new module needs no entry anywhere.
"""
import collections

Violation = collections.namedtuple("Violation", "path line sentence")
Rule = collections.namedtuple("Rule", "name sentence check")

RULES = []


def rule(name, sentence):
    """Enters a function into the rules. It gets the tree and yields violations. Pages may name the sentence as proof."""
    def enter(check):
        RULES.append(Rule(name, sentence, check))
        return check
    return enter


def missing(tree, path, text, sentence):
    """A violation at the first line of a file that has this text; at its first line where none has it."""
    return Violation(path, tree.line_of(path, text), sentence)
