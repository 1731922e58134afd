"""Tests that pages name as proof. Each must be there under exactly that name: a title in Swift, or a sentence of a rule."""
from rules import Violation, missing, rule
from rules.document import filled
from rules.pages import rows_below

WAKES = "docs/reference/what-wakes-when.md"
# Each has a row among the scheduled wakes.
CAUSES = [
    "daily", "every", "in_s", "missed", "alert", "poll", "refresh", "processing", "continued", "deadline", "condition",
    "given back", "gate", "stopped", "transfer",
]


def titles(tree):
    """The text of all that may be named: tests in Swift, tests in Python of rules and scripts, and the rules themselves."""
    python = tree.below("Tests/Rules", (".py",)) + tree.below("Scripts/rules", (".py",))
    return "".join(file.text for file in tree.tests + python)


def unproven(tree, page, rows):
    """The last cell of each row names tests. Another rule looks for targets of make."""
    written = titles(tree)
    for number, row in rows:
        cell = filled(row.split("|"))[-1]
        names = cell.split("`")[1::2]
        for name in names:
            if not name.startswith("make ") and f'"{name}"' not in written:
                yield Violation(page, number, f"there is no test called '{name}'; name one that is there")
        if not names and not cell.endswith(", read ") and cell != " not shown ":
            yield Violation(page, number, "no test is named for this row; name one in its last cell")


def proven_rows(tree, page, prefix, count):
    rows = [(number, line) for number, line in enumerate(tree.page(page).lines, 1) if line.startswith(prefix)]
    if len(rows) < count:
        yield Violation(page, 1, f"only {len(rows)} rows begin with '{prefix}'; the page has at least {count}")
    yield from unproven(tree, page, rows)


@rule("defences", "each defence in docs/dev/defences.md names tests that exist")
def defences(tree):
    yield from proven_rows(tree, "docs/dev/defences.md", "| to ", 10)


@rule("invariants", "each of the thirteen invariants in docs/dev/invariants.md names tests that exist")
def invariants(tree):
    yield from proven_rows(tree, "docs/dev/invariants.md", "| I", 13)


@rule("newcomers", "each of the seventeen steps in docs/dev/newcomers.md names tests that exist, or says that none shows it")
def newcomers(tree):
    yield from proven_rows(tree, "docs/dev/newcomers.md", "| N", 17)


@rule("scheduled-wakes", "each row of the scheduled wakes in docs/reference/what-wakes-when.md names the test that runs it")
def scheduled_wakes(tree):
    rows = rows_below(tree.page(WAKES), "## By schedule")
    yield from unproven(tree, WAKES, rows)
    for cause in CAUSES:
        if not any(cause in filled(row.split("|"))[0] for _, row in rows):
            yield missing(tree, WAKES, "## By schedule", f"no row of this section is about '{cause}'; add one")


@rule("wakes-by-sockets", "each row of the wakes by sockets in docs/reference/what-wakes-when.md names the test that runs it")
def wakes_by_sockets(tree):
    rows = rows_below(tree.page(WAKES), "## By socket")
    if len(rows) < 10:
        yield missing(tree, WAKES, "## By socket", f"this section has {len(rows)} rows; it has at least 10")
    yield from unproven(tree, WAKES, rows)


@rule("proofs", "what a handler is said to get is shown by tests that are there, by the names that the page of proofs gives them")
def proofs(tree):
    page, written = "docs/dev/proofs.md", titles(tree)
    rows = [(number, line) for number, line in enumerate(tree.page(page).lines, 1)
            if line.startswith("| ") and line.endswith("` |")]
    if len(rows) != 7:
        yield Violation(page, 1, f"the table has {len(rows)} rows with tests; it has seven")
    for number, row in rows:
        names = [name for name in filled(row.split("|"))[-1].split("`") if len(name.encode()) > 2]
        for name in names:
            if f'"{name}"' not in written:
                yield Violation(page, number, f"there is no test called '{name}'; name one that is there")
        if not names:
            yield Violation(page, number, "no test is named for this row; name one in its last cell")
