"""Tests that pages name as proof. Each must be there under exactly that name: a title in Swift, or a sentence of a rule."""
from rules import Violation, missing, rule
from rules.document import filled
from rules.pages import rows_below
from rules.prose import lines, user_pages

WAKES, PROOFS = "docs/reference/what-wakes-when.md", "docs/dev/proofs.md"
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


@rule("newcomers", "each of the steps in docs/dev/newcomers.md names tests that exist, or says that none shows it")
def newcomers(tree):
    yield from proven_rows(tree, "docs/dev/newcomers.md", "| N", 23)


def mirrored(tree, mine, theirs):
    """The rows of a section of the page of proofs name the causes of the user page's section, in its order, each with tests."""
    rows = rows_below(tree.page(PROOFS), mine)
    yield from unproven(tree, PROOFS, rows)
    causes = [row.split("|")[1] for _, row in rows_below(tree.page(WAKES), theirs)]
    if [row.split("|")[1] for _, row in rows] != causes or len(causes) < 10:
        yield missing(tree, PROOFS, mine, f"the first cells differ from those of {WAKES} under '{theirs}'; name the same causes")


@rule("scheduled-wakes", "each scheduled wake of docs/reference/what-wakes-when.md has a test that runs it, named in docs/dev/proofs.md")
def scheduled_wakes(tree):
    yield from mirrored(tree, "## Wakes by schedule", "## By schedule")
    for cause in CAUSES:
        if not any(cause in filled(row.split("|"))[0] for _, row in rows_below(tree.page(WAKES), "## By schedule")):
            yield missing(tree, WAKES, "## By schedule", f"no row of this section is about '{cause}'; add one")


@rule("wakes-by-sockets", "each wake by a socket of docs/reference/what-wakes-when.md has a test that runs it, named in docs/dev/proofs.md")
def wakes_by_sockets(tree):
    yield from mirrored(tree, "## Wakes by socket", "## By socket")


@rule("wakes-by-flows", "each row on flows of docs/reference/what-wakes-when.md has a test that runs it, named in docs/dev/proofs.md")
def wakes_by_flows(tree):
    yield from mirrored(tree, "## Wakes by flow", "## By flow")


@rule("wakes-by-centrals", "each row on centrals of docs/reference/what-wakes-when.md has a test that runs it, named in docs/dev/proofs.md")
def wakes_by_centrals(tree):
    yield from mirrored(tree, "## Wakes by central", "## By central")


@rule("tests-stay-away", "no table of a user page names a test; the pages below docs/dev do")
def tests_stay_away(tree):
    written = titles(tree)
    for page in user_pages(tree):
        for number, row in lines(page):
            names = row.split("`")[1::2] if row.startswith("|") else []
            for name in names:
                if name.count(" ") >= 4 and f'"{name}"' in written:
                    yield Violation(page.path, number, f"'{name}' is a test; name it on a page below docs/dev")


@rule("proofs", "what a handler is said to get is shown by tests that are there, by the names that the page of proofs gives them")
def proofs(tree):
    page, written = PROOFS, titles(tree)
    first = tree.text(page).partition("\n## ")[0].split("\n")
    rows = [(number, line) for number, line in enumerate(first, 1) if line.startswith("| ") and line.endswith("` |")]
    if len(rows) != 7:
        yield Violation(page, 1, f"the table has {len(rows)} rows with tests; it has seven")
    for number, row in rows:
        names = [name for name in filled(row.split("|"))[-1].split("`") if len(name.encode()) > 2]
        for name in names:
            if f'"{name}"' not in written:
                yield Violation(page, number, f"there is no test called '{name}'; name one that is there")
        if not names:
            yield Violation(page, number, "no test is named for this row; name one in its last cell")
