#!/usr/bin/env python3
"""Checks the rules of Scripts/rules and runs the tests of Tests/Rules: all that needs the text of the repository and no build.

    rules.py            all of them
    rules.py NAME...    the rules of these names, and the tests of the files of these names
    rules.py --list     only prints each name with its sentence

It prints each violation as path:line: and a sentence. The last line and the exit status are the result.
"""
import collections
import concurrent.futures
import importlib
import pathlib
import pkgutil
import sys
import time
import traceback
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "Scripts"), str(ROOT / "Tests/Rules")]
import rules  # noqa: E402
from rules.tree import Tree  # noqa: E402

TESTS = ROOT / "Tests/Rules"


# Each job finds violations for one sentence or several, which have one name.
Job = collections.namedtuple("Job", "name sentences find")


def check(rule, tree):
    """A rule that stops has found nothing, and must not pass for that."""
    try:
        return list(rule.check(tree))
    except Exception as reason:
        place = traceback.extract_tb(reason.__traceback__)[-1]
        sentence = f"the rule '{rule.name}' stopped: {type(reason).__name__}: {reason}"
        return [rules.Violation(below_root(place.filename), place.lineno, sentence)]


def below_root(path):
    return path.removeprefix(f"{ROOT}/")


class Outcome(unittest.TestResult):
    """How tests went, as violations: at most one for each test, or for each of its parts."""

    def __init__(self):
        super().__init__()
        self.violations = []

    def note(self, test, error):
        case = getattr(test, "test_case", test)
        places = [place for place in traceback.extract_tb(error[2]) if place.filename.startswith(str(TESTS))]
        path, line = (below_root(places[-1].filename), places[-1].lineno) if places else ("Tests/Rules", 1)
        sentence = f"this is not so: {title(case)}; found: {' '.join(str(error[1]).split())}"
        self.violations.append(rules.Violation(path, line, sentence))

    def addError(self, test, err):
        self.note(test, err)

    def addFailure(self, test, err):
        self.note(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.note(subtest, err)


def title(case):
    return case.shortDescription() or case.id()


def play(suite):
    outcome = Outcome()
    suite.run(outcome)
    return outcome.violations


def gathered():
    """Every rule, and the tests of every class."""
    for module in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"rules.{module.name}")
    jobs = [Job(rule.name, [rule.sentence], lambda tree, rule=rule: check(rule, tree)) for rule in rules.RULES]
    for path in sorted(TESTS.glob("*_test.py")):
        for suite in unittest.defaultTestLoader.loadTestsFromName(path.stem):
            sentences = [title(case) for case in suite] if isinstance(suite, unittest.TestSuite) else [title(suite)]
            jobs.append(Job(path.stem, sentences, lambda tree, suite=suite: play(suite)))
    # Without sentences it is a class that only others build upon.
    return [job for job in jobs if job.sentences]


def main(names):
    since, tree, jobs = time.monotonic(), Tree(ROOT), gathered()
    if names == ["--list"]:
        print(*(f"{job.name}: {sentence}" for job in jobs for sentence in job.sentences), sep="\n")
        return 0
    unknown = set(names) - {job.name for job in jobs}
    if unknown:
        print(f"rules.py: there is no rule called {', '.join(sorted(unknown))}; --list names all", file=sys.stderr)
        return 2
    jobs = [job for job in jobs if not names or job.name in names]
    # Some wait for other programs, and the others compute meanwhile.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda job: job.find(tree), jobs))
    violations = [violation for outcome in outcomes for violation in outcome]
    for path, line, sentence in violations:
        print(f"{path}:{line}: {sentence}")
    count, took = sum(len(job.sentences) for job in jobs), f"{time.monotonic() - since:.1f} s"
    if violations:
        broken = sum(min(len(outcome), len(job.sentences)) for job, outcome in zip(jobs, outcomes))
        print(f"FAIL: {len(violations)} violations of {broken} rules, {took}")
        return 1
    print(f"PASS: {count} rules, {took}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
